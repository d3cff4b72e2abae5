"""What a search carries down its recursion: memory, counters and the parameters of game, evaluation and settings."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.search.probcut import Selectivity

PLIES = 256
"""Rows of the search stack; a node in the last one is evaluated without looking further."""
KILLERS = 2
"""Killer moves per ply."""


class Counters(NamedTuple):
    """Places in :attr:`SearchState.counters`."""

    NODES: int = 0
    """Positions visited, each entry counted."""
    NODE_LIMIT: int = 1
    """The search stops at this node."""
    NEXT_POLL: int = 2
    """Node at which the limits and the stop flag are looked at next."""
    DEADLINE: int = 3
    """When the search stops, in nanoseconds of the monotonic clock."""
    STOPPED: int = 4
    """1 once a limit or a stop has ended the search; all scores returned from then on mean nothing."""
    DEEPEST: int = 5
    """Greatest ply visited."""
    EARLIER: int = 6
    """Keys of earlier positions that stand in front of the root's in ``SearchState.keys``."""
    AGE: int = 7
    """Number of this search, for the table."""
    BEST_MOVE: int = 8
    """Best move at the root so far; -1 for none."""
    FIRST_MOVE: int = 9
    """Move to search first at the root; -1 for none."""
    POLL_NODES: int = 10
    """Nodes between the last two looks at the limits and the stop flag."""
    POLLED_NODES: int = 11
    """Positions visited at the last look."""
    POLLED: int = 12
    """When it was, in nanoseconds of the monotonic clock."""
    ERA: int = 13
    """Number of the table's era: 1 or greater."""
    BEYOND: int = 14
    """Plies by which the search is deeper than the game can last."""
    PASSED: int = 15
    """Ply of the node that the last null move on the path led to."""


AT = Counters()


class SearchState(NamedTuple):
    """One searcher's memory. Rows of per-ply arrays begin at ``ply * length of a row``."""

    table: NDArray[np.uint64]
    """Transposition table (:mod:`glem.core.search.table`)."""
    moves: NDArray[np.int32]
    """Moves of the node at each ply: [PLIES * max_moves]."""
    priorities: NDArray[np.int32]
    """What the moves are sorted by, greatest first; as ``moves``."""
    keys: NDArray[np.uint64]
    """Hash keys of earlier positions and of those on the path, for repetitions."""
    killers: NDArray[np.int32]
    """Moves that cut off at a ply lately: [PLIES * KILLERS], -1 for none."""
    history: NDArray[np.int32]
    """How well moves cut off, by parity of the ply and move: [2 * move_count] (:mod:`glem.core.search.history`)."""
    variations: NDArray[np.int32]
    """Triangular table of principal variations: [PLIES * PLIES]."""
    variation_lengths: NDArray[np.int32]
    """Moves in the variation of each ply: [PLIES]."""
    accumulators: NDArray[np.uint16]
    """Accumulators of the evaluation."""
    scores: NDArray[np.uint64]
    """Static scores of positions, each with the high bits of its key; [1] where they are not kept."""
    excluded: NDArray[np.uint8]
    """1 for moves that are not searched at the root: [move_count]."""
    counters: NDArray[np.int64]
    stop: NDArray[np.uint8]
    """[1], set by another thread."""
    evaluation: NamedTuple
    """The evaluator's data."""
    selectivity: Selectivity
    swing: np.int64
    """Steps by which a quiet move changes a static score as a rule; 0 where it is not known."""
    prunes: np.int64
    """1 in a search that prunes (:mod:`glem.core.search.pruning`)."""
    late: NDArray[np.int64]
    """:data:`~glem.core.search.pruning.LATE_MOVES`."""
    statics: NDArray[np.int64]
    """Static scores of the path, in a search that prunes: [PLIES]; the least number where there is none."""
    path: NDArray[np.int32]
    """Move played at each ply, two places on: [PLIES + 2]; -1 for none and for a null move."""
    left_out: NDArray[np.int32]
    """Move that a search of the ply does without, to learn how much better it is than the others: [PLIES]; or -1."""
    follow_ups: NDArray[np.int16]
    """How well moves cut off behind others: [FOLLOW_UPS] (:mod:`glem.core.search.history`)."""
    scores_mask: np.uint64
    """Places in ``scores``, less one: 0 where they are not kept."""
    table_mask: np.uint64
    """Buckets of the table, less one."""
    table_depth: np.int64
    """Least remaining depth at which the table is asked."""
    order_depth: np.int64
    """Least remaining depth at which moves are sorted by static scores; at least ``hint_depth``."""
    hint_depth: np.int64
    """Least remaining depth at which the game's hint is asked."""
    cutoff_depth: np.int64
    """Least remaining depth at which the table is asked about the positions after the moves."""
    killer_hint: np.int64
    """What a killer move counts for, in units of the game's hint."""
    max_moves: np.int64
    move_count: np.int64
    pass_move: np.int64
    """The game's forced pass; -1 for none."""
    limit: np.int64
    """Greatest absolute static score."""
    win: np.int64
    """Score of a win at the root where only results count, one less for every ply; 0 where final scores count."""
    proven: np.int64
    """Absolute scores above this are wins and losses, adjusted by plies in the table."""
    infinity: np.int64
    """Above all scores."""
    final_steps: np.float64
    """Steps per point of a final score, where final scores count."""
    poll_nodes: np.int64
    """Nodes between two looks at the clock and the stop flag, at most."""
