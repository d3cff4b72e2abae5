"""Checks of fitters and of measures, a stranger's too: on positions of random games of any game."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from glem.core.conformance.evaluation import random_evaluation
from glem.core.conformance.playouts import sample_of
from glem.core.conformance.report import BrokenPromise, CheckResult, ConformanceReport, NotApplicable, Suite
from glem.core.errors import BadInputError
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning
from glem.core.fitting.fitters.fitter import Fit, Fitter, Run
from glem.core.game.records import GameRecords
from glem.core.measures.measure import Judged, Measure, judged_by, terms_of
from glem.core.positions.files import PositionFiles, write_positions
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.settings import settings_of, texts_of_settings

_FEW = 3
"""Positions of the smallest set that a fitter is given."""
_ROOM = 1e-9
"""Relative difference of two ways to add up the same numbers."""
_STEP, _SLOPE_ROOM = 1e-6, 1e-3
"""Relative steps of difference quotients, and how far derivatives may be off them."""

_FITTER = Suite()
"""Checks of a fitter; each gets the result under way, the fitter, positions, and what the game gives to learning."""

_MEASURE = Suite()
"""Checks of a measure; each gets the result under way, its name, the measure, and judged positions."""


def _positions_of(learning: Learning, games: int, seed: int, report: ConformanceReport) -> Positions:
    """Play random games and label their positions with the results."""
    sample = sample_of(learning.game, games, seed, report)
    played = [[move for move in sample.history[row] if move != learning.game.pass_move] for row in sample.ends]
    if not played:
        raise BadInputError("no random game ended")
    offsets = np.cumsum([0, *map(len, played)])
    records = GameRecords.from_moves(np.array([move for moves in played for move in moves], np.int16), offsets)
    return positions_of_records(learning.game, [records])


def check_fitter(
    fitter: Fitter, learning: Learning, *, games: int = 20, seed: int = 0, progress: Progress = SILENT
) -> ConformanceReport:
    """Examine a fitter on positions of random games.

    Parameters
    ----------
    fitter
        With the settings with which it is to be used.
    learning
        What a game gives to learning.
    games, seed
        Number of the games, and the seed of everything that is random.

    Raises
    ------
    BadInputError
        There are no games to play.
    """
    report = ConformanceReport(f"fitter {type(fitter).name} on {learning.game.title}")
    positions = _positions_of(learning, games, seed, report)
    return report.examine(_FITTER.of(fitter, positions, learning), progress)


def _fitted(fitter: Fitter, positions: Any, learning: Learning, *, may_skip: bool = True, **run: Any) -> Fit:
    if fitter.from_games:
        raise NotApplicable("it learns from files of games")
    try:
        with Run(**run) as one:
            found = fitter.fit(positions, learning, one)
    except BadInputError as error:
        if not may_skip:
            raise
        raise NotApplicable(f"it refuses positions of random games: {error}") from error
    if not isinstance(found, Fit):
        raise BrokenPromise(f"fit returned a {type(found).__name__}, expected a glem.Fit")
    return found


def _values(fit: Fit, positions: Positions) -> Any:
    return value_part(fit.evaluation).predict(positions.positions)


@_FITTER.promise("input", "fit changes nothing of the positions that it is given")
def _check_input(check: CheckResult, fitter: Fitter, positions: Positions, learning: Learning) -> None:
    given = positions.select(np.arange(len(positions)))
    before = {name: column.copy() for name, column in given.columns().items()}
    _fitted(fitter, given, learning)
    for name, column in given.columns().items():
        check.expect(np.array_equal(column, before[name]), f"fit changes the column {name} of the positions")


@_FITTER.promise("settings", "every setting has a text and a default that is allowed, and what it is made of is kept")
def _check_settings(check: CheckResult, fitter: Fitter, positions: Positions, learning: Learning) -> None:
    kind = type(fitter)
    check.expect(isinstance(kind.name, str) and kind.name, f"name is {kind.name!r}, expected a text")
    texts = texts_of_settings(kind)
    for name, (known, default) in settings_of(kind).items():
        check.expect(texts.get(name), f"the docstring has no text for the setting {name}")
        for bound, beyond in ((known.least, -1), (known.most, 1)):
            if bound is not None and isinstance(default, int | float):
                try:
                    kind(**{name: bound + beyond})
                except BadInputError:
                    check.cases += 1
                else:
                    check.fail(f"{name}={bound + beyond} is accepted, its bound is {bound}")
    again = kind(**{name: getattr(fitter, name) for name in settings_of(kind)})
    check.expect(again == fitter, f"a copy prints itself as {again!r}, the original as {fitter!r}")


@_FITTER.promise(
    "evaluation", "positions are fitted, by an evaluation of the game with finite values that rise with the labels"
)
def _check_evaluation(check: CheckResult, fitter: Fitter, positions: Positions, learning: Learning) -> None:
    fit = _fitted(fitter, positions, learning, may_skip=False)
    value = value_part(fit.evaluation)
    name = value.learning.game.name
    check.expect(name == learning.game.name, f"the evaluation is of {name}, expected {learning.game.name}")
    values, labels = _values(fit, positions), value.labels_of(positions.label)
    check.expect(np.isfinite(values).all(), f"{int((~np.isfinite(values)).sum())} values are not finite")
    check.expect(np.ptp(values) > 0 or np.ptp(labels) == 0, "all positions have one value")
    if np.ptp(labels) > 0 and np.ptp(values) > 0:
        found = float(np.corrcoef(values, labels)[0, 1])
        check.expect(found > 0, f"values and labels of the positions fitted have the correlation {found:.2f}")
    check.expect(str(fit), "the fit prints nothing")


@_FITTER.promise("repeatable", "the same positions and seed give the same values, bit for bit, with two threads too")
def _check_repeatable(check: CheckResult, fitter: Fitter, positions: Positions, learning: Learning) -> None:
    first = _values(_fitted(fitter, positions, learning), positions)
    for jobs in (1, 2):
        again = _values(_fitted(fitter, positions, learning, jobs=jobs), positions)
        off = float(np.abs(first - again).max())
        check.expect(np.array_equal(first, again), f"values differ by up to {off:.3g}, jobs={jobs}")


@_FITTER.promise("files", "the evaluation is the same behind a file, and what unfinished work left is gone")
def _check_files(check: CheckResult, fitter: Fitter, positions: Positions, learning: Learning) -> None:
    with tempfile.TemporaryDirectory(prefix="glem-") as folder:
        output, data = Path(folder, "fitted.npz"), Path(folder, "positions.parquet")
        write_positions(data, positions)
        fit = _fitted(fitter, positions, learning, output=output)
        fit.evaluation.save(output)
        loaded = type(fit.evaluation).load(output)
        same = np.array_equal(_values(fit, positions), value_part(loaded).predict(positions.positions))
        check.expect(same, "a saved evaluation has other values when it is loaded")
        left = sorted(path.name for path in Path(folder).iterdir() if path not in (output, data))
        check.expect(not left, f"the fit leaves {', '.join(left)}")
        if fitter.streams:
            streamed = _values(_fitted(fitter, PositionFiles.of([data]), learning), positions)
            close = np.allclose(streamed, _values(fit, positions), rtol=1e-3, atol=1e-3)
            check.expect(close, "positions from a file give other values than the same ones in memory")


@_FITTER.promise("few positions", "few positions are fitted or refused with BadInputError and a text")
def _check_few(check: CheckResult, fitter: Fitter, positions: Positions, learning: Learning) -> None:
    for count in (1, _FEW):
        try:
            values = _values(_fitted(fitter, positions.head(count), learning, may_skip=False), positions)
        except BadInputError as error:
            check.expect(str(error), f"{count} positions: a BadInputError without a text")
        else:
            check.expect(np.isfinite(values).all(), f"{count} positions: values that are not finite")


def check_measure(
    name: str, measure: Measure, learning: Learning, *, games: int = 20, seed: int = 0, progress: Progress = SILENT
) -> ConformanceReport:
    """Examine a measure on positions of random games and an evaluation of random weights.

    Parameters
    ----------
    name
        What reports call it.
    learning
        What a game gives to learning.
    games, seed
        Number of the games, and the seed of everything that is random.

    Raises
    ------
    BadInputError
        There are no games to play, or the measure does not fit such positions.
    """
    report = ConformanceReport(f"measure {name} on {learning.game.title}")
    judged = judged_by(random_evaluation(learning, seed), _positions_of(learning, games, seed, report))
    return report.examine(_MEASURE.of(name, measure, judged), progress)


def _rows(judged: Judged, rows: Any) -> Judged:
    each = {part: getattr(judged, part)[rows] for part in ("value", "label", "weight", "game", "sums")}
    return evolve(judged, **each, positions=judged.positions.select(rows))


def _begun(measure: Measure, judged: Judged) -> Measure:
    try:
        return measure.begin(judged)
    except BadInputError as error:
        raise NotApplicable(f"it refuses positions of random games: {error}") from error


def _means(name: str, measure: Measure, judged: Judged) -> Any:
    terms = terms_of(name, measure, judged)
    known = np.isfinite(terms).all(axis=0)
    if not known.any():
        raise NotApplicable("no position of a random game counts")
    given = judged.weight if measure.is_weighted else np.ones(len(judged))
    return np.average(terms[:, known], axis=1, weights=given[known])


def _number(measure: Measure, means: Any) -> float:
    number, slopes = measure.number(means)
    if np.shape(slopes) != means.shape:
        raise BrokenPromise(f"number gives derivatives {list(np.shape(slopes))}, expected {list(means.shape)}")
    return float(number)


@_MEASURE.promise("number", "it is a finite number, the same again, and changes nothing of what it is given")
def _check_number(check: CheckResult, name: str, measure: Measure, judged: Judged) -> None:
    before = [column.copy() for column in (judged.value, judged.label, judged.weight, judged.game)]
    begun = _begun(measure, judged)
    number = _number(begun, _means(name, begun, judged))
    check.expect(math.isfinite(number), f"the number is {number}")
    again = _begun(measure, judged)
    found = _number(again, _means(name, again, judged))
    check.expect(found == number or math.isnan(number), f"it is {number}, and {found} the second time")
    now = (judged.value, judged.label, judged.weight, judged.game)
    check.expect(all(map(np.array_equal, before, now)), "what is judged is changed")
    check.expect(format(number, begun.form), f"form is {begun.form!r}")


@_MEASURE.promise("parts", "positions in parts, games in another order, give the same terms")
def _check_parts(check: CheckResult, name: str, measure: Measure, judged: Judged) -> None:
    begun = _begun(measure, judged)
    whole = terms_of(name, begun, judged)
    games = np.unique(judged.game)[::-1]
    for part in np.array_split(games, 2):
        rows = np.flatnonzero(np.isin(judged.game, part))
        own = terms_of(name, begun, _rows(judged, rows))
        check.expect(
            np.allclose(own, whole[:, rows], rtol=_ROOM, atol=_ROOM, equal_nan=True),
            "positions have other terms where other games are not among them",
        )


@_MEASURE.promise("derivatives", "the derivatives by the means are those of the number")
def _check_derivatives(check: CheckResult, name: str, measure: Measure, judged: Judged) -> None:
    begun = _begun(measure, judged)
    means = _means(name, begun, judged)
    slopes = np.asarray(begun.number(means)[1], np.float64)
    for place, mean in enumerate(means):
        step = _STEP * max(1.0, abs(mean))
        moved = [means + sign * step * (np.arange(len(means)) == place) for sign in (1, -1)]
        quotient = (_number(begun, moved[0]) - _number(begun, moved[1])) / (2 * step)
        off = abs(slopes[place] - quotient)
        room = _SLOPE_ROOM * max(1.0, abs(quotient))
        check.expect(off <= room, f"by mean {place} it is {slopes[place]:.6g}, a difference quotient {quotient:.6g}")


@_MEASURE.promise("refusals", "positions that do not suit are refused with BadInputError, or do not count")
def _check_refusals(check: CheckResult, name: str, measure: Measure, judged: Judged) -> None:
    one = _rows(judged, np.arange(1))
    try:
        terms_of(name, measure.begin(one), one)
    except BadInputError as error:
        check.expect(str(error), "a BadInputError without a text")
    else:
        check.cases += 1
