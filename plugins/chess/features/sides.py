"""A chess position from the side to move's view: the board of a Black mover is turned over, so that own pawns go up.

All features of chess are computed from two :class:`Side` values, one for each player, and those that count something
for one side are computed twice, the second time with the board turned over again.
"""

from typing import NamedTuple

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, popcount, trailing_zeros
from glem.games.chess.rules.attacks import bishop_attacks, king_attacks, knight_attacks, rook_attacks
from glem.games.chess.rules.position import Position, byte_swap, turned_over

FILE_A = np.uint64(0x0101010101010101)
RANK_1 = np.uint64(0x00000000000000FF)
EIGHT = np.uint64(8)
_NOT_A_FILE, _NOT_H_FILE = ~FILE_A, ~(FILE_A << np.uint64(7))


class Pieces(NamedTuple):
    """One side's pieces, or the squares that they attack, by kind: all uint64."""

    pawns: np.uint64
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    king: np.uint64


class Boards(NamedTuple):
    """Pieces of both sides in the mover's view, and the rooks (uint64) that may still castle."""

    own: Pieces
    other: Pieces
    castling: np.uint64


class Side(NamedTuple):
    """Pieces of one side and what they attack.

    Parameters
    ----------
    pieces
        Where they stand.
    attacks
        Squares attacked by at least one piece of a kind, occupied ones by either side among them.
    everything
        uint64: all pieces of the side.
    attacked
        uint64: all squares that they attack.
    castling
        uint64: rooks that may still castle.
    attackers
        int64: knights, bishops, rooks and queens that attack the other king's zone.
    """

    pieces: Pieces
    attacks: Pieces
    everything: np.uint64
    attacked: np.uint64
    castling: np.uint64
    attackers: np.int64


@inlined
def _pieces_of(position: Position, side: np.uint64) -> Pieces:
    pawns, knights, bishops = position.pawns & side, position.knights & side, position.bishops & side
    rooks, queens, king = position.rooks & side, position.queens & side, position.kings & side
    return Pieces(pawns, knights, bishops, rooks, queens, king)


@inlined
def boards_of(position: Position) -> Boards:
    """Boards of a position as the side to move sees them."""
    if position.turn != np.uint8(0):
        position = turned_over(position)
    return Boards(_pieces_of(position, position.white), _pieces_of(position, ~position.white), position.castling)


@inlined
def union(pieces: Pieces) -> np.uint64:
    """Squares of all kinds."""
    return pieces.pawns | pieces.knights | pieces.bishops | pieces.rooks | pieces.queens | pieces.king


@inlined
def turned_over_pieces(pieces: Pieces) -> Pieces:
    """Exchange the ranks on all boards of pieces."""
    pawns, knights, bishops = byte_swap(pieces.pawns), byte_swap(pieces.knights), byte_swap(pieces.bishops)
    rooks, queens, king = byte_swap(pieces.rooks), byte_swap(pieces.queens), byte_swap(pieces.king)
    return Pieces(pawns, knights, bishops, rooks, queens, king)


@inlined
def turned_over_side(side: Side) -> Side:
    """Exchange the ranks on all boards of a side."""
    pieces, attacks = turned_over_pieces(side.pieces), turned_over_pieces(side.attacks)
    everything, attacked, castling = byte_swap(side.everything), byte_swap(side.attacked), byte_swap(side.castling)
    return Side(pieces, attacks, everything, attacked, castling, side.attackers)


def north_fill(board: np.uint64) -> np.uint64:
    """Squares of a board and all those above them."""
    board |= board << EIGHT
    board |= board << np.uint64(16)
    return board | (board << np.uint64(32))


def south_fill(board: np.uint64) -> np.uint64:
    """Squares of a board and all those below them."""
    board |= board >> EIGHT
    board |= board >> np.uint64(16)
    return board | (board >> np.uint64(32))


def file_fill(board: np.uint64) -> np.uint64:
    """All squares of the files on which a board has any."""
    return north_fill(south_fill(board))


def beside(board: np.uint64) -> np.uint64:
    """Squares to the left and to the right of those of a board."""
    return ((board & _NOT_H_FILE) << ONE) | ((board & _NOT_A_FILE) >> ONE)


def pawn_attacks(pawns: np.uint64) -> np.uint64:
    """Squares that pawns going up attack."""
    return beside(pawns) << EIGHT


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
    attacks = ZERO
    if kind != 2:
        attacks |= bishop_attacks(square, occupied)
    if kind != 1:
        attacks |= rook_attacks(square, occupied)
    return attacks


def has(board: np.uint64) -> int:
    """1 if a board has any square, else 0."""
    return min(popcount(board), 1)
