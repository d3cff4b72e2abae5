"""Terms of single pieces: rooks and minor pieces on good squares, threats, space."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import inlined, popcount
from glem.games.chess.rules.playing import DARK_SQUARES
from glem.plugins.chess.features.rows import terms
from glem.plugins.chess.features.sides import EIGHT, RANK_1, Side, file_fill, has, pawn_attacks, south_fill

_RANK_3 = RANK_1 << np.uint64(16)
_RANK_7 = RANK_1 << np.uint64(48)
_RANK_8 = RANK_1 << np.uint64(56)
_RANKS_4_TO_6 = np.uint64(0x0000FFFFFF000000)
_SPACE = np.uint64(0x000000003C3C3C00)
"""Files c to f, ranks 2 to 4."""


_ROOKS = terms(
    "rooks",
    ("rook_open_file", 10, (24, 12), "Rooks on files without pawns."),
    ("rook_half_open_file", 10, (12, 9), "Rooks on files with pawns of the other side only."),
    ("rook_seventh", 8, (14, 24), "Rooks on rank 7, with pawns of the other side there or its king on rank 8."),
    ("rooks_connected", 1, (6, 3), "1 where a rook defends another."),
)
_MINORS = terms(
    "minor_pieces",
    ("knight_outpost", 10, (22, 12), "Knights on ranks 4 to 6, defended by a pawn and beyond the other side's pawns."),
    ("bishop_outpost", 10, (12, 6), "Bishops on such squares."),
    ("minor_behind_pawn", 20, (6, 1), "Knights and bishops with a pawn of either side on the next square."),
    ("bishop_own_pawns", 80, (-2.5, -4), "Own pawns on squares of the colour of a bishop, for every bishop."),
)
_THREATS = terms(
    "threats",
    ("pawn_threats", 30, (42, 34), "Knights to queens of the other side that pawns attack."),
    ("minor_threats", 19, (28, 28), "Rooks and queens of the other side that knights or bishops attack."),
    ("rook_threats", 9, (24, 18), "Queens of the other side that rooks attack."),
    ("hanging_pieces", 30, (32, 24), "Knights to queens of the other side that are attacked and not defended."),
    ("hanging_pawns", 8, (8, 11), "Pawns of the other side that are attacked and not defended."),
    ("attacked_minors", 20, (8, 8), "Knights and bishops of the other side that are attacked, not defended by pawns."),
    ("pawn_push_threats", 30, (11, 8), "Knights to queens that pawns would attack after safe steps and do not now."),
)
_SPACE_TERMS = terms(
    "space",
    ("control", 64, (1.2, 1), "Squares attacked."),
    ("space", 12, (2, 0), "Squares on files c to f, ranks 2 to 4, without own pawns and not attacked by the other's."),
)
PIECE_TERMS = (*_ROOKS, *_MINORS, *_THREATS, *_SPACE_TERMS)
"""Own count less the opponent's; in the order in which they are written."""


@inlined
def write_piece_terms(own: Side, opponent: Side, values: Any, first: int) -> None:
    """Write these terms of a side whose pawns go up."""
    without_own = own.pieces.rooks & ~file_fill(own.pieces.pawns)
    with_other = file_fill(opponent.pieces.pawns)
    values[first] = popcount(without_own & ~with_other)
    values[first + 1] = popcount(without_own & with_other)
    if (opponent.pieces.pawns & _RANK_7) | (opponent.pieces.king & _RANK_8):
        values[first + 2] = popcount(own.pieces.rooks & _RANK_7)
    values[first + 3] = has(own.pieces.rooks & own.attacks.rooks)
    outposts = _RANKS_4_TO_6 & own.attacks.pawns & ~south_fill(opponent.attacks.pawns)
    pawns = own.pieces.pawns | opponent.pieces.pawns
    values[first + 4] = popcount(own.pieces.knights & outposts)
    values[first + 5] = popcount(own.pieces.bishops & outposts)
    values[first + 6] = popcount((own.pieces.knights | own.pieces.bishops) & (pawns >> EIGHT))
    dark = popcount(own.pieces.bishops & DARK_SQUARES) * popcount(own.pieces.pawns & DARK_SQUARES)
    light = popcount(own.pieces.bishops & ~DARK_SQUARES) * popcount(own.pieces.pawns & ~DARK_SQUARES)
    values[first + 7] = dark + light
    minors = opponent.pieces.knights | opponent.pieces.bishops
    pieces = minors | opponent.pieces.rooks | opponent.pieces.queens
    by_minors = own.attacks.knights | own.attacks.bishops
    values[first + 8] = popcount(own.attacks.pawns & pieces)
    values[first + 9] = popcount(by_minors & (opponent.pieces.rooks | opponent.pieces.queens))
    values[first + 10] = popcount(own.attacks.rooks & opponent.pieces.queens)
    hanging = own.attacked & ~opponent.attacked
    values[first + 11] = popcount(hanging & pieces)
    values[first + 12] = popcount(hanging & opponent.pieces.pawns)
    values[first + 13] = popcount(own.attacked & minors & ~opponent.attacks.pawns)
    empty = ~(own.everything | opponent.everything)
    steps = (own.pieces.pawns << EIGHT) & empty
    steps |= ((steps & _RANK_3) << EIGHT) & empty
    steps &= ~opponent.attacks.pawns & (own.attacked | ~opponent.attacked)
    values[first + 14] = popcount(pawn_attacks(steps) & ~own.attacks.pawns & pieces)
    values[first + 15] = popcount(own.attacked)
    values[first + 16] = popcount(_SPACE & ~own.pieces.pawns & ~opponent.attacks.pawns)
