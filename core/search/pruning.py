"""Pruning for games whose positions can be passed in: what selective search leaves out beside ProbCut.

D. F. Beal, A Generalised Quiescence Search Algorithm, 1990 (null moves); E. A. Heinz, Extended Futility Pruning, 1998;
T. Romstad, An Introduction to Late Move Reductions, 2006. All of it is off in a search of full width.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

DEEPEST, LATEST = 63, 63

NULL_DEPTH = np.int64(3)
"""Least depth at which a null move is tried."""
FUTILE_DEPTH = np.int64(6)
"""Greatest depth at which static scores alone may decide."""
LATE_DEPTH = np.int64(4)
"""Greatest depth at which quiet moves behind so many others are left out."""
REDUCED_DEPTH = np.int64(3)
"""Least depth at which late moves are reduced; deeper nodes without a move from the table are searched less deep."""

_HISTORY_OF_A_PLY = np.int64(4000)
_LEAST_HISTORY = np.int64(-(1 << 20))


def _reductions() -> NDArray[np.int64]:
    depths, places = np.ogrid[: DEEPEST + 1, : LATEST + 1]
    plies = np.floor(0.5 + np.log(np.maximum(depths, 1)) * np.log(np.maximum(places, 1)) / 2.25)
    plies[:, :3] = 0
    plies[:3] = 0
    found: NDArray[np.int64] = plies.astype(np.int64).ravel()
    return found


LATE_MOVES = _reductions()
"""Plies less for the quiet move at place p of a node of depth d, at ``d * (LATEST + 1) + p``: int64."""


def futile_margin(state: Any, depth: Any) -> Any:
    """Give what quiet moves of so many plies change a static score by, in steps."""
    return state.swing * depth * np.int64(7) // np.int64(10)


def reduction_of(state: Any, ply: Any, depth: Any, late: Any, move: Any) -> Any:
    """Plies less for a late quiet move: fewer where it has cut off elsewhere, more where others had to."""
    place = min(depth, np.int64(DEEPEST)) * np.int64(LATEST + 1) + min(late, np.int64(LATEST))
    history = np.int64(state.history[(ply & np.int64(1)) * state.move_count + move])
    return np.int64(state.late[place]) - history // _HISTORY_OF_A_PLY


def note_refuted(state: Any, ply: Any, depth: Any, start: Any, place: Any) -> None:
    """Remember of the moves from ``start`` on, before the one that cut off, that they did not."""
    first = (ply & np.int64(1)) * state.move_count
    for other in range(start, place):
        entry = first + np.int64(state.moves[other])
        state.history[entry] = max(np.int64(state.history[entry]) - depth * depth, _LEAST_HISTORY)
