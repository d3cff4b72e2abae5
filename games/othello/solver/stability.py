"""Discs that can never be turned, and the bound on the score that they give."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ZERO, kernel, pext, popcount
from glem.games.othello.single import ray


def _away(down: int, right: int, distance: int) -> np.uint64:
    """Squares whose neighbour at some distance in a direction is not on the board."""
    return np.uint64(sum(1 << square for square in range(64) if ray(square, down, right).bit_count() < distance))


_S1, _S2, _S4 = np.uint64(1), np.uint64(2), np.uint64(4)
_S8, _S16, _S32 = np.uint64(8), np.uint64(16), np.uint64(32)
_S7, _S14, _S28 = np.uint64(7), np.uint64(14), np.uint64(28)
_S9, _S18, _S36 = np.uint64(9), np.uint64(18), np.uint64(36)
_SW1, _SW2, _SW4 = (_away(1, -1, step) for step in (1, 2, 4))
_NE1, _NE2, _NE4 = (_away(-1, 1, step) for step in (1, 2, 4))
_SE1, _SE2, _SE4 = (_away(1, 1, step) for step in (1, 2, 4))
_NW1, _NW2, _NW4 = (_away(-1, -1, step) for step in (1, 2, 4))
_FIRST_COLUMN = np.uint64(0x0101010101010101)
_LAST_COLUMN = np.uint64(0x8080808080808080)
_INNER = np.uint64(0x007E7E7E7E7E7E00)
_BYTE = np.uint64(0xFF)


@kernel(inline=True)
def _full_along(
    occupied: Any, s1: Any, s2: Any, s4: Any, up1: Any, up2: Any, up4: Any, low1: Any, low2: Any, low4: Any
) -> Any:
    """Squares all of whose line in one direction, both ways to the border, is occupied."""
    up = occupied & (up1 | (occupied >> s1))
    up &= up2 | (up >> s2)
    up &= up4 | (up >> s4)
    low = occupied & (low1 | (occupied << s1))
    low &= low2 | (low << s2)
    low &= low4 | (low << s4)
    return up & low


@kernel
def stable_discs(workspace: Any, own: Any, opponent: Any) -> Any:
    """Discs of ``own`` that no play can turn, as far as simple rules see them: uint64.

    Stable are the discs that are so on their edge alone, those all of whose lines are full, and those that in each
    of the four directions lie on a full line or next to a stable disc of their own side.
    """
    occupied = own | opponent
    row = occupied & (occupied >> _S1)
    row &= row >> _S2
    row &= row >> _S4
    row = (row & _FIRST_COLUMN) * _BYTE
    column = occupied & ((occupied >> _S8) | (occupied << np.uint64(56)))
    column &= (column >> _S16) | (column << np.uint64(48))
    column &= (column >> _S32) | (column << _S32)
    falling = _full_along(occupied, _S9, _S18, _S36, _SE1, _SE2, _SE4, _NW1, _NW2, _NW4)
    rising = _full_along(occupied, _S7, _S14, _S28, _SW1, _SW2, _SW4, _NE1, _NE2, _NE4)

    north = np.uint64(workspace.edge_stable[np.int64((own & _BYTE) << _S8 | (opponent & _BYTE))])
    south = np.uint64(workspace.edge_stable[np.int64((own >> np.uint64(56)) << _S8 | (opponent >> np.uint64(56)))])
    west = np.uint64(workspace.edge_stable[np.int64(pext(own, _FIRST_COLUMN) << _S8 | pext(opponent, _FIRST_COLUMN))])
    east = np.uint64(workspace.edge_stable[np.int64(pext(own, _LAST_COLUMN) << _S8 | pext(opponent, _LAST_COLUMN))])
    stable = north | (south << np.uint64(56)) | _in_column(west) | (_in_column(east) << _S7)
    inner = own & _INNER
    stable |= inner & row & column & falling & rising
    known = ZERO
    while stable != known and stable != ZERO:
        known = stable
        stable |= (
            inner
            & (row | (known >> _S1) | (known << _S1))
            & (column | (known >> _S8) | (known << _S8))
            & (falling | (known >> _S9) | (known << _S9))
            & (rising | (known >> _S7) | (known << _S7))
        )
    return stable


@kernel(inline=True)
def _in_column(bits: Any) -> Any:
    """Move the 8 low bits to the squares of the first column."""
    bits = (bits | (bits << _S28)) & np.uint64(0x0000000F0000000F)
    bits = (bits | (bits << _S14)) & np.uint64(0x0003000300030003)
    return (bits | (bits << _S7)) & _FIRST_COLUMN


@kernel(inline=True)
def stable_bound(workspace: Any, own: Any, opponent: Any) -> Any:
    """Upper bound on the score of ``own``: the stable discs of the opponent stay."""
    return 64 - 2 * np.int64(popcount(stable_discs(workspace, opponent, own)))
