"""Correctness against processing power (Ban 2012, section 4.3 and figure 1).

Several evaluations judge the same positions after searches of growing size. Ban finds that the grade is approximately
linear in the logarithm of the processing power; here each evaluation gets a straight line over the logarithm to base 2
of its limit, and of the time that a position took, and each step to the next greater limit a paired test.
"""

import itertools
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.digests import arrays_digest
from glem.core.files.json_values import real_of
from glem.core.game.game import Game
from glem.core.grading.calibration import Prediction, ScaleFit, log_correctness_of, recalibrated
from glem.core.grading.collection import CollectedPositions
from glem.core.grading.comparison import Comparison, compare
from glem.core.grading.correctness import DEFAULT_SETTINGS, Grade, GradingSettings, grade_of
from glem.core.grading.experiments.lines import LineFit, fit_line
from glem.core.grading.scorers.scorer import Scorer
from glem.core.positions.positions import Positions
from glem.core.positions.selection.selection import PAPER_RULE, SelectionCounts, SelectionRule
from glem.core.tasks.journal import Journal
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

LIMIT_KINDS = ("nodes", "depth", "seconds")
"""What a search may be limited by."""


def sample_positions(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    *,
    rule: SelectionRule = PAPER_RULE,
    most: int | None = None,
    skip_bad: bool = False,
    progress: Progress = SILENT,
) -> tuple[Positions, SelectionCounts]:
    """Select positions of files, and keep at most so many of them; the second part counts what the files hold.

    Parameters
    ----------
    files
        Game records in any of its formats, or scored positions.
    rule
        Which positions of each game; its seed also draws those that are kept.
    most
        Positions to keep, each as likely; None for all.
    skip_bad
        Leave bad records out instead of stopping.
    progress
        Counts files.

    Raises
    ------
    BadInputError
        A file is bad, or no position is left.
    """
    read = CollectedPositions(game, keeps_positions=True)
    read.read(files, rule, skip_bad=skip_bad, progress=progress)
    selected = read.selected
    if most is not None and most < len(selected):
        selected = selected.select(np.sort(np.random.default_rng(rule.seed).permutation(len(selected))[:most]))
    return selected, read.counts


@define(frozen=True)
class PowerPoint:
    """An evaluation after searches of one size.

    Parameters
    ----------
    limit
        Of each search; None for the evaluation as it is.
    seconds
        Time that a position took on average, in seconds of one process.
    grade
        On the positions of the experiment for which all evaluations gave a value at all limits.
    fit
        Scale and drawishness.
    missing
        Positions without a value.
    rise
        Comparison with the next smaller limit, this one first; None for the smallest.
    recalibrated
        The grade with scale and drawishness fitted to other games than are graded; nan with too few games.
    """

    limit: float | None
    seconds: float
    grade: Grade
    fit: ScaleFit
    missing: int
    rise: Comparison | None
    recalibrated: float


@define(frozen=True)
class PowerCurve:
    """An evaluation after searches of growing size.

    Parameters
    ----------
    name
        Of the evaluation.
    points
        By rising limit.
    by_limit
        Grade against the logarithm to base 2 of the limit: the slope is the gain of a doubling. None with fewer than
        two limits.
    by_seconds
        The same against the time of a position.
    """

    name: str
    points: tuple[PowerPoint, ...]
    by_limit: LineFit | None
    by_seconds: LineFit | None

    @property
    def rising_steps(self) -> tuple[int, int]:
        """Number of steps to the next greater limit that have a greater grade, and of all."""
        grades = [point.grade.grade for point in self.points]
        steps = [one < other for one, other in itertools.pairwise(grades)]
        return sum(steps), len(steps)


