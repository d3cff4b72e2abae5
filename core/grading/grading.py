"""Grades of several evaluations on the same positions: everything that a person asks of them, from arrays alone."""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import blocks_of, expectation, result_distribution
from glem.core.evaluation.result_models import Calibration
from glem.core.grading.calibration import (
    FEWEST_GAMES,
    Prediction,
    ScaleFit,
    log_correctness_of,
    recalibrated,
)
from glem.core.grading.comparison import Comparison, compare, holm_adjusted
from glem.core.grading.correctness import (
    DEFAULT_SETTINGS,
    Grade,
    GradingSettings,
    checked_games,
    grade_of,
    mean_by_game,
)
from glem.core.grading.groupings import Grouping
from glem.core.measures.calibration_bins import CalibrationBins, calibration_bins
from glem.core.tasks.counts import counted, interval_text, with_error
from glem.core.tasks.tables import Table

EQUAL = "equal probabilities"
"""The baseline that gives each result 1/3."""

FREQUENCIES = "result frequencies"
"""The baseline that knows how often the graded positions were won, drawn and lost, and nothing else."""

_MOST_COMPARED = 12


@define(frozen=True, eq=False)
class EvaluationGrade:
    """An evaluation's grades.

    Parameters
    ----------
    grade
        Over all positions: recalibrated (:mod:`glem.core.grading.calibration`), where there are games enough.
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
        return f"Grading({counted(sum(self.results), 'position')}: {grades})"

    def _repr_html_(self) -> str:
        return self.table().html()

    @property
    def graded(self) -> tuple[EvaluationGrade, ...]:
        """The baselines, then the evaluations."""
        return (*self.baselines, *self.evaluations)

    def table(self, featured: Collection[str] = ()) -> Table:
        """Make the table of grades; ``featured`` are evaluations whose drawishness was fitted from features."""

        def drawishness(one: EvaluationGrade) -> str | None:
            if one.fit is None:
                return None
            if one.fit.drawishness is None:
                return "from features" if one.name in featured else "its own"
            return with_error(one.fit.drawishness, one.fit.drawishness_error)

        return Table.of(
            "Grades: geometric mean of the probability given to the result",
            self.graded,
            {
                "evaluation": lambda one: one.name,
                "grade": lambda one: f"{one.grade.grade:.4f}",
                "error": lambda one: f"{one.grade.error:.4f}" if math.isfinite(one.grade.error) else "",
                f"{self.settings.confidence:.3g} interval": lambda one: one.grade.interval,
                "as given": lambda one: one.as_given and f"{one.as_given.grade:.4f}",
                "b": lambda one: one.fit and f"{with_error(one.fit.scale, one.fit.scale_error)} {one.unit}".strip(),
                "drawishness": drawishness,
                "floored": lambda one: one.fit and f"{one.grade.floored:,}",
                "missing": lambda one: one.fit and f"{one.missing:,}",
            },
        )

    def group_table(self, grouping: str) -> Table:
        """Make the table of the grades of each group that has positions."""
        rows = []
        for place, name in enumerate(self.groups[grouping]):
            grades = [one.by_group[grouping][place] for one in self.graded]
            first = grades[0]
            if first is not None:
                cells = (with_error(grade.grade, grade.error) if grade else "" for grade in grades)
                rows.append((name, f"{first.positions:,}", *cells))
        return Table(f"Grades by {grouping}", (grouping, "positions", *(one.name for one in self.graded)), rows)

    def comparison_table(self) -> Table:
        """Make the table of the comparisons of all pairs."""
        return Table.of(
            "Comparisons on the same positions: mean log probability of the first less the second",
            self.comparisons,
            {
                "first - second": lambda one: f"{one.first} - {one.second}",
                "positions": lambda one: f"{one.positions:,}",
                "difference": lambda one: f"{one.difference:+.5f}",
                "error": lambda one: f"{one.error:.5f}",
                "interval": lambda one: interval_text(one.low, one.high, 5),
                "ratio": lambda one: f"{one.ratio:.4f}",
                "p": lambda one: f"{one.p_value:.2g}",
                "p adjusted": lambda one: f"{one.adjusted_p_value:.2g}",
                "as given": lambda one: one.as_given and f"{one.as_given_difference:+.5f} ± {one.as_given_error:.5f}",
            },
        )


class _Logs(NamedTuple):
    """Logarithms of an evaluation's correctness [N], nan where it has no value."""

    as_given: NDArray[np.float64]
    recalibrated: NDArray[np.float64] | None


