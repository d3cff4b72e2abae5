"""Positions for the benchmarks of the endgame solver: from real games, and from the suites of scored positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from glem.core.compiling.columns import position_at
from glem.core.game.game import load_game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records
from glem.core.positions.replay import FINISHED, replay

SEED = 1


def real_positions(folder: Path, empties: int, count: int) -> list[Any]:
    """Random positions with so many empty squares out of all finished games in the folder of ``.wtb`` files.

    No two are equal, nobody has to pass in them, and the sample is always the same.
    """
    game = load_game("othello")
    files = sorted(folder.glob("*.wtb"))
    played = replay(game, GameRecords.concatenate([part for file in files for part in read_records(game, file)]))
    occupied = played.positions.own | played.positions.opponent
    rows = np.flatnonzero((np.bitwise_count(occupied) == 64 - empties) & (played.status[played.record] == FINISHED))
    boards = np.stack([played.positions.own[rows], played.positions.opponent[rows]], 1)
    _, first = np.unique(boards, axis=0, return_index=True)
    moves = np.zeros(64, np.int32)
    positions = []
    for row in np.random.default_rng(SEED).permutation(rows[np.sort(first)]):
        position = position_at(played.positions, int(row))
        if game.legal_moves(position, moves, 0) and moves[0] != game.pass_move:
            positions.append(position)
        if len(positions) == count:
            return positions
    raise ValueError(f"{folder}: {len(positions)} positions with {empties} empty squares, not {count}")
