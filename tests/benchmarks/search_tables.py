"""Print the tables of docs/explanation/search.md.

    python -m tests.benchmarks.search_tables depths MODEL WTHOR
    python -m tests.benchmarks.search_tables techniques MODEL WTHOR
    python -m tests.benchmarks.search_tables borrowing MODEL WTHOR

MODEL is a file of ``glem fit``, WTHOR the folder of the ``.wtb`` files, from which positions with 36 empty squares are
taken. Each is searched with an empty table. Times are processor times of one core; the kernels are compiled before.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from glem.core.compiling.kernels import compiled
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.game.game import Game
from glem.core.search.negascout import negascout
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from tests.benchmarks.measuring import command_line, search_all, table_header, table_row
from tests.benchmarks.tournament_positions import real_positions

EMPTIES = 36


def depths(evaluation: LinearEvaluation, positions: list[Any], depth: int) -> None:
    """Nodes and times by depth."""
    searcher = Searcher(evaluation.learning.game, evaluator_of(evaluation))
    table_header("depth", "nodes a position", "median", "to the depth before", "positions/s", "million nodes/s")
    before = 0.0
    for each in range(1, depth + 1):
        run = search_all(searcher, positions, Limits(depth=each))
        nodes = run.nodes / len(positions)
        median = statistics.median(result.nodes for result in run.results)
        growth = f"{nodes / before:.2f}" if before else ""
        table_row(
            each, f"{nodes:,.0f}", f"{median:,.0f}", growth, f"{len(positions) / run.seconds:,.1f} | {run.speed:.1f}"
        )
        before = nodes


def without_hint(game: Game) -> Game:
    """The game as the search knows it, but for the hint for the order of moves."""
    kept = {name: function for name, function in game.search_functions.items() if name != "move_order"}
    return evolve(game, search_functions=kept)


def techniques(evaluation: LinearEvaluation, positions: list[Any], depth: int) -> None:
    """Each technique off, the others on."""
    game = evaluation.learning.game
    never = 120
    variants: dict[str, tuple[Game, SearchSettings]] = {
        "all": (game, SearchSettings()),
        "no transposition table": (game, SearchSettings(table_mb=0)),
        "no aspiration windows": (game, SearchSettings(aspiration=0)),
        "no static scores in the order of moves": (game, SearchSettings(order_depth=never)),
        "no hint of the game": (without_hint(game), SearchSettings()),
        "neither": (without_hint(game), SearchSettings(order_depth=never)),
    }
    evaluator = evaluator_of(evaluation)
    whole = None
    table_header("search", "nodes a position", "nodes to all", "time to all")
    for name, (played, settings) in variants.items():
        run = search_all(Searcher(played, evaluator, settings), positions, Limits(depth=depth))
        whole = whole or run
        if [result.score for result in run.results] != [result.score for result in whole.results]:
            raise AssertionError(f"{name}: other scores")
        ratios = f"{run.nodes / whole.nodes:.2f} | {run.seconds / whole.seconds:.2f}"
        table_row(name, f"{run.nodes / len(positions):,.0f}", ratios)


def borrowing(evaluation: LinearEvaluation, positions: list[Any], depth: int) -> None:
    """The same kernel with borrowed arrays and with the NamedTuple of arrays, taken in turns."""
    game, evaluator = evaluation.learning.game, evaluator_of(evaluation)
    searcher = Searcher(game, evaluator)
    kernel: Any = compiled(negascout)
    arguments: dict[str, Any] = {"borrowed": searcher.borrowed, "NamedTuple of arrays": searcher.state}
    times: dict[str, list[float]] = {name: [] for name in arguments}
    window = (-evaluator.limit, evaluator.limit)
    for position in [positions[0], *positions]:
        for name, state in arguments.items():
            searcher.clear()
            searcher.search(position, Limits(depth=1))
            integers = (np.int64(number) for number in (0, depth, *window))
            begin = time.process_time()
            kernel(game.search_rules, evaluator.operations, state, position, *integers)
            times[name].append(time.process_time() - begin)
    # The first search of each compiled its kernel.
    ratios = [a / b for a, b in zip(*(seconds[1:] for seconds in reversed(times.values())), strict=True)]
    print(f"a NamedTuple of arrays takes {statistics.median(ratios):.2f} times the time of borrowed ones (median)")


TABLES: dict[str, Callable[[LinearEvaluation, list[Any], int], None]] = {
    "depths": depths,
    "techniques": techniques,
    "borrowing": borrowing,
}


def main() -> None:
    """Print one table."""
    chosen = command_line(__doc__, table=TABLES, model=Path, wthor=Path, positions=40, depth=9).parse_args()
    positions = real_positions(chosen.wthor, EMPTIES, chosen.positions)
    TABLES[chosen.table](LinearEvaluation.load(chosen.model), positions, chosen.depth)


if __name__ == "__main__":
    main()
