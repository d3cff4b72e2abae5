"""Atomic features of Othello: square contents, mobility, frontiers, discs, corners, stability, parity and regions."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, popcount
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.games.othello import OTHELLO
from glem.games.othello.notation import format_square
from glem.games.othello.rules import CORNERS, Position, mobility, neighbours, transform_square

_QUADRANTS = (
    np.uint64(0x000000000F0F0F0F),
    np.uint64(0x00000000F0F0F0F0),
    np.uint64(0x0F0F0F0F00000000),
    np.uint64(0xF0F0F0F000000000),
)
_EDGES = (
    np.uint64(0x00000000000000FF),
    np.uint64(0xFF00000000000000),
    np.uint64(0x0101010101010101),
    np.uint64(0x8080808080808080),
)
COUNTED, EDGES, REGIONS = 1, 2, 4
"""Groups of features behind the squares that take more than a few instructions."""
_ROW_EDGES = np.uint64(0xFF000000000000FF)
_COLUMN_EDGES = np.uint64(0x8181818181818181)


def _full_edges(occupied: np.uint64) -> np.uint64:
    """Squares of the edges that have no empty square."""
    full = ZERO
    for edge in _EDGES:
        if occupied & edge == edge:
            full |= edge
    return full


def _stable_edge_discs(discs: np.uint64, full_edges: np.uint64) -> np.uint64:
    """Discs of one side on the edges that can never be turned over along them.

    An edge disc can be turned over along its edge only (a corner disc not at all), so that these are safe: discs
    on a full edge, and unbroken runs of one side from a corner.
    """
    along_rows = discs & _ROW_EDGES
    along_columns = discs & _COLUMN_EDGES
    stable = discs & (CORNERS | full_edges)
    # A run from a corner has at most six more squares; with the eighth the edge is full.
    for _ in range(6):
        stable |= along_rows & ((stable << ONE) | (stable >> ONE))
        stable |= along_columns & ((stable << np.uint64(8)) | (stable >> np.uint64(8)))
    return stable


def _write_regions(empty: np.uint64, values: Any) -> None:
    """Write the number of empty regions and of those with an odd number of squares, in this order from index 84."""
    regions = 0
    odd = 0
    remaining = empty
    while remaining != ZERO:
        region = remaining & (~remaining + ONE)
        grown = remaining & (region | neighbours(region))
        while grown != region:
            region = grown
            grown = remaining & (region | neighbours(region))
        regions += 1
        odd += popcount(region) & 1
        remaining ^= region
    values[84] = regions
    values[85] = odd


def write_values(position: Position, values: Any) -> None:
    """Write the value of every feature of a position, in the order of :data:`FEATURES`."""
    own = position.own
    opponent = position.opponent
    for square in range(64):
        place = np.uint64(square)
        values[square] = ((own >> place) & ONE) + ((opponent >> place) & ONE) * np.uint64(2)
    write_counts(position, values, np.int64(COUNTED | EDGES | REGIONS))


def write_counts(position: Position, values: Any, asked: np.int64) -> None:
    """Write the values of the features behind the squares, without groups that ``asked``, a sum, does not name."""
    own = position.own
    opponent = position.opponent
    empty = ~(own | opponent)
    own_moves = mobility(own, opponent)
    opponent_moves = mobility(opponent, own)
    values[64] = popcount(own_moves)
    values[65] = popcount(opponent_moves)
    values[66] = popcount(empty & neighbours(opponent))
    values[67] = popcount(empty & neighbours(own))
    values[68] = popcount(own)
    values[69] = popcount(opponent)
    values[70] = popcount(own) - popcount(opponent)
    values[71] = popcount(empty) & 1
    if asked & np.int64(COUNTED) != np.int64(0):
        _write_counted(own, opponent, own_moves, opponent_moves, values)
    if asked & np.int64(EDGES) != np.int64(0):
        full_edges = _full_edges(own | opponent)
        values[82] = popcount(_stable_edge_discs(own, full_edges))
        values[83] = popcount(_stable_edge_discs(opponent, full_edges))
    if asked & np.int64(REGIONS) != np.int64(0):
        _write_regions(empty, values)


def _write_counted(
    own: np.uint64, opponent: np.uint64, own_moves: np.uint64, opponent_moves: np.uint64, values: Any
) -> None:
    empty = ~(own | opponent)
    values[72] = popcount(empty & _QUADRANTS[0]) & 1
    values[73] = popcount(empty & _QUADRANTS[1]) & 1
    values[74] = popcount(empty & _QUADRANTS[2]) & 1
    values[75] = popcount(empty & _QUADRANTS[3]) & 1
    values[76] = popcount(own_moves & CORNERS)
    values[77] = popcount(opponent_moves & CORNERS)
    next_to_empty = neighbours(empty)
    values[78] = popcount(own & next_to_empty)
    values[79] = popcount(opponent & next_to_empty)
    values[80] = popcount(own & CORNERS)
    values[81] = popcount(opponent & CORNERS)


_CONTENTS = ("empty", "own", "opponent")
_SQUARES = tuple(
    AtomicFeature(name, 0, 2, f"Content of {name} from the side to move's view.", _CONTENTS, square, "squares")
    for square, name in enumerate(map(format_square, range(64)))
)
_QUADRANT_PARITY = tuple(
    ("parity", f"parity_{name}", 0, 1, f"Parity of the empty squares of the quadrant at {name}.")
    for name in ("a1", "h1", "a8", "h8")
)
_SAFE = "edge discs on a full edge or in a run from a corner."
_OTHERS = (
    ("mobility", "mobility", 0, 60, "Moves of the side to move."),
    ("mobility", "opponent_mobility", 0, 60, "Squares the opponent could move to."),
    ("potential_mobility", "potential_mobility", 0, 60, "Empty squares next to an opponent's disc."),
    ("potential_mobility", "opponent_potential_mobility", 0, 60, "Empty squares next to an own disc."),
    ("discs", "discs", 0, 64, "Discs of the side to move."),
    ("discs", "opponent_discs", 0, 64, "Discs of the opponent."),
    ("discs", "disc_difference", -64, 64, "Own discs less the opponent's."),
    ("parity", "parity", 0, 1, "Parity of the number of empty squares."),
    *_QUADRANT_PARITY,
    ("corners", "corner_moves", 0, 4, "Corners the side to move can take."),
    ("corners", "opponent_corner_moves", 0, 4, "Corners the opponent could take."),
    ("frontier", "frontier", 0, 64, "Own discs next to an empty square."),
    ("frontier", "opponent_frontier", 0, 64, "Opponent's discs next to an empty square."),
    ("corners", "corners", 0, 4, "Corners with an own disc."),
    ("corners", "opponent_corners", 0, 4, "Corners with an opponent's disc."),
    ("stability", "stable_edge_discs", 0, 28, f"Own {_SAFE}"),
    ("stability", "opponent_stable_edge_discs", 0, 28, f"Opponent's {_SAFE}"),
    ("regions", "regions", 0, 16, "Groups of empty squares that touch, diagonally too."),
    ("regions", "odd_regions", 0, 16, "Regions with an odd number of empty squares."),
)
"""Group, name, least and greatest value, and description of the features behind the squares."""

_FEATURES = (
    *_SQUARES,
    *(
        AtomicFeature(name, low, high, description, ("even", "odd") if group == "parity" else (), group=group)
        for group, name, low, high, description in _OTHERS
    ),
)


def _symmetries(count: int) -> Any:
    images = np.tile(np.arange(count, dtype=np.intp), (8, 1))
    corners = (0, 7, 56, 63)
    for symmetry in range(8):
        for square in range(64):
            images[symmetry, square] = transform_square(square, symmetry)
        for place, corner in enumerate(corners):
            images[symmetry, 72 + place] = 72 + corners.index(transform_square(corner, symmetry))
    return images


def groups_of(features: Iterable[int]) -> int:
    """Sum of the groups that some features belong to."""
    bounds = ((72, COUNTED), (82, EDGES), (84, REGIONS), (len(_FEATURES), 0))
    return sum({group for feature in features for (low, group), (high, _) in pairwise(bounds) if low <= feature < high})


FEATURES = AtomicFeatures(game=OTHELLO, features=_FEATURES, write=write_values, symmetries=_symmetries(len(_FEATURES)))
"""All atomic features of Othello; the first 64 are the squares in board order."""
