"""Result distributions against the oracle, and what the paper says that they satisfy."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import (
    expectation,
    favoured_outcomes,
    log_correctness,
    result_distribution,
)
from tests.oracles import grading as oracle

values = st.floats(-1e6, 1e6)
scales = st.floats(1e-3, 1e3)
shares = st.floats(0, 1)


@given(st.one_of(values, st.sampled_from([math.inf, -math.inf])), scales, shares)
@example(0.0, 1.0, 1.0)
@example(0.0, 1.0, 0.0)
@example(math.inf, 1.0, 1.0)
def test_probabilities_satisfy_equations_7_and_8(value: float, scale: float, drawishness: float) -> None:
    win, draw, loss = result_distribution(np.array([value]), scale, drawishness)
    assert min(win[0], draw[0], loss[0]) >= 0
    assert win[0] + draw[0] + loss[0] == pytest.approx(1, abs=1e-15)
    assert win[0] + draw[0] / 2 == pytest.approx(expectation(np.array([value]), scale)[0], abs=1e-15)


@given(st.floats(-1e3, 1e3), st.floats(1, 1e3), shares)
def test_probabilities_equal_the_oracle(value: float, scale: float, drawishness: float) -> None:
    win, draw, loss = result_distribution(np.array([value]), scale, drawishness)
    expected = oracle.distribution(value, scale, drawishness)
    assert (win[0], draw[0], loss[0]) == pytest.approx([float(expected[result]) for result in (1, 0, -1)], abs=1e-15)


@given(st.floats(-500, 500), st.sampled_from([1, 0, -1]), st.floats(0.5, 100), shares)
@example(0.0, 1, 1.0, 1 - 1e-12)
@example(1e-9, 1, 1.0, 1.0)
@example(500.0, -1, 0.5, 0.3)
def test_log_correctness_equals_the_oracle(value: float, result: int, scale: float, drawishness: float) -> None:
    found = log_correctness(np.array([value]), np.array([result]), scale, drawishness)[0]
    probability = oracle.distribution(value, scale, drawishness)[result]
    if probability == 0:
        assert found == -math.inf
    else:
        assert found == pytest.approx(float(probability.ln()), rel=1e-9, abs=1e-14)


@given(values, st.sampled_from([1, 0, -1]), scales, shares)
def test_both_sides_see_the_same_correctness(value: float, result: int, scale: float, drawishness: float) -> None:
    """So it does not matter that the paper evaluates from White's view, glem from the side to move."""
    mine = log_correctness(np.array([value]), np.array([result]), scale, drawishness)
    theirs = log_correctness(np.array([-value]), np.array([-result]), scale, drawishness)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_zero_is_favourable_either_way() -> None:
    outcomes = favoured_outcomes(np.array([0.0, -0.0, -1.0]), np.array([1, -1, -1]))
    assert outcomes.result.tolist() == [1, -1, 1]


def test_limits_are_exact() -> None:
    """Drawishness 0 has no draws, 1 no upsets; a certain evaluation leaves one result."""
    assert result_distribution(np.array([0.7]), 1.0, 0.0).draw.tolist() == [0.0]
    assert result_distribution(np.array([0.7, -0.7]), 1.0, 1.0).loss[0] == 0.0
    assert result_distribution(np.array([0.7, -0.7]), 1.0, 1.0).win[1] == 0.0
    certain = result_distribution(np.array([math.inf, -math.inf]), 3.0, 0.5)
    assert [column.tolist() for column in certain] == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    logs = log_correctness(np.array([math.inf, math.inf, math.inf]), np.array([1, 0, -1]), 1.0, 0.5)
    assert logs.tolist() == [0.0, -math.inf, -math.inf]
    # A position that is even and surely drawn: nobody can win it.
    assert log_correctness(np.zeros(2), np.array([1, 0]), 1.0, 1.0).tolist() == [-math.inf, 0.0]


def test_far_below_the_smallest_float() -> None:
    logs = log_correctness(np.array([1e5]), np.array([-1]), 1.0, 0.5)
    assert logs[0] == pytest.approx(-1e5 + math.log(0.5 / 0.75))


def test_many_positions_are_no_different() -> None:
    generator = np.random.default_rng(0)
    values, drawishness = generator.normal(0, 3, 1 << 17), generator.random(1 << 17)
    results = generator.integers(-1, 2, 1 << 17)
    together = log_correctness(values, results, 2.0, drawishness)
    rows = np.array([0, 1, 65_535, 65_536, 100_000, (1 << 17) - 1])
    assert together[rows].tolist() == log_correctness(values[rows], results[rows], 2.0, drawishness[rows]).tolist()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([math.nan], [1], 1.0, 0.5), "no number"),
        (([1.0], [2], 1.0, 0.5), "got 2"),
        (([1.0], [1], 0.0, 0.5), "positive"),
        (([1.0], [1], math.inf, 0.5), "positive"),
        (([1.0], [1], 1.0, 1.5), "between 0 and 1"),
        (([1.0], [1], 1.0, math.nan), "between 0 and 1"),
        (([1.0, 2.0], [1], 1.0, 0.5), "2 evaluations"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[list[float], list[int], float, float], text: str) -> None:
    value, result, scale, drawishness = arguments
    with pytest.raises(BadInputError, match=text):
        log_correctness(np.array(value), np.array(result), scale, drawishness)
