"""Evaluators of any linear evaluation: scores against the oracle of evaluations, plain and compiled."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of, recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, scaled_sigmoid
from glem.core.features.evaluators import Evaluator
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases, learning_names, load_learning
from glem.core.patterns.patterns import MAX_TABLE_SIZE, Pattern, PatternSet
from tests.core.evaluation.evaluator_scores import integer_sums, line_scores, random_line, tree_scores
from tests.core.evaluation.linear_evaluations import random_weights
from tests.core.game.countdown_game import COUNTDOWN


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> LinearEvaluation:
    """Random weights over everything: patterns, configurations (not closed under taking subsets), linear features."""
    generator = np.random.default_rng(5)
    features = othello_learning.features
    sets = othello_learning.pattern_sets["logistello"]
    names = {name: sets[name] for name in ("diagonal_4", "edge_2x")}
    table = RelationTable(np.repeat(np.arange(64), 3), np.tile(np.arange(3), 64))
    # Specializations by one, two and three relations of each other, on squares that are often occupied.
    squares = [27, 28, 35, 36, 18, 19, 20, 26, 29]
    chosen = {
        tuple(sorted(3 * int(square) + int(generator.integers(3)) for square in generator.permutation(squares)[:size]))
        for size in (1, 2, 4, 5)
        for _ in range(250)
    }
    return random_weights(
        othello_learning,
        generator,
        patterns=PatternSet.from_names(features, names | {"of several kinds": ("disc_difference", "parity", "a1")}),
        configurations=ConfigurationSet.from_relations(table, sorted(chosen)),
        linear=tuple(features.index(name) for name in ("mobility", "regions")),
    )


@pytest.fixture(scope="module")
def line(othello_learning: Learning) -> tuple[list[Any], list[int]]:
    """A random game of Othello."""
    return random_line(othello_learning.game, np.random.default_rng(7))


def clipped(evaluation: LinearEvaluation, evaluator: Evaluator, positions: list[Any]) -> Any:
    return np.clip(integer_sums(evaluation, positions), -evaluator.limit, evaluator.limit)


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("most_specific", [True, False], ids=["most specific", "all"])
def test_scores_equal_the_oracle(
    evaluation: LinearEvaluation, line: tuple[list[Any], list[int]], plain: bool, most_specific: bool
) -> None:
    chosen = evolve(evaluation, most_specific=most_specific)
    evaluator = evaluator_of(chosen)
    expected = clipped(chosen, evaluator, line[0])
    assert len(set(expected)) > 30
    np.testing.assert_array_equal(line_scores(evaluator, *line, plain=plain), expected)


def test_the_fast_form_and_the_general_one_agree(othello_learning: Learning, line: tuple[list[Any], list[int]]) -> None:
    patterns = PatternSet.from_names(othello_learning.features, othello_learning.pattern_sets["logistello"])
    covered = random_weights(othello_learning, np.random.default_rng(1), patterns=patterns)
    fast, general = evaluator_of(covered), recomputing_evaluator(covered)
    assert fast.operations is not general.operations
    assert (fast.limit, fast.steps_per_unit, fast.unit) == (general.limit, general.steps_per_unit, general.unit)
    assert line_scores(fast, *line, plain=False) == line_scores(general, *line, plain=False)


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("link", [LOGISTIC, scaled_sigmoid(64.0)], ids=["logistic", "sigmoid"])
def test_links(evaluation: LinearEvaluation, line: tuple[list[Any], list[int]], link: Link, plain: bool) -> None:
    """The logistic link is searched in log odds, a sigmoid one in its values."""
    chosen = evolve(evaluation, link=link)
    evaluator = evaluator_of(chosen)
    scores = np.array(line_scores(evaluator, *line, plain=plain)) / evaluator.steps_per_unit
    values = [chosen.as_played().evaluate(position) for position in line[0]]
    assert evaluator.result_only == (link == LOGISTIC)
    np.testing.assert_allclose(link(scores) if link == LOGISTIC else scores, values, atol=1 / evaluator.steps_per_unit)


def random_evaluation(learning: Learning, generator: np.random.Generator, **options: Any) -> LinearEvaluation:
    """Random patterns, configurations and linear features of any kind, with random weights."""
    features = learning.features

    def some(count: int) -> list[int]:
        return [int(feature) for feature in generator.permutation(len(features))[:count]]

    patterns = []
    for number in range(int(generator.integers(1, 9))):
        members: list[int] = []
        for feature in some(6):
            size = np.prod([features[member].cardinality for member in (*members, feature)], dtype=object)
            if size <= MAX_TABLE_SIZE and can_be_pattern(features, (*members, feature)):
                members.append(feature)
        if members:
            patterns.append(Pattern(f"pattern {number}", tuple(members)))
    # Relations that hold in some position, so that configurations are active.
    positions, _ = random_line(learning.game, generator)
    holding = [features.values_of(position) for position in positions]
    relations = sorted({(feature, int(values[feature])) for values in holding for feature in some(5)})
    table = RelationTable(*np.array(relations).T)
    known = {relation: place for place, relation in enumerate(relations)}
    chosen = set()
    for values in holding:
        active = [
            known[(feature, int(value))] for feature, value in enumerate(values) if (feature, int(value)) in known
        ]
        for size in (1, 2, 3):
            chosen.add(tuple(sorted(int(place) for place in generator.permutation(active)[:size])))
    return random_weights(
        learning,
        generator,
        patterns=PatternSet(features, tuple(patterns)),
        configurations=ConfigurationSet.from_relations(table, sorted(chosen - {()})),
        linear=tuple(some(3)),
        **options,
    )


def can_be_pattern(features: AtomicFeatures, members: tuple[int, ...]) -> bool:
    """Whether the symmetries leave the features' ranges as they are."""
    try:
        PatternSet(features, (Pattern("tried", members),))
    except BadInputError:
        return False
    return True


