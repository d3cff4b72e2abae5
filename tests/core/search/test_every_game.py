"""The search of every installed game: plain Python and compiled code agree in score, variation and nodes."""

from typing import Any

import numpy as np
import pytest

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning, learning_names, load_learning
from glem.core.game.game import Game, game_names, load_game
from glem.core.search.probcut import ProbCut
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import random_weights


def _evaluation(learning: Learning) -> LinearEvaluation:
    """The game's own evaluation, or small random weights of all its linear features."""
    if learning.default_evaluation is not None:
        return value_part(learning.default_evaluation())
    linear = tuple(learning.features.index(name) for name in learning.linear)
    return random_weights(learning, np.random.default_rng(0), linear=linear)


def _positions(game: Game, count: int) -> list[Any]:
    """Positions after random moves, each from a game of its own, later and later, and none where a game is over."""
    generator = np.random.default_rng(11)
    found = []
    for number in range(count):
        line = random_line(game, generator)[0]
        found.append(line[min(4 + 9 * number, len(line) - 4)])
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.repeats] * (name == "chess"))  # its search compiles longest
        for name in sorted({*game_names()} & {*learning_names()})
    ],
)
@pytest.mark.parametrize("selective", [False, True], ids=["full width", "selective"])
def test_plain_and_compiled_search_agree(name: str, selective: bool) -> None:
    game, learning = load_game(name), load_learning(name)
    probcut: ProbCut | None = None
    if selective:
        if learning.default_probcut is None:
            pytest.skip(f"{name} comes without parameters of selective search")
        probcut = learning.default_probcut()
    evaluator = evaluator_of(_evaluation(learning))
    settings = SearchSettings(table_mb=1, probcut=probcut)
    plain, compiled = Searcher(game, evaluator, settings, plain=True), Searcher(game, evaluator, settings)
    # Plain Python takes seconds for more where there are so many moves.
    limits = Limits(depth=6 if selective else 3 if game.max_moves < 100 else 2)
    for position in _positions(game, 5):
        slow, fast = plain.search(position, limits), compiled.search(position, limits)
        assert fast.nodes > 0
        assert (slow.score, slow.variation, slow.nodes) == (fast.score, fast.variation, fast.nodes)
        assert slow.depth == fast.depth
