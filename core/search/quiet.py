"""Quiet positions: those that a static evaluation can be asked about.

In the middle of an exchange the piece that is about to be taken back counts as won. Fitted to such positions, material
loses its worth. The search never evaluates them: quiescence comes first. So what is fitted for the search leaves them
out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import position_at
from glem.core.game.game import Game
from glem.core.game.optional_operations import tactical_moves

__all__ = ["quiet_positions"]


def _write_quiet(rules: Any, columns: Any, count: int, buffer: Any, quiet: Any) -> None:
    for row in range(count):
        quiet[row] = tactical_moves(rules, position_at(columns, row), buffer, 0) == 0


def quiet_positions(game: Game, positions: Any) -> NDArray[np.bool_]:
    """Tell which of N positions have no tactical move and may stand still: bool [N].

    Parameters
    ----------
    game
        The game; without the operation ``tactical_moves`` (:mod:`glem.core.game.optional_operations`) all are quiet.
    positions
        Position of columns [N].
    """
    count = len(positions[0])
    if "tactical_moves" not in game.search_functions:
        return np.ones(count, np.bool_)
    quiet = np.zeros(count, np.bool_)
    columns = type(positions)(*(np.ascontiguousarray(column) for column in positions))
    compiled(_write_quiet)(game.search_rules, columns, count, np.zeros(game.max_moves, np.int32), quiet)
    return quiet
