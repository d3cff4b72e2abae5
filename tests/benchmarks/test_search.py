"""Nodes a second of the search on Othello, with a trivial evaluation and with Logistello's 46 pattern instances.

``pytest tests/benchmarks/test_search.py -s`` prints million nodes a second of processor time on one core. The weights
are random: what a search finds with them means nothing, what it costs does. Node counts of a real evaluation are in
``tests/benchmarks/search_tables.py``.
"""

import time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.features.evaluators import Evaluator
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.patterns.patterns import PatternSet
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import random_weights
from tests.core.search.othello_mobility import mobility_evaluator

pytestmark = pytest.mark.benchmark(timer=time.process_time)

DEPTH = 8


@pytest.fixture(scope="module", params=["mobility", "patterns"])
def evaluator(request: pytest.FixtureRequest, othello_learning: Learning) -> Evaluator:
    """Evaluation of a few instructions, or of 46 table entries."""
    if request.param == "mobility":
        return mobility_evaluator()
    patterns = PatternSet.from_names(othello_learning.features, othello_learning.pattern_sets["logistello"])
    return evaluator_of(random_weights(othello_learning, np.random.default_rng(1), patterns=patterns))


def test_search_of_the_middle_game(benchmark: BenchmarkFixture, othello: Game, evaluator: Evaluator) -> None:
    position = random_line(othello, np.random.default_rng(2))[0][24]
    searcher = Searcher(othello, evaluator)
    searcher.search(position, Limits(depth=1))
    result = benchmark.pedantic(lambda: searcher.search(position, Limits(depth=DEPTH)), setup=searcher.clear, rounds=10)
    if benchmark.stats is not None:
        print(f"\n{evaluator.name}: {result.nodes / benchmark.stats['median'] / 1e6:.1f} million nodes/s")