@define(frozen=True)
class PowerExperiment:
    """Curves of several evaluations on the same positions.

    Parameters
    ----------
    kind
        What the searches were limited by.
    curves
        In the order in which the evaluations were given.
    positions, games
        Positions that were graded, of as many games as the selection asks for, and games of the collection.
    """

    kind: str
    curves: tuple[PowerCurve, ...]
    positions: int
    games: int

    def table(self) -> Table:
        """Make the table of all grades."""
        return Table.of(
            "Grade by processing power",
            [(curve.name, point) for curve in self.curves for point in curve.points],
            {
                "evaluation": lambda row: row[0],
                self.kind: lambda row: "static" if row[1].limit is None else f"{row[1].limit:,g}",
                "seconds": lambda row: f"{row[1].seconds:.2g}",
                "grade": lambda row: f"{row[1].grade.grade:.4f}",
                "error": lambda row: f"{row[1].grade.error:.4f}",
                "interval": lambda row: row[1].grade.interval,
                "recalibrated": lambda row: f"{row[1].recalibrated:.4f}" if math.isfinite(row[1].recalibrated) else "",
                "b": lambda row: f"{row[1].fit.scale:.3g}",
                "drawishness": lambda row: row[1].fit.drawishness_text,
                "missing": lambda row: f"{row[1].missing:,}",
                "rise": lambda row: row[1].rise and f"{row[1].rise.difference:+.4f}",
                "p": lambda row: row[1].rise and f"{row[1].rise.p_value:.2g}",
            },
        )

    def line_table(self) -> Table:
        """Make the table of the straight lines through the grades of searches."""

        def cells(line: LineFit | None) -> tuple[str, str]:
            if line is None:
                return "", ""
            # Two points leave no error.
            slope = f"{line.slope:+.4f} ± {line.slope_error:.4f}".removesuffix(" ± nan")
            return slope, "" if math.isnan(line.r_squared) else f"{line.r_squared:.3f}"

        return Table(
            "Straight lines: gain in grade of a doubling",
            ("evaluation", f"per doubling of {self.kind}", "R²", "per doubling of time", "R²", "rising steps"),
            [
                (curve.name, *cells(curve.by_limit), *cells(curve.by_seconds), "{} of {}".format(*curve.rising_steps))
                for curve in self.curves
            ],
        )


def check_limits(limits: Sequence[float]) -> None:
    """Refuse limits, of which there are some, that are not positive and rising; raises :class:`BadInputError`."""
    if list(limits) != sorted(set(limits)) or limits[0] <= 0:
        raise BadInputError(f"limits must be positive and rise, got {', '.join(map(str, limits))}")


def measure_power(
    sampled: Positions,
    evaluations: Mapping[str, Callable[[float | None], Scorer]],
    *,
    kind: str = "nodes",
    limits: Sequence[float],
    static: bool = True,
    games: int = 0,
    settings: GradingSettings = DEFAULT_SETTINGS,
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
) -> PowerExperiment:
    """Grade evaluations after searches of growing size.

    Parameters
    ----------
    evaluations
        Name of an evaluation to a function that gives its scorer for a limit; for None, as it is, without a search. A
        function may raise :class:`~glem.core.errors.BadInputError` for None: it then has no such point.
    kind
        One of :data:`LIMIT_KINDS`; for people, the scorers know it.
    limits
        As :func:`check_limits` wants them.
    static
        Also grade each evaluation as it is, where that is possible.
    games
        Games of the collection that the positions are from, for people.
    journal
        File in which values are kept, so that a killed experiment continues.
    progress
        Counts scorers.

    Raises
    ------
    BadInputError
        No evaluations, or too few positions that all evaluations have values for.
    """
    if not evaluations:
        raise BadInputError("an experiment needs at least one evaluation")
    asked = [(name, limit) for name in evaluations for limit in ([None] if static else []) + list(limits)]
    described = {
        "kind": kind,
        "limits": list(limits),
        "evaluations": list(evaluations),
        "positions": arrays_digest([*sampled.positions, sampled.result]),
    }
    said: dict[tuple[str, float | None], Prediction] = {}
    kept = nullcontext(None) if journal is None else Journal(journal, "power experiment", described)
    with kept as file, progress("Searching", len(asked)) as bar:
        if file is not None:
            said.update(file.records(lambda found: _kept(found, len(sampled))))
        for name, limit in asked:
            bar.note(f"{name} {'' if limit is None else _text(kind, limit)}")
            if (name, limit) not in said:
                found = _said(evaluations[name], limit, sampled)
                if found is not None:
                    said[name, limit] = found
                    if file is not None:
                        file.append({"name": name, "limit": limit, **_record(found)})
            bar.advance()
    return _experiment(sampled, list(evaluations), said, kind, games, settings)


