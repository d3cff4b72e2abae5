"""Atomic features of Othello: square contents, mobility, potential mobility, discs, parity."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.features import AtomicFeature, AtomicFeatures
from glem.core.kernels import popcount
from glem.games.othello import OTHELLO
from glem.games.othello.notation import format_square
from glem.games.othello.rules import Position, mobility, transform_square

__all__ = ["EMPTY", "FEATURES", "OPPONENT", "OWN"]

EMPTY, OWN, OPPONENT = 0, 1, 2
"""Values of a square's content, from the side to move's view."""

_NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
_NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_QUADRANTS = (
    np.uint64(0x000000000F0F0F0F),
    np.uint64(0x00000000F0F0F0F0),
    np.uint64(0x0F0F0F0F00000000),
    np.uint64(0xF0F0F0F000000000),
)
_CORNERS = np.uint64(0x8100000000000081)


def _neighbours(board: np.uint64) -> np.uint64:
    wide = board | ((board & _NOT_H) << _ONE) | ((board & _NOT_A) >> _ONE)
    return (wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))) & ~board


def write_values(position: Position, values: Any) -> None:
    """Write the value of every feature of a position, in the order of :data:`FEATURES`."""
    own = position.own
    opponent = position.opponent
    for square in range(64):
        place = np.uint64(square)
        values[square] = ((own >> place) & _ONE) + ((opponent >> place) & _ONE) * np.uint64(2)
    empty = ~(own | opponent)
    own_moves = mobility(own, opponent)
    opponent_moves = mobility(opponent, own)
    values[64] = popcount(own_moves)
    values[65] = popcount(opponent_moves)
    values[66] = popcount(empty & _neighbours(opponent))
    values[67] = popcount(empty & _neighbours(own))
    values[68] = popcount(own)
    values[69] = popcount(opponent)
    values[70] = popcount(own) - popcount(opponent)
    values[71] = popcount(empty) & 1
    values[72] = popcount(empty & _QUADRANTS[0]) & 1
    values[73] = popcount(empty & _QUADRANTS[1]) & 1
    values[74] = popcount(empty & _QUADRANTS[2]) & 1
    values[75] = popcount(empty & _QUADRANTS[3]) & 1
    values[76] = popcount(own_moves & _CORNERS)
    values[77] = popcount(opponent_moves & _CORNERS)


def _all_features() -> tuple[AtomicFeature, ...]:
    squares = [
        AtomicFeature(
            name=format_square(square),
            low=0,
            high=2,
            description=f"Content of {format_square(square)} from the side to move's view.",
            value_names=("empty", "own", "opponent"),
            cell=square,
            group="squares",
        )
        for square in range(64)
    ]
    parity = ("even", "odd")
    others = [
        AtomicFeature("mobility", 0, 60, "Moves of the side to move.", group="mobility"),
        AtomicFeature("opponent_mobility", 0, 60, "Squares the opponent could move to.", group="mobility"),
        AtomicFeature(
            "potential_mobility", 0, 60, "Empty squares next to an opponent's disc.", group="potential_mobility"
        ),
        AtomicFeature(
            "opponent_potential_mobility", 0, 60, "Empty squares next to an own disc.", group="potential_mobility"
        ),
        AtomicFeature("discs", 0, 64, "Discs of the side to move.", group="discs"),
        AtomicFeature("opponent_discs", 0, 64, "Discs of the opponent.", group="discs"),
        AtomicFeature("disc_difference", -64, 64, "Own discs less the opponent's.", group="discs"),
        AtomicFeature("parity", 0, 1, "Parity of the number of empty squares.", parity, group="parity"),
        *(
            AtomicFeature(
                f"parity_{name}", 0, 1, f"Parity of the empty squares of the quadrant at {name}.", parity, group="parity"
            )
            for name in ("a1", "h1", "a8", "h8")
        ),
        AtomicFeature("corner_moves", 0, 4, "Corners the side to move can take.", group="corners"),
        AtomicFeature("opponent_corner_moves", 0, 4, "Corners the opponent could take.", group="corners"),
    ]
    return (*squares, *others)


def _symmetries(count: int) -> Any:
    images = np.tile(np.arange(count, dtype=np.intp), (8, 1))
    corners = (0, 7, 56, 63)
    for symmetry in range(8):
        for square in range(64):
            images[symmetry, square] = transform_square(square, symmetry)
        for place, corner in enumerate(corners):
            images[symmetry, 72 + place] = 72 + corners.index(transform_square(corner, symmetry))
    return images


_FEATURES = _all_features()

FEATURES = AtomicFeatures(
    game=OTHELLO, features=_FEATURES, write=write_values, symmetries=_symmetries(len(_FEATURES))
)
"""All atomic features of Othello; the first 64 are the squares in board order."""
