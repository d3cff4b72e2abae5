"""Temporal differences against a naive reference, step by step, and slopes by finite differences."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import approx_fprime

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.features.learning import load_learning
from glem.core.positions.replay import replay
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.styles.temporal_difference import (
    SearchedValues,
    TemporalDifference,
    differences_of,
    learn_by_search,
    learn_differences,
)
from glem.games.othello import OTHELLO
from tests.core.positions.test_game_tree import random_games


def chance(weights: NDArray[Any], features: NDArray[Any], scale: float) -> float:
    return 1 / (1 + math.exp(-scale * float(weights @ features)))


def naive(
    features: NDArray[Any], games: list[range], weights: NDArray[Any], fixed: NDArray[Any], how: TemporalDifference
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Section 2.1 written down: the weights after every step, and the rates at the end."""
    weights = weights.copy()
    rates = np.full(len(weights), how.least_rate)
    smooth, before = np.zeros(len(weights)), None
    course, waiting = [weights.copy()], []
    for game in games:
        trace = np.zeros(len(weights))
        for row in game[:-1]:
            now, later = (chance(weights, features[each], how.scale) for each in (row, row + 1))
            trace = how.trace * trace + now * (1 - now) * features[row]
            waiting.append((later - now) * trace)
            if len(waiting) < how.batch:
                continue
            slope = sum(waiting) / how.batch
            waiting = []
            if before is not None:
                rates = np.where(slope * before >= 0, rates * how.up, rates * how.down)
                rates = np.clip(rates, how.least_rate, how.most_rate)
            before = slope
            smooth = (1 - how.momentum) * slope + how.momentum * smooth
            changed = weights + rates * smooth
            if how.positive:
                changed = np.maximum(changed, 0)
            weights = np.where(fixed, weights, changed)
            course.append(weights.copy())
    return np.array(course), rates


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 1000),
    momentum=st.floats(0, 0.95),
    trace=st.sampled_from([0.0, 0.5, 1.0]),
    batch=st.integers(1, 5),
    positive=st.booleans(),
)
def test_steps_equal_the_naive_reference(seed: int, momentum: float, trace: float, batch: int, positive: bool) -> None:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 9, size=6)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    features = generator.integers(-5, 6, size=(starts[-1], 5)).astype(float)
    weights, fixed = np.array([100.0, 10, 10, 10, 10]), np.array([True, False, False, False, False])
    how = TemporalDifference(
        momentum=momentum, trace=trace, batch=batch, positive=positive, least_rate=20.0, most_rate=900.0
    )
    games = [range(begin, end) for begin, end in pairwise(starts)]
    course, rates = naive(features, games, weights, fixed, how)
    found = learn_differences(features, starts, weights, fixed, how)
    np.testing.assert_allclose(found.weights, course[-1], rtol=1e-12, atol=1e-12)
    assert found.steps == len(course) - 1
    assert found.weights[0] == 100
    assert np.isnan(found.errors[starts[1:][sizes > 0] - 1]).all()
    if found.steps:
        free = rates[1:]
        np.testing.assert_allclose(found.rates[1:], free, rtol=1e-12)
    # Step by step: the weights after the first games alone are those on the way.
    for count in range(1, 6):
        first = learn_differences(features[: starts[count]], starts[: count + 1], weights, fixed, how)
        np.testing.assert_allclose(first.weights, course[first.steps], rtol=1e-12, atol=1e-12)


def test_a_first_step_goes_along_the_slope_of_the_squared_difference() -> None:
    generator = np.random.default_rng(2)
    features, weights = generator.normal(size=(2, 4)) * 30, np.array([3.0, 1.0, 2.0, 1.5])
    how = TemporalDifference(momentum=0.0, positive=False, least_rate=7.0)
    found = learn_differences(features, np.array([0, 2]), weights, np.zeros(4, bool), how)
    later = chance(weights, features[1], how.scale)

    def half_square(at: NDArray[Any]) -> float:
        # What is foreseen is the target: it does not move with the weights.
        return (later - chance(at, features[0], how.scale)) ** 2 / 2

    found_slope: Any = approx_fprime(weights, half_square, 1e-6)
    slope = -found_slope / how.scale
    np.testing.assert_allclose(found.weights - weights, 7 * slope, rtol=1e-4)
    assert found.errors[0] == pytest.approx(later - chance(weights, features[0], how.scale))


