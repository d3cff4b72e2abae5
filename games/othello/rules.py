"""Rules of Othello as plain functions over two bitboards.

Square a1 is bit 0, h1 bit 7, a8 bit 56: column + 8 * (row - 1). A position holds the discs of the side to
move and those of the opponent; who of them is black does not matter to the rules. Moves are squares 0-63;
64 is the pass, legal only when the side to move has no other move and the opponent has one.
"""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, mix, popcount, trailing_zeros

PASS = 64
"""The move of a side that has no other while the opponent has one."""


class Position(NamedTuple):
    """Discs of the side to move and of the opponent, one bit a square: bit 0 is a1, bit 7 h1, bit 63 h8."""

    own: np.uint64
    opponent: np.uint64


INITIAL_POSITION = Position(np.uint64(0x0000000810000000), np.uint64(0x0000001008000000))
"""Black to move: black on e4 and d5, white on d4 and e5."""

CORNERS = np.uint64(0x8100000000000081)
_INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
_NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
_NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)


@inlined
def _runs(discs: np.uint64, flippable: np.uint64, shift: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Find the runs of flippable discs that start next to a disc, up and down along one line."""
    double = shift + shift
    up = flippable & (discs << shift)
    up |= flippable & (up << shift)
    pairs = flippable & (flippable << shift)
    up |= pairs & (up << double)
    up |= pairs & (up << double)
    down = flippable & (discs >> shift)
    down |= flippable & (down >> shift)
    pairs = flippable & (flippable >> shift)
    down |= pairs & (down >> double)
    down |= pairs & (down >> double)
    return up, down


@inlined
def _reach(own: np.uint64, flippable: np.uint64, shift: np.uint64) -> np.uint64:
    """Squares next to a run of opponent discs that starts next to an own disc, both ways along one line."""
    up, down = _runs(own, flippable, shift)
    return (up << shift) | (down >> shift)


@inlined
def mobility(own: np.uint64, opponent: np.uint64) -> np.uint64:
    """Squares where the side that holds ``own`` may place a disc."""
    inner = opponent & _INNER_COLUMNS
    reached = _reach(own, inner, ONE)
    reached |= _reach(own, opponent, np.uint64(8))
    reached |= _reach(own, inner, np.uint64(7))
    reached |= _reach(own, inner, np.uint64(9))
    return reached & ~(own | opponent)


@inlined
def _line_flips(own: np.uint64, flippable: np.uint64, disc: np.uint64, shift: np.uint64) -> np.uint64:
    up, down = _runs(disc, flippable, shift)
    flipped = ZERO
    if (up << shift) & own != ZERO:
        flipped |= up
    if (down >> shift) & own != ZERO:
        flipped |= down
    return flipped


@inlined
def flips(own: np.uint64, opponent: np.uint64, square: int) -> np.uint64:
    """Opponent discs that a disc placed on ``square`` turns over; 0 for an illegal square."""
    disc = ONE << np.uint64(square)
    inner = opponent & _INNER_COLUMNS
    flipped = _line_flips(own, inner, disc, ONE)
    flipped |= _line_flips(own, opponent, disc, np.uint64(8))
    flipped |= _line_flips(own, inner, disc, np.uint64(7))
    flipped |= _line_flips(own, inner, disc, np.uint64(9))
    return flipped


def neighbours(board: np.uint64) -> np.uint64:
    """Squares next to those of a board, diagonally too, but not on it."""
    wide = board | ((board & _NOT_H) << ONE) | ((board & _NOT_A) >> ONE)
    return (wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))) & ~board


def legal_moves(position: Position, moves: Any, start: int) -> int:
    """Write the legal moves in the order of their squares; a lone pass where only the opponent can move."""
    places = mobility(position.own, position.opponent)
    count = 0
    if places == ZERO:
        if mobility(position.opponent, position.own) != ZERO:
            moves[start] = 64
            count = 1
        return count
    while places != ZERO:
        moves[start + count] = trailing_zeros(places)
        count += 1
        places &= places - ONE
    return count


def listed_moves(position: Position) -> list[int]:
    """List the legal moves in the order of their squares."""
    moves = np.zeros(64, np.int32)
    return [int(move) for move in moves[: legal_moves(position, moves, 0)]]


@inlined
def count_moves(position: Position) -> int:
    """Count the legal moves, the lone pass included."""
    places = mobility(position.own, position.opponent)
    if places != ZERO:
        return popcount(places)
    if mobility(position.opponent, position.own) != ZERO:
        return 1
    return 0


@inlined
def play(position: Position, move: int) -> Position:
    """Position after a legal move; the other side is to move."""
    if move == 64:
        return Position(position.opponent, position.own)
    flipped = flips(position.own, position.opponent, move)
    disc = ONE << np.uint64(move)
    return Position(position.opponent ^ flipped, position.own | flipped | disc)


def is_over(position: Position) -> bool:
    """Whether neither side can move."""
    own, opponent = position.own, position.opponent
    return bool(mobility(own, opponent) == ZERO and mobility(opponent, own) == ZERO)


def final_score(position: Position) -> int:
    """Disc difference for the side to move, the empty squares counted for the winner."""
    own = popcount(position.own)
    opponent = popcount(position.opponent)
    if own > opponent:
        return 64 - 2 * opponent
    if own < opponent:
        return 2 * own - 64
    return 0


def hash_key(position: Position) -> np.uint64:
    """64-bit key; an odd rotation tells the two bitboards apart before they are mixed."""
    opponent = mix(position.opponent ^ np.uint64(0x9E3779B97F4A7C15))
    return mix(position.own ^ ((opponent << np.uint64(23)) | (opponent >> np.uint64(41))))


def _exchanged(board: np.uint64, lower: np.uint64, shift: np.uint64) -> np.uint64:
    """Exchange the squares of a mask with those that lie ``shift`` bits above them."""
    return ((board >> shift) & lower) | ((board & lower) << shift)


def _flip_vertical(board: np.uint64) -> np.uint64:
    board = _exchanged(board, np.uint64(0x00FF00FF00FF00FF), np.uint64(8))
    board = _exchanged(board, np.uint64(0x0000FFFF0000FFFF), np.uint64(16))
    return _exchanged(board, np.uint64(0x00000000FFFFFFFF), np.uint64(32))


def _flip_horizontal(board: np.uint64) -> np.uint64:
    board = _exchanged(board, np.uint64(0x5555555555555555), np.uint64(1))
    board = _exchanged(board, np.uint64(0x3333333333333333), np.uint64(2))
    return _exchanged(board, np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(4))


def _swapped(board: np.uint64, upper: np.uint64, shift: np.uint64) -> np.uint64:
    """Exchange the squares of a mask with those that lie ``shift`` bits below them; the others stay."""
    swap = upper & (board ^ (board << shift))
    return board ^ swap ^ (swap >> shift)


def _flip_diagonal(board: np.uint64) -> np.uint64:
    """Exchange columns and rows: a2 with b1."""
    board = _swapped(board, np.uint64(0x0F0F0F0F00000000), np.uint64(28))
    board = _swapped(board, np.uint64(0x3333000033330000), np.uint64(14))
    return _swapped(board, np.uint64(0x5500550055005500), np.uint64(7))


def _transform_board(board: np.uint64, symmetry: int) -> np.uint64:
    if symmetry & 4:
        board = _flip_diagonal(board)
    if symmetry & 2:
        board = _flip_vertical(board)
    if symmetry & 1:
        board = _flip_horizontal(board)
    return board


def transform(position: Position, symmetry: int) -> Position:
    """Image under one of the 8 board symmetries: bit 2 transposes, then bit 1 flips rows, bit 0 columns."""
    return Position(_transform_board(position.own, symmetry), _transform_board(position.opponent, symmetry))


def transform_square(square: int, symmetry: int) -> int:
    """Where :func:`transform` moves a square; the pass stays."""
    if square == PASS:
        return PASS
    row, column = divmod(square, 8)
    if symmetry & 4:
        row, column = column, row
    if symmetry & 2:
        row = 7 - row
    if symmetry & 1:
        column = 7 - column
    return 8 * row + column
