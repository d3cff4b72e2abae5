"""Grades against processing power, with scorers whose values are known."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.grading.calibration import Prediction
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.experiments.power import PowerExperiment, check_limits, measure_power, sample_positions
from glem.core.grading.scorers.scorer import Scorer
from glem.core.positions.positions import Positions
from glem.core.positions.writing import write_games
from glem.core.report.pages.power import render_power
from glem.core.tasks.progress import SILENT, Progress
from tests.core.cli.terminal import Terminal
from tests.core.positions.test_game_tree import random_games
from tests.othello import OTHELLO

QUICK = GradingSettings(resamples=200)


class _Guess(Scorer):
    """Knows the result the better the greater its limit is."""

    is_search = True

    def __init__(self, result: NDArray[np.int8], limit: float | None, calls: list[float | None]) -> None:
        self.name = f"guess {limit}"
        self._result, self._limit, self._calls = result, limit, calls

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        self._calls.append(self._limit)
        noise = np.random.default_rng(5).normal(size=len(selected))
        known = math.log2(self._limit) / 8 if self._limit else 0.05
        value = self._result * known + noise
        value[:3] = [math.inf, -math.inf, math.nan]
        return Prediction(value, unit="points", seconds=1e-6 * (self._limit or 1))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiments") / "some.games"
    records = random_games(OTHELLO, 150, 3, choices=60)
    write_games(OTHELLO, path, attrs.evolve(records, theoretical_score=np.full(len(records), np.nan, np.float32)))
    return path


@pytest.fixture(scope="module")
def sampled(file: Path) -> Positions:
    return sample_positions(OTHELLO, [file, file], most=120)[0]


def _makers(sampled: Positions, calls: list[float | None]) -> dict[str, Callable[[float | None], _Guess]]:
    def refusing(limit: float | None) -> _Guess:
        if limit is None:
            raise BadInputError("searches only")
        return _Guess(sampled.result, limit, calls)

    return {"guess": lambda limit: _Guess(sampled.result, limit, calls), "searching": refusing}


@pytest.fixture(scope="module")
def found(sampled: Positions) -> PowerExperiment:
    return measure_power(sampled, _makers(sampled, []), limits=[2, 16, 128], settings=QUICK)


def test_positions_are_drawn_from_all_games(sampled: Positions, file: Path) -> None:
    _, counts = sample_positions(OTHELLO, [file, file], most=120)
    # Every seventh game is unfinished.
    assert (counts.games, counts.without, len(sampled)) == (258, 0, 120)
    assert len(np.unique(sampled.record)) == 120
    assert sampled.record.max() > 129
    assert set(np.unique(sampled.result)) <= {-1, 0, 1}


def test_curves_rise_with_what_is_known(found: PowerExperiment, sampled: Positions) -> None:
    curve = found.curves[0]
    assert [point.limit for point in curve.points] == [None, 2, 16, 128]
    assert curve.rising_steps == (3, 3)
    assert curve.points[0].rise is None
    last = curve.points[-1]
    assert last.rise is not None
    assert last.rise.difference > 0
    assert last.seconds == pytest.approx(1.28e-4)
    assert (last.missing, found.positions) == (1, 119)
    assert curve.by_limit is not None
    assert curve.by_seconds is not None
    # Time grows with the limit here, so that both lines are one.
    assert curve.by_limit.slope == pytest.approx(curve.by_seconds.slope)
    assert [point.limit for point in found.curves[1].points] == [2, 16, 128]


def test_a_journal_continues(sampled: Positions, found: PowerExperiment, tmp_path: Path) -> None:
    journal, calls = tmp_path / "power.jsonl", list[float | None]()
    makers = _makers(sampled, calls)
    arguments = {"limits": [2.0, 16.0, 128.0], "settings": QUICK, "journal": journal}
    whole = measure_power(sampled, makers, **arguments)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    before = len(calls)
    again = measure_power(sampled, makers, **arguments)
    assert again == whole == found
    assert (before, len(calls) - before) == (7, 5)
    with pytest.raises(BadInputError, match="other settings"):
        measure_power(sampled, makers, limits=[2.0], journal=journal)


def test_the_report_is_whole(found: PowerExperiment) -> None:
    text = render_power(found, game_title="Othello")
    assert text == render_power(found, game_title="Othello")
    assert "searching" in text
    assert "128" in text


@pytest.mark.parametrize("limits", [[4, 2], [2, 2], [0, 2]])
def test_bad_limits_are_named(limits: list[float]) -> None:
    with pytest.raises(BadInputError, match="must be positive and rise"):
        check_limits(limits)


def test_the_command(terminal: Terminal, file: Path, tmp_path: Path) -> None:
    report = tmp_path / "power.html"
    command = terminal.of("experiment", "power", "othello", file, "--evaluation", "none", "--positions", 40)
    limits = ("--limits", "depth=1,2", "--workers", 1, "--report", report)
    lines = command(*limits).partition("Straight lines")[2].replace("│", " ")
    assert "rising steps" in lines
    assert re.search(r"none +[+-]\d\.\d{4} +[+-]\d\.\d{4} +\d of 2", lines)
    assert report.read_text().count("<section") == 3
    plain = command.json(*limits)
    assert plain["positions"] == 40
    assert [point["limit"] for point in plain["curves"][0]["points"]] == [None, 1, 2]
    assert "--limits must be" in command.fails("--limits", "nodes")
