"""Squares that pieces attack, as dual functions.

Bit 0 is a1, bit 7 h1, bit 63 h8. Sliding pieces: the squares that may block the way are gathered by ``pext`` into an
index of a table (Gigantua, Stockfish and others do so); where the processor has no fast ``pext``, and in plain Python,
the nearest blockers of a line are found by the lowest and the highest bit (obstruction difference, Hansen 2009).
"""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import HAS_FAST_PEXT, ONE, compiled, inlined, leading_zeros, overload_of, pext
from glem.games.chess.rules.tables import (
    BETWEEN,
    BISHOP_LINES,
    BISHOP_WAYS,
    KING_STEPS,
    KNIGHT_STEPS,
    ROOK_LINES,
    ROOK_WAYS,
    table_word,
)

_HIGHEST = np.uint64(1 << 63)
NOT_A_FILE = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_H_FILE = np.uint64(0x7F7F7F7F7F7F7F7F)


@inlined
def knight_attacks(square: np.uint64) -> np.uint64:
    """Squares that a knight attacks."""
    return table_word(KNIGHT_STEPS + square)


@inlined
def king_attacks(square: np.uint64) -> np.uint64:
    """Squares next to a king."""
    return table_word(KING_STEPS + square)


@inlined
def pawn_attacks(pawns: np.uint64, black: bool) -> np.uint64:
    """Squares that a set of pawns of one colour attacks."""
    west, east = pawns & NOT_A_FILE, pawns & NOT_H_FILE
    if black:
        return (west >> np.uint64(9)) | (east >> np.uint64(7))
    return (west << np.uint64(7)) | (east << np.uint64(9))


@inlined
def between(first: np.uint64, second: np.uint64) -> np.uint64:
    """Squares strictly between two of one rank, file or diagonal; none between others."""
    return table_word(BETWEEN + (first << np.uint64(6)) + second)


@inlined
def _line(place: np.uint64, occupied: np.uint64) -> np.uint64:
    lower = table_word(place)
    upper = table_word(place + ONE)
    # Square 0 and square 63 stand in for a blocker that is not there: nothing lies beyond them.
    nearest_below = ONE << np.uint64(63 - leading_zeros((occupied & lower) | ONE))
    first_above = (occupied & upper) | _HIGHEST
    return (lower & ~(nearest_below - ONE)) | (upper & (first_above ^ (first_above - ONE)))


@inlined
def slider_attacks_by_lines(square: np.uint64, occupied: np.uint64, lines: np.uint64) -> np.uint64:
    """Attacks along the two lines of a table (``ROOK_LINES`` or ``BISHOP_LINES``), without ``pext``."""
    place = lines + (square << np.uint64(2))
    return _line(place, occupied) | _line(place + np.uint64(2), occupied)


def rook_attacks(square: np.uint64, occupied: np.uint64) -> np.uint64:
    """Squares that a rook attacks, the first occupied one of every direction among them."""
    return slider_attacks_by_lines(square, occupied, ROOK_LINES)


def bishop_attacks(square: np.uint64, occupied: np.uint64) -> np.uint64:
    """Squares that a bishop attacks, the first occupied one of every direction among them."""
    return slider_attacks_by_lines(square, occupied, BISHOP_LINES)


@inlined
def _by_index(square: np.uint64, occupied: np.uint64, ways: np.uint64) -> np.uint64:
    place = ways + (square << ONE)
    return table_word(table_word(place + ONE) + pext(occupied, table_word(place)))


_attacks: Any = compiled(_by_index if HAS_FAST_PEXT else slider_attacks_by_lines)
_ROOK = ROOK_WAYS if HAS_FAST_PEXT else ROOK_LINES
_BISHOP = BISHOP_WAYS if HAS_FAST_PEXT else BISHOP_LINES


@overload_of(rook_attacks)
def _overload_rook_attacks(square: Any, occupied: Any) -> Any:
    return lambda square, occupied: _attacks(np.uint64(square), np.uint64(occupied), _ROOK)


@overload_of(bishop_attacks)
def _overload_bishop_attacks(square: Any, occupied: Any) -> Any:
    return lambda square, occupied: _attacks(np.uint64(square), np.uint64(occupied), _BISHOP)
