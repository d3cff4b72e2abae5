"""Two features of Othello of one's own: frontier discs, and discs that are safe around the corners."""

import numpy as np

import glem
from glem.core.compiling.kernels import popcount
from glem.games.othello.rules import CORNERS, neighbours

INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)


def beside(discs, side):
    """Squares of a side's runs that lie next to some discs, along ranks and files."""
    sideways = ((discs & ~np.uint64(0x8080808080808080)) << np.uint64(1)) | (
        (discs & ~np.uint64(0x0101010101010101)) >> np.uint64(1)
    )
    return side & (sideways | (discs << np.uint64(8)) | (discs >> np.uint64(8)))


def stable(side):
    """Discs of one side that touch its corners by unbroken edges."""
    edges = side & np.uint64(0xFF818181818181FF)
    found = side & CORNERS
    for _ in range(7):
        found |= beside(found, edges)
    return found


@glem.feature("othello", -64, 64, linear=True)
def frontier_discs(position):
    """Own discs next to an empty square, less the opponent's."""
    edge = neighbours(~(position.own | position.opponent))
    return popcount(position.own & edge) - popcount(position.opponent & edge)


@glem.feature("othello", -28, 28, linear=True)
def stable_corners(position):
    """Own discs in corners and in unbroken runs from them along the edges, less the opponent's."""
    return popcount(stable(position.own)) - popcount(stable(position.opponent))
