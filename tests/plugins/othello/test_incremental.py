"""Othello's incremental evaluator: chains of updates against the oracle of evaluations, and what it does not cover."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, scaled_sigmoid
from glem.core.features.learning import Learning
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_patterns import valid_contents
from glem.games.othello.rules import PASS
from glem.plugins.othello.features import FEATURES
from glem.plugins.othello.incremental import incremental_evaluator
from glem.plugins.othello.patterns import LOGISTELLO
from tests.core.evaluation.evaluator_scores import integer_sums, line_scores, random_line
from tests.core.evaluation.linear_evaluations import random_layer, random_weights

MOBILITY = ("mobility", "opponent_mobility", "potential_mobility", "opponent_potential_mobility")


SMALL = {
    "corner moves": ("corner_moves", "opponent_corner_moves", "parity"),
    "regions": ("regions", "odd_regions", "opponent_stable_edge_discs"),
    "quadrants": ("parity_a1", "parity_h1"),
}
MORE = {
    "triangle": ("a1", "b1", "c1", "d1", "a2", "b2", "c2", "a3", "b3", "a4"),
    "heart": ("c2", "d2", "b3", "c3", "d3", "e3", "b4", "c4", "d4", "c5"),
    "edge and row": ("b1", "c1", "d1", "e1", "f1", "g1", "c2", "d2", "e2", "f2"),
    "corners": ("a1", "b1", "h1", "a2", "b2", "c3", "d4", "a8", "h8"),
    "centre": ("c3", "d3", "e3", "f3", "d4", "e4"),
}
TWO_ROWS = tuple(f"{column}{row}" for row in (1, 2) for column in "abcdefgh")


def with_two_rows(patterns: PatternSet) -> PatternSet:
    """Some patterns and a sparse one, of the contents that a few random games have."""
    features = patterns.features
    two_rows = Pattern("two rows", tuple(map(features.index, TWO_ROWS)))
    lines = [random_line(features.game, np.random.default_rng(seed))[0][:-1:2] for seed in range(24)]
    values = np.array([features.values_of(position) for line in lines for position in line])
    two_rows = evolve(two_rows, contents=valid_contents(features, two_rows, [values], 2))
    return PatternSet(features, (*patterns.patterns[:3], two_rows, *patterns.patterns[3:]))


def random_evaluation(
    learning: Learning,
    names: tuple[str, ...],
    linear: tuple[str, ...] = (),
    link: Link = IDENTITY,
    size: float = 0.5,
    sparse: bool = False,
) -> LinearEvaluation:
    """Random weights over some of Logistello's patterns, a sparse one, and linear features."""
    known = {**learning.pattern_sets["logistello"], **SMALL, **MORE}
    chosen = {name: known[name] for name in names}
    patterns = PatternSet.from_names(learning.features, chosen) if names else None
    if sparse:
        assert patterns is not None
        patterns = with_two_rows(patterns)
    items = tuple(learning.features.index(name) for name in linear)
    made = random_weights(learning, np.random.default_rng(11), patterns=patterns, linear=items, link=link)
    return evolve(
        made,
        bias=made.bias * size,
        pattern_weights=made.pattern_weights * size,
        linear_weights=made.linear_weights * size,
    )


@pytest.fixture(scope="module")
def whole(othello_learning: Learning) -> LinearEvaluation:
    """All of Logistello's patterns."""
    return random_evaluation(othello_learning, tuple(othello_learning.pattern_sets["logistello"]))


