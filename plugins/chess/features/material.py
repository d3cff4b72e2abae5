"""Terms of material: counts by kind, pairs, and material that does not win."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ZERO, inlined, popcount
from glem.games.chess.rules.playing import DARK_SQUARES
from glem.plugins.chess.features.rows import terms
from glem.plugins.chess.features.sides import Side, has

PIECE_COUNTS = terms(
    "material",
    *(
        (name, most, weights, f"Own {name} less the opponent's.")
        for name, most, weights in (
            ("pawns", 8, (85, 112)),
            ("knights", 10, (325, 315)),
            ("bishops", 10, (340, 335)),
            ("rooks", 10, (475, 545)),
            ("queens", 9, (980, 1010)),
        )
    ),
)
"""Pieces of each kind but the king."""

_IMBALANCE = terms(
    "imbalance",
    ("bishop_pair", 1, (28, 48), "1 with bishops on squares of both colours."),
    ("knight_pair", 1, (-6, -8), "1 with two knights or more."),
    ("rook_pair", 1, (-14, -12), "1 with two rooks or more."),
    ("knights_with_pawns", 50, (4, 5), "Knights times own pawns beyond five."),
    ("rooks_with_pawns", 50, (-5, -4), "Rooks times own pawns beyond five."),
    ("pawnless_ahead", 1, (-80, -190), "1 for a side without pawns, ahead by less than a rook (points 3, 3, 5, 9)."),
    ("pawns_with_opposite_bishops", 8, (-35, -42), "Pawns, where each side has only a bishop, on opposite colours."),
    ("pawns_in_rook_ending", 8, (0, -14), "Pawns, where each side has but rooks."),
)
MATERIAL_TERMS = (*PIECE_COUNTS, *_IMBALANCE)
"""Own count less the opponent's; in the order in which they are written."""


def opposite_bishops(own_bishops: np.uint64, bishops: np.uint64) -> bool:
    """Whether each side has bishops on squares of one colour only, the other side on the other."""
    own_dark = has(own_bishops & DARK_SQUARES)
    dark = has(bishops & DARK_SQUARES)
    single = own_dark + has(own_bishops & ~DARK_SQUARES) == 1 and dark + has(bishops & ~DARK_SQUARES) == 1
    return single and own_dark != dark


@inlined
def write_material_terms(own: Side, opponent: Side, values: Any, first: int) -> None:
    """Write the terms of a side where there are zeros."""
    pawns = popcount(own.pieces.pawns)
    knights = popcount(own.pieces.knights)
    bishops = popcount(own.pieces.bishops)
    rooks = popcount(own.pieces.rooks)
    queens = popcount(own.pieces.queens)
    values[first] = pawns
    values[first + 1] = knights
    values[first + 2] = bishops
    values[first + 3] = rooks
    values[first + 4] = queens
    values[first + 5] = has(own.pieces.bishops & DARK_SQUARES) * has(own.pieces.bishops & ~DARK_SQUARES)
    values[first + 6] = min(knights >> 1, 1)
    values[first + 7] = min(rooks >> 1, 1)
    values[first + 8] = knights * (pawns - 5)
    values[first + 9] = rooks * (pawns - 5)
    if own.pieces.pawns == ZERO:
        ahead = (
            3 * (knights + bishops - popcount(opponent.pieces.knights | opponent.pieces.bishops))
            + 5 * rooks
            + 9 * queens
        )
        ahead -= (
            popcount(opponent.pieces.pawns) + 5 * popcount(opponent.pieces.rooks) + 9 * popcount(opponent.pieces.queens)
        )
        values[first + 10] = 1 if 0 < ahead < 5 else 0
    elif (own.pieces.knights | opponent.pieces.knights | own.pieces.queens | opponent.pieces.queens) == ZERO:
        all_rooks = own.pieces.rooks | opponent.pieces.rooks
        all_bishops = own.pieces.bishops | opponent.pieces.bishops
        if all_rooks == ZERO and bishops == 1 and popcount(opponent.pieces.bishops) == 1:
            values[first + 11] = pawns if opposite_bishops(own.pieces.bishops, opponent.pieces.bishops) else 0
        if all_bishops == ZERO and rooks > 0 and opponent.pieces.rooks != ZERO:
            values[first + 12] = pawns
