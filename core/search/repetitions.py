"""Repetitions in the search: whether a position occurred before on the path to it, or in the game before the root."""

from typing import Any

import numpy as np

from glem.core.compiling.operations import by_presence
from glem.core.game.game import hash_key
from glem.core.game.optional_operations import earlier_plies
from glem.core.search.state import AT


def _occurred(state: Any, key: Any, ply: Any, reach: Any) -> bool:
    keys = state.keys
    here = state.counters[AT.EARLIER] + ply
    keys[here] = key
    if ply == np.int64(0):
        return False
    # Positions are normalized to the side to move: at an odd distance an equal key belongs to the other side.
    place = here - np.int64(2)
    last = max(here - reach, np.int64(0))
    while place >= last:
        if keys[place] == key:
            return True
        place -= np.int64(2)
    return False


def _is_noted(rules: Any, state: Any, position: Any, ply: Any) -> Any:
    return _occurred(state, hash_key(rules, position), ply, earlier_plies(rules, position))


is_repetition = by_presence("reversible_plies", _is_noted, False, bool)
"""Whether a position occurred before, with the same side to move, from ``(rules, state, position, ply)``.

Notes its key.
"""