COVERED: dict[str, tuple[Any, ...]] = {
    "66 instances and a sparse pattern": ((*LOGISTELLO, *MORE, "regions"), ("mobility",), IDENTITY, 0.05, True),
    "with a sparse pattern": (
        ("corner_3x3", "edge_2x", "diagonal_5", "row_2", "row_3"),
        ("mobility",),
        IDENTITY,
        0.5,
        True,
    ),
    "some patterns, all linear features": (
        ("corner_3x3", "edge_2x", "diagonal_5"),
        (*MOBILITY, "disc_difference", "parity"),
    ),
    "small tables between patterns": (("corner_3x3", "regions", "row_2", "quadrants", "corner moves"), ("frontier",)),
    "all features that are no squares": (("row_2",), tuple(feature.name for feature in FEATURES.features[64:])),
    "linear features": ((), MOBILITY),
}


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("kind", ["patterns", *COVERED])
def test_updates_equal_the_oracle(othello_learning: Learning, whole: LinearEvaluation, kind: str, plain: bool) -> None:
    """Lines with passes among them; the scores after a pass are read in the other player's tables."""
    evaluation = whole if kind == "patterns" else random_evaluation(othello_learning, *COVERED[kind])
    evaluator = incremental_evaluator(evaluation)
    assert evaluator is not None
    passes = 0
    for seed in range(2 if plain else 24):
        positions, moves = random_line(othello_learning.game, np.random.default_rng(seed))
        passes += moves.count(PASS)
        expected = np.clip(integer_sums(evaluation, positions), -evaluator.limit, evaluator.limit)
        found = line_scores(evaluator, positions, moves, plain=plain, first=3 * (seed % 2))
        np.testing.assert_array_equal(found, expected)
    assert passes or plain


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("beside", ["patterns and linear features", "linear features", ""])
def test_updates_of_a_hidden_layer_equal_its_values(othello_learning: Learning, beside: str, plain: bool) -> None:
    names = ("corner_3x3", "edge_2x", "diagonal_5", "row_2", "row_3")
    weights = random_evaluation(othello_learning, names, ("mobility",) if beside else ())
    if not beside.startswith("patterns"):
        weights = evolve(weights, pattern_weights=0 * weights.pattern_weights)
    else:
        # A sum beyond the limit, from which the layer comes back.
        weights = evolve(weights, bias=weights.bias + 70)
    evaluation = random_layer(weights, 40)
    evaluator = incremental_evaluator(evaluation)
    assert evaluator is not None
    assert evaluator.name == {"": "hidden layer", "linear features": "hidden layer and linear features"}.get(
        beside, beside
    )
    for seed in range(1 if plain else 6):
        line = random_line(othello_learning.game, np.random.default_rng(seed))
        expected = evaluation.as_played().sums(line[0]) * evaluator.steps_per_unit
        found = line_scores(evaluator, *line, plain=plain)
        np.testing.assert_allclose(found, np.clip(expected, -evaluator.limit, evaluator.limit), atol=1)


def test_a_start_in_the_middle_gives_the_same_accumulator(whole: LinearEvaluation) -> None:
    """Full recomputation is the oracle of the updates: word by word, not only in the sum."""
    evaluator = incremental_evaluator(whole)
    assert evaluator is not None
    operations = evaluator.operations
    for seed in range(20):
        positions, moves = random_line(whole.learning.game, np.random.default_rng(seed))
        updated = evaluator.empty_accumulators(len(positions))
        recomputed = evaluator.empty_accumulators(len(positions))
        operations["start"](positions[0], evaluator.data, updated, 0)
        for ply, move in enumerate(moves):
            operations["update"](positions[ply], move, positions[ply + 1], evaluator.data, updated, ply)
        for ply, position in enumerate(positions):
            operations["start"](position, evaluator.data, recomputed, ply)
        np.testing.assert_array_equal(updated, recomputed)


def test_scores_stay_within_the_limit(othello_learning: Learning) -> None:
    large = random_evaluation(othello_learning, ("row_2", "corner_3x3"), size=30.0)
    evaluator = incremental_evaluator(large)
    assert evaluator is not None
    assert evaluator.limit == 64 * evaluator.steps_per_unit
    positions, moves = random_line(large.learning.game, np.random.default_rng(0))
    scores = line_scores(evaluator, positions, moves, plain=False)
    assert max(map(abs, scores)) == evaluator.limit
    assert max(map(abs, integer_sums(large, positions))) > evaluator.limit


def test_the_logistic_link_is_searched_in_log_odds(othello_learning: Learning) -> None:
    evaluation = random_evaluation(othello_learning, ("corner_3x3",), link=LOGISTIC)
    evaluator = evaluator_of(evaluation)
    assert evaluator.result_only
    assert evaluator.width > 0
    positions, moves = random_line(evaluation.learning.game, np.random.default_rng(1))
    scores = np.array(line_scores(evaluator, positions, moves, plain=False)) / evaluator.steps_per_unit
    values = [evaluation.as_played().evaluate(position) for position in positions]
    np.testing.assert_allclose(LOGISTIC(scores), values, atol=1e-6)


def test_evaluations_that_are_not_covered(othello_learning: Learning, whole: LinearEvaluation) -> None:
    configurations = ConfigurationSet.from_relations(RelationTable(np.zeros(1, np.int32), np.ones(1, np.int16)), [(0,)])
    phases = len(othello_learning.phases)
    with_configurations = evolve(
        whole, configurations=configurations, configuration_weights=np.zeros((phases, 1), np.float32)
    )
    assert incremental_evaluator(with_configurations) is None
    assert incremental_evaluator(evolve(whole, link=scaled_sigmoid(64.0))) is None
    assert incremental_evaluator(random_evaluation(othello_learning, ("row_2",), ("a1",))) is None
    patterns = PatternSet.from_names(othello_learning.features, {"mixed": ("mobility", "corners", "a1")})
    mixed = evolve(whole, patterns=patterns, pattern_weights=np.zeros((phases, patterns.weight_count), np.float32))
    assert incremental_evaluator(mixed) is None
    small = random_evaluation(othello_learning, ("row_2", "regions"))
    assert incremental_evaluator(small) is not None
    assert incremental_evaluator(random_layer(small, 4)) is None
