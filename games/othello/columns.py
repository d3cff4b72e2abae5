"""Othello rules over whole columns of positions, for what a batch does faster than one position at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import compiled
from glem.core.errors import BadInputError
from glem.games.othello.rules import Position, mobility

__all__ = ["mobility_of"]


def _write_mobility(own: Any, opponent: Any, squares: Any) -> None:
    # The body calls nothing that is not inlined and never branches, so that LLVM vectorizes the loop.
    for row in range(squares.shape[0]):
        squares[row] = mobility(own[row], opponent[row])


def mobility_of(positions: Position, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """Find where the side to move may place a disc, for N positions.

    Parameters
    ----------
    positions
        Position of columns: two uint64 arrays [N].
    out
        C-contiguous uint64 array [N] to write to; default is a new one.

    Returns
    -------
    squares
        uint64 array [N], one bit a square; ``out`` where that was given.

    Raises
    ------
    BadInputError
        The columns are not uint64 arrays of one length, or ``out`` does not fit them.
    """
    own, opponent = (np.ascontiguousarray(column) for column in positions)
    for name, column in (("own", own), ("opponent", opponent)):
        if column.dtype != np.uint64 or column.ndim != 1 or len(column) != len(own):
            raise BadInputError(
                f"column {name!r} of positions is {column.dtype}{list(column.shape)}, expected uint64[{len(own)}]"
            )
    if out is None:
        out = np.empty(len(own), np.uint64)
    elif out.dtype != np.uint64 or out.shape != own.shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise BadInputError(f"out is {out.dtype}{list(out.shape)}, expected a writeable contiguous uint64[{len(own)}]")
    compiled(_write_mobility)(own, opponent, out)
    return out
