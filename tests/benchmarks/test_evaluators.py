"""Moves with evaluation per second: updated from move to move, and recomputed from the position.

Random games are played in one kernel; at every position all moves are made, evaluated and one of them is played on. The
weights are random, Logistello's 46 pattern instances with 13 phases. ``pytest tests/benchmarks/test_evaluators.py -s``
prints million moves a second of processor time on one core.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from attrs import evolve
from pytest_benchmark.fixture import BenchmarkFixture

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled, mix
from glem.core.configurations.mining import mine
from glem.core.evaluation.integers.recomputing import recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.evaluators import Evaluator, start, static_score, update
from glem.core.features.learning import Learning
from glem.core.game.game import legal_moves, play
from glem.core.patterns.patterns import PatternSet
from glem.plugins.othello.incremental import incremental_evaluator
from tests.benchmarks.tournament_positions import sample
from tests.core.evaluation.linear_evaluations import random_weights

pytestmark = pytest.mark.benchmark(timer=time.process_time)

GAMES = 2000
CONFIGURATIONS = 100_000
MINED_FROM = 50_000

PLAY, UPDATE, UPDATE_AND_SCORE, START_AND_SCORE = range(4)


class Memory(NamedTuple):
    data: Any
    accumulators: Any
    moves: Any


def walk(rules: Any, evaluator: Any, memory: Any, position: Any, games: np.int64, work: np.int64) -> Any:
    """Play random games; the number of moves made, and a sum that keeps the compiler from leaving work out."""
    made, total = np.int64(0), np.int64(0)
    state = np.uint64(1)
    for _ in range(games):
        ply = np.int64(0)
        before = position
        start(evaluator, before, memory.data, memory.accumulators, ply)
        count = np.int64(legal_moves(rules, before, memory.moves, np.int64(0)))
        while count > np.int64(0):
            state = mix(state)
            chosen = np.int64(state % np.uint64(count))
            following = before
            for place in range(count):
                # The chosen move comes last, so that its accumulator stays.
                move = np.int64(memory.moves[(chosen + np.int64(1) + place) % count])
                following = play(rules, before, move)
                if work == np.int64(PLAY):
                    total += np.int64(following.own & np.uint64(1))
                elif work == np.int64(START_AND_SCORE):
                    start(evaluator, following, memory.data, memory.accumulators, ply + np.int64(1))
                else:
                    update(evaluator, before, move, following, memory.data, memory.accumulators, ply)
                if work >= np.int64(UPDATE_AND_SCORE):
                    total += static_score(evaluator, following, memory.data, memory.accumulators, ply + np.int64(1))
                made += np.int64(1)
            before = following
            ply += np.int64(1)
            count = np.int64(legal_moves(rules, before, memory.moves, np.int64(0)))
    return made, total


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> LinearEvaluation:
    """Random weights."""
    patterns = PatternSet.from_names(othello_learning.features, othello_learning.pattern_sets["logistello"])
    return random_weights(othello_learning, np.random.default_rng(1), patterns=patterns)


def measure(
    benchmark: BenchmarkFixture,
    evaluation: LinearEvaluation,
    evaluator: Evaluator | None,
    work: int,
    games: int = GAMES,
) -> None:
    assert evaluator is not None
    game = evaluation.learning.game
    accumulators = evaluator.empty_accumulators(game.max_plies + 1)
    memory = Borrowed(Memory(evaluator.data, accumulators, np.zeros(game.max_moves, np.int32)))
    integers = (np.int64(games), np.int64(work))
    arguments = (game.search_rules, evaluator.operations, memory, game.initial_position, *integers)
    made, _ = benchmark.pedantic(compiled(walk), args=arguments, rounds=7, warmup_rounds=1)
    stats: Any = benchmark.stats  # annotated as None
    rate = made / stats.stats.median / 1e6
    benchmark.extra_info["million moves/s"] = round(rate, 3)
    print(f" {rate:.3g} million moves a second", end="")


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(PLAY, id="moves alone"),
        pytest.param(UPDATE, id="update"),
        pytest.param(UPDATE_AND_SCORE, id="update and score"),
        # The same tables, but all indices added up anew for every position.
        pytest.param(START_AND_SCORE, id="indices from the squares"),
    ],
)
def test_moves(benchmark: BenchmarkFixture, evaluation: LinearEvaluation, work: int) -> None:
    measure(benchmark, evaluation, incremental_evaluator(evaluation), work)


def test_moves_with_the_general_evaluator(benchmark: BenchmarkFixture, evaluation: LinearEvaluation) -> None:
    """All feature values anew, then all indices from them."""
    measure(benchmark, evaluation, recomputing_evaluator(evaluation), START_AND_SCORE, games=GAMES // 10)


@pytest.fixture(scope="module")
def configurations(shared: Path, othello_learning: Learning) -> LinearEvaluation:
    """The commonest configurations of up to three squares in tournament games, with random weights."""
    values = sample(shared / "othello" / "wthor", MINED_FROM).values
    mined = mine(values, minimum_matches=MINED_FROM // 50, maximum_size=3, features=np.arange(64)).flatten()
    commonest = mined.select(np.sort(np.argsort(-mined.match_counts, kind="stable")[:CONFIGURATIONS]))
    assert len(commonest) == CONFIGURATIONS
    return random_weights(othello_learning, np.random.default_rng(2), configurations=commonest)


@pytest.mark.shared
@pytest.mark.parametrize("most_specific", [False, True], ids=["all", "most_specific"])
def test_moves_with_configurations(
    benchmark: BenchmarkFixture, configurations: LinearEvaluation, most_specific: bool
) -> None:
    evaluation = evolve(configurations, most_specific=most_specific)
    measure(benchmark, evaluation, recomputing_evaluator(evaluation), START_AND_SCORE, games=GAMES // 500)
