"""What the solver's kernels read and write: one borrowed block of tables, stacks, hash tables and counters."""

from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.operations import Operations
from glem.core.compiling.vectors import resident_words
from glem.core.errors import BadInputError
from glem.core.features.evaluators import Evaluator, only_phase, start_nothing, update_nothing
from glem.games.othello.rules import neighbours
from glem.games.othello.single import ray

NODES = 0
"""Place in ``Workspace.counters`` of the positions visited."""
NODE_LIMIT = 1
"""Place of the greatest number of them."""
DEADLINE = 2
"""Place of the time to stop, in nanoseconds of the monotonic clock."""
STOPPED = 3
"""Place of 1 once a limit or a stop has ended the search."""
BONUS = 4
"""Place of what an empty square of a finished game adds to the winner's lead."""
SOLUTION = 5
"""Place of the number of the solution, modulo 256."""
PASS_NUMBER = 6
"""Place of the number of the selective pass; 0 for the exact one."""
ERA = 7
"""Place of the number of the hash tables' era, from 1 to 255; nothing of another era is found."""

WIDTH = 64
"""Items per ply of the stacks ``choices`` and ``flips``."""

VARIATION_WIDTH = 128
"""Longest variation, passes and the mark -1 at its end included."""

LEAST_GUIDED = 12
"""Empty squares from which on the evaluation is asked, and every position looks whether to stop."""

_ENTRY_WORDS = 2
_BUCKET_ENTRIES = 4
_NEAR_ENTRIES = 1 << 15
_NEAR_COUNT = 9
_STABLE_START = 4
_LEAST_CUTOFF = 8
_MOBILITY_WEIGHT = 1 << 15
_BEST_SCORE = 64
_NEVER = 1 << 62
_LEAST_MEGABYTES, _MOST_MEGABYTES = 1, 1 << 20


class _NoData(NamedTuple):
    nothing: np.int64


def _static_score(position: Any, data: Any, accumulators: Any, ply: int) -> np.int64:
    return np.int64(0)


NO_EVALUATION = Evaluator(
    name="none",
    operations=Operations(
        "othello-no-evaluation",
        {"start": start_nothing, "update": update_nothing, "static_score": _static_score, "search_phase": only_phase},
    ),
    data=_NoData(np.int64(0)),
    width=0,
    phase_count=1,
    steps_per_unit=1.0,
    limit=64,
    unit="discs",
)
"""What stands in for an evaluation where there is none: it is never asked. Every position is even."""


@define(frozen=True)
class Techniques:
    """What the solver makes use of: all of it, but for experiments. Scores do not depend on it, nodes do.

    Parameters
    ----------
    hash_table
        Remember positions.
    stability
        Bound scores by discs that cannot be turned.
    parity
        Prefer squares in quadrants with an odd number of empty squares.
    mobility
        Prefer moves that leave the opponent few moves (fastest first).
    enhanced_cutoffs
        Look up all children before one is searched.
    near_table
        Keep positions with few empty squares apart, in a table that fits the processor's cache.
    selective_pass
        Search with ProbCut first, for good moves (only with an evaluation).
    """

    hash_table: bool = True
    stability: bool = True
    parity: bool = True
    mobility: bool = True
    enhanced_cutoffs: bool = True
    near_table: bool = True
    selective_pass: bool = True


