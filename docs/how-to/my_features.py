"""Two features of Othello of one's own: frontier discs, and discs that corners make safe."""

import numpy as np

import glem
from glem.core.compiling.kernels import popcount
from glem.games.othello.rules import CORNERS, neighbours

ONE, ROW = np.uint64(1), np.uint64(8)
TOP_AND_BOTTOM = np.uint64(0xFF000000000000FF)
LEFT_AND_RIGHT = np.uint64(0x8181818181818181)


def from_corners(discs):
    """Discs in corners, and in unbroken runs from them along the edges."""
    safe = discs & CORNERS
    for _ in range(7):
        safe |= discs & TOP_AND_BOTTOM & ((safe << ONE) | (safe >> ONE))
        safe |= discs & LEFT_AND_RIGHT & ((safe << ROW) | (safe >> ROW))
    return safe


@glem.feature("othello", -64, 64, linear=True)
def frontier_discs(position):
    """Own discs next to an empty square, less the opponent's."""
    edge = neighbours(~(position.own | position.opponent))
    return popcount(position.own & edge) - popcount(position.opponent & edge)


@glem.feature("othello", -28, 28, linear=True)
def stable_corners(position):
    """Own discs that corners make safe along the edges, less the opponent's."""
    return popcount(from_corners(position.own)) - popcount(from_corners(position.opponent))
