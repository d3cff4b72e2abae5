"""Speed of the rules of chess beside Stockfish's, and first calls: tables of docs/explanation/chess.md.

    python -m tests.benchmarks.chess_rules_tables perft
    python -m tests.benchmarks.chess_rules_tables compile

``perft`` counts leaves side by side, in turn: both count the moves of the last ply without making them. Times are
processor times of one core, the median of the rounds; Stockfish's start is taken off. ``--no-pext`` shows glem where
the processor lacks that instruction. ``compile`` times the first calls of a process, of the rules and of the search,
that has an empty kernel cache, then of one that has a full one.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from functools import partial

from glem.core.game.perft import perft
from glem.games.chess import CHESS
from glem.games.chess.notation import parse_position
from tests.benchmarks.measuring import cold_and_warm, median_seconds, table_header, table_row, timed

POSITIONS = (
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 119_060_324),
    ("Kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 193_690_690),
    ("position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7, 178_633_661),
    ("position 4", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 6, 706_045_033),
    ("position 5", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 5, 89_941_194),
    ("position 6", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5, 164_075_551),
)
STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"

FIRST_CALLS = {
    "legal moves": "compiled(CHESS.legal_moves)(CHESS.initial_position, np.zeros(218, np.int32), 0)",
    "play": "compiled(CHESS.play)(CHESS.initial_position, np.int64(12 + 28 * 64))",
    "perft": "from glem.core.game.perft import perft; perft(CHESS, 3)",
    "search": """
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.search.searcher import Limits, Searcher
Searcher(CHESS, evaluator_of(load_value("piece-square", CHESS))).search(CHESS.initial_position, Limits(depth=2))
""",
}
PROGRAM = """
import time
began = time.process_time()
import numpy as np
from glem.games.chess import CHESS
from glem.core.compiling.kernels import compiled
imported = time.process_time()
{call}
print(imported - began, time.process_time() - imported)
"""


def count_with_stockfish(fen: str, depth: int, expected: int) -> None:
    """Run Stockfish's perft; its start takes time too."""
    asked = f"position fen {fen}\ngo perft {depth}\nquit\n"
    answer = subprocess.run([STOCKFISH], input=asked, capture_output=True, text=True, check=True).stdout
    assert f"Nodes searched: {expected}" in answer, answer


def count_with_glem(fen: str, depth: int, expected: int) -> None:
    """Run glem's perft."""
    assert perft(CHESS, depth, parse_position(fen)) == expected


def print_perft(rounds: int) -> None:
    """Print a table row per position."""
    perft(CHESS, 3)
    start = median_seconds(lambda: count_with_stockfish(POSITIONS[0][1], 1, 20), 5)
    table_header("position", "depth", "leaves", "glem, million/s", "Stockfish, million/s", "ratio")
    for name, *asked in POSITIONS:
        programs = (count_with_glem, count_with_stockfish)
        rounds_of_both = [[timed(partial(count, *asked))[1] for count in programs] for _ in range(rounds)]
        glem, other = (statistics.median(seconds) for seconds in zip(*rounds_of_both, strict=True))
        other -= start
        _, depth, leaves = asked
        rates = f"{leaves / glem / 1e6:.0f} | {leaves / other / 1e6:.0f} | {other / glem:.2f}"
        table_row(name, depth, f"{leaves:,}", rates)


def print_compile() -> None:
    """Print seconds of the first calls of a process."""
    table_header("first call", "cold, s", "warm, s", "imports before, s")
    for name, call in FIRST_CALLS.items():
        (_, cold), (imports, warm) = cold_and_warm(PROGRAM.format(call=call))
        table_row(name, f"{cold:.1f} | {warm:.2f} | {imports:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("perft", "compile"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-pext", action="store_true", help="glem without the pext instruction")
    options = parser.parse_args()
    if options.no_pext and not os.environ.get("GLEM_NO_PEXT"):
        os.environ["GLEM_NO_PEXT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.chess_rules_tables", *sys.argv[1:]])
    if options.table == "perft":
        print_perft(options.rounds)
    else:
        print_compile()


if __name__ == "__main__":
    main()
