"""Who wins an exchange of pieces on one square (static exchange evaluation)."""

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined
from glem.games.chess.rules.attacks import bishop_attacks, king_attacks, knight_attacks, pawn_attacks, rook_attacks
from glem.games.chess.rules.position import Position, occupied_squares, own_squares


@inlined
def value_on(position: Position, square: np.uint64) -> np.int64:
    """Value of the piece on a square in pawns; 0 for an empty one and for a king."""
    return np.int64(
        ((position.pawns >> square) & ONE)
        + (((position.knights | position.bishops) >> square) & ONE) * np.uint64(3)
        + ((position.rooks >> square) & ONE) * np.uint64(5)
        + ((position.queens >> square) & ONE) * np.uint64(9)
    )


def keeps_material(position: Position, origin: np.uint64, target: np.uint64) -> bool:
    """Whether the captures that a move may start on its target square, cheapest piece first, do not lose material.

    Either side may stop. Pins are not looked at, a promotion counts as a pawn's move, and a king captures last and
    only what is not defended.
    """
    balance = value_on(position, origin) - value_on(position, target)
    if balance <= np.int64(0):
        return True
    occupied = occupied_squares(position)
    straight = position.rooks | position.queens
    diagonal = position.bishops | position.queens
    white = position.white
    attackers = (knight_attacks(target) & position.knights) | (king_attacks(target) & position.kings)
    own = own_squares(position)
    attackers |= pawn_attacks(ONE << target, position.turn == np.uint8(0)) & position.pawns & own
    attackers |= pawn_attacks(ONE << target, position.turn != np.uint8(0)) & position.pawns & ~own
    occupied = (occupied & ~(ONE << origin)) | (ONE << target)
    whites_turn = position.turn != np.uint8(0)
    keeps = True
    # ``balance`` is what the side to move would win by capturing, if nothing captured back.
    while True:
        sliders = (rook_attacks(target, occupied) & straight) | (bishop_attacks(target, occupied) & diagonal)
        able = (attackers | sliders) & occupied & (white if whites_turn else ~white)
        if able == ZERO:
            return keeps
        keeps = not keeps
        pieces, value = able & position.pawns, np.int64(1)
        if pieces == ZERO:
            pieces, value = able & (position.knights | position.bishops), np.int64(3)
        if pieces == ZERO:
            pieces, value = able & position.rooks, np.int64(5)
        if pieces == ZERO:
            pieces, value = able & position.queens, np.int64(9)
        if pieces == ZERO:
            # A king that would be captured back does not capture.
            others = (attackers | sliders) & occupied & (~white if whites_turn else white)
            return keeps if others == ZERO else not keeps
        balance = value - balance
        if balance < (np.int64(1) if keeps else np.int64(0)):
            return keeps
        occupied ^= pieces & (~pieces + ONE)
        whites_turn = not whites_turn
