"""Piece-square features: own pieces on a square less the opponent's on its mirror image.

Pawns and kings have all squares. Castling and the centre make both wings alike for the other pieces: they share a
feature between a square and its image on the other wing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import trailing_zeros
from glem.core.features.features import AtomicFeature
from glem.plugins.chess.features.sides import Boards

__all__ = ["KINDS", "PLACEMENT", "PLACES", "square_name", "write_placement"]

KINDS = ("pawn", "knight", "bishop", "rook", "queen", "king")
"""By the numbers that they have in tables."""

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_FOLDED = ("knight", "bishop", "rook", "queen")


def square_name(square: int) -> str:
    """Name of a square such as ``e4``."""
    return "abcdefgh"[square & 7] + "12345678"[square >> 3]


def _folded(kind: str, square: int) -> int:
    return min(square, square ^ 7) if kind in _FOLDED else square


def _description(kind: str, square: int) -> str:
    places = sorted({square, square ^ 7 if kind in _FOLDED else square})
    ours = " and ".join(square_name(place) for place in places)
    theirs = " and ".join(square_name(place ^ 56) for place in places)
    return f"Own {kind}s on {ours} less the opponent's on {theirs}, from the side to move's view."


def _features() -> tuple[tuple[AtomicFeature, ...], NDArray[np.int16]]:
    features: list[AtomicFeature] = []
    places = np.full((len(KINDS), 64), -1, np.int16)
    for number, kind in enumerate(KINDS):
        for square in range(64):
            if kind == "pawn" and not 8 <= square < 56:
                # No pawn stands there; the entry only keeps the table whole.
                places[number, square] = 0
                continue
            shared = _folded(kind, square)
            if shared == square:
                most = 2 if kind in _FOLDED else 1
                description = _description(kind, square)
                name = f"{kind}_{square_name(square)}"
                places[number, square] = len(features)
                features.append(AtomicFeature(name, -most, most, description, group="placement"))
            else:
                places[number, square] = places[number, shared]
    return tuple(features), places


PLACEMENT, PLACES = _features()
"""The features in the order in which they are written; int16 [6, 64]: where a kind on a square stands among them."""

_FLAT = PLACES.ravel().copy()
_COUNT = len(PLACEMENT)


def _add(pieces: np.uint64, kind: int, mirror: int, sign: int, values: Any, first: int) -> None:
    while pieces != _ZERO:
        place = _FLAT[64 * kind + (trailing_zeros(pieces) ^ mirror)]
        values[first + place] += sign
        pieces &= pieces - _ONE


def write_placement(boards: Boards, values: Any, first: int) -> None:
    """Write all features from ``first`` on."""
    for place in range(_COUNT):
        values[first + place] = 0
    own = (
        boards.own_pawns,
        boards.own_knights,
        boards.own_bishops,
        boards.own_rooks,
        boards.own_queens,
        boards.own_king,
    )
    other = (boards.pawns, boards.knights, boards.bishops, boards.rooks, boards.queens, boards.king)
    for kind in range(6):
        _add(own[kind], kind, 0, 1, values, first)
        _add(other[kind], kind, 56, -1, values, first)
