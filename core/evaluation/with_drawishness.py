"""Evaluations that predict results: a value and a drawishness of one position (Ban 2012, section 3.1).

A plain evaluation says how good a position is. One with a drawishness of its own also says how much of what is not won
will be drawn, and so gives the probabilities of a win, a draw and a loss. Both parts are linear evaluations of one
game; search and players use the value alone, grading uses both.
"""

import math
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.evaluation.linear import (
    EVALUATION_ARRAYS,
    OPTIONAL_EVALUATION_ARRAYS,
    Explanation,
    LinearEvaluation,
    check_shapes,
)
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.result_distribution import ResultDistribution, result_distribution
from glem.core.features.learning import Learning
from glem.core.files.archives import ArchiveFormat, holds_array
from glem.core.game.game import Game
from glem.core.tasks.progress import SILENT, Progress

_VALUE, _DRAWISHNESS = "value_", "drawishness_"
_PARTS = (_VALUE, _DRAWISHNESS)
_FORMAT = ArchiveFormat(
    "glem result evaluation",
    version=1,
    required=tuple(part + name for part in _PARTS for name in EVALUATION_ARRAYS),
    optional=tuple(part + name for part in _PARTS for name in OPTIONAL_EVALUATION_ARRAYS),
    largest=8 << 30,
    foreign={"bias": "is an evaluation without a drawishness"},
)


