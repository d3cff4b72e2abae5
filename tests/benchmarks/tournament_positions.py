"""Positions of WTHOR games for the benchmarks: features and labels to mine, positions to solve and to search."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.features.learning import load_learning
from glem.core.game.game import load_game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import FINISHED, Replay, replay
from tests.benchmarks.measuring import tournament_records

SQUARES = np.arange(64)
TWO_EDGE_ROWS = np.arange(16)


class Positions(NamedTuple):
    """Feature values of some positions, and final scores for the side to move."""

    values: NDArray[np.int16]
    labels: NDArray[np.float64]


def _played(folder: Path) -> tuple[Replay, NDArray[np.int64]]:
    """Replay all games; return the number of empty squares of each position too, -1 in games that do not end."""
    game = load_game("othello")
    played = replay(game, GameRecords.concatenate(list(tournament_records(game, folder))))
    empty = 64 - np.bitwise_count(played.positions.own | played.positions.opponent).astype(np.int64)
    return played, np.where(played.status[played.record] == FINISHED, empty, -1)


def real_positions(folder: Path, empties: int, count: int) -> list[Any]:
    """Random positions with so many empty squares out of all finished games in the folder of ``.wtb`` files.

    No two are equal, nobody has to pass in them, and the sample is always the same.
    """
    game, (played, empty) = load_game("othello"), _played(folder)
    rows = np.flatnonzero(empty == empties)
    boards = np.stack([played.positions.own[rows], played.positions.opponent[rows]], 1)
    _, first = np.unique(boards, axis=0, return_index=True)
    positions: list[Any] = []
    for row in np.random.default_rng(1).permutation(rows[np.sort(first)]):
        position = position_at(played.positions, int(row))
        if game.list_legal_moves(position) not in ([], [game.pass_move]):
            positions.append(position)
        if len(positions) == count:
            return positions
    raise ValueError(f"{folder}: {len(positions)} positions with {empties} empty squares, not {count}")


def sample(
    folder: Path, count: int, empties: tuple[int, int] = (0, 60), features: NDArray[np.intp] = SQUARES
) -> Positions:
    """Random positions with so many empty squares out of all finished games in the folder of ``.wtb`` files."""
    learning, (played, empty) = load_learning("othello"), _played(folder)
    rows = np.flatnonzero((empty >= empties[0]) & (empty <= empties[1]))
    rows = np.sort(np.random.default_rng(1).choice(rows, count, replace=False))
    positions = rows_of(played.positions, rows)
    labels = played.final_score[played.record[rows]].astype(np.float64) * played.side[rows]
    values = np.empty((len(features), count), np.int16)
    # In pieces, as all features of all positions at once would take more memory than what is measured.
    for start in range(0, count, 250_000):
        piece = rows_of(positions, slice(start, start + 250_000))
        values[:, start : start + 250_000] = learning.features.values(piece)[:, features].T
    return Positions(values.T, labels)
