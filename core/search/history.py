"""What cut off elsewhere in a search: killers and histories of moves, to order them and to reduce late ones.

Histories are one number for a move of either side and, in a search that prunes, one for a move behind each of the last
two, as what answers a move well here does so elsewhere (J. Uiterwijk, The Countermove Heuristic, 1992). There, a
cut-off brings the move that made it nearer to a greatest number, and the moves tried before it in vain nearer to a
least one, so that what was learnt long ago fades.
"""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import mix
from glem.core.search.state import KILLERS

_ROW_BITS, _PLACE_BITS = 8, 9
FOLLOW_UPS = 1 << (_ROW_BITS + _PLACE_BITS)
"""Places of pairs of moves, those behind the same move side by side; pairs share them."""
_ROW_END = np.uint64((1 << _PLACE_BITS) - 1)
# Knuth's multiplicative hashing (The Art of Computer Programming 3, section 6.4), by the golden ratio of 32 bits.
_SCATTERING, _LOW_BITS = np.uint64(0x9E3779B1), np.uint64(32 - _PLACE_BITS)

_MOST_HISTORY = np.int64(300 << 12)
_GREATEST = np.int64(1 << 14)
_MOST_BONUS = np.int64(1600)


def _place(state: Any, ply: Any, move: Any) -> Any:
    return (ply & np.int64(1)) * state.move_count + move


def _follow_up(before: Any, move: Any, distance: Any) -> Any:
    """Place of a move so many plies behind another one."""
    row = mix(np.uint64(before) << np.uint64(1) | np.uint64(distance - np.int64(1))) >> np.uint64(64 - _ROW_BITS)
    place = (np.uint64(move) * _SCATTERING >> _LOW_BITS) & _ROW_END
    return np.int64(row << np.uint64(_PLACE_BITS) | place)


def history_of(state: Any, ply: Any, move: Any) -> Any:
    """How well a move cut off at other nodes, the greater the better; in a search that prunes 3 * 2^14 at most."""
    score = np.int64(state.history[_place(state, ply, move)])
    if state.prunes == np.int64(0):
        return min(score, _MOST_HISTORY)
    for distance in range(1, 3):
        before = np.int64(state.path[ply + np.int64(2) - np.int64(distance)])
        if before >= np.int64(0):
            score += np.int64(state.follow_ups[_follow_up(before, move, np.int64(distance))])
    return score


def _learn(values: Any, place: Any, bonus: Any) -> None:
    old = np.int64(values[place])
    values[place] = old + bonus - old * abs(bonus) // _GREATEST


def _learn_of_move(state: Any, ply: Any, move: Any, bonus: Any) -> None:
    _learn(state.history, _place(state, ply, move), bonus)
    for distance in range(1, 3):
        before = np.int64(state.path[ply + np.int64(2) - np.int64(distance)])
        if before >= np.int64(0):
            _learn(state.follow_ups, _follow_up(before, move, np.int64(distance)), bonus)


def note_cutoff(state: Any, ply: Any, depth: Any, start: Any, place: Any, takes: Any) -> None:
    """Remember the move at a place of ``state.moves``, which cut off, and those from ``start`` on, which did not.

    One that takes something is no killer: its hint brings it forward without that.
    """
    move = np.int64(state.moves[place])
    killer = ply * np.int64(KILLERS)
    killers = state.killers
    if not takes and killers[killer] != move:
        killers[killer + np.int64(1)] = killers[killer]
        killers[killer] = move
    if state.prunes == np.int64(0):
        entry = _place(state, ply, move)
        state.history[entry] = min(np.int64(state.history[entry]) + depth * depth, np.int64(1 << 30))
        return
    bonus = min(np.int64(16) * depth * (depth + np.int64(2)), _MOST_BONUS)
    _learn_of_move(state, ply, move, bonus)
    for other in range(start, place):
        _learn_of_move(state, ply, np.int64(state.moves[other]), -bonus)
