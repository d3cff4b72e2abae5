"""Terms of the kings' safety: castling rights, shelter, storm, attackers and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import inlined, popcount, trailing_zeros
from glem.core.features.features import AtomicFeature
from glem.games.chess.rules.attacks import bishop_attacks, knight_attacks, rook_attacks
from glem.plugins.chess.features.sides import FILE_A, RANK_1, Side, beside, has, king_zone, south_fill

__all__ = ["KING_TERMS", "add_king_terms"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)


def _term(name: str, description: str, most: int, group: str = "king_safety") -> AtomicFeature:
    return AtomicFeature(name, -most, most, description, group=group)


KING_TERMS = (
    _term("castling_kingside", "1 where the king may still castle with a rook on its right.", 1),
    _term("castling_queenside", "1 where the king may still castle with a rook on its left.", 1),
    _term("shelter_near", "Own pawns on the rank before the king, on the three files around it.", 3),
    _term("shelter_far", "Own pawns two ranks before the king, on the same files.", 3),
    _term("king_half_open_files", "Files of the three without an own pawn beside or before the king.", 3),
    _term("king_open_files", "Files of the three without any pawn.", 3),
    _term("storm_near", "Opponent's pawns on the three files, up to two ranks before the king.", 9),
    _term("storm_far", "Opponent's pawns on the three files, three or four ranks before the king.", 6),
    _term("attackers_two", "1 where exactly two pieces attack the other king's zone.", 1, "king_attack"),
    _term("attackers_three", "1 where exactly three do.", 1, "king_attack"),
    _term("attackers_four", "1 where four or more do.", 1, "king_attack"),
    _term(
        "king_zone_weak",
        "Squares of the other king's zone that are attacked, and defended by the king at most.",
        9,
        "king_attack",
    ),
    _term(
        "knight_checks",
        "1 where a knight can give check on a square that the other side does not attack.",
        1,
        "king_attack",
    ),
    _term("bishop_checks", "The same for a bishop.", 1, "king_attack"),
    _term("rook_checks", "The same for a rook.", 1, "king_attack"),
    _term("queen_checks", "The same for a queen.", 1, "king_attack"),
)
"""In the order in which they are written."""


@inlined
def add_king_terms(
    own: Side, opponent: Side, own_attacks: np.uint64, hostile_attacks: np.uint64, sign: int, values: Any, first: int
) -> None:
    """Add ``sign`` times the terms of a side whose pawns go up: its king's shelter, its attack on the other king."""
    higher = ~(own.king | (own.king - _ONE))
    values[first] += sign * has(own.castling & higher)
    values[first + 1] += sign * has(own.castling & ~higher)
    square = np.uint64(trailing_zeros(own.king))
    middle = min(max(square & np.uint64(7), _ONE), np.uint64(6))
    files = FILE_A << middle
    files |= beside(files)
    rank = RANK_1 << (square & np.uint64(56))
    level = ~((_ONE << (square & np.uint64(56))) - _ONE)
    values[first + 2] += sign * popcount(own.pawns & files & (rank << _EIGHT))
    values[first + 3] += sign * popcount(own.pawns & files & (rank << _EIGHT << _EIGHT))
    values[first + 4] += sign * (3 - popcount(south_fill(own.pawns & files & level) & RANK_1))
    values[first + 5] += sign * (3 - popcount(south_fill((own.pawns | opponent.pawns) & files) & RANK_1))
    beyond = level << np.uint64(24)
    values[first + 6] += sign * popcount(opponent.pawns & files & level & ~beyond)
    values[first + 7] += sign * popcount(opponent.pawns & files & beyond & ~(beyond << np.uint64(16)))
    if own.attackers == 2:
        values[first + 8] += sign
    elif own.attackers == 3:
        values[first + 9] += sign
    elif own.attackers >= 4:
        values[first + 10] += sign
    defended = (
        opponent.pawn_attacks
        | opponent.knight_attacks
        | opponent.bishop_attacks
        | opponent.rook_attacks
        | opponent.queen_attacks
    )
    values[first + 11] += sign * popcount(king_zone(opponent.king) & own_attacks & ~defended)
    target = np.uint64(trailing_zeros(opponent.king))
    occupied = own.everything | opponent.everything
    safe = ~(own.everything | hostile_attacks)
    diagonals = bishop_attacks(target, occupied) & safe
    lines = rook_attacks(target, occupied) & safe
    values[first + 12] += sign * has(own.knight_attacks & knight_attacks(target) & safe)
    values[first + 13] += sign * has(own.bishop_attacks & diagonals)
    values[first + 14] += sign * has(own.rook_attacks & lines)
    values[first + 15] += sign * has(own.queen_attacks & (diagonals | lines))
