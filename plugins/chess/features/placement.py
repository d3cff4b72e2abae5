"""Piece-square features: own pieces on a square less the opponent's on its mirror image.

Pawns and kings have all squares. Castling and the centre make both wings alike for the other pieces: they share a
feature between a square and its image on the other wing.
"""

from typing import Any

import numpy as np
from chess import SQUARE_NAMES

from glem.core.compiling.kernels import ONE, ZERO, trailing_zeros
from glem.core.features.features import AtomicFeature
from glem.plugins.chess.features.sides import Boards

KINDS = ("pawn", "knight", "bishop", "rook", "queen", "king")
"""By the numbers that they have in tables."""

_FOLDED = ("knight", "bishop", "rook", "queen")


def _folded(kind: str, square: int) -> int:
    return min(square, square ^ 7) if kind in _FOLDED else square


def _feature(kind: str, square: int) -> AtomicFeature:
    places = sorted({square, square ^ 7 if kind in _FOLDED else square})
    ours = " and ".join(SQUARE_NAMES[place] for place in places)
    theirs = " and ".join(SQUARE_NAMES[place ^ 56] for place in places)
    description = f"Own {kind}s on {ours} less the opponent's on {theirs}, from the side to move's view."
    return AtomicFeature(f"{kind}_{SQUARE_NAMES[square]}", -len(places), len(places), description, group="placement")


PLACEMENT_SQUARES = tuple(
    (kind, square)
    for kind in KINDS
    for square in range(64)
    # No pawn stands on the first or the last rank.
    if square == _folded(kind, square) and (kind != "pawn" or 8 <= square < 56)
)
"""Kind and square of each feature; of two squares that share it the one on the left wing."""

PLACEMENT = tuple(_feature(kind, square) for kind, square in PLACEMENT_SQUARES)
"""The features in the order in which they are written."""

_NUMBERS = {place: number for number, place in enumerate(PLACEMENT_SQUARES)}

PLACES = np.array(
    # Where no pawn stands, 0 only keeps the table whole.
    [[_NUMBERS.get((kind, _folded(kind, square)), 0) for square in range(64)] for kind in KINDS],
    np.int16,
)
"""int16 [6, 64]: where a kind on a square stands among the features."""

_FLAT = PLACES.ravel().copy()
_COUNT = len(PLACEMENT)


def _add(pieces: np.uint64, kind: int, mirror: int, sign: int, values: Any, first: int) -> None:
    while pieces != ZERO:
        place = _FLAT[64 * kind + (trailing_zeros(pieces) ^ mirror)]
        values[first + place] += sign
        pieces &= pieces - ONE


def write_placement(boards: Boards, values: Any, first: int) -> None:
    """Write all features from ``first`` on."""
    for place in range(_COUNT):
        values[first + place] = 0
    for kind in range(6):
        _add(boards.own[kind], kind, 0, 1, values, first)
        _add(boards.other[kind], kind, 56, -1, values, first)
