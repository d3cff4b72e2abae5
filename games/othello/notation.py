"""Text forms of Othello: squares ``a1`` to ``h8``, the pass ``--``, 64-character boards.

A position's line is 64 characters (``X`` black, ``O`` white, ``-`` empty; a1, b1, ... h8), a blank and the
side to move, ``X`` or ``O``.
"""

import numpy as np

from glem.core.errors import BadInputError
from glem.games.othello.rules import PASS, Position

_BLACK = "Xx*Bb#●"
_WHITE = "Oo0Ww○"
_EMPTY = "-._"


def format_square(square: int) -> str:
    """Name of a square, ``--`` for the pass."""
    if square == PASS:
        return "--"
    return "abcdefgh"[square % 8] + "12345678"[square // 8]


def parse_square(text: str) -> int:
    """Square 0-63 of a name like ``f5`` (either case), 64 for ``--``, ``pa``, ``ps`` or ``pass``.

    Raises
    ------
    BadInputError
        The text is no square.
    """
    name = text.lower()
    if name in {"--", "pa", "ps", "pass"}:
        return PASS
    if len(name) == 2 and name[0] in "abcdefgh" and name[1] in "12345678":
        return "abcdefgh".index(name[0]) + 8 * "12345678".index(name[1])
    raise BadInputError(f"{text!r} is no square (a1 to h8, or -- for a pass)")


def format_position(position: Position, *, black_to_move: bool = True) -> str:
    """Line of a position; the rules do not know who is black, by default the side to move is."""
    own, opponent = int(position.own), int(position.opponent)
    mine, theirs = ("X", "O") if black_to_move else ("O", "X")
    board = "".join(mine if own >> square & 1 else theirs if opponent >> square & 1 else "-" for square in range(64))
    return f"{board} {mine}"


def parse_position(text: str) -> Position:
    """Position of a line as :func:`format_position` writes it; without a side to move, black is to move.

    Raises
    ------
    BadInputError
        Not 64 squares, an unknown character, or an unknown side to move.
    """
    words = text.split()
    if not words or len(words) > 2:
        raise BadInputError(f"{text!r} is no position: 64 squares, a blank and X or O are needed")
    board = words[0]
    side = words[1] if len(words) == 2 else "X"
    if len(board) == 65 and len(words) == 1:
        board, side = board[:64], board[64]
    if len(board) != 64:
        raise BadInputError(f"a board has 64 squares, {board!r} has {len(board)}")
    black = white = 0
    for square, character in enumerate(board):
        if character in _BLACK:
            black |= 1 << square
        elif character in _WHITE:
            white |= 1 << square
        elif character not in _EMPTY:
            raise BadInputError(f"{character!r} on {format_square(square)}: expected X, O or - in {board!r}")
    side = side.rstrip(";")
    if len(side) == 1 and side in _BLACK:
        return Position(np.uint64(black), np.uint64(white))
    if len(side) == 1 and side in _WHITE:
        return Position(np.uint64(white), np.uint64(black))
    raise BadInputError(f"side to move is {side!r}, expected X or O")
