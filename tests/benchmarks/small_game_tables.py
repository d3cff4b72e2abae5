"""Nodes a second with the evaluator that every game has: a table of docs/explanation/search-evaluation.md.

    python -m tests.benchmarks.small_game_tables
    python -m tests.benchmarks.small_game_tables --game othello --depths 6 8

The game plays itself, its default patterns are fitted to that, with and without its linear features, and positions
after random moves are searched with the default settings, which are full-width, each with an empty table. Times are
processor times of one core, the median of the rounds; the kernels are compiled before.
"""

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from glem.core.evaluation.integers.recomputing import recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning, load_learning
from glem.core.fitting.least_squares import Terms, train
from glem.core.game.game import Game
from glem.core.labelling.first_games import sample_positions
from glem.core.patterns.patterns import PatternSet
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from tests.benchmarks.measuring import command_line, search_all, table_header, table_row
from tests.core.evaluation.evaluator_scores import random_line


def fitted(learning: Learning, *, linear: bool) -> LinearEvaluation:
    """The default patterns, fitted to games that the game plays with itself."""
    patterns = PatternSet.from_names(learning.features, next(iter(learning.pattern_sets.values())))
    terms = Terms(patterns=patterns, linear=learning.linear if linear else ())
    return train(sample_positions(learning.game), learning, terms).evaluation


def random_positions(game: Game, count: int) -> list[Any]:
    """Positions after 0, 1, 2, ... random moves from which the game goes on."""
    generator = np.random.default_rng(1)
    found: list[Any] = []
    while len(found) < count:
        line, _ = random_line(game, generator)
        # The last position of a line is over.
        if len(found) < len(line) - 1:
            found.append(line[len(found)])
    return found


def nodes_a_second(learning: Learning, depths: Sequence[int], count: int, rounds: int) -> None:
    """Nodes and speed by evaluation and depth."""
    positions = random_positions(learning.game, count)
    table_header("evaluation", "depth", "nodes a position", "million nodes/s")
    for linear in (False, True):
        searcher = Searcher(learning.game, recomputing_evaluator(fitted(learning, linear=linear)))
        for depth in depths:
            runs = [search_all(searcher, positions, Limits(depth=depth)) for _ in range(rounds)]
            speed = statistics.median(run.speed for run in runs)
            name = "patterns and linear features" if linear else "patterns"
            table_row(name, depth, f"{runs[0].nodes / count:,.0f}", f"{speed:.1f}")


def main() -> None:
    """Print the table."""
    chosen = command_line(__doc__, game="connect_four", depths=(10, 12, 14), positions=12, rounds=5).parse_args()
    nodes_a_second(load_learning(chosen.game), chosen.depths, chosen.positions, chosen.rounds)


if __name__ == "__main__":
    main()