def _said(make: Callable[[float | None], Scorer], limit: float | None, sampled: Positions) -> Prediction | None:
    """Let a scorer speak; scale and drawishness that are one for all positions are fitted anew."""
    try:
        scorer = make(limit)
    except BadInputError:
        if limit is None:
            return None
        raise
    begin = time.perf_counter()
    found = scorer.predict(sampled)
    seconds, own = found.seconds, found.drawishness
    if math.isnan(seconds):
        seconds = (time.perf_counter() - begin) / len(sampled)
    if own is not None:
        own = np.broadcast_to(np.asarray(own, np.float64), found.value.shape)
    return Prediction(np.asarray(found.value, np.float64), own, seconds=seconds)


def _record(found: Prediction) -> dict[str, Any]:
    """Write what a scorer said for the journal."""
    own = found.drawishness
    return {
        "value": _plain(found.value),
        "drawishness": None if own is None else _plain(own),
        "seconds": found.seconds,
    }


def _plain(values: NDArray[np.float64]) -> list[float | str]:
    """Numbers as JSON has them; the others by name."""
    return [value if math.isfinite(value) else str(value) for value in values.tolist()]


def _kept(record: Mapping[str, Any], count: int) -> tuple[tuple[str, float | None], Prediction]:
    """Read what a scorer said of so many positions."""
    own = record["drawishness"]
    found = Prediction(
        np.array([float(value) for value in record["value"]]),
        None if own is None else np.array([float(value) for value in own]),
        seconds=real_of(record["seconds"]),
    )
    if {**record, **_record(found)} != record or len(found.value) != count:
        raise ValueError(f"no values of {count} positions")
    return (record["name"], record["limit"]), found


def _experiment(
    sampled: Positions,
    names: Sequence[str],
    said: Mapping[tuple[str, float | None], Prediction],
    kind: str,
    games: int,
    settings: GradingSettings,
) -> PowerExperiment:
    common = np.all([found.is_known for found in said.values()], axis=0)
    if common.sum() < 2:
        raise BadInputError("fewer than two positions have a value from all evaluations at all limits")
    result, game = sampled.result[common], sampled.record[common]
    curves = []
    for name in names:
        points: list[PowerPoint] = []
        before: tuple[str, NDArray[np.float64]] | None = None
        for limit in sorted((limit for one, limit in said if one == name), key=lambda limit: limit or 0.0):
            found, text = said[name, limit], _text(kind, limit)
            some = found.select(common)
            fit, logs = log_correctness_of(some, result, game, settings.floor)
            anew = recalibrated(some, result, game, settings)
            other = math.nan if anew is None else grade_of(anew.logs, game, settings).grade
            rise = None
            if before is not None:
                rise = compare(logs, before[1], game, names=(text, before[0]), settings=settings)
            missing = int(np.isnan(found.value).sum())
            points.append(PowerPoint(limit, found.seconds, grade_of(logs, game, settings), fit, missing, rise, other))
            before = text, logs
        curves.append(PowerCurve(name, tuple(points), *_lines(points)))
    return PowerExperiment(kind, tuple(curves), int(common.sum()), games)


def _text(kind: str, limit: float | None) -> str:
    return "static" if limit is None else f"{kind}={limit:g}"


def _lines(points: Sequence[PowerPoint]) -> tuple[LineFit | None, LineFit | None]:
    searched = [point for point in points if point.limit is not None]
    if len(searched) < 2:
        return None, None
    grades = [point.grade.grade for point in searched]
    by_limit = fit_line([math.log2(point.limit or 1) for point in searched], grades)
    return by_limit, fit_line([math.log2(point.seconds) for point in searched], grades)
