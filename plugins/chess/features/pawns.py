"""Terms of pawn structure: weak pawns, connected ones, passed ones and what stands in their way."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, popcount, trailing_zeros
from glem.plugins.chess.features.rows import terms
from glem.plugins.chess.features.sides import (
    EIGHT,
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

_FAR = np.uint64(0xFFFFFFFFFF000000)
"""Ranks 4 to 8."""


PAWN_TERMS = terms(
    "pawns",
    ("doubled_pawns", 8, (-8, -18), "Pawns with an own pawn ahead on their file."),
    ("isolated_pawns", 8, (-8, -11), "Pawns without own pawns on the files beside."),
    ("isolated_unopposed", 8, (-9, -6), "Isolated pawns without an opponent's pawn ahead on their file."),
    ("backward_pawns", 8, (-6, -8), "Pawns whose next square opposing pawns attack and no own pawn can ever defend."),
    ("backward_unopposed", 8, (-9, -5), "Backward pawns without an opponent's pawn ahead on their file."),
    *(
        (f"connected_rank_{rank}", 8, weights, f"Pawns on rank {rank} that an own pawn defends or stands beside.")
        for rank, weights in enumerate(((3, 0), (6, 3), (8, 7), (15, 15), (32, 38), (55, 60)), 2)
    ),
    *(
        (f"passed_rank_{rank}", 8, weights, f"Front pawns on rank {rank} with no opponent's pawn ahead on three files.")
        for rank, weights in enumerate(((0, 10), (2, 14), (8, 28), (24, 56), (55, 105), (105, 175)), 2)
    ),
    ("passed_defended", 8, (8, 14), "Passed pawns that an own pawn defends."),
    ("passed_together", 8, (8, 14), "Passed pawns with a passed pawn on a file beside, at most a rank away."),
    ("passed_blocked", 8, (-10, -28), "Passed pawns with a piece of the opponent on the next square."),
    ("passed_free", 8, (8, 24), "Passed pawns whose next square is empty and not attacked by the opponent."),
    ("passed_clear", 8, (5, 14), "Passed pawns with no piece ahead on their file."),
    ("passed_rook_behind", 8, (5, 14), "Passed pawns with an own rook behind on their file."),
    ("passed_hostile_rook_behind", 8, (-8, -18), "Passed pawns with an opponent's rook behind on their file."),
    ("passed_own_king", 56, (-1, -6), "King moves from the own king to the square before passed pawns beyond rank 3."),
    ("passed_hostile_king", 56, (2, 9), "King moves from the opponent's king to the same squares."),
    ("passed_unstoppable", 1, (0, 450), "1 where a passed pawn outruns a lone king."),
    ("candidates", 8, (4, 11), "Half-open pawns with as many own pawns beside or behind as opponent's ahead beside."),
    ("pawn_islands", 4, (-3, -5), "Groups of files with pawns."),
    ("pawn_levers", 8, (2, 2), "Opponent's pawns that own pawns attack."),
)
"""In the order in which they are written."""


def passed_pawns(pawns: np.uint64, others: np.uint64) -> np.uint64:
    """Find pawns going up that have no pawn ahead on their file and none of the other side on the files beside."""
    ahead = south_fill(others >> EIGHT)
    return pawns & ~(ahead | beside(ahead) | south_fill(pawns >> EIGHT))


def _candidates(fronts: np.uint64, pawns: np.uint64, others: np.uint64) -> int:
    count = 0
    while fronts != ZERO:
        square = np.uint64(trailing_zeros(fronts))
        fronts &= fronts - ONE
        files = beside(FILE_A << (square & np.uint64(7)))
        ahead = ~ZERO << ((square & np.uint64(56)) + EIGHT)
        count += 1 if popcount(pawns & files & ~ahead) >= popcount(others & files & ahead) else 0
    return count


@inlined
def write_pawn_terms(own: Side, opponent: Side, waits: int, values: Any, first: int) -> None:
    """Write the pawn terms of a side whose pawns go up; ``waits`` is 1 where the other is to move."""
    pawns = own.pieces.pawns
    others = opponent.pieces.pawns
    empty = ~(own.everything | opponent.everything)
    opposed = south_fill(others >> EIGHT)
    doubled = pawns & south_fill(pawns >> EIGHT)
    isolated = pawns & ~beside(file_fill(pawns))
    stops = (pawns << EIGHT) & opponent.attacks.pawns & ~north_fill(own.attacks.pawns)
    backward = (stops >> EIGHT) & ~isolated
    values[first] = popcount(doubled)
    values[first + 1] = popcount(isolated)
    values[first + 2] = popcount(isolated & ~opposed)
    values[first + 3] = popcount(backward)
    values[first + 4] = popcount(backward & ~opposed)
    connected = pawns & (own.attacks.pawns | beside(pawns))
    passed = passed_pawns(pawns, others)
    for place in range(6):
        rank = RANK_1 << (EIGHT * np.uint64(place + 1))
        values[first + 5 + place] = popcount(connected & rank)
        values[first + 11 + place] = popcount(passed & rank)
    fronts = pawns & ~(opposed | doubled | passed)
    values[first + 27] = _candidates(fronts, pawns, others)
    files = file_fill(pawns) & RANK_1
    values[first + 28] = popcount(files & ~(files << ONE))
    values[first + 29] = popcount(own.attacks.pawns & others)
    if passed != ZERO:
        _write_passed_terms(own, opponent, passed, empty, waits, values, first + 17)


def _write_passed_terms(
    own: Side, opponent: Side, passed: np.uint64, empty: np.uint64, waits: int, values: Any, first: int
) -> None:
    next_squares = passed << EIGHT
    clear = passed & ~south_fill(~empty >> EIGHT)
    beside_passed = beside(passed)
    together = passed & (beside_passed | (beside_passed << EIGHT) | (beside_passed >> EIGHT))
    values[first] = popcount(passed & own.attacks.pawns)
    values[first + 1] = popcount(together)
    values[first + 2] = popcount(next_squares & opponent.everything)
    values[first + 3] = popcount(next_squares & empty & ~opponent.attacked)
    values[first + 4] = popcount(clear)
    values[first + 5] = popcount(passed & north_fill(own.pieces.rooks))
    values[first + 6] = popcount(passed & north_fill(opponent.pieces.rooks))
    own_king = trailing_zeros(own.pieces.king)
    hostile_king = trailing_zeros(opponent.pieces.king)
    own_steps = 0
    hostile_steps = 0
    far = passed & _FAR
    while far != ZERO:
        square = trailing_zeros(far)
        far &= far - ONE
        own_steps += distance(own_king, square + 8)
        hostile_steps += distance(hostile_king, square + 8)
    values[first + 7] = own_steps
    values[first + 8] = hostile_steps
    if opponent.everything == opponent.pieces.pawns | opponent.pieces.king:
        runners = ZERO
        while clear != ZERO:
            square = trailing_zeros(clear)
            moves = min(7 - (square >> 3), 5)
            if distance(hostile_king, 56 + (square & 7)) - waits > moves:
                runners = clear
            clear &= clear - ONE
        values[first + 9] = has(runners)
