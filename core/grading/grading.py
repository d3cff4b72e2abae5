"""Grades of several evaluations on the same positions: everything that a person asks of them, from arrays alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import blocks_of, expectation, log_correctness, result_distribution
from glem.core.fitting.assessment import CalibrationBins, calibration_bins
from glem.core.grading.comparison import Comparison, compare, holm_adjusted
from glem.core.grading.correctness import (
    LEAST_CORRECTNESS,
    Grade,
    checked_games,
    floored,
    grade_by_group,
    grade_of,
    mean_by_game,
)
from glem.core.grading.recalibration import FEWEST_GAMES, Calibration, recalibrated
from glem.core.grading.scale import ScaleFit, fit_scale
from glem.core.tasks.tables import html_table

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
    game: Any = None
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

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """For which positions there is a value, and a drawishness if the evaluation has its own: [N]."""
        missing = np.isnan(self.value)
        if np.ndim(self.drawishness):
            missing = missing | np.isnan(self.drawishness)
        known: NDArray[np.bool_] = ~missing
        return known


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
    recalibrate
        Whether evaluations are calibrated to the games before they are graded and compared, each part of the games by
        the others; else their calibration is graded as well.
    """

    floor: float = LEAST_CORRECTNESS
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    bins: int = 20
    recalibrate: bool = True

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
        Over all positions: recalibrated (:mod:`glem.core.grading.recalibration`), where there are games enough.
    by_group
        Name of a grouping to the grades of its groups; None for an empty group.
    as_given
        The grade with the scale and the drawishness that the evaluation came with, or that were given; those that it
        lacks are fitted to the graded games. None for a baseline.
    fit
        Scale and drawishness of that, given or fitted; None for a baseline.
    calibration
        Mean of the calibrations of the grade; None for a baseline and where nothing was recalibrated.
    cost, cost_error
        Mean log correctness of the grade less that as given, and its standard error by game.
    frequencies
        Grade of the result frequencies on the same positions.
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
    as_given: Grade | None = None
    fit: ScaleFit | None = None
    calibration: Calibration | None = None
    cost: float = 0.0
    cost_error: float = math.nan
    frequencies: float = math.nan
    unit: str = ""
    scores: CalibrationBins | None = None
    draws: CalibrationBins | None = None
    missing: int = 0


@define(frozen=True, eq=False, repr=False)
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
    notes
        What the grades say of single evaluations, one sentence each.
    """

    evaluations: tuple[EvaluationGrade, ...]
    baselines: tuple[EvaluationGrade, ...]
    comparisons: tuple[Comparison, ...]
    groups: Mapping[str, tuple[str, ...]]
    ordered: tuple[str, ...]
    results: tuple[int, int, int]
    settings: GradingSettings
    uncompared: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        grades = ", ".join(f"{one.name} {one.grade.grade:.4f}" for one in self.evaluations)
        return f"Grading({sum(self.results)} positions: {grades})"

    def _repr_html_(self) -> str:
        rows = [
            (one.name, f"{one.grade.grade:.4f}", f"{one.grade.error:.4f}", f"{one.grade.low:.4f}-{one.grade.high:.4f}")
            for one in (*self.baselines, *self.evaluations)
        ]
        header = ("evaluation", "grade", "error", f"{self.settings.confidence:g} interval")
        caption = f"Geometric mean of the probability given to the result, {sum(self.results)} positions"
        return html_table(caption, header, rows)


class _Logs(NamedTuple):
    """Logarithms of an evaluation's correctness [N], nan where it has no value."""

    as_given: NDArray[np.float64]
    recalibrated: NDArray[np.float64] | None


