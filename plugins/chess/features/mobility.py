"""Mobility and attacks on the king's zone, counted while the attacks of a side's pieces are found."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, popcount, trailing_zeros
from glem.games.chess.rules.attacks import king_attacks
from glem.plugins.chess.features.rows import terms
from glem.plugins.chess.features.sides import Pieces, Side, king_zone, piece_attacks, union

_KINDS = ("knight", "bishop", "rook", "queen")
_SQUARES = "Squares that {}s attack, without those of own pieces and those that the other side's pawns attack."

_MOBILITY = terms(
    "mobility",
    *(
        (f"{kind}_mobility", 256, weights, _SQUARES.format(kind))
        for kind, weights in zip(_KINDS, ((4, 4), (4.5, 5), (2.5, 5), (1.5, 4)), strict=True)
    ),
    *(
        (f"{kind}_trapped", 10, weights, f"{kind.title()}s with at most {most} such squares.")
        for most, (kind, weights) in enumerate(
            zip(_KINDS, ((-20, -25), (-22, -28), (-10, -18), (-5, -15)), strict=True), 1
        )
    ),
)
_ATTACK = terms(
    "king_attack",
    *(
        (f"king_zone_{kind}s", 10, weights, f"{kind.title()}s that attack the zone of the other king.")
        for kind, weights in zip(_KINDS, ((11, 2), (9, 2), (13, 4), (13, 6)), strict=True)
    ),
    ("king_zone_hits", 128, (4.5, 1), "Attacks of knights to queens on squares of the other king's zone."),
)
MOBILITY_TERMS = (*_MOBILITY, *_ATTACK)
"""Own count less the opponent's, as all terms of the evaluation; in the order in which they are written."""


@inlined
def _kind_attacks(
    kind: int,
    pieces: np.uint64,
    occupied: np.uint64,
    area: np.uint64,
    zone: np.uint64,
    values: Any,
    first: int,
) -> tuple[np.uint64, int]:
    """Attacks of all pieces of a kind, and how many of them attack a zone."""
    union = ZERO
    attackers = 0
    hits = 0
    mobility = 0
    trapped = 0
    while pieces != ZERO:
        attacks = piece_attacks(kind, np.uint64(trailing_zeros(pieces)), occupied)
        pieces &= pieces - ONE
        union |= attacks
        squares = popcount(attacks & area)
        mobility += squares
        trapped += 1 if squares <= kind + 1 else 0
        near = popcount(attacks & zone)
        attackers += 1 if near > 0 else 0
        hits += near
    values[first + kind] = mobility
    values[first + 4 + kind] = trapped
    values[first + 8 + kind] = attackers
    values[first + 12] += hits
    return union, attackers


def side_with_mobility(
    pieces: Pieces,
    castling: np.uint64,
    occupied: np.uint64,
    own_pawn_attacks: np.uint64,
    hostile_pawn_attacks: np.uint64,
    hostile_king: np.uint64,
    values: Any,
    first: int,
) -> Side:
    """Find what a side attacks, and write its mobility where there are zeros, from ``first`` on."""
    everything = union(pieces)
    area = ~(everything | hostile_pawn_attacks)
    zone = king_zone(hostile_king)
    by_knights, knight_count = _kind_attacks(0, pieces.knights, occupied, area, zone, values, first)
    by_bishops, bishop_count = _kind_attacks(1, pieces.bishops, occupied, area, zone, values, first)
    by_rooks, rook_count = _kind_attacks(2, pieces.rooks, occupied, area, zone, values, first)
    by_queens, queen_count = _kind_attacks(3, pieces.queens, occupied, area, zone, values, first)
    by_king = king_attacks(np.uint64(trailing_zeros(pieces.king)))
    attacks = Pieces(own_pawn_attacks, by_knights, by_bishops, by_rooks, by_queens, by_king)
    attackers = np.int64(knight_count + bishop_count + rook_count + queen_count)
    return Side(pieces, attacks, everything, union(attacks), castling & everything, attackers)