@define(frozen=True, eq=False)
class _Grader:
    """What evaluations are graded on, as the parameters of :func:`grade_predictions` say."""

    result: NDArray[np.int8]
    game: NDArray[np.int64]
    groupings: Mapping[str, Grouping]
    settings: GradingSettings
    frequencies: NDArray[np.float64]
    """Logarithm of the frequency of what happened [N]."""

    def grade(self, name: str, logs: NDArray[np.float64], rows: Any = slice(None), **more: Any) -> EvaluationGrade:
        """Grade on some rows; ``logs`` are those of all."""
        logs, game = logs[rows], self.game[rows]

        def grade(chosen: NDArray[Any]) -> Grade | None:
            return grade_of(logs[chosen], game[chosen], self.settings) if len(chosen) else None

        by_group = {
            grouping: tuple(grade(np.flatnonzero(parts.group[rows] == place)) for place in range(len(parts.names)))
            for grouping, parts in self.groupings.items()
        }
        return EvaluationGrade(name, grade_of(logs, game, self.settings), by_group, **more)

    def evaluation(self, name: str, prediction: Prediction) -> tuple[EvaluationGrade, _Logs]:
        count, settings = len(self.result), self.settings
        known = prediction.is_known
        rows: Any = slice(None) if known.all() else np.flatnonzero(known)
        result, game, said = self.result[rows], self.game[rows], prediction.select(rows)
        value, own = said.value, said.drawishness
        fit, as_given = log_correctness_of(said, result, game, settings.floor)
        anew = recalibrated(said, result, game, settings) if settings.recalibrate else None
        logs = as_given if anew is None else anew.logs
        cost, cost_error, _ = mean_by_game(settings.floored(logs) - settings.floored(as_given), game)

        def everywhere(known: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.full(count, np.nan)
            found[rows] = known
            return found

        graded = everywhere(logs)
        spread = _Logs(everywhere(as_given), None if anew is None else graded)
        draws, drawishness = np.empty(len(result)), fit.alpha(own)
        for part in blocks_of(len(result)):
            alpha = drawishness[part] if np.ndim(drawishness) else drawishness
            draws[part] = result_distribution(value[part], fit.scale, alpha).draw
        grade = self.grade(
            name,
            graded,
            rows,
            as_given=grade_of(as_given, game, settings),
            fit=fit,
            calibration=None if anew is None else anew.calibration,
            cost=cost,
            cost_error=cost_error,
            frequencies=math.exp(settings.floored(self.frequencies[rows]).mean()),
            unit=prediction.unit,
            scores=calibration_bins(expectation(value, fit.scale), (result + 1) / 2, bins=settings.bins),
            draws=calibration_bins(draws, result == 0, bins=settings.bins),
            missing=count - len(result),
        )
        return grade, spread

    def comparison(self, names: tuple[str, str], pair: tuple[_Logs, _Logs]) -> Comparison | None:
        """Compare two evaluations where both have a value; None where they have no such position."""
        both = ~(np.isnan(pair[0].as_given) | np.isnan(pair[1].as_given))
        if not both.any():
            return None
        rows: Any = slice(None) if both.all() else np.flatnonzero(both)
        given = pair[0].as_given[rows], pair[1].as_given[rows]
        if pair[0].recalibrated is None or pair[1].recalibrated is None:
            return compare(*given, self.game[rows], names=names, settings=self.settings)
        anew = pair[0].recalibrated[rows], pair[1].recalibrated[rows]
        return compare(*anew, self.game[rows], names=names, as_given=given, settings=self.settings)


def grade_predictions(
    result: NDArray[np.int8],
    predictions: Mapping[str, Prediction],
    *,
    game: NDArray[Any] | None = None,
    side: NDArray[np.int8] | None = None,
    groupings: Mapping[str, Grouping] | None = None,
    settings: GradingSettings = DEFAULT_SETTINGS,
) -> Grading:
    """Grade evaluations by what they say of positions, and compare each pair of them.

    Parameters
    ----------
    result
        int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost.
    predictions
        Name of an evaluation to what it says of the same positions, in the same order.
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
        More evaluations than are compared at a time.
    """
    if len(predictions) > _MOST_COMPARED:
        raise BadInputError(f"at most {_MOST_COMPARED} evaluations are compared at a time, got {len(predictions)}")
    count = len(result)
    groups = {} if groupings is None else groupings
    # Of the first player, as the paper counts: who moves first has the better chances in most games.
    outcome = (result if side is None else result * side).astype(np.int64) + 1
    with np.errstate(divide="ignore"):
        frequencies = np.log(np.bincount(outcome, minlength=3) / count)[outcome]
    grader = _Grader(result, checked_games(game, count), groups, settings, frequencies)
    graded = {name: grader.evaluation(name, prediction) for name, prediction in predictions.items()}
    evaluations = tuple(grade for grade, _ in graded.values())
    compared = {
        pair: grader.comparison(pair, (graded[pair[0]][1], graded[pair[1]][1])) for pair in combinations(graded, 2)
    }
    comparisons = holm_adjusted([one for one in compared.values() if one is not None])
    won, drawn, lost = (int((result == each).sum()) for each in (1, 0, -1))
    return Grading(
        evaluations=evaluations,
        baselines=(grader.grade(EQUAL, np.full(count, -np.log(3.0))), grader.grade(FREQUENCIES, frequencies)),
        comparisons=comparisons,
        groups={name: grouping.names for name, grouping in groups.items()},
        ordered=tuple(name for name, grouping in groups.items() if grouping.is_ordered),
        results=(won, drawn, lost),
        settings=settings,
        uncompared=tuple(pair for pair, comparison in compared.items() if comparison is None),
        notes=_notes_on(evaluations, comparisons, is_recalibrated=settings.recalibrate),
    )


def _notes_on(
    evaluations: Sequence[EvaluationGrade], comparisons: Sequence[Comparison], *, is_recalibrated: bool
) -> tuple[str, ...]:
    """Tell what is remarkable about the grades of single evaluations, which are no baselines."""
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
