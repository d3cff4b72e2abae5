"""The interface of a measure: an evaluation and scored positions give a number.

The number is a smooth function of means: each position has one or more terms, and only their sums are kept. Positions
can therefore be streamed, each number has a standard error by game, and so has the difference of two evaluations on the
same positions (:mod:`glem.core.measures.sums`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from attrs import Factory, define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.features.functions import failure_of
from glem.core.positions.positions import Positions

Floats = NDArray[np.float64]
Evaluation = LinearEvaluation | ResultEvaluation


def _floats(values: Any) -> Floats:
    return np.asarray(values, np.float64)


@define(frozen=True, eq=False)
class Judged:
    """What an evaluation says of N positions, and what it is compared with.

    All positions of a game are among them where a set has them one after the other, as glem's files do but for merged
    ones of a million positions and more.

    Parameters
    ----------
    value
        float64 [N], the evaluation's values, from the side to move.
    label
        float64 [N], labels in the unit of the values.
    weight
        float64 [N], how many positions each stands for; 1 if not given.
    game
        int64 [N], numbers of the games from 0 on; each position is a game of its own if not given.
    sums
        float32 [N], the values before the link; not given where there is no evaluation.
    positions
        The positions, with ``label`` (the score of the file), ``result``, ``ply``, ``source`` and so on.
    evaluation
        The evaluation.
    """

    value: Floats = field(converter=_floats)
    label: Floats = field(converter=_floats)
    weight: Floats = field(default=Factory(lambda self: np.ones(len(self.value)), takes_self=True), converter=_floats)
    game: NDArray[np.int64] = Factory(lambda self: np.arange(len(self.value)), takes_self=True)
    sums: Any = None
    positions: Any = None
    evaluation: Any = None

    def __len__(self) -> int:
        return len(self.value)


def judged_by(
    evaluation: Evaluation,
    positions: Positions,
    *,
    game: NDArray[np.int64] | None = None,
    label: NDArray[np.float32] | None = None,
    jobs: int = 1,
) -> Judged:
    """Evaluate positions.

    Parameters
    ----------
    game
        Numbers of the games [N], from 0 on; by default those of the positions' records.
    label
        Labels [N]; by default those that the evaluation is fitted to.
    jobs
        Threads; the result does not depend on them.
    """
    own = value_part(evaluation)
    sums = own.sums(positions.positions, jobs=jobs)
    return Judged(
        own.link(sums).astype(np.float32),
        own.labels_of(positions.label) if label is None else label,
        positions.weight,
        games_of(positions) if game is None else game,
        sums,
        positions,
        evaluation,
    )


def games_of(positions: Positions) -> NDArray[np.int64]:
    """Give N positions numbers of their games, from 0 on: int64 [N]; one without a record is a game of its own."""
    record = positions.record.astype(np.int64)
    unknown = record < 0
    record[unknown] = int(record.max(initial=-1)) + 1 + np.arange(int(unknown.sum()))
    return np.unique(record, return_inverse=True)[1].astype(np.int64, copy=False)


class Measure(ABC):
    """How good an evaluation is on positions, a number.

    A subclass is an attrs class, or has no settings at all; what it is begins its docstring. Fields are its settings,
    named on the command line after commas: ``calibration-error,bins=10``.

    Attributes
    ----------
    heading
        Names the number in tables.
    form
        Format of the number, as of :func:`format`.
    counts
        What has terms, in the singular, if not each position.
    is_weighted
        Whether the terms of a position count with its weight.
    """

    heading: ClassVar[str] = ""
    form: ClassVar[str] = ".3f"
    counts: ClassVar[str] = "position"
    is_weighted: ClassVar[bool] = True

    def unit_of(self, evaluation: Evaluation) -> str:
        """Give the unit of the number, empty for none."""
        return ""

    def begin(self, judged: Judged) -> Self:
        """Look at the first part of the positions; what is returned measures all.

        Raises
        ------
        BadInputError
            The measure does not fit the evaluation or the positions.
        """
        return self

    @abstractmethod
    def terms(self, judged: Judged) -> NDArray[Any]:
        """Terms of each position, [N] or [N, M]; nan for a position that does not count."""

    def number(self, means: Floats) -> tuple[float, Floats]:
        """Make the number of the weighted means [M] of the terms; also its derivatives [M]. By default the first mean.

        It is asked for with means of at least one position, and may be nan where they are too few.
        """
        return float(means[0]), np.eye(1, len(means))[0]


class FunctionMeasure(Measure):
    """The mean of what a function ``(judged) -> numbers`` [N] gives for each position; nan is left out."""

    def __init__(self, function: Callable[[Judged], Any]) -> None:
        self._function = function
        self.heading = function.__name__.replace("_", " ")  # type: ignore[misc] # each function has its own

    def terms(self, judged: Judged) -> NDArray[Any]:
        """Call the function."""
        found = np.asarray(self._function(judged))
        if found.ndim > 1:
            raise BadInputError(f"{self.heading}: a function gives one number for each position, got {found.shape}")
        return found


def terms_of(name: str, measure: Measure, judged: Judged) -> Floats:
    """Ask a measure for the terms of N positions: float64 [M, N].

    Raises
    ------
    BadInputError
        It fails, or gives something else; the text names it.
    """
    try:
        found = np.asarray(measure.terms(judged), np.float64)
    except BadInputError:
        raise
    except Exception as error:
        raise BadInputError(f"measure {name}: {failure_of(error)}") from error
    if found.ndim not in (1, 2) or len(found) != len(judged) or found.size < len(found):
        shape = " x ".join(map(str, found.shape)) or "a single number"
        raise BadInputError(f"measure {name}: expected terms of {len(judged):,} positions, got {shape}")
    return np.ascontiguousarray(found.reshape(len(found), -1).T if len(found) else found.reshape(0, 1).T)


def number_of(name: str, measure: Measure, means: Floats) -> tuple[float, Floats]:
    """Ask a measure for the number of means [M], and its derivatives: float64 [M].

    Raises
    ------
    BadInputError
        It fails, or gives something else; the text names it.
    """
    try:
        number, slopes = measure.number(means)
        found = float(number), np.asarray(slopes, np.float64)
    except BadInputError:
        raise
    except Exception as error:
        raise BadInputError(f"measure {name}: {failure_of(error)}") from error
    if found[1].shape != means.shape:
        raise BadInputError(f"measure {name}: expected {len(means)} derivatives of its number, got {found[1].shape}")
    return found
