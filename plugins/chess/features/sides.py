"""A chess position from the side to move's view: the board of a Black mover is turned over, so that own pawns go up.

All features of chess are computed from two :class:`Side` values, one for each player, and those that count something
for one side are computed twice, the second time with the board turned over again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glem.core.compiling.kernels import inlined, popcount, trailing_zeros
from glem.games.chess.rules.attacks import bishop_attacks, king_attacks, knight_attacks, rook_attacks
from glem.games.chess.rules.position import Position, byte_swap

__all__ = [
    "FILE_A",
    "RANK_1",
    "Boards",
    "Side",
    "beside",
    "boards_of",
    "distance",
    "file_fill",
    "has",
    "king_zone",
    "north_fill",
    "pawn_attacks",
    "piece_attacks",
    "south_fill",
    "turned_over_side",
]

FILE_A = np.uint64(0x0101010101010101)
RANK_1 = np.uint64(0x00000000000000FF)
_NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
_NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_ZERO = np.uint64(0)


class Boards(NamedTuple):
    """Pieces of both sides in the mover's view, all uint64; what is not an opponent's is ``own_`` by its name."""

    own_pawns: np.uint64
    own_knights: np.uint64
    own_bishops: np.uint64
    own_rooks: np.uint64
    own_queens: np.uint64
    own_king: np.uint64
    pawns: np.uint64
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    king: np.uint64
    castling: np.uint64


class Side(NamedTuple):
    """Pieces of one side and what they attack.

    Parameters
    ----------
    pawns, knights, bishops, rooks, queens, king
        uint64 boards.
    everything
        uint64: all pieces of the side.
    pawn_attacks, knight_attacks, bishop_attacks, rook_attacks, queen_attacks, king_attacks
        uint64: squares attacked by at least one piece of a kind, occupied ones by either side among them.
    castling
        uint64: rooks that may still castle.
    attackers
        int64: knights, bishops, rooks and queens that attack the other king's zone.
    """

    pawns: np.uint64
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    king: np.uint64
    everything: np.uint64
    pawn_attacks: np.uint64
    knight_attacks: np.uint64
    bishop_attacks: np.uint64
    rook_attacks: np.uint64
    queen_attacks: np.uint64
    king_attacks: np.uint64
    castling: np.uint64
    attackers: np.int64


@inlined
def boards_of(position: Position) -> Boards:
    """Boards of a position as the side to move sees them."""
    white = position.white
    if position.turn == np.uint8(0):
        return Boards(
            position.pawns & white,
            position.knights & white,
            position.bishops & white,
            position.rooks & white,
            position.queens & white,
            position.kings & white,
            position.pawns & ~white,
            position.knights & ~white,
            position.bishops & ~white,
            position.rooks & ~white,
            position.queens & ~white,
            position.kings & ~white,
            position.castling,
        )
    return Boards(
        byte_swap(position.pawns & ~white),
        byte_swap(position.knights & ~white),
        byte_swap(position.bishops & ~white),
        byte_swap(position.rooks & ~white),
        byte_swap(position.queens & ~white),
        byte_swap(position.kings & ~white),
        byte_swap(position.pawns & white),
        byte_swap(position.knights & white),
        byte_swap(position.bishops & white),
        byte_swap(position.rooks & white),
        byte_swap(position.queens & white),
        byte_swap(position.kings & white),
        byte_swap(position.castling),
    )


@inlined
def turned_over_side(side: Side) -> Side:
    """Exchange the ranks on all boards of a side."""
    return Side(
        byte_swap(side.pawns),
        byte_swap(side.knights),
        byte_swap(side.bishops),
        byte_swap(side.rooks),
        byte_swap(side.queens),
        byte_swap(side.king),
        byte_swap(side.everything),
        byte_swap(side.pawn_attacks),
        byte_swap(side.knight_attacks),
        byte_swap(side.bishop_attacks),
        byte_swap(side.rook_attacks),
        byte_swap(side.queen_attacks),
        byte_swap(side.king_attacks),
        byte_swap(side.castling),
        side.attackers,
    )


def north_fill(board: np.uint64) -> np.uint64:
    """Squares of a board and all those above them."""
    board |= board << _EIGHT
    board |= board << np.uint64(16)
    return board | (board << np.uint64(32))


def south_fill(board: np.uint64) -> np.uint64:
    """Squares of a board and all those below them."""
    board |= board >> _EIGHT
    board |= board >> np.uint64(16)
    return board | (board >> np.uint64(32))


def file_fill(board: np.uint64) -> np.uint64:
    """All squares of the files on which a board has any."""
    return north_fill(south_fill(board))


def beside(board: np.uint64) -> np.uint64:
    """Squares to the left and to the right of those of a board."""
    return ((board & _NOT_H) << _ONE) | ((board & _NOT_A) >> _ONE)


def pawn_attacks(pawns: np.uint64) -> np.uint64:
    """Squares that pawns going up attack."""
    return beside(pawns) << _EIGHT


def distance(one: int, other: int) -> int:
    """King moves between two squares of an empty board."""
    files = abs((one & 7) - (other & 7))
    ranks = abs((one >> 3) - (other >> 3))
    return max(files, ranks)


def king_zone(king: np.uint64) -> np.uint64:
    """Give the squares around a king, and its own."""
    return king | king_attacks(np.uint64(trailing_zeros(king)))


@inlined
def piece_attacks(kind: int, square: np.uint64, occupied: np.uint64) -> np.uint64:
    """Squares that a piece attacks: kind 0 a knight, 1 a bishop, 2 a rook, 3 a queen."""
    if kind == 0:
        return knight_attacks(square)
    attacks = _ZERO
    if kind != 2:
        attacks |= bishop_attacks(square, occupied)
    if kind != 1:
        attacks |= rook_attacks(square, occupied)
    return attacks


def has(board: np.uint64) -> int:
    """1 if a board has any square, else 0."""
    return min(popcount(board), 1)
