"""Features of drawishness: what makes a draw likely whoever stands better. They are the same for both sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import popcount, trailing_zeros
from glem.core.features.features import AtomicFeature
from glem.games.chess.rules.position import byte_swap
from glem.plugins.chess.features.material import DARK_SQUARES, opposite_bishops
from glem.plugins.chess.features.pawns import passed_pawns
from glem.plugins.chess.features.sides import RANK_1, Boards, file_fill, has

__all__ = ["DRAWISHNESS", "write_drawishness"]

_ZERO = np.uint64(0)
_EIGHT = np.uint64(8)
_LEFT_WING = np.uint64(0x0707070707070707)
_RIGHT_WING = np.uint64(0xE0E0E0E0E0E0E0E0)
_LATEST_CLOCK = 150
_LATE_CLOCK = 40


def _feature(name: str, high: int, description: str) -> AtomicFeature:
    return AtomicFeature(name, 0, high, description, group="drawishness")


DRAWISHNESS = (
    _feature(
        "opposite_bishops_alone", 1, "1 where the sides' bishops stand on opposite colours and all else is pawns."
    ),
    _feature("opposite_bishops_rooks", 1, "1 where they do, and all else is pawns and rooks, at least one."),
    _feature("opposite_bishops_others", 1, "1 where they do, and there are queens or knights."),
    _feature("insufficient_material", 1, "1 where no sequence of legal moves mates: as python-chess decides."),
    _feature("sides_without_pawns", 2, "Sides that have no pawn."),
    _feature("stronger_pawnless", 1, "1 where a side is ahead by less than a rook and has no pawn."),
    _feature("pawns_left", 16, "Pawns of both sides."),
    _feature("pawns_on_both_wings", 1, "1 with pawns on files a to c and on files f to h."),
    _feature("pawns_locked", 8, "Own pawns with an opponent's pawn on the next square."),
    _feature("pawn_files_unshared", 8, "Files on which only one side has pawns."),
    _feature("pawn_files_open", 8, "Files without pawns."),
    _feature("passed_pawns", 16, "Passed pawns of both sides."),
    _feature("pieces_left", 30, "Knights, bishops, rooks and queens of both sides."),
    _feature("minors_left", 24, "Knights and bishops of both sides."),
    _feature("rooks_left", 20, "Rooks of both sides."),
    _feature("queens_off", 1, "1 where no queen is left."),
    _feature("material_left", 240, "Points 1, 3, 3, 5, 9 of both sides."),
    _feature("material_difference", 120, "Difference of points between the sides."),
    _feature("material_even", 1, "1 where both sides have as many pieces of every kind."),
    _feature("pawn_difference", 8, "Pawns that one side has more than the other."),
    _feature("piece_imbalance", 60, "Sum over knights to queens of how many more one side has."),
    _feature("pawn_ending", 1, "1 where kings and pawns are left alone."),
    _feature("minor_ending", 1, "1 where besides kings and pawns only knights and bishops are left."),
    _feature("rook_ending", 1, "1 where besides kings and pawns only rooks are left."),
    _feature("queen_ending", 1, "1 where besides kings and pawns only queens are left."),
    _feature("kings_on_opposite_wings", 1, "1 where the kings stand three files or more apart."),
    _feature("sides_with_castling", 2, "Sides that may still castle."),
    _feature("clock", _LATEST_CLOCK, "Plies since the last capture or pawn move, at most 150."),
    _feature("clock_late", _LATEST_CLOCK - _LATE_CLOCK, "Such plies beyond 40."),
)
"""In the order in which they are written."""


def _insufficient(boards: Boards) -> int:
    """Whether neither side can mate, as ``chess.Board.is_insufficient_material``."""
    heavy = boards.own_pawns | boards.pawns | boards.own_rooks | boards.rooks | boards.own_queens | boards.queens
    knights = boards.own_knights | boards.knights
    bishops = boards.own_bishops | boards.bishops
    if heavy != _ZERO:
        return 0
    if knights != _ZERO:
        return 1 if popcount(knights) == 1 and bishops == _ZERO else 0
    return 1 - has(bishops & DARK_SQUARES) * has(bishops & ~DARK_SQUARES)


def write_drawishness(boards: Boards, clock: int, values: Any, first: int) -> None:
    """Write all features from ``first`` on."""
    own_pawns, other_pawns = popcount(boards.own_pawns), popcount(boards.pawns)
    knights, other_knights = popcount(boards.own_knights), popcount(boards.knights)
    bishops, other_bishops = popcount(boards.own_bishops), popcount(boards.bishops)
    rooks, other_rooks = popcount(boards.own_rooks), popcount(boards.rooks)
    queens, other_queens = popcount(boards.own_queens), popcount(boards.queens)
    pawn_points, minors = own_pawns + other_pawns, knights + other_knights + bishops + other_bishops
    all_rooks, all_queens = rooks + other_rooks, queens + other_queens
    ahead = own_pawns - other_pawns + 3 * (knights - other_knights + bishops - other_bishops)
    ahead += 5 * (rooks - other_rooks) + 9 * (queens - other_queens)
    imbalance = abs(knights - other_knights) + abs(bishops - other_bishops)
    imbalance += abs(rooks - other_rooks) + abs(queens - other_queens)
    if opposite_bishops(boards.own_bishops, boards.bishops):
        others = knights + other_knights + all_queens
        values[first] = 1 if others + all_rooks == 0 else 0
        values[first + 1] = 1 if others == 0 and all_rooks > 0 else 0
        values[first + 2] = 1 if others > 0 else 0
    else:
        values[first] = 0
        values[first + 1] = 0
        values[first + 2] = 0
    pawns = boards.own_pawns | boards.pawns
    own_files = file_fill(boards.own_pawns) & RANK_1
    other_files = file_fill(boards.pawns) & RANK_1
    passed = popcount(passed_pawns(boards.own_pawns, boards.pawns))
    passed += popcount(passed_pawns(byte_swap(boards.pawns), byte_swap(boards.own_pawns)))
    own_file = trailing_zeros(boards.own_king) & 7
    other_file = trailing_zeros(boards.king) & 7
    values[first + 3] = _insufficient(boards)
    values[first + 4] = (1 if own_pawns == 0 else 0) + (1 if other_pawns == 0 else 0)
    stronger_pawns = own_pawns if ahead > 0 else other_pawns
    values[first + 5] = 1 if stronger_pawns == 0 and 0 < abs(ahead) < 5 else 0
    values[first + 6] = pawn_points
    values[first + 7] = has(pawns & _LEFT_WING) * has(pawns & _RIGHT_WING)
    values[first + 8] = popcount((boards.own_pawns << _EIGHT) & boards.pawns)
    values[first + 9] = popcount(own_files ^ other_files)
    values[first + 10] = 8 - popcount(own_files | other_files)
    values[first + 11] = passed
    values[first + 12] = minors + all_rooks + all_queens
    values[first + 13] = minors
    values[first + 14] = all_rooks
    values[first + 15] = 1 if all_queens == 0 else 0
    values[first + 16] = pawn_points + 3 * minors + 5 * all_rooks + 9 * all_queens
    values[first + 17] = abs(ahead)
    values[first + 18] = 1 if imbalance == 0 and own_pawns == other_pawns else 0
    values[first + 19] = abs(own_pawns - other_pawns)
    values[first + 20] = imbalance
    values[first + 21] = 1 if minors + all_rooks + all_queens == 0 else 0
    values[first + 22] = 1 if minors > 0 and all_rooks + all_queens == 0 else 0
    values[first + 23] = 1 if all_rooks > 0 and minors + all_queens == 0 else 0
    values[first + 24] = 1 if all_queens > 0 and minors + all_rooks == 0 else 0
    values[first + 25] = 1 if abs(own_file - other_file) >= 3 else 0
    values[first + 26] = has(boards.castling & RANK_1) + has(boards.castling & ~RANK_1)
    values[first + 27] = min(clock, _LATEST_CLOCK)
    values[first + 28] = max(min(clock, _LATEST_CLOCK) - _LATE_CLOCK, 0)
