"""Grades and their errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.grading.correctness import LEAST_CORRECTNESS, grade_by_group, grade_of
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


def test_one_position_a_game_is_the_usual_error_of_a_mean() -> None:
    logs = np.log(np.array([0.2, 0.5, 0.9, 0.4]))
    assert grade_of(logs).mean_log_error == pytest.approx(logs.std(ddof=1) / 2)


def test_positions_of_one_game_are_no_further_evidence() -> None:
    logs = np.log(np.array([0.2, 0.5, 0.9, 0.4]))
    once = grade_of(logs)
    ten_times = grade_of(np.repeat(logs, 10), np.repeat(np.arange(4), 10))
    assert ten_times.error == pytest.approx(once.error)
    assert ten_times.positions == 40


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(5)
    truth = math.exp(-0.5)
    held = 0
    for _ in range(400):
        # Each game shifts its three positions together.
        shift = np.repeat(generator.normal(0, 0.3, 25), 3)
        found = grade_of(-0.5 + shift + generator.normal(0, 0.1, 75), np.repeat(np.arange(25), 3), confidence=0.9)
        held += found.low < truth < found.high
    assert 0.86 < held / 400 < 0.94


def test_impossible_results_count_as_the_floor_and_are_counted() -> None:
    found = grade_of(np.array([-math.inf, math.log(0.5), -1e4]))
    assert found.floored == 2
    assert found.grade == pytest.approx((LEAST_CORRECTNESS**2 * 0.5) ** (1 / 3))
    assert grade_of(np.array([-math.inf]), floor=0.01).grade == pytest.approx(0.01)


def test_equal_values_have_no_error() -> None:
    assert grade_of(np.full(1000, -math.log(3.0))).error == 0


def test_groups_are_graded_apart() -> None:
    logs = np.log(np.array([0.2, 0.5, 0.9, 0.4]))
    games = np.array([7, 7, 1 << 40, -3])
    found = grade_by_group(logs, games, np.array([0, 0, 2, -1]), ("early", "middle", "late"))
    assert [None if one is None else one.positions for one in found] == [2, None, 1]
    assert found[0] is not None
    assert found[0].grade == pytest.approx(0.1**0.5)


@pytest.mark.parametrize(
    ("settings", "text"), [({"floor": 0.0}, "least correctness"), ({"confidence": 1.0}, "confidence")]
)
def test_wrong_settings_are_named(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(BadInputError, match=text):
        grade_of(np.array([-1.0, -2.0]), **settings)
    with pytest.raises(BadInputError, match="no positions"):
        grade_of(np.zeros(0))
