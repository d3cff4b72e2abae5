"""Grades and their errors."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.grading.correctness import (
    LEAST_CORRECTNESS,
    GradingSettings,
    grade_of,
    mean_by_game,
    student_quantile,
)
from tests.oracles import grading as oracle


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.sampled_from([1, 0, -1]), st.integers(0, 5)), min_size=1, max_size=40),
    st.floats(0.05, 0.95),
)
def test_grade_and_error_equal_the_oracle(rows: list[tuple[float, int, int]], drawishness: float) -> None:
    values, results, games = (np.array(column) for column in zip(*rows, strict=True))
    found = grade_of(log_correctness(values, results, 3.0, drawishness), games)
    correctness = [
        oracle.distribution(v, 3.0, drawishness)[int(r)] for v, r in zip(values.tolist(), results, strict=True)
    ]
    assert found.grade == pytest.approx(oracle.grade(correctness), rel=1e-12)
    assert (found.positions, found.games) == (len(rows), len(set(games.tolist())))
    if found.games > 1:
        error = oracle.clustered_error([float(one.ln()) for one in correctness], games.tolist())
        assert found.mean_log_error == pytest.approx(error, rel=1e-7, abs=1e-12)
        assert found.error == pytest.approx(found.grade * error, rel=1e-7, abs=1e-12)
        assert found.low <= found.grade <= found.high
    else:
        assert math.isnan(found.error)


def test_the_error_of_a_mean_by_game_is_that_of_the_sums_of_games() -> None:
    generator = np.random.default_rng(1)
    values, game = generator.normal(size=40), generator.integers(7, size=40)
    value, error, games = mean_by_game(values, game)
    sums = [(values - values.mean())[game == each].sum() for each in range(7)]
    assert (value, games) == (pytest.approx(values.mean()), 7)
    assert error == pytest.approx(np.sqrt(sum(each**2 for each in sums) * 7 / 6) / 40)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(5)
    truth, settings = math.exp(-0.5), GradingSettings(confidence=0.9)
    held = 0
    games = np.repeat(np.arange(25), 3)
    for _ in range(400):
        # Each game shifts its three positions together.
        shift = np.repeat(generator.normal(0, 0.3, 25), 3)
        found = grade_of(-0.5 + shift + generator.normal(0, 0.1, 75), games, settings)
        held += found.low < truth < found.high
    assert 0.86 < held / 400 < 0.94


def test_impossible_results_count_as_the_floor_and_are_counted() -> None:
    found = grade_of(np.array([-math.inf, math.log(0.5), -1e4]))
    assert found.floored == 2
    assert found.grade == pytest.approx((LEAST_CORRECTNESS**2 * 0.5) ** (1 / 3))
    assert grade_of(np.array([-math.inf]), settings=GradingSettings(floor=0.01)).grade == pytest.approx(0.01)


def test_games_may_have_any_numbers() -> None:
    logs = np.log(np.array([0.2, 0.5, 0.9, 0.4]))
    assert grade_of(logs, np.array([7, 7, 1 << 40, -3])) == grade_of(logs, np.array([0, 0, 2, 1]))


@pytest.mark.parametrize("game", [0.5, np.nan, np.inf])
def test_games_are_whole_numbers(game: float) -> None:
    with pytest.raises(BadInputError, match=f"position 2 has the game {game}; expected a whole number"):
        grade_of(np.zeros(3), np.array([0, game, 0]))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"floor": 0.0}, "least correctness"),
        ({"confidence": 1.0}, "confidence"),
        ({"resamples": 3}, "resamples is 3"),
        ({"bins": 0}, "bins is 0"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(BadInputError, match=text):
        GradingSettings(**settings)


@pytest.mark.parametrize("share", [0.5, 0.51, 0.6, 0.9, 0.975, 0.9995])
def test_quantiles_are_those_of_scipy(share: float) -> None:
    for freedom in (*range(1, 102), 1_000, 100_000):
        assert student_quantile(freedom, share) == pytest.approx(float(stdtrit(freedom, share)), rel=1e-8)
