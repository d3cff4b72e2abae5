"""Features of drawishness: what makes a draw likely whoever stands better. They are the same for both sides."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glem.core.compiling.kernels import popcount, trailing_zeros
from glem.core.features.features import AtomicFeature
from glem.games.chess.rules.playing import insufficient_material
from glem.games.chess.rules.position import Position, byte_swap
from glem.plugins.chess.features.material import opposite_bishops
from glem.plugins.chess.features.pawns import passed_pawns
from glem.plugins.chess.features.sides import EIGHT, RANK_1, Boards, file_fill, has

_LEFT_WING = np.uint64(0x0707070707070707)
_RIGHT_WING = np.uint64(0xE0E0E0E0E0E0E0E0)
_LATEST_CLOCK = 150
_LATE_CLOCK = 40


_ROWS = (
    ("opposite_bishops_alone", 1, 1.4, "1 where the sides' bishops stand on opposite colours and all else is pawns."),
    ("opposite_bishops_rooks", 1, 0.6, "1 where they do, and all else is pawns and rooks, at least one."),
    ("opposite_bishops_others", 1, 0.1, "1 where they do, and there are queens or knights."),
    ("insufficient_material", 1, 6.0, "1 where no sequence of legal moves mates: as python-chess decides."),
    ("sides_without_pawns", 2, 0.8, "Sides that have no pawn."),
    ("stronger_pawnless", 1, 1.5, "1 where a side is ahead by less than a rook and has no pawn."),
    ("pawns_left", 16, -0.02, "Pawns of both sides."),
    ("pawns_on_both_wings", 1, -0.3, "1 with pawns on files a to c and on files f to h."),
    ("pawns_locked", 8, 0.05, "Own pawns with an opponent's pawn on the next square."),
    ("pawn_files_unshared", 8, -0.08, "Files on which only one side has pawns."),
    ("pawn_files_open", 8, None, "Files without pawns."),
    ("passed_pawns", 16, -0.06, "Passed pawns of both sides."),
    ("pieces_left", 30, None, "Knights, bishops, rooks and queens of both sides."),
    ("minors_left", 24, None, "Knights and bishops of both sides."),
    ("rooks_left", 20, None, "Rooks of both sides."),
    ("queens_off", 1, 0.2, "1 where no queen is left."),
    ("material_left", 240, -0.004, "Points 1, 3, 3, 5, 9 of both sides."),
    ("material_difference", 120, -0.05, "Difference of points between the sides."),
    ("material_even", 1, 0.2, "1 where both sides have as many pieces of every kind."),
    ("pawn_difference", 8, None, "Pawns that one side has more than the other."),
    ("piece_imbalance", 60, -0.08, "Sum over knights to queens of how many more one side has."),
    ("pawn_ending", 1, None, "1 where kings and pawns are left alone."),
    ("minor_ending", 1, None, "1 where besides kings and pawns only knights and bishops are left."),
    ("rook_ending", 1, None, "1 where besides kings and pawns only rooks are left."),
    ("queen_ending", 1, None, "1 where besides kings and pawns only queens are left."),
    ("kings_on_opposite_wings", 1, -0.4, "1 where the kings stand three files or more apart."),
    ("sides_with_castling", 2, None, "Sides that may still castle."),
    ("clock", _LATEST_CLOCK, 0.005, "Plies since the last capture or pawn move, at most 150."),
    ("clock_late", _LATEST_CLOCK - _LATE_CLOCK, 0.02, "Such plies beyond 40."),
)
"""Names, greatest values, weights in the hand-set drawishness, descriptions; in the order in which they are written."""

DRAWISHNESS = tuple(
    AtomicFeature(name, 0, high, description, group="drawishness") for name, high, _, description in _ROWS
)

DRAWISHNESS_WEIGHTS: Mapping[str, float] = {name: weight for name, _, weight, _ in _ROWS if weight is not None}
"""Weights of the hand-set evaluation; the other features do not enter it."""


def write_drawishness(boards: Boards, position: Position, values: Any, first: int) -> None:
    """Write all features from ``first`` on; the boards are the position's."""
    own, other = boards.own, boards.other
    own_pawns, other_pawns = popcount(own.pawns), popcount(other.pawns)
    knights, other_knights = popcount(own.knights), popcount(other.knights)
    bishops, other_bishops = popcount(own.bishops), popcount(other.bishops)
    rooks, other_rooks = popcount(own.rooks), popcount(other.rooks)
    queens, other_queens = popcount(own.queens), popcount(other.queens)
    pawn_points, minors = own_pawns + other_pawns, knights + other_knights + bishops + other_bishops
    all_rooks, all_queens = rooks + other_rooks, queens + other_queens
    ahead = own_pawns - other_pawns + 3 * (knights - other_knights + bishops - other_bishops)
    ahead += 5 * (rooks - other_rooks) + 9 * (queens - other_queens)
    imbalance = abs(knights - other_knights) + abs(bishops - other_bishops)
    imbalance += abs(rooks - other_rooks) + abs(queens - other_queens)
    opposite = 1 if opposite_bishops(own.bishops, other.bishops) else 0
    others = knights + other_knights + all_queens
    values[first] = opposite if others + all_rooks == 0 else 0
    values[first + 1] = opposite if others == 0 and all_rooks > 0 else 0
    values[first + 2] = opposite if others > 0 else 0
    pawns = own.pawns | other.pawns
    own_files = file_fill(own.pawns) & RANK_1
    other_files = file_fill(other.pawns) & RANK_1
    passed = popcount(passed_pawns(own.pawns, other.pawns))
    passed += popcount(passed_pawns(byte_swap(other.pawns), byte_swap(own.pawns)))
    clock = min(int(position.clock), _LATEST_CLOCK)
    own_file = trailing_zeros(own.king) & 7
    other_file = trailing_zeros(other.king) & 7
    values[first + 3] = 1 if insufficient_material(position) else 0
    values[first + 4] = (1 if own_pawns == 0 else 0) + (1 if other_pawns == 0 else 0)
    stronger_pawns = own_pawns if ahead > 0 else other_pawns
    values[first + 5] = 1 if stronger_pawns == 0 and 0 < abs(ahead) < 5 else 0
    values[first + 6] = pawn_points
    values[first + 7] = has(pawns & _LEFT_WING) * has(pawns & _RIGHT_WING)
    values[first + 8] = popcount((own.pawns << EIGHT) & other.pawns)
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
    values[first + 27] = clock
    values[first + 28] = max(clock - _LATE_CLOCK, 0)
