"""Terms of pawn structure: weak pawns, connected ones, passed ones and what stands in their way."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import inlined, popcount, trailing_zeros
from glem.core.features.features import AtomicFeature
from glem.plugins.chess.features.sides import (
    FILE_A,
    RANK_1,
    Side,
    beside,
    distance,
    file_fill,
    has,
    north_fill,
    south_fill,
)

__all__ = ["PAWN_TERMS", "add_pawn_terms", "passed_pawns"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_FAR = np.uint64(0xFFFFFFFFFF000000)
"""Ranks 4 to 8."""


def _term(name: str, description: str, low: int = -8, high: int = 8) -> AtomicFeature:
    return AtomicFeature(name, low, high, description, group="pawns")


PAWN_TERMS = (
    _term("doubled_pawns", "Pawns with an own pawn ahead on their file."),
    _term("isolated_pawns", "Pawns without own pawns on the files beside."),
    _term("isolated_unopposed", "Isolated pawns without an opponent's pawn ahead on their file."),
    _term("backward_pawns", "Pawns whose next square the opponent's pawns attack and no own pawn can ever defend."),
    _term("backward_unopposed", "Backward pawns without an opponent's pawn ahead on their file."),
    *(
        _term(f"connected_rank_{rank}", f"Pawns on rank {rank} that an own pawn defends or stands beside.")
        for rank in range(2, 8)
    ),
    *(
        _term(f"passed_rank_{rank}", f"Front pawns on rank {rank} with no opponent's pawn ahead on three files.")
        for rank in range(2, 8)
    ),
    _term("passed_defended", "Passed pawns that an own pawn defends."),
    _term("passed_together", "Passed pawns with a passed pawn on a file beside, at most a rank away."),
    _term("passed_blocked", "Passed pawns with a piece of the opponent on the next square."),
    _term("passed_free", "Passed pawns whose next square is empty and not attacked by the opponent."),
    _term("passed_clear", "Passed pawns with no piece ahead on their file."),
    _term("passed_rook_behind", "Passed pawns with an own rook behind on their file."),
    _term("passed_hostile_rook_behind", "Passed pawns with an opponent's rook behind on their file."),
    _term(
        "passed_own_king",
        "King moves from the own king to the square before passed pawns on rank 4 and above.",
        -56,
        56,
    ),
    _term("passed_hostile_king", "King moves from the opponent's king to the same squares.", -56, 56),
    _term("passed_unstoppable", "1 where a passed pawn outruns a lone king.", -1, 1),
    _term("candidates", "Pawns on half-open files with as many own pawns beside or behind as opponent's ahead beside."),
    _term("pawn_islands", "Groups of files with pawns.", -4, 4),
    _term("pawn_levers", "Opponent's pawns that own pawns attack."),
)
"""In the order in which they are written."""


def passed_pawns(pawns: np.uint64, others: np.uint64) -> np.uint64:
    """Find pawns going up that have no pawn ahead on their file and none of the other side on the files beside."""
    ahead = south_fill(others >> _EIGHT)
    return pawns & ~(ahead | beside(ahead) | south_fill(pawns >> _EIGHT))


def _candidates(fronts: np.uint64, pawns: np.uint64, others: np.uint64) -> int:
    count = 0
    while fronts != _ZERO:
        square = np.uint64(trailing_zeros(fronts))
        fronts &= fronts - _ONE
        files = beside(FILE_A << (square & np.uint64(7)))
        ahead = ~_ZERO << ((square & np.uint64(56)) + _EIGHT)
        count += 1 if popcount(pawns & files & ~ahead) >= popcount(others & files & ahead) else 0
    return count


@inlined
def add_pawn_terms(own: Side, opponent: Side, sign: int, waits: int, values: Any, first: int) -> None:
    """Add ``sign`` times the pawn terms of a side whose pawns go up; ``waits`` is 1 where the other is to move."""
    pawns = own.pawns
    others = opponent.pawns
    empty = ~(own.everything | opponent.everything)
    opposed = south_fill(others >> _EIGHT)
    doubled = pawns & south_fill(pawns >> _EIGHT)
    isolated = pawns & ~beside(file_fill(pawns))
    stops = (pawns << _EIGHT) & opponent.pawn_attacks & ~north_fill(own.pawn_attacks)
    backward = (stops >> _EIGHT) & ~isolated
    values[first] += sign * popcount(doubled)
    values[first + 1] += sign * popcount(isolated)
    values[first + 2] += sign * popcount(isolated & ~opposed)
    values[first + 3] += sign * popcount(backward)
    values[first + 4] += sign * popcount(backward & ~opposed)
    connected = pawns & (own.pawn_attacks | beside(pawns))
    passed = passed_pawns(pawns, others)
    for place in range(6):
        rank = RANK_1 << (_EIGHT * np.uint64(place + 1))
        values[first + 5 + place] += sign * popcount(connected & rank)
        values[first + 11 + place] += sign * popcount(passed & rank)
    fronts = pawns & ~(opposed | doubled | passed)
    values[first + 27] += sign * _candidates(fronts, pawns, others)
    files = file_fill(pawns) & RANK_1
    values[first + 28] += sign * popcount(files & ~(files << _ONE))
    values[first + 29] += sign * popcount(own.pawn_attacks & others)
    if passed != _ZERO:
        _add_passed_terms(own, opponent, passed, empty, sign, waits, values, first + 17)


def _add_passed_terms(
    own: Side,
    opponent: Side,
    passed: np.uint64,
    empty: np.uint64,
    sign: int,
    waits: int,
    values: Any,
    first: int,
) -> None:
    hostile_attacks = (
        opponent.pawn_attacks
        | opponent.knight_attacks
        | opponent.bishop_attacks
        | opponent.rook_attacks
        | opponent.queen_attacks
        | opponent.king_attacks
    )
    next_squares = passed << _EIGHT
    clear = passed & ~south_fill(~empty >> _EIGHT)
    beside_passed = beside(passed)
    together = passed & (beside_passed | (beside_passed << _EIGHT) | (beside_passed >> _EIGHT))
    values[first] += sign * popcount(passed & own.pawn_attacks)
    values[first + 1] += sign * popcount(together)
    values[first + 2] += sign * popcount(next_squares & opponent.everything)
    values[first + 3] += sign * popcount(next_squares & empty & ~hostile_attacks)
    values[first + 4] += sign * popcount(clear)
    values[first + 5] += sign * popcount(passed & north_fill(own.rooks))
    values[first + 6] += sign * popcount(passed & north_fill(opponent.rooks))
    own_king = trailing_zeros(own.king)
    hostile_king = trailing_zeros(opponent.king)
    own_steps = 0
    hostile_steps = 0
    far = passed & _FAR
    while far != _ZERO:
        square = trailing_zeros(far)
        far &= far - _ONE
        own_steps += distance(own_king, square + 8)
        hostile_steps += distance(hostile_king, square + 8)
    values[first + 7] += sign * own_steps
    values[first + 8] += sign * hostile_steps
    if opponent.everything == opponent.pawns | opponent.king:
        runners = _ZERO
        while clear != _ZERO:
            square = trailing_zeros(clear)
            moves = min(7 - (square >> 3), 5)
            if distance(hostile_king, 56 + (square & 7)) - waits > moves:
                runners = clear
            clear &= clear - _ONE
        values[first + 9] += sign * has(runners)
