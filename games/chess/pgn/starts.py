"""Positions in which games of a PGN file begin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import chess
import numpy as np

from glem.games.chess.boards import board_of_fen, from_board, problems_of
from glem.games.chess.rules.position import INITIAL_POSITION, Position

__all__ = ["start_problem", "starting_positions"]

# What the rules cannot play from; odd numbers of pieces are no harm, as in games with odds.
_UNPLAYABLE = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_EMPTY
)


@lru_cache(1 << 13)
def _position(fen: bytes) -> Position | str:
    """Position of a text, or what is wrong with it."""
    text = _text(fen)
    try:
        board = board_of_fen(text.strip())
    except ValueError as error:
        return f"the game begins in no position: {error}"
    if problems := problems_of(board, _UNPLAYABLE):
        return f"the game begins in {text!r}, which cannot be played: {problems}"
    return from_board(board)


def _text(fen: bytes) -> str:
    return fen.decode("ascii", "replace")[:100]


def starting_positions(fens: Sequence[bytes]) -> tuple[Position, list[int]]:
    """Read the values of ``FEN`` tags, each different one once.

    Returns
    -------
    positions
        Position of columns [S]: the initial position, then the others.
    numbers
        Which of them each text names; -1 for one that is none.
    """
    positions = [INITIAL_POSITION]
    numbers: dict[bytes, int] = {}
    for fen in fens:
        if fen not in numbers:
            position = _position(fen)
            numbers[fen] = -1 if isinstance(position, str) else len(positions)
            if not isinstance(position, str):
                positions.append(position)
    columns: list[Any] = [np.array(column) for column in zip(*positions, strict=True)]
    return Position(*columns), [numbers[fen] for fen in fens]


def start_problem(fen: bytes) -> str:
    """Tell what is wrong with a text that is no position."""
    problem = _position(fen)
    return problem if isinstance(problem, str) else f"the position {_text(fen)!r} cannot be read where it stands"
