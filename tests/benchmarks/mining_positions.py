"""Positions of WTHOR games for the benchmarks of mining."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.features.learning import load_learning
from glem.core.game.game import load_game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records
from glem.core.positions.replay import replay

SQUARES = np.arange(64)
TWO_EDGE_ROWS = np.arange(16)


class Positions(NamedTuple):
    """Feature values, final scores for the side to move, and stages of some positions."""

    values: NDArray[np.int16]
    labels: NDArray[np.float64]
    phases: NDArray[np.uint8]


def sample(
    folder: Path, count: int, empties: tuple[int, int] = (0, 60), features: NDArray[np.intp] = SQUARES
) -> Positions:
    """Random positions with so many empty squares out of all finished games in the folder of ``.wtb`` files."""
    game, learning = load_game("othello"), load_learning("othello")
    files = sorted(folder.glob("*.wtb"))
    played = replay(game, GameRecords.concatenate([part for file in files for part in read_records(game, file)]))
    empty = 64 - np.bitwise_count(played.positions.own | played.positions.opponent)
    finished = played.status[played.record] == 0
    rows = np.flatnonzero(finished & (empty >= empties[0]) & (empty <= empties[1]))
    rows = np.sort(np.random.default_rng(1).choice(rows, count, replace=False))
    positions = rows_of(played.positions, rows)
    labels = played.final_score[played.record[rows]].astype(np.float64) * played.side[rows]
    values = np.empty((len(features), count), np.int16)
    # In pieces, as all features of all positions at once would take more memory than what is measured.
    for start in range(0, count, 250_000):
        piece = rows_of(positions, slice(start, start + 250_000))
        values[:, start : start + 250_000] = learning.features.values(piece)[:, features].T
    return Positions(values.T, labels, learning.phases.of(positions))