class Workspace(NamedTuple):
    """Arrays that the kernels borrow (:class:`~glem.core.compiling.borrowed.Borrowed`); ``W`` is :data:`WIDTH`."""

    table: NDArray[np.uint64]
    """Hash table of positions with many empty squares: entries of two words, four to a bucket."""
    table_mask: np.uint64
    """Number of its buckets, less one."""
    near: NDArray[np.uint64]
    """Hash table of positions with few empty squares, small enough to stay in the processor's cache."""
    near_mask: np.uint64
    near_count: np.int64
    """Positions with so many empty squares and fewer belong there."""
    salt: NDArray[np.uint64]
    """What the keys of this era are changed by: [1]."""
    edge_stable: NDArray[np.uint8]
    """Stable discs of an edge by ``own << 8 | opponent``: [65536]."""
    turned_counts: NDArray[np.uint8]
    """Discs turned along a line by ``place << 8 | own`` when all others are the opponent's: [2048]."""
    lines: NDArray[np.uint64]
    """Squares of the column and of the two diagonals of each square, and its places on them: [64 * 4]."""
    odd_squares: NDArray[np.uint64]
    """Squares of the quadrants in each set of quadrants: [16]."""
    quadrant: NDArray[np.int64]
    """Quadrant of each square as a set: [64]."""
    neighbours: NDArray[np.uint64]
    """Squares next to each square: [64]."""
    square_value: NDArray[np.int64]
    """How early a square is tried, all else equal: [64]."""
    choices: NDArray[np.int64]
    """Moves of each ply and how promising they are: [64 * W]."""
    flips: NDArray[np.uint64]
    """Discs turned by a move of each ply, by square: [64 * W]."""
    variations: NDArray[np.int64]
    """Principal variation of each ply: [V * V] with ``V`` = :data:`VARIATION_WIDTH`."""
    stability_limits: NDArray[np.int64]
    """Least alpha at which stable discs are counted, by the number of empty squares: [65]."""
    least_cutoff: np.int64
    """Empty squares from which on all children are looked up before one is searched."""
    least_estimated: np.int64
    """Empty squares from which on the evaluation is asked."""
    mobility_weight: np.int64
    """What a move less of the opponent is worth in the order of moves."""
    disc_scale: np.int64
    """Sixteenths of a disc in 2^16 steps of the evaluator."""
    evaluation: Any
    """Data of the evaluator."""
    accumulators: NDArray[np.uint16]
    """Accumulators of the evaluator."""
    counters: NDArray[np.int64]
    stop: NDArray[np.int32]
    """Set to 1 by another thread to stop: [1]."""


