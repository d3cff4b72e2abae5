"""All positions after one move of some positions."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of, store_position
from glem.core.compiling.kernels import compiled
from glem.core.game.equal_positions import contiguous_columns
from glem.core.game.game import Game, legal_moves, play


class Successors(NamedTuple):
    """Positions after each legal move of N positions, in their order.

    Parameters
    ----------
    positions
        Position of columns [M].
    parent
        int32 [M]: row of the position that the move was made in.
    move
        int32 [M].
    """

    positions: Any
    parent: NDArray[np.int32]
    move: NDArray[np.int32]


def _expand(rules: Any, columns: Any, count: Any, buffer: Any, after: Any, parent: Any, move: Any) -> Any:
    """Write all successors of ``count`` positions with the rows they come from; return their number."""
    rows = 0
    for row in range(count):
        position = position_at(columns, row)
        legal = legal_moves(rules, position, buffer, 0)
        for place in range(legal):
            store_position(after, rows, play(rules, position, buffer[place]))
            parent[rows] = row
            move[rows] = buffer[place]
            rows += 1
    return rows


def successors_of(game: Game, positions: Any) -> Successors:
    """Make every legal move in N positions, given as a position of columns; passes count as moves."""
    columns = contiguous_columns(game, positions)
    count = len(columns[0])
    room = count * game.max_moves
    after = type(columns)(*(np.empty(room, column.dtype) for column in columns))
    parent, move = np.empty(room, np.int32), np.empty(room, np.int32)
    found = compiled(_expand)(
        game.rules, columns, np.int64(count), np.zeros(game.max_moves, np.int32), after, parent, move
    )
    rows = slice(int(found))
    return Successors(rows_of(after, rows), parent[rows], move[rows])
