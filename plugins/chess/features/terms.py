"""The terms of a chess evaluation: what one side has more of than the other, and what the move itself is worth.

One function writes them all, for the features and for the evaluation in the search.
"""

from collections.abc import Mapping
from typing import Any

from glem.core.compiling.kernels import kept, popcount
from glem.games.chess.rules.position import byte_swap
from glem.plugins.chess.features.kings import KING_TERMS, write_king_terms
from glem.plugins.chess.features.material import MATERIAL_TERMS, write_material_terms
from glem.plugins.chess.features.mobility import MOBILITY_TERMS, side_with_mobility
from glem.plugins.chess.features.pawns import PAWN_TERMS, write_pawn_terms
from glem.plugins.chess.features.pieces import PIECE_TERMS, write_piece_terms
from glem.plugins.chess.features.rows import Weights, terms
from glem.plugins.chess.features.sides import Boards, Side, has, pawn_attacks, turned_over_side, union

_MOVE_TERMS = terms(
    "move",
    ("in_check", 1, (-15, -15), "1 where the side to move is in check."),
    ("hanging_either_side", 60, (9, 9), "What hanging_pieces counts, the two sides added."),
    ("pawn_threats_either_side", 60, (9, 9), "What pawn_threats counts, the two sides added."),
    least=0,
)
_ALL = (*MATERIAL_TERMS, *MOBILITY_TERMS, *PAWN_TERMS, *KING_TERMS, *PIECE_TERMS, *_MOVE_TERMS)

TERMS = tuple(term.feature for term in _ALL)
"""In the order in which they are written."""

TERM_WEIGHTS: Mapping[str, Weights] = {term.feature.name: term.weights for term in _ALL}
"""Weights of the hand-set evaluation."""

_COUNT = len(TERMS)
_MOBILITY = len(MATERIAL_TERMS)
_PAWNS = _MOBILITY + len(MOBILITY_TERMS)
_KINGS = _PAWNS + len(PAWN_TERMS)
_PIECES = _KINGS + len(KING_TERMS)
_MOVE = _PIECES + len(PIECE_TERMS)


@kept
def write_terms_and_sides(boards: Boards, values: Any, own_first: int, other_first: int) -> tuple[Side, Side]:
    """Write the terms of both sides, in the order of :data:`TERMS`, and give both sides in the mover's view.

    What counts is the mover's less the other's. Adding both up in one place takes twice as long, since each sum waits
    for what was written there before.
    """
    for place in range(_COUNT):
        values[own_first + place] = 0
        values[other_first + place] = 0
    own_all, all_others = union(boards.own), union(boards.other)
    occupied = own_all | all_others
    by_pawns = pawn_attacks(boards.own.pawns)
    by_other_pawns = byte_swap(pawn_attacks(byte_swap(boards.other.pawns)))
    castling = boards.castling
    mover = side_with_mobility(
        boards.own, castling, occupied, by_pawns, by_other_pawns, boards.other.king, values, own_first + _MOBILITY
    )
    other = side_with_mobility(
        boards.other, castling, occupied, by_other_pawns, by_pawns, boards.own.king, values, other_first + _MOBILITY
    )
    own_pieces = own_all & ~(boards.own.pawns | boards.own.king)
    other_pieces = all_others & ~(boards.other.pawns | boards.other.king)
    hanging = popcount(mover.attacked & ~other.attacked & other_pieces)
    hanging += popcount(other.attacked & ~mover.attacked & own_pieces)
    values[own_first + _MOVE] = has(other.attacked & boards.own.king)
    values[own_first + _MOVE + 1] = hanging
    values[own_first + _MOVE + 2] = popcount(by_pawns & other_pieces) + popcount(by_other_pawns & own_pieces)
    own, opponent, first = mover, other, own_first
    # One loop, not two calls: the functions are inlined once.
    for waits in range(2):
        write_material_terms(own, opponent, values, first)
        write_pawn_terms(own, opponent, waits, values, first + _PAWNS)
        write_king_terms(own, opponent, values, first + _KINGS)
        write_piece_terms(own, opponent, values, first + _PIECES)
        own, opponent, first = turned_over_side(opponent), turned_over_side(own), other_first
    return mover, other
