"""How fast the search plays chess, and what it finds: figures of docs/explanation/search.md and chess-evaluation.md.

    python -m tests.benchmarks.chess_search_tables speed DATA --depth 8
    python -m tests.benchmarks.chess_search_tables solve DATA/epd/win-at-chess.epd --nodes 100000
    python -m tests.benchmarks.chess_search_tables evaluations

DATA is the folder of the chess data. ``speed`` searches positions to a fixed depth, each with an empty table, and
prints nodes a second of processor time. ``solve`` counts the positions of an EPD file whose best move (``bm``, ``am``
for what to avoid) the search plays. The evaluation is ``piece-square``, or that of ``--evaluation``. ``evaluations``
prints the speeds of features and evaluations of 80,000 positions together, and of searches with the evaluations that
come with chess, in processor time of one thread.
"""

from pathlib import Path
from typing import Any

import chess
import numpy as np

from glem.core.compiling.columns import rows_of
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board, to_board
from glem.plugins.chess import CHESS as LEARNING
from tests.benchmarks.measuring import command_line, median_seconds, search_all, table_header, table_row
from tests.oracles.chess_boards import random_game

_TABLE_MB = 64
_POSITIONS = 80_000
_ROUNDS = 5
_ROOTS = (
    chess.STARTING_FEN,
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP3PPP/R1BQKB1R w KQ - 0 8",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "2r3k1/pp2ppbp/6p1/3n4/8/1P2BN2/P3BPPP/3R2K1 w - - 0 20",
)


def lines_of(path: Path) -> list[tuple[chess.Board, dict[str, Any]]]:
    """Boards of an EPD file, with their operations."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            board = chess.Board()
            found.append((board, board.set_epd(line.split("c0")[0])))
    return found


def speed(data: Path, depth: int, count: int, searcher: Searcher) -> None:
    """Nodes a second on positions of both test files, middle games and endings."""
    files = [data / "epd" / f"{name}.epd" for name in ("bratko-kopec", "win-at-chess")]
    boards = [board for file in files for board, _ in lines_of(file)]
    run = search_all(searcher, [from_board(board) for board in boards[:count]], Limits(depth=depth))
    table_header("depth", "positions", "nodes a position", "million nodes/s")
    table_row(depth, count, f"{run.nodes / count:,.0f}", f"{run.speed:.2f}")


def solve(path: Path, limits: Limits, searcher: Searcher, *, names: bool) -> None:
    """Positions of an EPD file whose best move is found."""
    lines = lines_of(path)
    run = search_all(searcher, [from_board(board) for board, _ in lines], limits)
    missed = []
    for (board, operations), found in zip(lines, run.results, strict=True):
        assert found.move is not None
        key = to_board(CHESS.play(from_board(board), found.move)).epd()
        wanted, avoided = ({_after(board, move) for move in operations.get(name, [])} for name in ("bm", "am"))
        if (wanted and key not in wanted) or key in avoided:
            missed.append(str(operations.get("id", "")))
    depth = sum(found.depth for found in run.results) / len(lines)
    solved = f"{len(lines) - len(missed)} of {len(lines)} solved"
    print(f"{path.name}: {solved}, mean depth {depth:.1f}, {run.speed:.2f} million nodes/s")
    if names:
        print("missed:", " ".join(missed))


def _after(board: chess.Board, move: chess.Move) -> str:
    """Position after a move."""
    after = board.copy()
    after.push(move)
    return after.epd()


def _positions() -> Any:
    boards = [from_board(board) for seed in range(6) for board, _ in random_game(seed, 100)]
    return rows_of(CHESS.columns_of(boards), np.arange(_POSITIONS) % len(boards))


def evaluations(nodes: int) -> None:
    """Speeds of features and evaluations of many positions together, and of searches with the evaluations."""
    positions = _positions()
    seconds = median_seconds(lambda: LEARNING.features.values(positions), _ROUNDS)
    print(f"{len(LEARNING.features)} features of {_POSITIONS:,} positions: {seconds:.3f} s")
    for name in ("none", "material", "piece-square", "default"):
        evaluation = load_value(name, CHESS)
        if name != "none":
            seconds = median_seconds(lambda e=evaluation: e.predict(positions), _ROUNDS)
            print(f"{name} of {_POSITIONS:,} positions: {seconds:.3f} s")
        searcher = Searcher(CHESS, evaluator_of(evaluation))
        run = search_all(searcher, [from_board(chess.Board(text)) for text in _ROOTS], Limits(nodes=nodes))
        print(f"search with {name}: {run.speed:.2f} million nodes/s")


def main() -> None:
    """Print the table that was asked for."""
    tables = dict.fromkeys(("speed", "solve", "evaluations"))
    parser = command_line(__doc__, what=tables, evaluation="piece-square", count=24, table_mb=_TABLE_MB, names=False)
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--depth", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seconds", type=float)
    chosen = parser.parse_args()
    if chosen.what == "evaluations":
        evaluations(chosen.nodes or 400_000)
        return
    settings = SearchSettings(table_mb=chosen.table_mb)
    searcher = Searcher(CHESS, evaluator_of(load_value(chosen.evaluation, CHESS)), settings)
    if chosen.what == "speed":
        speed(chosen.path, chosen.depth or 7, chosen.count, searcher)
    else:
        limited = chosen.depth or chosen.nodes or chosen.seconds
        limits = Limits(depth=chosen.depth, nodes=chosen.nodes if limited else 100_000, seconds=chosen.seconds)
        solve(chosen.path, limits, searcher, names=chosen.names)


if __name__ == "__main__":
    main()
