"""Terms of single pieces: rooks and minor pieces on good squares, threats, space."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import inlined, popcount
from glem.core.features.features import AtomicFeature
from glem.plugins.chess.features.material import DARK_SQUARES
from glem.plugins.chess.features.sides import RANK_1, Side, file_fill, has, pawn_attacks, south_fill

__all__ = ["PIECE_TERMS", "add_piece_terms"]

_EIGHT = np.uint64(8)
_RANK_3 = RANK_1 << np.uint64(16)
_RANK_7 = RANK_1 << np.uint64(48)
_RANK_8 = RANK_1 << np.uint64(56)
_RANKS_4_TO_6 = np.uint64(0x0000FFFFFF000000)
_SPACE = np.uint64(0x000000003C3C3C00)
"""Files c to f, ranks 2 to 4."""


def _term(name: str, description: str, most: int, group: str) -> AtomicFeature:
    return AtomicFeature(name, -most, most, description, group=group)


PIECE_TERMS = (
    _term("rook_open_file", "Rooks on files without pawns.", 10, "rooks"),
    _term("rook_half_open_file", "Rooks on files with pawns of the other side only.", 10, "rooks"),
    _term("rook_seventh", "Rooks on rank 7, with pawns of the other side there or its king on rank 8.", 8, "rooks"),
    _term("rooks_connected", "1 where a rook defends another.", 1, "rooks"),
    _term(
        "knight_outpost",
        "Knights on ranks 4 to 6, defended by a pawn and beyond the other side's pawns.",
        10,
        "minor_pieces",
    ),
    _term("bishop_outpost", "Bishops on such squares.", 10, "minor_pieces"),
    _term(
        "minor_behind_pawn", "Knights and bishops with a pawn of either side on the next square.", 20, "minor_pieces"
    ),
    _term("bishop_own_pawns", "Own pawns on squares of the colour of a bishop, for every bishop.", 80, "minor_pieces"),
    _term("pawn_threats", "Knights to queens of the other side that pawns attack.", 30, "threats"),
    _term("minor_threats", "Rooks and queens of the other side that knights or bishops attack.", 19, "threats"),
    _term("rook_threats", "Queens of the other side that rooks attack.", 9, "threats"),
    _term("hanging_pieces", "Knights to queens of the other side that are attacked and not defended.", 30, "threats"),
    _term("hanging_pawns", "Pawns of the other side that are attacked and not defended.", 8, "threats"),
    _term(
        "attacked_minors",
        "Knights and bishops of the other side that are attacked and not defended by pawns.",
        20,
        "threats",
    ),
    _term(
        "pawn_push_threats",
        "Knights to queens that pawns would attack after safe steps, and do not attack now.",
        30,
        "threats",
    ),
    _term("control", "Squares attacked.", 64, "space"),
    _term(
        "space",
        "Squares on files c to f, ranks 2 to 4, without own pawns and not attacked by the other's.",
        12,
        "space",
    ),
)
"""Own count less the opponent's; in the order in which they are written."""


@inlined
def add_piece_terms(
    own: Side, opponent: Side, own_attacks: np.uint64, hostile_attacks: np.uint64, sign: int, values: Any, first: int
) -> None:
    """Add ``sign`` times these terms of a side whose pawns go up."""
    without_own = own.rooks & ~file_fill(own.pawns)
    with_other = file_fill(opponent.pawns)
    values[first] += sign * popcount(without_own & ~with_other)
    values[first + 1] += sign * popcount(without_own & with_other)
    if (opponent.pawns & _RANK_7) | (opponent.king & _RANK_8):
        values[first + 2] += sign * popcount(own.rooks & _RANK_7)
    values[first + 3] += sign * has(own.rooks & own.rook_attacks)
    outposts = _RANKS_4_TO_6 & own.pawn_attacks & ~south_fill(opponent.pawn_attacks)
    pawns = own.pawns | opponent.pawns
    values[first + 4] += sign * popcount(own.knights & outposts)
    values[first + 5] += sign * popcount(own.bishops & outposts)
    values[first + 6] += sign * popcount((own.knights | own.bishops) & (pawns >> _EIGHT))
    dark = popcount(own.bishops & DARK_SQUARES) * popcount(own.pawns & DARK_SQUARES)
    light = popcount(own.bishops & ~DARK_SQUARES) * popcount(own.pawns & ~DARK_SQUARES)
    values[first + 7] += sign * (dark + light)
    minors = opponent.knights | opponent.bishops
    pieces = minors | opponent.rooks | opponent.queens
    by_minors = own.knight_attacks | own.bishop_attacks
    values[first + 8] += sign * popcount(own.pawn_attacks & pieces)
    values[first + 9] += sign * popcount(by_minors & (opponent.rooks | opponent.queens))
    values[first + 10] += sign * popcount(own.rook_attacks & opponent.queens)
    hanging = own_attacks & ~hostile_attacks
    values[first + 11] += sign * popcount(hanging & pieces)
    values[first + 12] += sign * popcount(hanging & opponent.pawns)
    values[first + 13] += sign * popcount(own_attacks & minors & ~opponent.pawn_attacks)
    empty = ~(own.everything | opponent.everything)
    steps = (own.pawns << _EIGHT) & empty
    steps |= ((steps & _RANK_3) << _EIGHT) & empty
    steps &= ~opponent.pawn_attacks & (own_attacks | ~hostile_attacks)
    values[first + 14] += sign * popcount(pawn_attacks(steps) & ~own.pawn_attacks & pieces)
    values[first + 15] += sign * popcount(own_attacks)
    values[first + 16] += sign * popcount(_SPACE & ~own.pawns & ~opponent.pawn_attacks)
