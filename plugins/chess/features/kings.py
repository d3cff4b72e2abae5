"""Terms of the kings' safety: castling rights, shelter, storm, attackers and checks."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, inlined, popcount, trailing_zeros
from glem.games.chess.rules.attacks import bishop_attacks, knight_attacks, rook_attacks
from glem.plugins.chess.features.rows import terms
from glem.plugins.chess.features.sides import EIGHT, FILE_A, RANK_1, Side, beside, has, king_zone, south_fill

_SAFETY = terms(
    "king_safety",
    ("castling_kingside", 1, (24, 0), "1 where the king may still castle with a rook on its right."),
    ("castling_queenside", 1, (14, 0), "1 where the king may still castle with a rook on its left."),
    ("shelter_near", 3, (17, 0), "Own pawns on the rank before the king, on the three files around it."),
    ("shelter_far", 3, (8, 0), "Own pawns two ranks before the king, on the same files."),
    ("king_half_open_files", 3, (-17, 0), "Files of the three without an own pawn beside or before the king."),
    ("king_open_files", 3, (-11, 0), "Files of the three without any pawn."),
    ("storm_near", 9, (-11, 0), "Opponent's pawns on the three files, up to two ranks before the king."),
    ("storm_far", 6, (-4, 0), "Opponent's pawns on the three files, three or four ranks before the king."),
)
_ATTACK = terms(
    "king_attack",
    ("attackers_two", 1, (10, 0), "1 where exactly two pieces attack the other king's zone."),
    ("attackers_three", 1, (32, 5), "1 where exactly three do."),
    ("attackers_four", 1, (65, 10), "1 where four or more do."),
    ("king_zone_weak", 9, (10, 2), "Attacked squares of the other king's zone that at most the king defends."),
    ("knight_checks", 1, (32, 5), "1 where a knight can give check on a square that the other side does not attack."),
    ("bishop_checks", 1, (18, 5), "The same for a bishop."),
    ("rook_checks", 1, (32, 8), "The same for a rook."),
    ("queen_checks", 1, (22, 10), "The same for a queen."),
)
KING_TERMS = (*_SAFETY, *_ATTACK)
"""In the order in which they are written."""


@inlined
def write_king_terms(own: Side, opponent: Side, values: Any, first: int) -> None:
    """Write the terms of a side whose pawns go up: its king's shelter, its attack on the other king."""
    higher = ~(own.pieces.king | (own.pieces.king - ONE))
    values[first] = has(own.castling & higher)
    values[first + 1] = has(own.castling & ~higher)
    square = np.uint64(trailing_zeros(own.pieces.king))
    middle = min(max(square & np.uint64(7), ONE), np.uint64(6))
    files = FILE_A << middle
    files |= beside(files)
    rank = RANK_1 << (square & np.uint64(56))
    level = ~((ONE << (square & np.uint64(56))) - ONE)
    values[first + 2] = popcount(own.pieces.pawns & files & (rank << EIGHT))
    values[first + 3] = popcount(own.pieces.pawns & files & (rank << EIGHT << EIGHT))
    values[first + 4] = 3 - popcount(south_fill(own.pieces.pawns & files & level) & RANK_1)
    values[first + 5] = 3 - popcount(south_fill((own.pieces.pawns | opponent.pieces.pawns) & files) & RANK_1)
    beyond = level << np.uint64(24)
    values[first + 6] = popcount(opponent.pieces.pawns & files & level & ~beyond)
    values[first + 7] = popcount(opponent.pieces.pawns & files & beyond & ~(beyond << np.uint64(16)))
    if own.attackers == 2:
        values[first + 8] = 1
    elif own.attackers == 3:
        values[first + 9] = 1
    elif own.attackers >= 4:
        values[first + 10] = 1
    attacks = opponent.attacks
    defended = attacks.pawns | attacks.knights | attacks.bishops | attacks.rooks | attacks.queens
    values[first + 11] = popcount(king_zone(opponent.pieces.king) & own.attacked & ~defended)
    target = np.uint64(trailing_zeros(opponent.pieces.king))
    occupied = own.everything | opponent.everything
    safe = ~(own.everything | opponent.attacked)
    diagonals = bishop_attacks(target, occupied) & safe
    lines = rook_attacks(target, occupied) & safe
    values[first + 12] = has(own.attacks.knights & knight_attacks(target) & safe)
    values[first + 13] = has(own.attacks.bishops & diagonals)
    values[first + 14] = has(own.attacks.rooks & lines)
    values[first + 15] = has(own.attacks.queens & (diagonals | lines))