def test_bad_arguments_are_named() -> None:
    features, fixed = np.ones((4, 2)), np.zeros(2, bool)
    with pytest.raises(BadInputError, match="games must divide the 4 positions"):
        learn_differences(features, np.array([0, 3]), np.ones(2), fixed)
    with pytest.raises(BadInputError, match="2 features, 3 weights"):
        learn_differences(features, np.array([0, 4]), np.ones(3), fixed)
    with pytest.raises(BadInputError, match="not finite"):
        learn_differences(features * np.nan, np.array([0, 4]), np.ones(2), fixed)
    wrong: list[dict[str, Any]] = [
        {"momentum": 1.5},
        {"batch": 0},
        {"least_rate": 200.0},
        {"up": 0.9},
        {"scale": math.inf},
    ]
    for bad in wrong:
        with pytest.raises(BadInputError, match="of temporal differences must be from"):
            TemporalDifference(**bad)


def games_of_othello(count: int) -> tuple[Any, NDArray[np.int64]]:
    """Positions with Black to move of random games, and where each game begins."""
    played = replay(OTHELLO, random_games(OTHELLO, count, 3, choices=60))
    rows = np.flatnonzero((played.side == 1) & (played.move >= 0))
    starts = np.concatenate([[0], np.cumsum(np.bincount(played.record[rows], minlength=count))])
    return rows_of(played.positions, rows), starts


def test_learning_by_search_at_depth_0_is_learning_from_features() -> None:
    learning = load_learning("othello")
    names = ("mobility", "opponent_mobility", "frontier", "parity")
    positions, starts = games_of_othello(5)
    items = [learning.features.index(name) for name in names]
    how = TemporalDifference(trace=0.3, scale=0.01)
    begin, fixed = np.ones(4), np.array([True, False, False, False])
    static = learn_differences(learning.features.values(positions)[:, items], starts, begin, fixed, how)
    searched = learn_by_search(SearchedValues(learning, names, how.scale, 0), positions, starts, begin, fixed, how)
    np.testing.assert_allclose(searched.weights, static.weights, rtol=1e-12)
    np.testing.assert_allclose(searched.errors, static.errors, rtol=1e-12)
    assert searched.steps == static.steps
    features = learning.features.values(positions)[:, items]
    errors = differences_of(features, starts, static.weights, how.scale)
    assert np.isnan(errors[starts[1:] - 1]).all()
    wanted = chance(static.weights, features[1], how.scale) - chance(static.weights, features[0], how.scale)
    assert errors[0] == pytest.approx(abs(wanted))


def test_leaves_follow_the_weights_of_the_moment() -> None:
    learning = load_learning("othello")
    names = ("mobility", "opponent_mobility", "disc_difference")
    positions, _ = games_of_othello(2)
    values = SearchedValues(learning, names, 0.05, 2)
    for weights in (np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])):
        found = values.features(positions, weights) @ weights
        evaluation = LinearEvaluation(
            learning,
            np.zeros(len(learning.phases), np.float32),
            LOGISTIC,
            linear=tuple(learning.features.index(name) for name in names),
            linear_weights=np.tile((0.05 * weights).astype(np.float32), (len(learning.phases), 1)),
        )
        searcher = Searcher(OTHELLO, recomputing_evaluator(evaluation), SearchSettings(table_mb=0))
        for row in range(0, len(found), 7):
            line = searcher.search(position_at(positions, row), Limits(depth=2)).lines[0]
            if line.plies_to_end is None:
                assert line.score / 1024 == pytest.approx(0.05 * found[row], abs=0.05)
