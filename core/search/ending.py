"""When a search ends: its share of a clock, and stops from other threads."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from glem.core.search.results import Clock

__all__ = ["StopRelay", "longest_seconds", "usual_seconds"]

_MOVES_TO_GO = 20
_SPARE_MOVES = 2
_INCREMENT_SHARE = 0.75
_MOST_SHARES = 3.0
_MOST_OF_CLOCK = 0.5
_OVERHEAD_SECONDS = 0.02
_STOP_CHECK_SECONDS = 0.05


def usual_seconds(clock: Clock, plies_left: int | None) -> float:
    """Share of a clock for one move, and three quarters of the increment.

    Parameters
    ----------
    clock
        The player's clock.
    plies_left
        Moves that both players have left at most; each of the player's own gets the same share, two spare ones too.
        None where the game does not know: then a twentieth of what is left, which never runs out.
    """
    moves = _MOVES_TO_GO if plies_left is None else plies_left // 2 + _SPARE_MOVES
    return clock.remaining / moves + _INCREMENT_SHARE * clock.increment


def longest_seconds(clock: Clock, plies_left: int | None) -> float:
    """When a search on a clock is stopped: after three usual shares, or half of what is left if that is sooner."""
    left = max(clock.remaining - _OVERHEAD_SECONDS, clock.remaining / 2)
    return min(_MOST_SHARES * usual_seconds(clock, plies_left), _MOST_OF_CLOCK * left)


class StopRelay:
    """Sets the flag that the kernel reads when another thread sets an event, until :meth:`finish`.

    Parameters
    ----------
    stop
        The event.
    flag
        uint8 [1], set to 1.
    """

    def __init__(self, stop: threading.Event, flag: NDArray[np.uint8]) -> None:
        self._stop = stop
        self._flag = flag
        self._lock = threading.Lock()
        self._finished = False
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._finished:
            if self._stop.wait(_STOP_CHECK_SECONDS):
                # Under the lock: the flag of a later search must not be set.
                with self._lock:
                    if not self._finished:
                        self._flag[0] = 1
                return

    def finish(self) -> None:
        """End: the flag is not touched any more."""
        with self._lock:
            self._finished = True