@pytest.mark.parametrize(
    "name",
    # Others take up to ten seconds to compile and tell nothing more.
    [pytest.param(name, marks=[pytest.mark.repeats] * (name != "othello")) for name in learning_names()],
)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
def test_any_evaluation_of_any_game_in_the_order_of_a_search(name: str, plain: bool) -> None:
    learning = load_learning(name)
    for seed in range(4):
        generator = np.random.default_rng(seed)
        options = {"most_specific": bool(seed % 2), "link": LOGISTIC if seed // 2 else IDENTITY}
        chosen = random_evaluation(learning, generator, **options)
        evaluator = recomputing_evaluator(chosen)
        positions, _ = random_line(learning.game, generator)
        root = positions[int(generator.integers(max(1, len(positions) - 3)))]
        found, scores = tree_scores(evaluator, learning.game, root, generator, 3, plain=plain)
        np.testing.assert_array_equal(scores, clipped(chosen, evaluator, found))


def write_stones(position: Any, values: Any) -> None:
    values[0] = position.stones
    values[1] = position.stones & np.uint8(3)


def one_phase(position: Any) -> int:
    return 0


def test_another_game_without_patterns() -> None:
    features = (AtomicFeature("stones", 0, 9, "Left."), AtomicFeature("remainder", 0, 3, "Left modulo four."))
    learning = Learning(
        game=COUNTDOWN,
        features=AtomicFeatures(COUNTDOWN, features, write_stones),
        phases=Phases(COUNTDOWN, ("all",), one_phase),
        pattern_sets={},
    )
    evaluation = LinearEvaluation(
        learning, np.array([0.25]), linear=(0, 1), linear_weights=np.array([[0.5, -2.0]], np.float32)
    )
    evaluator = evaluator_of(evaluation)
    positions, moves = random_line(COUNTDOWN, np.random.default_rng(0))
    expected = integer_sums(evaluation, positions)
    assert evaluator.result_only
    assert line_scores(evaluator, positions, moves, plain=False) == expected
    assert line_scores(evaluator, positions, moves, plain=True) == expected
