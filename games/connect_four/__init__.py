"""Connect Four, the small game to copy: rules as plain functions over two bitboards, and their text forms.

Cell a1, at the bottom left, is bit 0, a2 bit 1, b1 bit 7: ``7 * column + row``. The seventh bit of every column stays
empty, so that no line of four wraps around. A move is a column, 0 to 6.
"""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import inlined, mix, popcount, trailing_zeros
from glem.core.errors import BadInputError
from glem.core.game.game import BoardLayout, Game

_BOTTOM = np.uint64(sum(1 << 7 * column for column in range(7)))
_COLUMN = np.uint64(0b111111)
_CELLS = _BOTTOM * _COLUMN
DIRECTIONS = (np.uint64(1), np.uint64(6), np.uint64(7), np.uint64(8))
"""Bits from one cell of a line to the next: upwards, falling, level, rising."""


class Position(NamedTuple):
    """Discs of the side to move and of the opponent, one bit a cell: bit 0 is a1 at the bottom, bit 5 a6, bit 7 b1."""

    own: np.uint64
    opponent: np.uint64


@inlined
def lines_of_four(cells: np.uint64, step: np.uint64) -> np.uint64:
    """First cells of all lines of four in one direction that lie within ``cells``."""
    pairs = cells & (cells >> step)
    return pairs & (pairs >> (step + step))


@inlined
def playable_cells(position: Position) -> np.uint64:
    """Lowest empty cell of every column that is not full."""
    return ((position.own | position.opponent) + _BOTTOM) & _CELLS


@inlined
def _has_four(discs: np.uint64) -> bool:
    upwards, falling = lines_of_four(discs, DIRECTIONS[0]), lines_of_four(discs, DIRECTIONS[1])
    level, rising = lines_of_four(discs, DIRECTIONS[2]), lines_of_four(discs, DIRECTIONS[3])
    return bool((upwards | falling | level | rising) != np.uint64(0))


def legal_moves(position: Position, moves: Any, start: int) -> int:
    """Write the columns that are not full, from left to right; none once a side has four in a row."""
    cells = np.uint64(0) if _has_four(position.opponent) else playable_cells(position)
    count = 0
    while cells != np.uint64(0):
        moves[start + count] = trailing_zeros(cells) // 7
        count += 1
        cells &= cells - np.uint64(1)
    return count


def count_moves(position: Position) -> int:
    """Count the legal moves."""
    return 0 if _has_four(position.opponent) else popcount(playable_cells(position))


def play(position: Position, move: int) -> Position:
    """Position after a disc dropped into a column; the other side is to move."""
    disc = playable_cells(position) & (_COLUMN << np.uint64(7 * move))
    return Position(position.opponent, position.own | disc)


def is_over(position: Position) -> bool:
    """Whether the opponent has four in a row or the board is full."""
    return _has_four(position.opponent) or (position.own | position.opponent) == _CELLS


def final_score(position: Position) -> int:
    """-1 where the opponent has four in a row, 0 on a full board; who is to move has never won."""
    return -1 if _has_four(position.opponent) else 0


def hash_key(position: Position) -> np.uint64:
    """64-bit key: a column's discs and own discs add up to a number of their own (Tromp 2008)."""
    return mix(position.own + (position.own | position.opponent))


def plies_left(position: Position) -> int:
    """Count the empty cells."""
    return 42 - popcount(position.own | position.opponent)


def move_order(position: Position, move: int, after: Position) -> int:
    """Hint for the search: the middle columns, which lie in most lines of four, first."""
    return -10 * abs(move - 3)


def _mirror(board: np.uint64) -> np.uint64:
    image = np.uint64(0)
    for column in range(7):
        image |= ((board >> np.uint64(7 * column)) & _COLUMN) << np.uint64(42 - 7 * column)
    return image


def transform(position: Position, symmetry: int) -> Position:
    """Return the position itself under symmetry 0, its mirror image under 1."""
    return Position(_mirror(position.own), _mirror(position.opponent)) if symmetry else position


def format_position(position: Position) -> str:
    """Write the cells, row by row from the top: ``X`` who began, ``O``, ``-`` empty; then the side to move."""
    side = popcount(position.own | position.opponent) % 2
    first, second = map(int, (position.own, position.opponent) if side == 0 else (position.opponent, position.own))
    bits = [1 << 7 * column + row for row in range(5, -1, -1) for column in range(7)]
    return "".join("X" if first & bit else "O" if second & bit else "-" for bit in bits) + " " + "XO"[side]


def parse_position(text: str) -> Position:
    """Position of a text as :func:`format_position` writes it; the discs tell who is to move.

    Raises
    ------
    BadInputError
        Not 42 cells of ``X``, ``O`` and ``-``, a disc above an empty cell, or discs that no game leads to.
    """
    board, *side = text.upper().split() or [""]
    if len(board) != 42 or set(board) - set("XO-"):
        raise BadInputError(f"{text!r} is no position: 42 cells of X, O and -, row by row from the top, are needed")
    columns = [board[column::7][::-1] for column in range(7)]
    first, second = (
        np.uint64(sum(1 << 7 * x + y for x in range(7) for y in range(6) if columns[x][y] == disc)) for disc in "XO"
    )
    surplus = popcount(first) - popcount(second)
    position = Position(first, second) if surplus == 0 else Position(second, first)
    if surplus not in {0, 1} or side not in ([], ["XO"[surplus]]) or _has_four(position.own):
        raise BadInputError(f"no game leads to {text!r}: X begins, sides alternate, and four in a row end the game")
    if any("-" in column.rstrip("-") for column in columns):
        raise BadInputError(f"a disc lies above an empty cell in {text!r}")
    return position


def parse_move(text: str) -> int:
    """Column of a text ``1`` to ``7``; :class:`~glem.core.errors.BadInputError` otherwise."""
    if len(text) != 1 or text not in "1234567":
        raise BadInputError(f"{text!r} is no column (1 to 7)")
    return int(text) - 1


CONNECT_FOUR = Game(
    name="connect_four",
    title="Connect Four",
    initial_position=Position(np.uint64(0), np.uint64(0)),
    legal_moves=legal_moves,
    play=play,
    is_over=is_over,
    final_score=final_score,
    hash_key=hash_key,
    max_moves=7,
    move_count=7,
    max_plies=42,
    score_bounds=(-1, 1),
    format_position=format_position,
    parse_position=parse_position,
    format_move=lambda move: str(move + 1),
    parse_move=parse_move,
    count_moves=count_moves,
    transform=transform,
    transform_move=lambda move, symmetry: 6 - move if symmetry else move,
    symmetry_count=2,
    layout=BoardLayout(rows=6, columns=7),
    search_functions={"plies_left": plies_left, "move_order": move_order},
)
"""The game as the registry knows it."""
