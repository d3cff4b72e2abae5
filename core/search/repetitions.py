"""Repetitions in the search: whether a position occurred before on the path to it, or in the game before the root."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.kernels import compiled, overload_of
from glem.core.compiling.operations import has_operation
from glem.core.game.game import hash_key
from glem.core.game.optional_operations import earlier_plies
from glem.core.search.state import AT

__all__ = ["is_repetition"]


def is_repetition(rules: Any, state: Any, position: Any, ply: Any) -> bool:
    """Whether the position occurred before, with the same side to move; notes its key."""
    if "reversible_plies" not in rules:
        return False
    return _occurred(state, hash_key(rules, position), ply, earlier_plies(rules, position))


@overload_of(is_repetition)
def _overload_is_repetition(rules: Any, state: Any, position: Any, ply: Any) -> Any:
    if not has_operation(rules, "reversible_plies"):
        return lambda rules, state, position, ply: False
    occurred = compiled(_occurred)
    return lambda rules, state, position, ply: occurred(
        state, hash_key(rules, position), ply, earlier_plies(rules, position)
    )


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