class _Grader:
    def __init__(self, positions: GradedPositions, settings: GradingSettings) -> None:
        self._positions, self._settings = positions, settings
        self._bounds: dict[str, float] = {"floor": settings.floor, "confidence": settings.confidence}
        result, side = positions.result, positions.side
        # Of the first player, as the paper counts: who moves first has the better chances in most games.
        outcome = (result if side is None else result * side).astype(np.int64) + 1
        with np.errstate(divide="ignore"):
            self._frequencies = np.log(np.bincount(outcome, minlength=3) / len(outcome))[outcome]

    def grade(self, name: str, logs: NDArray[np.float64], rows: Any = slice(None), **more: Any) -> EvaluationGrade:
        """Grade on some rows; ``logs`` are those of all."""
        game = self._positions.game
        by_group = {
            grouping: grade_by_group(logs[rows], game[rows], parts.group[rows], parts.names, **self._bounds)
            for grouping, parts in self._positions.groupings.items()
        }
        return EvaluationGrade(name, grade_of(logs[rows], game[rows], **self._bounds), by_group, **more)

    def baselines(self) -> tuple[EvaluationGrade, ...]:
        equal = np.full(len(self._frequencies), -np.log(3.0))
        return (self.grade(EQUAL, equal), self.grade(FREQUENCIES, self._frequencies))

    def evaluation(self, name: str, prediction: Prediction) -> tuple[EvaluationGrade, _Logs]:
        count = len(self._positions.result)
        if len(prediction.value) != count:
            raise BadInputError(f"{name} has {len(prediction.value)} values for {count} positions")
        known = prediction.is_known
        if not known.any():
            raise BadInputError(f"{name} has no value for any of the {count:,} positions")
        rows: Any = slice(None) if known.all() else np.flatnonzero(known)
        game = self._positions.game
        value, result, game = np.asarray(prediction.value)[rows], self._positions.result[rows], game[rows]
        own: Any = prediction.drawishness
        if np.ndim(own):
            own = np.asarray(own)[rows]
        floor = self._settings.floor
        fit = fit_scale(value, result, scale=prediction.scale, drawishness=own, game=game, floor=floor)
        drawishness: Any = own if fit.drawishness is None else fit.drawishness
        as_given = log_correctness(value, result, fit.scale, drawishness)
        anew = None
        if self._settings.recalibrate:
            anew = recalibrated(value, result, game, own, seed=self._settings.seed, floor=floor)
        logs = as_given if anew is None else anew.logs
        gained = floored(logs, floor)[0] - floored(as_given, floor)[0]
        cost, cost_error, _ = mean_by_game(gained, game)

        def everywhere(known: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.full(count, np.nan)
            found[rows] = known
            return found

        spread = _Logs(everywhere(as_given), None if anew is None else everywhere(logs))
        draws = np.empty(len(result))
        for part in blocks_of(len(result)):
            alpha = drawishness[part] if np.ndim(drawishness) else drawishness
            draws[part] = result_distribution(value[part], fit.scale, alpha).draw
        bins = self._settings.bins
        grade = self.grade(
            name,
            spread.as_given if spread.recalibrated is None else spread.recalibrated,
            rows,
            as_given=grade_of(as_given, game, **self._bounds),
            fit=fit,
            calibration=None if anew is None else anew.calibration,
            cost=cost,
            cost_error=cost_error,
            frequencies=math.exp(floored(self._frequencies[rows], floor)[0].mean()),
            unit=prediction.unit,
            scores=calibration_bins(expectation(value, fit.scale), (result + 1) / 2, bins=bins),
            draws=calibration_bins(draws, result == 0, bins=bins),
            missing=count - len(result),
        )
        return grade, spread


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
    evaluations = tuple(grade for grade, _ in graded.values())
    won, drawn, lost = (int((positions.result == result).sum()) for result in (1, 0, -1))
    return Grading(
        evaluations=evaluations,
        baselines=grader.baselines(),
        comparisons=comparisons,
        groups={name: grouping.names for name, grouping in positions.groupings.items()},
        ordered=tuple(name for name, grouping in positions.groupings.items() if grouping.is_ordered),
        results=(won, drawn, lost),
        settings=chosen,
        uncompared=uncompared,
        notes=_notes_on(evaluations, comparisons, is_recalibrated=chosen.recalibrate),
    )


def _comparisons(
    logs: Mapping[str, _Logs], positions: GradedPositions, settings: GradingSettings
) -> tuple[tuple[Comparison, ...], tuple[tuple[str, str], ...]]:
    """Compare each pair where both have a value; the second part names the pairs that have no such position."""
    game = positions.game
    comparisons: list[Comparison] = []
    uncompared = []
    for first, second in combinations(logs, 2):
        pair = logs[first], logs[second]
        both = ~(np.isnan(pair[0].as_given) | np.isnan(pair[1].as_given))
        if not both.any():
            uncompared.append((first, second))
            continue
        rows: Any = slice(None) if both.all() else np.flatnonzero(both)
        given, anew = ([one[place] for one in pair] for place in range(2))
        is_recalibrated = all(one is not None for one in anew)
        compared = [one[rows] for one in (anew if is_recalibrated else given) if one is not None]
        comparison = compare(
            compared[0],
            compared[1],
            game[rows],
            names=(first, second),
            floor=settings.floor,
            confidence=settings.confidence,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        if is_recalibrated:
            as_given = [floored(one[rows], settings.floor)[0] for one in given if one is not None]
            difference, error, _ = mean_by_game(as_given[0] - as_given[1], game[rows])
            comparison = evolve(
                comparison,
                as_given=(math.exp(as_given[0].mean()), math.exp(as_given[1].mean())),
                as_given_difference=difference,
                as_given_error=error,
            )
        comparisons.append(comparison)
    adjusted = holm_adjusted([one.p_value for one in comparisons])
    return (
        tuple(
            evolve(one, adjusted_p_value=p_value, pairs=len(comparisons))
            for one, p_value in zip(comparisons, adjusted, strict=True)
        ),
        tuple(uncompared),
    )


def _notes_on(
    evaluations: Sequence[EvaluationGrade], comparisons: Sequence[Comparison], *, is_recalibrated: bool
) -> tuple[str, ...]:
    """Tell what is remarkable about the grades of single evaluations.

    Parameters
    ----------
    evaluations
        Graded, without baselines.
    comparisons
        Of pairs of them.
    is_recalibrated
        Whether grades were to be recalibrated.
    """
    found = [note for one in evaluations for note in (_costly(one, comparisons), _below(one)) if note]
    few = [one.name for one in evaluations if one.calibration is None]
    if few and is_recalibrated:
        found.append(
            f"{' and '.join(few)}: fewer than {FEWEST_GAMES} games are too few to recalibrate; what is graded and "
            "compared is the evaluation as given, its calibration included"
        )
    return tuple(found)


def _costly(one: EvaluationGrade, comparisons: Sequence[Comparison]) -> str:
    """Tell where a calibration costs an evaluation its rank; empty where it does not."""
    assert one.fit is not None
    assert one.as_given is not None
    own = [what for what in ("scale", "drawishness") if what not in one.fit.fitted]
    if not own or not one.cost > 2 * one.cost_error:
        return ""
    above = []
    for pair in comparisons:
        leader, other = (pair.first, pair.second) if pair.difference > 0 else (pair.second, pair.first)
        if leader == one.name and pair.is_reversed:
            above.append(other)
    marks = {FREQUENCIES: one.frequencies, EQUAL: 1 / 3}
    above += [name for name, mark in marks.items() if one.as_given.grade < mark < one.grade.grade]
    if not above:
        return ""
    return (
        f"{one.name}: the {' and '.join(own)} that it comes with cost{'s' * (len(own) == 1)} it "
        f"{1 - one.as_given.grade / one.grade.grade:.1%} of its grade and its rank: as given "
        f"({one.as_given.grade:.4f}) it is below {', '.join(above)}, recalibrated ({one.grade.grade:.4f}) above"
    )


def _below(one: EvaluationGrade) -> str:
    if one.grade.grade >= one.frequencies:
        return ""
    return (
        f"{one.name} grades below the {FREQUENCIES}, {one.grade.grade:.4f} against {one.frequencies:.4f}: its "
        "probabilities suit these results less than how often each of them occurs"
    )
