"""Terms of material: counts by kind, pairs, and material that does not win."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.features import AtomicFeature
from glem.core.kernels import popcount
from glem.plugins.chess.sides import Boards, has

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


def opposite_bishops(boards: Boards) -> bool:
    """Whether each side has bishops on squares of one colour only, the other side on the other."""
    own_dark = has(boards.own_bishops & DARK_SQUARES)
    own_light = has(boards.own_bishops & ~DARK_SQUARES)
    dark = has(boards.bishops & DARK_SQUARES)
    light = has(boards.bishops & ~DARK_SQUARES)
    return own_dark + own_light == 1 and dark + light == 1 and own_dark != dark


def _add_of_one_side(
    pawns: int, knights: int, bishops: np.uint64, rooks: int, ahead: int, sign: int, values: Any, first: int
) -> None:
    values[first + 5] += sign * has(bishops & DARK_SQUARES) * has(bishops & ~DARK_SQUARES)
    values[first + 6] += sign if knights > 1 else 0
    values[first + 7] += sign if rooks > 1 else 0
    values[first + 8] += sign * knights * (pawns - 5)
    values[first + 9] += sign * rooks * (pawns - 5)
    values[first + 10] += sign if pawns == 0 and 0 < ahead < 5 else 0


def add_material_terms(boards: Boards, values: Any, first: int) -> None:
    """Add the terms of both sides."""
    own_pawns, pawns = popcount(boards.own_pawns), popcount(boards.pawns)
    own_knights, knights = popcount(boards.own_knights), popcount(boards.knights)
    own_rooks, rooks = popcount(boards.own_rooks), popcount(boards.rooks)
    bishops = popcount(boards.own_bishops) - popcount(boards.bishops)
    queens = popcount(boards.own_queens) - popcount(boards.queens)
    values[first] += own_pawns - pawns
    values[first + 1] += own_knights - knights
    values[first + 2] += bishops
    values[first + 3] += own_rooks - rooks
    values[first + 4] += queens
    ahead = own_pawns - pawns + 3 * (own_knights - knights + bishops) + 5 * (own_rooks - rooks) + 9 * queens
    _add_of_one_side(own_pawns, own_knights, boards.own_bishops, own_rooks, ahead, 1, values, first)
    _add_of_one_side(pawns, knights, boards.bishops, rooks, -ahead, -1, values, first)
    minors = boards.own_knights | boards.knights | boards.own_bishops | boards.bishops
    all_queens = boards.own_queens | boards.queens
    others = boards.own_knights | boards.knights | boards.own_rooks | boards.rooks | all_queens
    single = popcount(boards.own_bishops) == 1 and popcount(boards.bishops) == 1
    if others == _ZERO and single and opposite_bishops(boards):
        values[first + 11] += own_pawns - pawns
    if (minors | all_queens) == _ZERO and own_rooks > 0 and rooks > 0:
        values[first + 12] += own_pawns - pawns
