"""Perft of whole files of positions with known counts.

    python -m tests.benchmarks.chess_perft_suites DATA/epd/*perft*
    python -m tests.benchmarks.chess_perft_suites DATA/epd/*perft* --most 10000000

DATA is the folder of the chess data. Every count up to ``--most`` leaves is made anew; without it all of them, which
takes hours: the four files of the shared data hold 4.9 million million leaves. Rates are by processor time.
"""

import argparse
import sys
import time
from pathlib import Path

from glem.core.game.perft import perft
from glem.games.chess import CHESS
from glem.games.chess.notation import parse_position
from tests.oracles.chess_boards import read_counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="greatest count that is made")
    options = parser.parse_args()
    perft(CHESS, 2)
    wrong = 0
    for path in options.paths:
        counts = leaves = left_out = 0
        suite = read_counts(path)
        start = time.process_time()
        for known in suite:
            position = parse_position(known.fen)
            for depth, expected in known.leaves.items():
                if expected > options.most:
                    left_out += 1
                    continue
                found = perft(CHESS, depth, position)
                counts += 1
                leaves += found
                if found != expected:
                    wrong += 1
                    print(f"{known.name}: {known.fen}, depth {depth}: {found:,}, expected {expected:,}", flush=True)
        rate = leaves / (time.process_time() - start) / 1e6
        print(
            f"{path.name}: {len(suite):,} positions, {counts:,} counts, {left_out:,} left out, {leaves:,} leaves, "
            f"{rate:,.0f} million/s",
            flush=True,
        )
    print(f"{wrong} wrong" if wrong else "all as published")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
