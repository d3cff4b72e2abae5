"""Every game of PGN files as glem reads it and as python-chess does: moves, result, final position.

``python -m tests.benchmarks.chess_pgn_comparison FILE...``, by default the files of ``players`` and ``engines`` in
``../shared/data/chess``. Prints a line a file and fails at the first difference. python-chess takes minutes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from glem.core.compiling.columns import position_at
from glem.core.files.packed import MAX_BYTES, open_bounded
from glem.core.positions.reading import read_records
from glem.core.positions.replay import ILLEGAL, outcomes
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board
from tests.conftest import SHARED
from tests.oracles.pgn import SCORES, plain_games

__all__ = ["compare", "main"]


def compare(path: Path) -> int:
    """Compare the games of a file and return the number of games compared.

    Raises
    ------
    AssertionError
        A game differs, or their number does.
    """
    with open_bounded(path) as file:
        plain = plain_games(file.read(MAX_BYTES))
    compared = 0
    for records in read_records(CHESS, path):
        reached = outcomes(CHESS, records)
        for index in range(len(records)):
            where = f"{path.name}: game {records.extra['number'][index]}"
            game = next(plain)
            assert not game.errors, f"{where}: {game.errors}"
            assert records.moves_of(index).tolist() == game.moves, where
            score = SCORES.get(game.result, np.nan)
            assert np.array_equal(records.score[index], np.float32(score), equal_nan=True), where
            assert reached.status[index] != ILLEGAL, where
            assert position_at(reached.positions, index) == from_board(game.board), where
            compared += 1
    rest = next(plain, None)
    assert rest is None, f"{path.name}: python-chess finds another game: {rest}"
    return compared


def main(arguments: list[str]) -> None:
    """Compare all files that are named."""
    folder = SHARED / "data" / "chess"
    paths = [Path(name) for name in arguments] or sorted([*folder.glob("players/*"), *folder.glob("engines/*")])
    total = 0
    begin = time.perf_counter()
    for path in paths:
        count = compare(path)
        total += count
        print(f"{path.name}: {count:,} games equal, {time.perf_counter() - begin:.0f} s", flush=True)
    print(f"{total:,} games: moves, results and final positions equal those of python-chess")


if __name__ == "__main__":
    main(sys.argv[1:])
