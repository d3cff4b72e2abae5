"""The terms of a chess evaluation: what one side has more of than the other, and what the move itself is worth.

One function writes them all, for the features and for the evaluation in the search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import kept, popcount
from glem.core.features.features import AtomicFeature
from glem.games.chess.rules.position import byte_swap
from glem.plugins.chess.features.kings import KING_TERMS, add_king_terms
from glem.plugins.chess.features.material import MATERIAL_TERMS, add_material_terms
from glem.plugins.chess.features.mobility import MOBILITY_TERMS, side_with_mobility
from glem.plugins.chess.features.pawns import PAWN_TERMS, add_pawn_terms
from glem.plugins.chess.features.pieces import PIECE_TERMS, add_piece_terms
from glem.plugins.chess.features.sides import (
    Boards,
    Side,
    has,
    pawn_attacks,
    turned_over_side,
)

__all__ = ["TERMS", "attacks_of", "write_terms_and_sides"]

_MOVE_TERMS = (
    AtomicFeature("in_check", 0, 1, "1 where the side to move is in check.", group="move"),
    AtomicFeature("hanging_either_side", 0, 60, "What hanging_pieces counts, the two sides added.", group="move"),
    AtomicFeature("pawn_threats_either_side", 0, 60, "What pawn_threats counts, the two sides added.", group="move"),
)

TERMS = (*MATERIAL_TERMS, *MOBILITY_TERMS, *PAWN_TERMS, *KING_TERMS, *PIECE_TERMS, *_MOVE_TERMS)
"""In the order in which they are written."""

_COUNT = len(TERMS)
_MOBILITY = len(MATERIAL_TERMS)
_PAWNS = _MOBILITY + len(MOBILITY_TERMS)
_KINGS = _PAWNS + len(PAWN_TERMS)
_PIECES = _KINGS + len(KING_TERMS)
_MOVE = _PIECES + len(PIECE_TERMS)


def attacks_of(side: Side) -> np.uint64:
    """Give all squares that a side attacks."""
    minor = side.pawn_attacks | side.knight_attacks | side.bishop_attacks
    return minor | side.rook_attacks | side.queen_attacks | side.king_attacks


@kept
def write_terms_and_sides(boards: Boards, values: Any, first: int) -> tuple[Side, Side]:
    """Write all terms, in the order of :data:`TERMS`, from ``first`` on, and give both sides in the mover's view."""
    for place in range(_COUNT):
        values[first + place] = 0
    own_all = boards.own_pawns | boards.own_knights | boards.own_bishops
    own_all |= boards.own_rooks | boards.own_queens | boards.own_king
    all_others = boards.pawns | boards.knights | boards.bishops | boards.rooks | boards.queens | boards.king
    occupied = own_all | all_others
    by_pawns = pawn_attacks(boards.own_pawns)
    by_other_pawns = byte_swap(pawn_attacks(byte_swap(boards.pawns)))
    mover = side_with_mobility(
        boards.own_pawns,
        boards.own_knights,
        boards.own_bishops,
        boards.own_rooks,
        boards.own_queens,
        boards.own_king,
        boards.castling & own_all,
        occupied,
        by_other_pawns,
        by_pawns,
        boards.king,
        1,
        values,
        first + _MOBILITY,
    )
    other = side_with_mobility(
        boards.pawns,
        boards.knights,
        boards.bishops,
        boards.rooks,
        boards.queens,
        boards.king,
        boards.castling & all_others,
        occupied,
        by_pawns,
        by_other_pawns,
        boards.own_king,
        -1,
        values,
        first + _MOBILITY,
    )
    own, opponent = mover, other
    own_attacks, hostile_attacks = attacks_of(mover), attacks_of(other)
    hanging = popcount(own_attacks & ~hostile_attacks & (all_others & ~(boards.pawns | boards.king)))
    hanging += popcount(hostile_attacks & ~own_attacks & (own_all & ~(boards.own_pawns | boards.own_king)))
    threats = popcount(by_pawns & (all_others & ~(boards.pawns | boards.king)))
    threats += popcount(by_other_pawns & (own_all & ~(boards.own_pawns | boards.own_king)))
    values[first + _MOVE] = has(hostile_attacks & boards.own_king)
    values[first + _MOVE + 1] = hanging
    values[first + _MOVE + 2] = threats
    # One loop, not two calls: the functions are inlined once.
    for waits in range(2):
        sign = 1 - 2 * waits
        add_material_terms(own, opponent, sign, values, first)
        add_pawn_terms(own, opponent, sign, waits, values, first + _PAWNS)
        add_king_terms(own, opponent, own_attacks, hostile_attacks, sign, values, first + _KINGS)
        add_piece_terms(own, opponent, own_attacks, hostile_attacks, sign, values, first + _PIECES)
        own, opponent = turned_over_side(opponent), turned_over_side(own)
        own_attacks, hostile_attacks = byte_swap(hostile_attacks), byte_swap(own_attacks)
    return mover, other
