"""Correctness against processing power (Ban 2012, section 4.3 and figure 1).

Several evaluations judge the same positions after searches of growing size. Ban finds that the grade is approximately
linear in the logarithm of the processing power; here each evaluation gets a straight line over the logarithm to base 2
of its limit, and of the time that a position took, and each step to the next greater limit a paired test.
"""

from __future__ import annotations

import hashlib
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
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.grading.comparison import Comparison, compare
from glem.core.grading.correctness import Grade, grade_of
from glem.core.grading.experiments.lines import LineFit, fit_line
from glem.core.grading.grading import GradingSettings, Prediction
from glem.core.grading.scale import ScaleFit, fit_scale
from glem.core.grading.scorers.scorers import Scorer
from glem.core.positions.positions import Positions
from glem.core.tasks.journal import Journal
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["LIMIT_KINDS", "PowerCurve", "PowerExperiment", "PowerPoint", "check_limits", "measure_power"]

LIMIT_KINDS = ("nodes", "depth", "seconds")
"""What a search may be limited by."""


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
    """

    limit: float | None
    seconds: float
    grade: Grade
    fit: ScaleFit
    missing: int
    rise: Comparison | None


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
    def rises(self) -> bool:
        """Whether each greater limit has a greater grade."""
        grades = [point.grade.grade for point in self.points]
        return all(one < other for one, other in itertools.pairwise(grades))


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


def check_limits(kind: str, limits: Sequence[float]) -> None:
    """Refuse limits that no experiment can have.

    Raises
    ------
    BadInputError
        The kind is none of :data:`LIMIT_KINDS`, or the limits are not positive and rising.
    """
    if kind not in LIMIT_KINDS:
        raise BadInputError(f"searches are limited by {', '.join(LIMIT_KINDS)}, not by {kind!r}")
    if not limits or list(limits) != sorted(set(limits)) or limits[0] <= 0:
        raise BadInputError(f"limits must be positive and rise, got {', '.join(map(str, limits)) or 'none'}")


def measure_power(
    sampled: Positions,
    evaluations: Mapping[str, Callable[[float | None], Scorer]],
    *,
    kind: str = "nodes",
    limits: Sequence[float],
    static: bool = True,
    games: int = 0,
    settings: GradingSettings | None = None,
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
) -> PowerExperiment:
    """Grade evaluations after searches of growing size.

    Parameters
    ----------
    sampled
        The positions.
    evaluations
        Name of an evaluation to a function that gives its scorer for a limit; for None, as it is, without a search. A
        function may raise :class:`~glem.core.errors.BadInputError` for None: it then has no such point.
    kind
        One of :data:`LIMIT_KINDS`; for people, the scorers know it.
    limits
        Rising.
    static
        Also grade each evaluation as it is, where that is possible.
    games
        Games of the collection that the positions are from, for people.
    settings
        How grades are taken.
    journal
        File in which values are kept, so that a killed experiment continues.
    progress
        Display.

    Raises
    ------
    BadInputError
        Limits that do not rise, no evaluations, or too few positions that all evaluations have values for.
    """
    chosen = GradingSettings() if settings is None else settings
    check_limits(kind, limits)
    if not evaluations:
        raise BadInputError("an experiment needs at least one evaluation")
    asked = [(name, limit) for name in evaluations for limit in ([None] if static else []) + list(limits)]
    described = {
        "kind": kind,
        "limits": list(limits),
        "evaluations": list(evaluations),
        "positions": _digest(sampled),
    }
    values: dict[tuple[str, float | None], _Values] = {}
    kept = nullcontext(None) if journal is None else Journal(journal, "power experiment", described)
    with kept as file, progress("Searching", len(asked)) as bar:
        if file is not None:
            values.update(file.records(lambda found: _kept(found, len(sampled))))
        for name, limit in asked:
            bar.note(f"{name} {'' if limit is None else f'{kind}={limit:g}'}")
            if (name, limit) not in values:
                found = _values(evaluations[name], limit, sampled)
                if found is not None:
                    values[name, limit] = found
                    if file is not None:
                        file.append({"name": name, "limit": limit, **found.as_record()})
            bar.advance()
    return _experiment(sampled, list(evaluations), values, kind, games, chosen)


def _kept(record: Mapping[str, Any], count: int) -> tuple[tuple[str, float | None], _Values]:
    """Read what a scorer said of so many positions."""
    found = _Values.from_record(record)
    if {**record, **found.as_record()} != record or len(found.value) != count:
        raise ValueError(f"no values of {count} positions")
    return (record["name"], record["limit"]), found


@define(frozen=True, eq=False)
class _Values:
    """What a scorer said."""

    value: NDArray[np.float64]
    drawishness: NDArray[np.float64] | None
    seconds: float

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> _Values:
        own = record["drawishness"]
        return cls(_numbers(record["value"]), None if own is None else _numbers(own), float(record["seconds"]))

    def as_record(self) -> dict[str, Any]:
        own = self.drawishness
        return {
            "value": _plain(self.value),
            "drawishness": None if own is None else _plain(own),
            "seconds": self.seconds,
        }


def _plain(values: NDArray[np.float64]) -> list[float | str]:
    """Numbers as JSON has them; the others by name."""
    return [value if math.isfinite(value) else str(value) for value in values.tolist()]


def _numbers(values: Sequence[float | str]) -> NDArray[np.float64]:
    return np.array([float(value) for value in values])


def _digest(sampled: Positions) -> str:
    digest = hashlib.sha256()
    for column in (*sampled.positions, sampled.result):
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def _values(make: Callable[[float | None], Scorer], limit: float | None, sampled: Positions) -> _Values | None:
    try:
        scorer = make(limit)
    except BadInputError:
        if limit is None:
            return None
        raise
    begin = time.perf_counter()
    prediction: Prediction = scorer.predict(sampled)
    seconds = prediction.seconds
    if math.isnan(seconds):
        seconds = (time.perf_counter() - begin) / len(sampled)
    own = prediction.drawishness
    if own is not None:
        own = np.broadcast_to(np.asarray(own, np.float64), prediction.value.shape)
    return _Values(np.asarray(prediction.value, np.float64), own, seconds)


def _experiment(
    sampled: Positions,
    names: Sequence[str],
    values: Mapping[tuple[str, float | None], _Values],
    kind: str,
    games: int,
    settings: GradingSettings,
) -> PowerExperiment:
    common = np.ones(len(sampled), np.bool_)
    for found in values.values():
        common &= ~np.isnan(found.value)
    if common.sum() < 2:
        raise BadInputError("fewer than two positions have a value from all evaluations at all limits")
    result, game = sampled.result[common], sampled.record[common]
    curves = []
    for name in names:
        limits = sorted((limit for one, limit in values if one == name), key=lambda limit: limit or 0.0)
        points: list[PowerPoint] = []
        before: NDArray[np.float64] | None = None
        for limit in limits:
            found = values[name, limit]
            own = None if found.drawishness is None else found.drawishness[common]
            fit = fit_scale(found.value[common], result, drawishness=own, game=game)
            alpha: Any = own if fit.drawishness is None else fit.drawishness
            logs = log_correctness(found.value[common], result, fit.scale, alpha)
            rise = None
            if before is not None:
                rise = compare(
                    logs,
                    before,
                    game,
                    names=(_text(kind, limit), _text(kind, limits[len(points) - 1])),
                    floor=settings.floor,
                    confidence=settings.confidence,
                    resamples=settings.resamples,
                    seed=settings.seed,
                )
            grade = grade_of(logs, game, floor=settings.floor, confidence=settings.confidence)
            points.append(PowerPoint(limit, found.seconds, grade, fit, int(np.isnan(found.value).sum()), rise))
            before = logs
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
