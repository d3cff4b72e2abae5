"""Perft: the number of move sequences of a given length, the usual check of a move generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.errors import BadInputError
from glem.core.game import Game, count_moves, legal_moves, play
from glem.core.kernels import compiled

__all__ = ["perft"]


def _count_leaves(rules: Any, position: Any, depth: int, moves: Any, start: int, ended: int) -> int:
    if depth == np.int64(1):
        leaves = np.int64(count_moves(rules, position))
        return ended if leaves == np.int64(0) else leaves
    count = legal_moves(rules, position, moves, start)
    if count == np.int64(0):
        return ended
    end = start + np.int64(count)
    leaves = np.int64(0)
    for place in range(start, end):
        leaves += _count_leaves(rules, play(rules, position, moves[place]), depth - np.int64(1), moves, end, ended)
    return leaves


def perft(game: Game, depth: int, position: Any = None, *, plain: bool = False) -> int:
    """Count the move sequences of exactly ``depth`` plies from a position; passes count as plies.

    Parameters
    ----------
    game
        A game with the operation ``count_moves``.
    depth
        Number of plies, at least 0.
    position
        Where to start; default is the initial position.
    plain
        Run the plain Python rules instead of the compiled ones.

    Returns
    -------
    int
        Number of sequences. One that ends early counts once where ``game.perft_counts_ended``, else not at all:
        customs differ by game.

    Raises
    ------
    BadInputError
        The depth is negative.
    """
    if depth < 0:
        raise BadInputError(f"perft depth must not be negative, got {depth}")
    if depth == 0:
        return 1
    start = game.initial_position if position is None else position
    moves = np.zeros(game.max_moves * (depth + 1), np.int32)
    count = _count_leaves if plain else compiled(_count_leaves)
    return int(count(game.rules, start, np.int64(depth), moves, np.int64(0), np.int64(game.perft_counts_ended)))
