"""Evaluators of any linear evaluation: scores against the oracle of evaluations, plain and compiled."""

import pickle
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.evaluation.integers.recomputing import evaluator_of, recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, scaled_sigmoid
from glem.core.features.evaluators import Evaluator
from glem.core.features.learning import Learning, learning_names, load_learning
from glem.core.patterns.patterns import PatternSet
from tests.core.evaluation.evaluator_scores import integer_sums, line_scores, random_line, tree_scores
from tests.core.evaluation.linear_evaluations import linear_evaluation, random_evaluation, random_layer, random_weights
from tests.core.game.plain_game import COMPILED, COMPILED_LEARNING


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> LinearEvaluation:
    return random_evaluation(othello_learning, np.random.default_rng(5))


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


@pytest.mark.parametrize(
    "name",
    # Others take up to ten seconds to compile and tell nothing more.
    [pytest.param(name, marks=[pytest.mark.repeats] * (name != "othello")) for name in learning_names()],
)
@pytest.mark.parametrize(
    ("plain", "of_plain"), [(True, False), (False, False), (True, True)], ids=["plain", "compiled", "compiled sums"]
)
def test_any_evaluation_of_any_game_in_the_order_of_a_search(name: str, plain: bool, of_plain: bool) -> None:
    learning = load_learning(name)
    for seed in range(4):
        generator = np.random.default_rng(seed)
        options = {"most_specific": bool(seed % 2), "link": LOGISTIC if seed // 2 else IDENTITY}
        chosen = random_evaluation(learning, generator, **options)
        evaluator = recomputing_evaluator(chosen, plain=of_plain)
        positions, _ = random_line(learning.game, generator)
        root = positions[int(generator.integers(max(1, len(positions) - 3)))]
        found, scores = tree_scores(evaluator, learning.game, root, generator, 3, plain=plain)
        np.testing.assert_array_equal(scores, clipped(chosen, evaluator, found))


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
@pytest.mark.parametrize("hidden", [8, 40])
def test_a_layer_stands_beside_all_terms_of_any_game(hidden: int, plain: bool) -> None:
    learning = load_learning("connect_four")
    patterns = PatternSet.named(learning, "lines")
    terms = random_weights(learning, np.random.default_rng(2), patterns=patterns, linear=(42, 43))
    for chosen in (random_layer(terms, hidden), evolve(random_layer(terms, hidden), link=LOGISTIC)):
        evaluator = recomputing_evaluator(chosen)
        line = random_line(learning.game, np.random.default_rng(1))
        expected = chosen.as_played().sums(line[0]) * evaluator.steps_per_unit
        np.testing.assert_allclose(line_scores(evaluator, *line, plain=plain), expected, atol=1)


def test_compiled_sums_travel_to_other_processes_without_addresses(evaluation: LinearEvaluation) -> None:
    evaluator = recomputing_evaluator(evaluation, plain=True)
    line = random_line(evaluation.learning.game, np.random.default_rng(3))
    scores = line_scores(evaluator, *line, plain=True)
    copy = pickle.loads(pickle.dumps(evaluator.operations))
    assert copy["static_score"]._known == (None, None)
    assert line_scores(evolve(evaluator, operations=copy), *line, plain=True) == scores


def test_another_game_without_patterns() -> None:
    evaluation = linear_evaluation(COMPILED_LEARNING, left=0.5, right=-2.0)
    evaluator = evaluator_of(evaluation)
    positions, moves = random_line(COMPILED, np.random.default_rng(0))
    expected = integer_sums(evaluation, positions)
    assert evaluator.result_only
    assert line_scores(evaluator, positions, moves, plain=False) == expected
    assert line_scores(evaluator, positions, moves, plain=True) == expected
