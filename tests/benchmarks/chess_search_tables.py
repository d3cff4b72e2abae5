"""How fast the search plays chess, and what it finds: tables of docs/explanation/search.md.

    python -m tests.benchmarks.chess_search_tables speed DATA --depth 8
    python -m tests.benchmarks.chess_search_tables solve DATA/epd/win-at-chess.epd --nodes 100000

DATA is the folder of the chess data. ``speed`` searches positions to a fixed depth, each with an empty table, and
prints nodes a second of processor time. ``solve`` counts the positions of an EPD file whose best move (``bm``, ``am``
for what to avoid) the search plays. The evaluation is ``piece-square``, or that of ``--evaluation``.
"""

import argparse
from pathlib import Path
from typing import Any

import chess

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board, to_board
from tests.benchmarks.measuring import search_all, table_header, table_row

_TABLE_MB = 64


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


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "solve"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--evaluation", default="piece-square", help="A name or a file.")
    parser.add_argument("--depth", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--table-mb", type=int, default=_TABLE_MB)
    parser.add_argument("--names", action="store_true", help="Name the positions that were not solved.")
    chosen = parser.parse_args()
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