def _table(entries: int) -> tuple[NDArray[np.uint64], np.uint64]:
    buckets = 1 << (max(1, entries // _BUCKET_ENTRIES).bit_length() - 1)
    return resident_words(buckets * _BUCKET_ENTRIES * _ENTRY_WORDS), np.uint64(buckets - 1)


def _edge_stable() -> NDArray[np.uint8]:
    """Discs of one side on an edge that no sequence of discs placed on it, by either side, can turn.

    A side may place a disc anywhere, since a move can be legal by what it turns elsewhere; what it brackets on the
    edge it turns. A disc is stable if it is so whoever plays next wherever: from full edges backwards.
    """
    stable = np.zeros((256, 256), np.uint8)
    own, opponent = (side.ravel() for side in np.meshgrid(np.arange(256), np.arange(256), indexing="ij"))
    apart = (own & opponent) == 0
    own, opponent = own[apart], opponent[apart]
    empties = 8 - np.bitwise_count(own | opponent)
    for count in range(9):
        mine, theirs = own[empties == count], opponent[empties == count]
        kept = mine.copy()
        for place in range(8):
            free = ((mine | theirs) >> place & 1) == 0
            turned = _turned_on_edge(mine, theirs, place)
            after_mine = stable[(mine | turned | 1 << place) & 255, theirs & ~turned]
            turned = _turned_on_edge(theirs, mine, place)
            after_theirs = stable[mine & ~turned, (theirs | turned | 1 << place) & 255]
            kept[free] &= after_mine[free] & after_theirs[free]
        stable[mine, theirs] = kept
    return stable.ravel()


def _turned_on_edge(own: NDArray[np.int64], opponent: NDArray[np.int64], place: int) -> NDArray[np.int64]:
    turned = np.zeros_like(own)
    for step in (1, -1):
        run = np.zeros_like(own)
        running = np.ones(own.shape, np.bool_)
        at = place + step
        while 0 <= at < 8:
            turned |= np.where(running & (own >> at & 1 == 1), run, 0)
            running &= opponent >> at & 1 == 1
            run |= 1 << at
            at += step
    return turned


def _turned_counts() -> NDArray[np.uint8]:
    own = np.arange(256)
    return np.concatenate([np.bitwise_count(_turned_on_edge(own, ~own, place)) for place in range(8)])


def _lines() -> NDArray[np.uint64]:
    """Per square: its column and diagonals, then three bytes with the number of their squares below it."""
    words = []
    for square in range(64):
        places = 0
        for number, (down, right) in enumerate(((1, 0), (1, -1), (1, 1))):
            lower, upper = ray(square, -down, -right), ray(square, down, right)
            words.append(lower | 1 << square | upper)
            places |= lower.bit_count() << (8 * number)
        words.append(places)
    return np.array(words, np.uint64)


def _quadrants() -> NDArray[np.int64]:
    squares = np.arange(64)
    return 1 << (squares // 32 * 2 + squares % 8 // 4)


# Corners first, then the squares that give none away; next to a corner last.
_SQUARE_VALUES = (
    (18, 4, 16, 12),
    (4, 2, 6, 8),
    (16, 6, 14, 10),
    (12, 8, 10, 0),
)


def new_workspace(megabytes: int, evaluator: Evaluator | None, techniques: Techniques) -> Workspace:
    """Workspace with a hash table of a power of two of entries in at most so many megabytes.

    Raises
    ------
    BadInputError
        The size is out of range.
    """
    if not _LEAST_MEGABYTES <= megabytes <= _MOST_MEGABYTES:
        raise BadInputError(f"a hash table has {_LEAST_MEGABYTES} to {_MOST_MEGABYTES} megabytes, not {megabytes}")
    advice = NO_EVALUATION if evaluator is None else evaluator
    table, table_mask = _table((megabytes << 20) // (8 * _ENTRY_WORDS) if techniques.hash_table else 0)
    near, near_mask = _table(_NEAR_ENTRIES if techniques.hash_table and techniques.near_table else 0)
    quadrant = _quadrants()
    squares = np.arange(64, dtype=np.uint64)
    odd = [(np.uint64(1) << squares[(quadrant & chosen) != 0]).sum(dtype=np.uint64) for chosen in range(16)]
    stability_limits = 2 * np.arange(65) - _STABLE_START
    return Workspace(
        table=table,
        table_mask=table_mask,
        near=near,
        near_mask=near_mask,
        near_count=np.int64(_NEAR_COUNT if techniques.near_table else 0),
        salt=np.zeros(1, np.uint64),
        edge_stable=_edge_stable(),
        turned_counts=_turned_counts(),
        lines=_lines(),
        # Without odd quadrants, no square is preferred.
        odd_squares=np.array(odd, np.uint64) * np.uint64(techniques.parity),
        quadrant=quadrant * techniques.parity,
        neighbours=np.array([neighbours(np.uint64(1) << square) for square in squares], np.uint64),
        square_value=np.pad(np.array(_SQUARE_VALUES), (0, 4), "symmetric").ravel(),
        choices=np.zeros(64 * WIDTH, np.int64),
        flips=np.zeros(64 * WIDTH, np.uint64),
        variations=np.zeros(VARIATION_WIDTH**2, np.int64),
        stability_limits=stability_limits if techniques.stability else np.full(65, _NEVER),
        least_cutoff=np.int64(_LEAST_CUTOFF if techniques.enhanced_cutoffs and techniques.hash_table else _NEVER),
        least_estimated=np.int64(LEAST_GUIDED if evaluator is not None else _NEVER),
        mobility_weight=np.int64(_MOBILITY_WEIGHT if techniques.mobility else 0),
        disc_scale=np.int64(max(1, round((_BEST_SCORE << 20) / advice.limit))),
        evaluation=advice.data,
        accumulators=advice.empty_accumulators(VARIATION_WIDTH),
        counters=np.zeros(8, np.int64),
        stop=np.zeros(1, np.int32),
    )
