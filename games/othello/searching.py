"""What Othello gives to the search: fast rules for single positions, a hint for the order of moves, the moves left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from glem.core.compiling.kernels import popcount
from glem.games.othello.rules import Position
from glem.games.othello.single import SEARCH_RULES, mobility_one

__all__ = ["SEARCH_FUNCTIONS", "move_order", "plies_left"]

_CORNERS = np.uint64(0x8100000000000081)

_REPLY = 24
"""What a reply less is worth, where 1000 stands for the greatest static score: a disc and a half."""


def move_order(position: Position, move: int, after: Position) -> int:
    """Hint for the order of moves: few replies first, those into corners counted twice."""
    places = mobility_one(after.own, after.opponent)
    return -_REPLY * (popcount(places) + popcount(places & _CORNERS))


def plies_left(position: Position) -> int:
    """Count the empty squares."""
    return 64 - popcount(position.own | position.opponent)


SEARCH_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **SEARCH_RULES,
    "move_order": move_order,
    "plies_left": plies_left,
}
"""By operation name (``Game.search_functions``)."""
