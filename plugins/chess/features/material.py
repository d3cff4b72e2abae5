"""Terms of material: counts by kind, pairs, and material that does not win."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import inlined, popcount
from glem.core.features.features import AtomicFeature
from glem.plugins.chess.features.sides import Side, has

__all__ = ["DARK_SQUARES", "MATERIAL_TERMS", "add_material_terms", "opposite_bishops"]

_ZERO = np.uint64(0)
DARK_SQUARES = np.uint64(0xAA55AA55AA55AA55)
"""a1 is one of them."""


def _imbalance(name: str, description: str, most: int) -> AtomicFeature:
    return AtomicFeature(name, -most, most, description, group="imbalance")


MATERIAL_TERMS = (
    *(
        AtomicFeature(name, -most, most, f"Own {name} less the opponent's.", group="material")
        for name, most in (("pawns", 8), ("knights", 10), ("bishops", 10), ("rooks", 10), ("queens", 9))
    ),
    _imbalance("bishop_pair", "1 with bishops on squares of both colours.", 1),
    _imbalance("knight_pair", "1 with two knights or more.", 1),
    _imbalance("rook_pair", "1 with two rooks or more.", 1),
    _imbalance("knights_with_pawns", "Knights times own pawns beyond five.", 50),
    _imbalance("rooks_with_pawns", "Rooks times own pawns beyond five.", 50),
    _imbalance(
        "pawnless_ahead", "1 for a side without pawns that is ahead by less than a rook (points 3, 3, 5, 9).", 1
    ),
    _imbalance(
        "pawns_with_opposite_bishops", "Pawns, where each side has but one bishop, on squares of opposite colours.", 8
    ),
    _imbalance("pawns_in_rook_ending", "Pawns, where each side has but rooks.", 8),
)
"""Own count less the opponent's; in the order in which they are written."""


def opposite_bishops(own_bishops: np.uint64, bishops: np.uint64) -> bool:
    """Whether each side has bishops on squares of one colour only, the other side on the other."""
    own_dark = has(own_bishops & DARK_SQUARES)
    dark = has(bishops & DARK_SQUARES)
    single = own_dark + has(own_bishops & ~DARK_SQUARES) == 1 and dark + has(bishops & ~DARK_SQUARES) == 1
    return single and own_dark != dark


@inlined
def add_material_terms(own: Side, opponent: Side, sign: int, values: Any, first: int) -> None:
    """Add ``sign`` times the terms of a side."""
    pawns = popcount(own.pawns)
    knights = popcount(own.knights)
    bishops = popcount(own.bishops)
    rooks = popcount(own.rooks)
    queens = popcount(own.queens)
    values[first] += sign * pawns
    values[first + 1] += sign * knights
    values[first + 2] += sign * bishops
    values[first + 3] += sign * rooks
    values[first + 4] += sign * queens
    values[first + 5] += sign * has(own.bishops & DARK_SQUARES) * has(own.bishops & ~DARK_SQUARES)
    values[first + 6] += sign * min(knights >> 1, 1)
    values[first + 7] += sign * min(rooks >> 1, 1)
    values[first + 8] += sign * knights * (pawns - 5)
    values[first + 9] += sign * rooks * (pawns - 5)
    if own.pawns == _ZERO:
        ahead = 3 * (knights + bishops - popcount(opponent.knights | opponent.bishops)) + 5 * rooks + 9 * queens
        ahead -= popcount(opponent.pawns) + 5 * popcount(opponent.rooks) + 9 * popcount(opponent.queens)
        values[first + 10] += sign if 0 < ahead < 5 else 0
    elif (own.knights | opponent.knights | own.queens | opponent.queens) == _ZERO:
        all_rooks = own.rooks | opponent.rooks
        all_bishops = own.bishops | opponent.bishops
        if all_rooks == _ZERO and bishops == 1 and popcount(opponent.bishops) == 1:
            values[first + 11] += sign * pawns if opposite_bishops(own.bishops, opponent.bishops) else 0
        if all_bishops == _ZERO and rooks > 0 and opponent.rooks != _ZERO:
            values[first + 12] += sign * pawns