@define(frozen=True, eq=False, repr=False)
class ResultEvaluation:
    """An evaluation with a drawishness of its own.

    Parameters
    ----------
    value
        Evaluation v of the side to move, under the logistic link: its sums are log odds.
    drawishness
        Under the logistic link as well: its prediction is the drawishness alpha, between 0 and 1.
    scale
        b, in units of the value's log odds: the expected score is 1 / (1 + exp(-v / b)).
    provenance
        Where the two come from; names and texts, kept in files.

    Raises
    ------
    BadInputError
        The parts are of different games or of another link, or the scale is not positive and finite.
    """

    value: LinearEvaluation
    drawishness: LinearEvaluation
    scale: float = 1.0
    provenance: Mapping[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for name, part in (("value", self.value), ("drawishness", self.drawishness)):
            if part.link != LOGISTIC:
                raise BadInputError(f"the {name} has the {part.link.name} link; log odds have the logistic one")
        if self.drawishness.learning is not self.value.learning:
            games = " and ".join(part.learning.game.name for part in (self.value, self.drawishness))
            raise BadInputError(f"value and drawishness belong to different features: of {games}")
        if not 0 < self.scale < math.inf:
            raise BadInputError(f"the scale b of an evaluation must be positive and finite, got {self.scale}")
        object.__setattr__(self, "scale", float(self.scale))
        for name in ("value", "drawishness"):
            part = getattr(self, name)
            if type(part) is not LinearEvaluation:
                raise BadInputError(f"the {name} is no linear evaluation")
            if part.coefficients is not None:
                # Changes and fits of the whole do not keep them true.
                object.__setattr__(self, name, attrs.evolve(part, coefficients=None))

    def __repr__(self) -> str:
        return f"ResultEvaluation(value {self.value!r}, drawishness {self.drawishness!r}, scale {self.scale:g})"

    def _repr_html_(self) -> str:
        value = self.value.strongest_weights(f"value {self.value!r}, scale {self.scale:g}")
        return value.html() + self.drawishness.strongest_weights(f"drawishness {self.drawishness!r}").html()

    @classmethod
    def with_constant_drawishness(cls, value: LinearEvaluation, drawishness: float) -> Self:
        """Make one from a value, under the logistic link, and a drawishness above 0 and below 1 for all positions."""
        if not 0 < drawishness < 1:
            raise BadInputError(f"a constant drawishness lies above 0 and below 1, got {drawishness}")
        log_odds = math.log(drawishness) - math.log1p(-drawishness)
        learning = value.learning
        part = LinearEvaluation(learning, np.full(len(learning.phases), log_odds, np.float32), link=LOGISTIC)
        return cls(value, part)

    @property
    def learning(self) -> Learning:
        """Features and phases of the game."""
        return self.value.learning

    @property
    def game(self) -> Game:
        """Game that it evaluates."""
        return self.value.learning.game

    def log_odds(
        self, positions: Any, *, jobs: int = 1, progress: Progress = SILENT
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values, and log odds of the drawishness, of positions: float64 [N] each; see :meth:`predict`."""
        # The sums before the link: a chance of almost 1 has few digits left.
        parts = (self.value, self.drawishness)
        value, odds = (part.sums(positions, jobs=jobs, progress=progress).astype(np.float64) for part in parts)
        return value, odds

    def predict(
        self, positions: Any, *, jobs: int = 1, progress: Progress = SILENT
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Evaluate positions.

        Parameters
        ----------
        positions
            As for :meth:`LinearEvaluation.predict`.
        jobs
            Threads; the result does not depend on them.
        progress
            Display.

        Returns
        -------
        value
            float64 [N], log odds from the side to move, to be divided by :attr:`scale`; of one position a number.
        drawishness
            float64 [N], alpha; of one position a number.
        """
        value, odds = self.log_odds(positions, jobs=jobs, progress=progress)
        return value, LOGISTIC(odds)

    def distribution(self, positions: Any, *, jobs: int = 1, progress: Progress = SILENT) -> NDArray[np.float64]:
        """Probabilities of the results of positions (Ban 2012, equations 9-14).

        Returns
        -------
        probabilities
            float64 [N, 3]: of a win, a draw and a loss of the side to move; of one position [3].
        """
        value, drawishness = self.predict(positions, jobs=jobs, progress=progress)
        found: ResultDistribution = result_distribution(value, self.scale, drawishness)
        return np.stack(found, axis=-1)

    def explain(self, position: Any) -> Explanation:
        """List what is active in a position and how much each item adds to the value, and to the drawishness."""
        return attrs.evolve(self.value.explain(position), drawishness=self.drawishness.explain(position))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file, atomically."""
        header: dict[str, Any] = {
            "game": self.game.name,
            "scale": self.scale,
            "provenance": {str(name): str(text) for name, text in self.provenance.items()},
        }
        arrays: dict[str, NDArray[Any]] = {}
        for prefix, part in zip(_PARTS, (self.value, self.drawishness), strict=True):
            own_header, own_arrays = part.parts()
            header[prefix.rstrip("_")] = own_header
            arrays |= {prefix + name: array for name, array in own_arrays.items()}
        _FORMAT.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` wrote.

        Raises
        ------
        BadInputError
            The file is missing, damaged, of another kind, or made for other features or phases.
        """
        source = Path(path)
        header, arrays = _FORMAT.read(source, partial(_check_shapes, source))

        def part(prefix: str) -> LinearEvaluation:
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            return LinearEvaluation.from_parts(source, header.get(prefix.rstrip("_")), own)

        value, drawishness = part(_VALUE), part(_DRAWISHNESS)
        with reading(source, "glem result evaluation"):
            provenance = {str(name): str(text) for name, text in header["provenance"].items()}
            return cls(value, drawishness, float(header["scale"]), provenance)


def _check_shapes(source: Path, header: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for part in _PARTS:
        own = {name.removeprefix(part): shape for name, shape in shapes.items() if name.startswith(part)}
        check_shapes(source, header.get(part.rstrip("_")), own, part)


def value_part(evaluation: LinearEvaluation | ResultEvaluation) -> LinearEvaluation:
    """Return what search and players use of an evaluation of either kind."""
    return evaluation.value if isinstance(evaluation, ResultEvaluation) else evaluation


def has_drawishness(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an archive with the arrays of a drawishness; False for anything else."""
    return holds_array(path, f"{_DRAWISHNESS}bias")
