"""Print the speeds of ``docs/explanation/chess-evaluation.md``, in processor time of one thread.

    python -m tests.benchmarks.chess_evaluation_tables [NODES]

Features and evaluations of 80,000 positions together, then searches with the evaluations that come with chess.
"""

import sys
from typing import Any

import chess
import numpy as np

from glem.core.compiling.columns import rows_of
from glem.core.conformance.playouts import columns_of
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from glem.games.chess import CHESS as GAME
from glem.games.chess.boards import from_board
from glem.plugins.chess import CHESS
from tests.benchmarks.measuring import median_seconds, search_all
from tests.oracles.chess_boards import random_game

_POSITIONS = 80_000
_ROUNDS = 5
_ROOTS = (
    chess.STARTING_FEN,
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP3PPP/R1BQKB1R w KQ - 0 8",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "2r3k1/pp2ppbp/6p1/3n4/8/1P2BN2/P3BPPP/3R2K1 w - - 0 20",
)


def _positions() -> Any:
    boards = [from_board(board) for seed in range(6) for board, _ in random_game(seed, 100)]
    return rows_of(columns_of(GAME, boards), np.arange(_POSITIONS) % len(boards))


def main() -> None:
    """Print all tables."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
    positions = _positions()
    seconds = median_seconds(lambda: CHESS.features.values(positions), _ROUNDS)
    print(f"{len(CHESS.features)} features of {_POSITIONS:,} positions: {seconds:.3f} s")
    for name in ("material", "piece-square", "default"):
        evaluation = load_value(name, GAME)
        seconds = median_seconds(lambda e=evaluation: e.predict(positions), _ROUNDS)
        print(f"{name} of {_POSITIONS:,} positions: {seconds:.3f} s")
    for name in ("none", "material", "piece-square", "default"):
        searcher = Searcher(GAME, evaluator_of(load_value(name, GAME)))
        run = search_all(searcher, [from_board(chess.Board(text)) for text in _ROOTS], Limits(nodes=nodes))
        print(f"search with {name}: {run.speed:.2f} million nodes/s")


if __name__ == "__main__":
    main()
