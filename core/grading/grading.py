"""Grades of several evaluations on the same positions: everything that a person asks of them, from arrays alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.assessment import CalibrationBins, calibration_bins
from glem.core.errors import BadInputError
from glem.core.grading.comparison import Comparison, compare, holm_adjusted
from glem.core.grading.correctness import LEAST_CORRECTNESS, Grade, checked_games, grade_by_group, grade_of
from glem.core.grading.distribution import blocks_of, expectation, log_correctness, result_distribution
from glem.core.grading.scale import ScaleFit, fit_scale

__all__ = [
    "EQUAL",
    "FREQUENCIES",
    "EvaluationGrade",
    "GradedPositions",
    "Grading",
    "GradingSettings",
    "Grouping",
    "Prediction",
    "grade_predictions",
]

EQUAL = "equal probabilities"
"""The baseline that gives each result 1/3."""

FREQUENCIES = "result frequencies"
"""The baseline that knows how often the graded positions were won, drawn and lost, and nothing else."""

_MOST_COMPARED = 12


@define(frozen=True, eq=False)
class Grouping:
    """A division of positions into groups that are graded apart, such as game phases.

    Parameters
    ----------
    names
        Names of the groups.
    group
        Group of each position [N], -1 for none.
    is_ordered
        Whether the groups follow each other, so that grades can be drawn as a curve over them.
    """

    names: tuple[str, ...]
    group: NDArray[Any]
    is_ordered: bool = False


@define(frozen=True, eq=False)
class GradedPositions:
    """What is known of the N positions that evaluations are graded on.

    Parameters
    ----------
    result
        int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost.
    game
        Number of each position's game [N]; None where each position is from a game of its own.
    side
        int8 [N]: 1 where the first player is to move, -1 where the second is; None if unknown. Result frequencies are
        then those of the side to move.
    groupings
        Divisions whose groups are graded apart, by name.

    Raises
    ------
    BadInputError
        The columns differ in length or are empty.
    """

    result: NDArray[np.int8]
    game: NDArray[Any] | None = None
    side: NDArray[np.int8] | None = None
    groupings: Mapping[str, Grouping] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        count = len(self.result)
        if count == 0:
            raise BadInputError("no positions to grade")
        others = {"game numbers": self.game, "sides": self.side}
        others |= {f"groups by {name}": grouping.group for name, grouping in self.groupings.items()}
        for name, column in others.items():
            if column is not None and len(column) != count:
                raise BadInputError(f"{count} results have {len(column)} {name}")
        object.__setattr__(self, "game", checked_games(self.game, count))


@define(frozen=True, eq=False)
class Prediction:
    """What an evaluation says of N positions.

    Parameters
    ----------
    value
        Evaluations [N] from the side to move, in any unit that is proportional to log odds; nan where the evaluation
        has none. Such positions are left out of its grade and of its comparisons, and counted.
    drawishness
        alpha: [N] if the evaluation has its own (nan where it has none), one that is given for all, or None to fit one
        for all.
    scale
        b, or None to fit it.
    unit
        Unit of the values, for people.
    seconds
        Time that a position took on average, in seconds of one process; nan where nobody measured it.
    """

    value: NDArray[Any]
    drawishness: Any = None
    scale: float | None = None
    unit: str = ""
    seconds: float = math.nan


@define(frozen=True)
class GradingSettings:
    """How grades are taken and compared.

    Parameters
    ----------
    floor
        A correctness below it counts as it.
    confidence
        Of all intervals.
    resamples
        Samples of the bootstrap and of the sign-flip test.
    seed
        Of these.
    bins
        Bins of the reliability curves.
    """

    floor: float = LEAST_CORRECTNESS
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    bins: int = 20

    def __attrs_post_init__(self) -> None:
        if self.bins < 1:
            raise BadInputError(f"a reliability curve needs at least one bin, got {self.bins}")


@define(frozen=True, eq=False)
class EvaluationGrade:
    """An evaluation's grades.

    Parameters
    ----------
    name
        Its name.
    grade
        Over all positions.
    by_group
        Name of a grouping to the grades of its groups; None for an empty group.
    fit
        Scale and drawishness, given or fitted; None for a baseline.
    unit
        Unit of its values.
    scores
        Reliability of the expected score (0 to 1): predicted and observed, by bins of equal size; None for a baseline.
    draws
        The same of the probability of a draw.
    missing
        Positions for which the evaluation has no value; they are not among those of the grade.
    """

    name: str
    grade: Grade
    by_group: Mapping[str, tuple[Grade | None, ...]]
    fit: ScaleFit | None = None
    unit: str = ""
    scores: CalibrationBins | None = None
    draws: CalibrationBins | None = None
    missing: int = 0


@define(frozen=True, eq=False)
class Grading:
    """Grades of several evaluations on the same positions.

    Parameters
    ----------
    evaluations
        In the order in which they were given.
    baselines
        What must be beaten: equal probabilities, and the frequencies of the results.
    comparisons
        Of each pair of evaluations on the positions for which both have a value; p-values are adjusted for their
        number (Holm 1979).
    groups
        Name of a grouping to the names of its groups.
    ordered
        Names of the groupings whose groups follow each other.
    results
        Number of positions whose game the side to move won, drew and lost.
    settings
        How grades were taken.
    uncompared
        Pairs that have no position in common.
    """

    evaluations: tuple[EvaluationGrade, ...]
    baselines: tuple[EvaluationGrade, ...]
    comparisons: tuple[Comparison, ...]
    groups: Mapping[str, tuple[str, ...]]
    ordered: tuple[str, ...]
    results: tuple[int, int, int]
    settings: GradingSettings
    uncompared: tuple[tuple[str, str], ...] = ()


class _Grader:
    def __init__(self, positions: GradedPositions, settings: GradingSettings) -> None:
        self._positions, self._settings = positions, settings
        self._bounds: dict[str, float] = {"floor": settings.floor, "confidence": settings.confidence}

    def grade(self, name: str, logs: NDArray[np.float64], rows: Any = slice(None), **more: Any) -> EvaluationGrade:
        """Grade on some rows; ``logs`` are those of all."""
        game = self._positions.game
        assert game is not None
        by_group = {
            grouping: grade_by_group(logs[rows], game[rows], parts.group[rows], parts.names, **self._bounds)
            for grouping, parts in self._positions.groupings.items()
        }
        return EvaluationGrade(name, grade_of(logs[rows], game[rows], **self._bounds), by_group, **more)

    def baselines(self) -> tuple[EvaluationGrade, ...]:
        result = self._positions.result
        side = self._positions.side
        # Of the first player, as the paper counts: who moves first has the better chances in most games.
        outcome = (result if side is None else result * side).astype(np.int64) + 1
        frequencies = np.bincount(outcome, minlength=3) / len(outcome)
        with np.errstate(divide="ignore"):
            logs = np.log(frequencies)[outcome]
        return (self.grade(EQUAL, np.full(len(result), -np.log(3.0))), self.grade(FREQUENCIES, logs))

    def evaluation(self, name: str, prediction: Prediction) -> tuple[EvaluationGrade, NDArray[np.float64]]:
        """Grade of an evaluation, and the logarithms of its correctness [N], nan where it has no value."""
        count = len(self._positions.result)
        if len(prediction.value) != count:
            raise BadInputError(f"{name} has {len(prediction.value)} values for {count} positions")
        rows = _rows_with_values(name, prediction)
        game = self._positions.game
        assert game is not None
        value, result, game = np.asarray(prediction.value)[rows], self._positions.result[rows], game[rows]
        own: Any = prediction.drawishness
        if np.ndim(own):
            own = np.asarray(own)[rows]
        floor = self._settings.floor
        fit = fit_scale(value, result, scale=prediction.scale, drawishness=own, game=game, floor=floor)
        drawishness: Any = own if fit.drawishness is None else fit.drawishness
        logs = np.full(count, np.nan)
        logs[rows] = log_correctness(value, result, fit.scale, drawishness)
        draws = np.empty(len(result))
        for part in blocks_of(len(result)):
            alpha = drawishness[part] if np.ndim(drawishness) else drawishness
            draws[part] = result_distribution(value[part], fit.scale, alpha).draw
        bins = self._settings.bins
        grade = self.grade(
            name,
            logs,
            rows,
            fit=fit,
            unit=prediction.unit,
            scores=calibration_bins(expectation(value, fit.scale), (result + 1) / 2, bins=bins),
            draws=calibration_bins(draws, result == 0, bins=bins),
            missing=count - len(result),
        )
        return grade, logs


def _rows_with_values(name: str, prediction: Prediction) -> Any:
    """Rows of the positions for which an evaluation has a value, and its own drawishness if it has one."""
    missing = np.isnan(prediction.value)
    if np.ndim(prediction.drawishness):
        missing = missing | np.isnan(prediction.drawishness)
    if not missing.any():
        return slice(None)
    if missing.all():
        raise BadInputError(f"{name} has no value for any of the {len(missing):,} positions")
    return np.flatnonzero(~missing)


def grade_predictions(
    positions: GradedPositions, predictions: Mapping[str, Prediction], settings: GradingSettings | None = None
) -> Grading:
    """Grade evaluations by what they say of positions, and compare each pair of them.

    Parameters
    ----------
    positions
        Results and games.
    predictions
        Name of an evaluation to what it says of the same positions, in the same order.
    settings
        How grades are taken; the default if None.

    Raises
    ------
    BadInputError
        Columns of different lengths, an evaluation without any value, or settings out of range.
    """
    chosen = GradingSettings() if settings is None else settings
    if len(predictions) > _MOST_COMPARED:
        raise BadInputError(f"at most {_MOST_COMPARED} evaluations are compared at a time, got {len(predictions)}")
    grader = _Grader(positions, chosen)
    graded = {name: grader.evaluation(name, prediction) for name, prediction in predictions.items()}
    comparisons, uncompared = _comparisons({name: logs for name, (_, logs) in graded.items()}, positions, chosen)
    won, drawn, lost = (int((positions.result == result).sum()) for result in (1, 0, -1))
    return Grading(
        evaluations=tuple(grade for grade, _ in graded.values()),
        baselines=grader.baselines(),
        comparisons=comparisons,
        groups={name: grouping.names for name, grouping in positions.groupings.items()},
        ordered=tuple(name for name, grouping in positions.groupings.items() if grouping.is_ordered),
        results=(won, drawn, lost),
        settings=chosen,
        uncompared=uncompared,
    )


def _comparisons(
    logs: Mapping[str, NDArray[np.float64]], positions: GradedPositions, settings: GradingSettings
) -> tuple[tuple[Comparison, ...], tuple[tuple[str, str], ...]]:
    """Compare each pair where both have a value; the second part names the pairs that have no such position."""
    game = positions.game
    assert game is not None
    comparisons: list[Comparison] = []
    uncompared = []
    for first, second in combinations(logs, 2):
        both = ~(np.isnan(logs[first]) | np.isnan(logs[second]))
        if not both.any():
            uncompared.append((first, second))
            continue
        rows: Any = slice(None) if both.all() else np.flatnonzero(both)
        comparisons.append(
            compare(
                logs[first][rows],
                logs[second][rows],
                game[rows],
                names=(first, second),
                floor=settings.floor,
                confidence=settings.confidence,
                resamples=settings.resamples,
                seed=settings.seed,
            )
        )
    adjusted = holm_adjusted([one.p_value for one in comparisons])
    return (
        tuple(
            evolve(one, adjusted_p_value=p_value, pairs=len(comparisons))
            for one, p_value in zip(comparisons, adjusted, strict=True)
        ),
        tuple(uncompared),
    )
