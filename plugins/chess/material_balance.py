"""Material: positions divided by who is ahead, so that grades tell where an evaluation is good; how much is left."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.features.learning import Covariate

_VALUES = {"pawns": 1, "knights": 3, "bishops": 3, "rooks": 5, "queens": 9}
_MOST = 4
_NAMES = (
    f"{_MOST} and more behind",
    *(f"{behind} behind" for behind in range(_MOST - 1, 0, -1)),
    "even",
    *(f"{ahead} ahead" for ahead in range(1, _MOST)),
    f"{_MOST} and more ahead",
)


def group_by_material(positions: Any) -> tuple[tuple[str, ...], NDArray[np.int8]]:
    """Group by the material that the side to move is ahead, in pawns: a minor piece counts 3, a rook 5, a queen 9.

    Parameters
    ----------
    positions
        Position of columns [N].

    Returns
    -------
    names
        Of the nine groups.
    group
        int8 [N].
    """
    ahead = np.zeros(len(positions.turn), np.int64)
    for name, value in _VALUES.items():
        pieces = getattr(positions, name)
        count, white = (np.bitwise_count(board).astype(np.int64) for board in (pieces, pieces & positions.white))
        ahead += value * (2 * white - count)
    ahead = np.where(positions.turn == 0, ahead, -ahead)
    return _NAMES, (np.clip(ahead, -_MOST, _MOST) + _MOST).astype(np.int8)


def _material_left(positions: Any) -> NDArray[np.int64]:
    """Count the material of both sides [N], in pawns; 78 at the beginning."""
    left = np.zeros(len(positions.turn), np.int64)
    for name, value in _VALUES.items():
        left += value * np.bitwise_count(getattr(positions, name)).astype(np.int64)
    return left


MATERIAL_LEFT = Covariate(of=_material_left, least=17, most=78, unit=58)
"""As WDL_model counts it (github.com/official-stockfish/WDL_model, and ``win_rate_params`` of Stockfish)."""
