"""Pruning for games whose positions can be passed in: what selective search leaves out beside ProbCut.

D. F. Beal, A Generalised Quiescence Search Algorithm, 1990 (null moves); E. A. Heinz, Extended Futility Pruning, 1998;
T. Romstad, An Introduction to Late Move Reductions, 2006; T. Anantharaman, M. Campbell and F. Hsu, Singular Extensions,
1988. All of it is off in a search of full width.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.search.history import history_of

DEEPEST, LATEST = 63, 63

NULL_DEPTH = np.int64(3)
"""Least depth at which a null move is tried."""
FUTILE_DEPTH = np.int64(9)
"""Greatest depth, that of a late move after its reduction, at which static scores alone may decide."""
LATE_DEPTH = np.int64(8)
"""Greatest depth at which quiet moves behind so many others are left out."""
REDUCED_DEPTH = np.int64(3)
"""Least depth at which late moves are reduced; deeper nodes without a move from the table are searched less deep."""

LOSING_DEPTH = np.int64(6)
"""Greatest depth at which late quiet moves that lose material are left out."""
SINGULAR_DEPTH = np.int64(7)
"""Least depth at which a node asks whether the move from the table is the only good one."""

_HISTORY_OF_A_PLY = np.int64(16000)


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


def most_moves(depth: Any, improves: Any) -> Any:
    """Give the place from which on quiet moves next to the leaves are left out."""
    most = np.int64(3) + depth * depth
    return most if improves else most // np.int64(2) + np.int64(1)


def plies_without(state: Any, depth: Any, above: Any) -> Any:
    """Depth of the search behind a null move, where the static score is so much above the bound."""
    less = np.int64(4) + depth // np.int64(4)
    if state.swing > np.int64(0):
        less += min(above // (np.int64(2) * state.swing), np.int64(3))
    return max(depth - less, np.int64(0))


def singular_bound(state: Any, depth: Any, score: Any) -> Any:
    """Give the score that no other move may reach where the one with ``score`` is the only good one."""
    return score - depth * state.swing // np.int64(50)


def reduction_of(state: Any, ply: Any, depth: Any, late: Any, move: Any) -> Any:
    """Plies less for a late quiet move: fewer where it has cut off elsewhere, more where others had to."""
    place = min(depth, np.int64(DEEPEST)) * np.int64(LATEST + 1) + min(late, np.int64(LATEST))
    return np.int64(state.late[place]) - history_of(state, ply, move) // _HISTORY_OF_A_PLY
