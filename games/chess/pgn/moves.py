"""Which legal move a text in standard algebraic notation means, without generating all moves.

The pieces that could arrive at the target come from the attack tables, seen from the target; the caller plays the move
of each of them and keeps the one that leaves its own king safe. What a text may leave out and what it may say too much
is as in python-chess: marks of capture and check are not looked at, and a pawn's capture names its file.
"""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, trailing_zeros
from glem.games.chess.rules.attacks import bishop_attacks, king_attacks, knight_attacks, pawn_attacks, rook_attacks
from glem.games.chess.rules.generation import LAST_RANKS, castling_rooks, king_attackers
from glem.games.chess.rules.position import Position, occupied_squares, own_squares

_A_FILE = np.uint64(0x0101010101010101)
_FIRST_RANK = np.uint64(0xFF)
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = 0, 1, 2, 3, 4, 5


@inlined
def leaves_king_in_check(position: Position) -> bool:
    """Whether the side that has just moved has its king attacked, so that its move was illegal."""
    side = occupied_squares(position) & ~own_squares(position)
    king = np.uint64(trailing_zeros(position.kings & side))
    attackers = king_attackers(position, side, position.turn == np.uint8(0))
    return bool(attackers | (king_attacks(king) & position.kings) != ZERO)


def castling_squares(position: Position, kingside: bool) -> tuple[np.uint64, Any]:
    """Board of the king that castles, empty where it cannot, and the square of the rook with which it does."""
    king = position.kings & own_squares(position)
    higher = ~(king | (king - ONE))
    rook = castling_rooks(position) & (higher if kingside else ~higher)
    return (king if rook != ZERO else ZERO), np.int64(trailing_zeros(rook))


@inlined
def _pawns_to(position: Position, target: np.uint64, own: np.uint64, occupied: np.uint64, file: int) -> np.uint64:
    """Pawns that may go to a square, by a step or, where a file is named that is not the target's, by a capture."""
    black = position.turn != np.uint8(0)
    pawns = position.pawns & own
    target_bit = ONE << target
    target_file = np.int64(target & np.uint64(7))
    if file >= 0 and file != target_file:
        if position.en_passant != np.uint8(0) and np.uint64(position.en_passant) == target:
            occupied |= target_bit
        if occupied & ~own & target_bit == ZERO:
            return ZERO
        return pawn_attacks(target_bit, not black) & pawns
    if occupied & target_bit != ZERO:
        return ZERO
    behind = target_bit << np.uint64(8) if black else target_bit >> np.uint64(8)
    if behind & pawns != ZERO:
        return behind
    fourth = np.uint64(0x000000FF00000000) if black else np.uint64(0x00000000FF000000)
    if behind & occupied != ZERO or target_bit & fourth == ZERO:
        return ZERO
    return (behind << np.uint64(8) if black else behind >> np.uint64(8)) & pawns


def pieces_meant(position: Position, kind: Any, file: Any, rank: Any, target: Any, promotion: Any) -> np.uint64:
    """Pieces that a text may mean: they could go to the square if their king's safety did not count.

    Parameters
    ----------
    position
        Where the move is made.
    kind
        0 for a pawn to 5 for a king.
    file, rank
        Those of the origin that the text names, from 0; -1 where it names none.
    target
        Square of arrival.
    promotion
        0 for none, 1 to 5 for a knight to a king.
    """
    own = own_squares(position)
    occupied = occupied_squares(position)
    square = np.uint64(target)
    pieces = ZERO
    if kind == _PAWN:
        promotes = (ONE << square) & LAST_RANKS != ZERO
        if promotes == (promotion != 0) and promotion <= _QUEEN:
            pieces = _pawns_to(position, square, own, occupied, file)
    elif promotion != 0 or (ONE << square) & own != ZERO:
        return ZERO
    elif kind == _KNIGHT:
        pieces = knight_attacks(square) & position.knights
    elif kind == _KING:
        pieces = king_attacks(square) & position.kings
    else:
        if kind != _BISHOP:
            pieces = rook_attacks(square, occupied)
        if kind != _ROOK:
            pieces |= bishop_attacks(square, occupied)
        pieces &= position.queens if kind == _QUEEN else (position.rooks if kind == _ROOK else position.bishops)
    pieces &= own
    if file >= 0:
        pieces &= _A_FILE << np.uint64(file)
    if rank >= 0:
        pieces &= _FIRST_RANK << np.uint64(8 * rank)
    return pieces
