"""How fast the search plays chess, and what it finds: tables of docs/explanation/search.md.

    python -m tests.benchmarks.chess_search_tables speed DATA --depth 8
    python -m tests.benchmarks.chess_search_tables solve DATA/epd/win-at-chess.epd --nodes 100000
    python -m tests.benchmarks.chess_search_tables compile

DATA is the folder of the chess data. ``speed`` searches positions to a fixed depth, each with an empty table, and
prints nodes a second of processor time. ``solve`` counts the positions of an EPD file whose best move (``bm``, ``am``
for what to avoid) the search plays. ``compile`` times the first search of a process with an empty kernel cache. The
evaluation is the light one of ``tests/benchmarks/chess_material.py``, or that of ``--evaluation``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import chess

from glem.core.features.evaluators import Evaluator
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board, to_board
from tests.benchmarks.chess_material import MATERIAL_AND_SQUARES

_TABLE_MB = 64


def evaluator_named(name: str | None) -> Evaluator:
    """The light evaluation, or that of a file or of the game."""
    if name is None:
        return MATERIAL_AND_SQUARES
    from glem.core.evaluation.integers.recomputing import evaluator_of
    from glem.core.evaluation.named import load_value

    return evaluator_of(load_value(name, CHESS))


def lines_of(path: Path) -> list[tuple[chess.Board, dict[str, Any]]]:
    """Boards of an EPD file, with their operations."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            board = chess.Board()
            found.append((board, board.set_epd(line.split("c0")[0])))
    return found


def speed(data: Path, depth: int, count: int, evaluator: Evaluator, settings: SearchSettings) -> None:
    """Nodes a second on positions of both test files, middle games and endings."""
    boards = [board for board, _ in lines_of(data / "epd" / "bratko-kopec.epd")]
    boards += [board for board, _ in lines_of(data / "epd" / "win-at-chess.epd")]
    positions = [from_board(board) for board in boards[:count]]
    searcher = Searcher(CHESS, evaluator, settings)
    searcher.search(CHESS.initial_position, Limits(depth=1))
    nodes = 0
    begin = time.process_time()
    for position in positions:
        searcher.clear()
        nodes += searcher.search(position, Limits(depth=depth)).nodes
    seconds = time.process_time() - begin
    print("| evaluation | depth | positions | nodes a position | million nodes/s |")
    print("|---|---|---|---|---|")
    print(f"| {evaluator.name} | {depth} | {count} | {nodes / count:,.0f} | {nodes / seconds / 1e6:.2f} |")


def solve(path: Path, limits: Limits, evaluator: Evaluator, settings: SearchSettings, *, names: bool) -> None:
    """Positions of an EPD file whose best move is found."""
    searcher = Searcher(CHESS, evaluator, settings)
    searcher.search(CHESS.initial_position, Limits(depth=1))
    solved, nodes, depths, missed = 0, 0, 0, []
    lines = lines_of(path)
    begin = time.process_time()
    for board, operations in lines:
        searcher.clear()
        found = searcher.search(from_board(board), limits)
        nodes += found.nodes
        depths += found.depth
        assert found.move is not None
        after = to_board(CHESS.play(from_board(board), found.move))
        wanted, avoided = ({_after(board, move) for move in operations.get(name, [])} for name in ("bm", "am"))
        key = after.epd()
        if (key in wanted if wanted else True) and key not in avoided:
            solved += 1
        else:
            missed.append(str(operations.get("id", "")))
    seconds = time.process_time() - begin
    print(
        f"{path.name}: {solved} of {len(lines)} solved, mean depth {depths / len(lines):.1f}, "
        f"{nodes / seconds / 1e6:.2f} million nodes/s"
    )
    if names:
        print("missed:", " ".join(missed))


def _after(board: chess.Board, move: chess.Move) -> str:
    """Position after a move."""
    after = board.copy()
    after.push(move)
    return after.epd()


def compile_time() -> None:
    """Seconds of processor time until a process with an empty cache has searched."""
    program = (
        "import time; begin = time.process_time()\n"
        "from glem.core.search.searcher import Searcher\n"
        "from glem.core.search.results import Limits\n"
        "from glem.games.chess import CHESS\n"
        "from tests.benchmarks.chess_material import MATERIAL_AND_SQUARES\n"
        "loaded = time.process_time()\n"
        "Searcher(CHESS, MATERIAL_AND_SQUARES).search(CHESS.initial_position, Limits(depth=2))\n"
        "print(f'{loaded - begin:.1f} s to import, {time.process_time() - loaded:.1f} s to the first search')\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in ("empty cache", "full cache"):
            environment = {**os.environ, "GLEM_CACHE_DIR": folder}
            run = subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
            )
            print(f"{name}: {run.stdout.strip()}")


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "solve", "compile"])
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--evaluation", help="A file, or default; by default a light one.")
    parser.add_argument("--depth", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--table-mb", type=int, default=_TABLE_MB)
    parser.add_argument("--names", action="store_true", help="Name the positions that were not solved.")
    chosen = parser.parse_args()
    settings = SearchSettings(table_mb=chosen.table_mb)
    if chosen.what == "compile":
        compile_time()
        return
    if chosen.path is None:
        parser.error(f"{chosen.what} needs a path")
    evaluator = evaluator_named(chosen.evaluation)
    if chosen.what == "speed":
        speed(chosen.path, chosen.depth or 7, chosen.count, evaluator, settings)
    else:
        limited = chosen.depth or chosen.nodes or chosen.seconds
        limits = Limits(depth=chosen.depth, nodes=chosen.nodes if limited else 100_000, seconds=chosen.seconds)
        solve(chosen.path, limits, evaluator, settings, names=chosen.names)


if __name__ == "__main__":
    main()
