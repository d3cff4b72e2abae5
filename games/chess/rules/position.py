"""A chess position as bitboards, with the hash key that goes with it.

Square a1 is bit 0, h1 bit 7, h8 bit 63. Colours are absolute; whose turn it is stands in the position. Castling
rights are the squares of rooks that may still castle, as in python-chess, so that Chess960 needs nothing of its own.
The square of an en-passant capture is kept only where such a capture is legal: equal positions in the sense of the
Laws (FIDE 9.2) have equal fields, the clock of the 50-move rule excepted.
"""

from typing import NamedTuple

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, popcount, trailing_zeros
from glem.games.chess.rules.tables import CASTLING_KEYS, EN_PASSANT_KEYS, PIECE_KEYS, TURN_KEY, table_word

_LAST_SQUARE = np.uint64(63)


class Position(NamedTuple):
    """Pieces by kind, White's pieces, and what else the future depends on; bit 0 is a1, bit 7 h1, bit 63 h8."""

    pawns: np.uint64
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    kings: np.uint64
    white: np.uint64
    castling: np.uint64
    """Rooks that may still castle."""
    key: np.uint64
    """Hash key of everything but the clock (Zobrist 1970)."""
    en_passant: np.uint8
    """Square behind the pawn that has just moved two squares, where it can legally be captured; else 0."""
    turn: np.uint8
    """0 where White is to move, 1 where Black is."""
    clock: np.uint8
    """Plies since the last capture or pawn move."""


@inlined
def occupied_squares(position: Position) -> np.uint64:
    """Squares with a piece on them."""
    return position.pawns | position.knights | position.bishops | position.rooks | position.queens | position.kings


@inlined
def own_squares(position: Position) -> np.uint64:
    """Squares with a piece of the side to move."""
    if position.turn == np.uint8(0):
        return position.white
    return occupied_squares(position) & ~position.white


@inlined
def piece_points(position: Position, side: np.uint64) -> int:
    """Pieces on some squares but pawns and kings: 1 point for a knight or bishop, 2 for a rook, 4 for a queen."""
    points = popcount((position.knights | position.bishops) & side)
    return points + 2 * popcount(position.rooks & side) + 4 * popcount(position.queens & side)


@inlined
def byte_swap(board: np.uint64) -> np.uint64:
    """Turn a board upside down: rank 1 becomes rank 8."""
    k1 = np.uint64(0x00FF00FF00FF00FF)
    k2 = np.uint64(0x0000FFFF0000FFFF)
    board = ((board >> np.uint64(8)) & k1) | ((board & k1) << np.uint64(8))
    board = ((board >> np.uint64(16)) & k2) | ((board & k2) << np.uint64(16))
    return (board >> np.uint64(32)) | (board << np.uint64(32))


@inlined
def parts_of(move: np.int64) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Origin and target of a move, and 1 to 4 for a promotion to knight, bishop, rook or queen."""
    word = np.uint64(move)
    return word & _LAST_SQUARE, (word >> np.uint64(6)) & _LAST_SQUARE, word >> np.uint64(12)


@inlined
def kind_at(position: Position, square: np.uint64) -> np.uint64:
    """Kind of the piece on a square, 0 for a pawn to 5 for a king; 0 for an empty one too."""
    return (
        ((position.knights >> square) & ONE)
        + (((position.bishops >> square) & ONE) << ONE)
        + ((position.rooks >> square) & ONE) * np.uint64(3)
        + (((position.queens >> square) & ONE) << np.uint64(2))
        + ((position.kings >> square) & ONE) * np.uint64(5)
    )


@inlined
def piece_key(kind: np.uint64, black: np.uint64, square: np.uint64) -> np.uint64:
    """Part of the hash key that a piece on a square makes; kinds from 0 for pawns to 5 for kings."""
    return table_word(PIECE_KEYS + (kind << np.uint64(7)) + (black << np.uint64(6)) + square)


@inlined
def castling_key(rooks: np.uint64) -> np.uint64:
    """Part of the hash key that the rooks make which may still castle."""
    key = ZERO
    while rooks != ZERO:
        key ^= table_word(CASTLING_KEYS + np.uint64(trailing_zeros(rooks)))
        rooks &= rooks - ONE
    return key


def position_key(position: Position) -> np.uint64:
    """Hash key of a position by its other fields, the clock left out; ``play`` keeps it up to date."""
    key = TURN_KEY if position.turn != np.uint8(0) else ZERO
    boards = (position.pawns, position.knights, position.bishops, position.rooks, position.queens, position.kings)
    for kind in range(6):
        board = boards[kind]
        while board != ZERO:
            square = np.uint64(trailing_zeros(board))
            key ^= piece_key(np.uint64(kind), (~position.white >> square) & ONE, square)
            board &= board - ONE
    key ^= castling_key(position.castling)
    if position.en_passant != np.uint8(0):
        key ^= table_word(EN_PASSANT_KEYS + np.uint64(position.en_passant))
    return key


@inlined
def turned_over(position: Position) -> Position:
    """Mirror the ranks and exchange the colours; the hash key is 0."""
    pawns, knights, bishops = byte_swap(position.pawns), byte_swap(position.knights), byte_swap(position.bishops)
    rooks, queens, kings = byte_swap(position.rooks), byte_swap(position.queens), byte_swap(position.kings)
    white, castling = byte_swap(occupied_squares(position) & ~position.white), byte_swap(position.castling)
    en_passant = np.uint8(position.en_passant ^ np.uint8(56)) if position.en_passant != np.uint8(0) else np.uint8(0)
    state = en_passant, np.uint8(np.uint8(1) - position.turn), position.clock
    return Position(pawns, knights, bishops, rooks, queens, kings, white, castling, ZERO, *state)


def with_key(position: Position) -> Position:
    """Give a position the hash key that its other fields make."""
    key = position_key(position)
    return Position(*position[:8], key, *position[9:])


INITIAL_POSITION = with_key(
    Position(
        pawns=np.uint64(0x00FF00000000FF00),
        knights=np.uint64(0x4200000000000042),
        bishops=np.uint64(0x2400000000000024),
        rooks=np.uint64(0x8100000000000081),
        queens=np.uint64(0x0800000000000008),
        kings=np.uint64(0x1000000000000010),
        white=np.uint64(0x000000000000FFFF),
        castling=np.uint64(0x8100000000000081),
        key=ZERO,
        en_passant=np.uint8(0),
        turn=np.uint8(0),
        clock=np.uint8(0),
    )
)
"""White to move, before the first move."""
