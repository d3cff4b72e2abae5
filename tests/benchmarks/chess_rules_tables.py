"""Speed of the rules of chess beside Stockfish's, and counts of published suites: figures of docs/explanation/chess.md.

    python -m tests.benchmarks.chess_rules_tables perft
    python -m tests.benchmarks.chess_rules_tables suites DATA/epd/*perft* --most 10000000

``perft`` counts leaves side by side, in turn: both count the moves of the last ply without making them. Times are
processor times of one core, the median of the rounds; Stockfish's start is taken off. ``--no-pext`` shows glem where
the processor lacks that instruction. ``suites`` counts whole files of positions with known counts; DATA is the folder
of the chess data. Every count up to ``--most`` leaves is made anew; without it all of them, which takes hours: the four
files of the shared data hold 4.9 million million leaves.
"""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from glem.core.game.perft import perft
from glem.games.chess import CHESS
from glem.games.chess.notation import parse_position
from tests.benchmarks.measuring import command_line, median_seconds, medians_in_turn, table_header, table_row, timed
from tests.oracles.chess_boards import read_counts

POSITIONS = (
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 119_060_324),
    ("Kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 193_690_690),
    ("position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7, 178_633_661),
    ("position 4", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 6, 706_045_033),
    ("position 5", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 5, 89_941_194),
    ("position 6", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5, 164_075_551),
)
STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"


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
    start = median_seconds(lambda: count_with_stockfish(POSITIONS[0][1], 1, 20), 5)
    table_header("position", "depth", "leaves", "glem, million/s", "Stockfish, million/s", "ratio")
    for name, fen, depth, leaves in POSITIONS:
        works = (partial(count, fen, depth, leaves) for count in (count_with_glem, count_with_stockfish))
        glem, other = medians_in_turn(*works, rounds=rounds)
        other -= start
        rates = f"{leaves / glem / 1e6:.0f} | {leaves / other / 1e6:.0f} | {other / glem:.2f}"
        table_row(name, depth, f"{leaves:,}", rates)


def count_suites(paths: list[Path], most: int) -> bool:
    """Print a line per file and per wrong count; return whether all are as published."""
    wrong = 0
    for path in paths:
        suite = read_counts(path)
        asked = [(known, depth) for known in suite for depth, leaves in known.leaves.items() if leaves <= most]
        leaves, seconds = 0, 0.0
        for known, depth in asked:
            found, taken = timed(lambda known=known, depth=depth: perft(CHESS, depth, parse_position(known.fen)))
            leaves, seconds = leaves + found, seconds + taken
            if found != known.leaves[depth]:
                wrong += 1
                print(f"{known.name}: {known.fen}, depth {depth}: {found:,}, expected {known.leaves[depth]:,}")
        left_out = sum(len(known.leaves) for known in suite) - len(asked)
        counts = f"{len(suite):,} positions, {len(asked):,} counts, {left_out:,} left out, {leaves:,} leaves"
        print(f"{path.name}: {counts}, {leaves / seconds / 1e6:,.0f} million/s", flush=True)
    print(f"{wrong} wrong" if wrong else "all as published")
    return not wrong


def main() -> None:
    tables = dict.fromkeys(("perft", "suites"))
    parser = command_line(__doc__, table=tables, rounds=5, most=sys.maxsize, no_pext=False)
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args()
    if options.no_pext and not os.environ.get("GLEM_NO_PEXT"):
        os.environ["GLEM_NO_PEXT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmarks.chess_rules_tables", *sys.argv[1:]])
    perft(CHESS, 3)
    if options.table == "perft":
        print_perft(options.rounds)
    else:
        sys.exit(not count_suites(options.paths, options.most))


if __name__ == "__main__":
    main()
