"""Ordered specialization as a depth-first search over rows of bits (GLEM, section 4.2), compiled.

A relation's row has one bit per position. The relations are tried rarest first, and everything below a first
relation is one *part* of the search: the rows of the later relations are projected on the positions where the first
one holds, which shortens them to a fraction, and the search then keeps the running intersection per depth. Where a
prefix has become rare and much lies below it, the rows are projected once more. The search pauses whenever its
output buffer is full or its budget is spent, and goes on where it stopped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.compiling.vectors import VECTOR_WORDS, aligned_words, compress_row, count_common, store_common

DEPTH, EMITTED = 0, 1
"""Places in the state array: current depth, configurations in the output buffer."""

_PROJECTION_COST = 24
"""Time to project one vector, in times to count one."""


class Frames(NamedTuple):
    """State of a search, entry ``d`` for the prefix of ``d`` relations that it stands at.

    The candidates of a prefix are the later relations that can extend it, each with its match count together with the
    prefix and the index of its row's first word.
    """

    relation: NDArray[np.uint16]
    """[D, R] candidates."""
    matches: NDArray[np.int64]
    """[D, R] matches of prefix and candidate."""
    row: NDArray[np.int64]
    """[D, R] where the candidate's row starts."""
    length: NDArray[np.int64]
    """[D] number of candidates."""
    cursor: NDArray[np.int64]
    """[D] next candidate to visit."""
    running: NDArray[np.int64]
    """[D] where the prefix's own row starts; -1 where the candidates' rows are projected on the prefix."""
    vectors: NDArray[np.int64]
    """[D] length of the candidates' rows."""
    free: NDArray[np.int64]
    """[D] first unused word of the arena."""


class Output(NamedTuple):
    """Buffer for configurations in preorder: the last relation, the number of relations, the match count."""

    relation: NDArray[np.uint16]
    depth: NDArray[np.uint8]
    matches: NDArray[np.uint32]


class SequentialTest(NamedTuple):
    """Bounds of the sequential test after each chunk but the last; no chunks for exact counts."""

    chunk_vectors: np.int64
    reject_below: NDArray[np.int64]
    accept_from: NDArray[np.int64]


class Workspace(NamedTuple):
    """What one worker needs: the arena of rows, the frames, the state and the output buffer."""

    words: NDArray[np.uint64]
    frames: Frames
    state: NDArray[np.int64]
    output: Output

    @classmethod
    def allocate(cls, relations: int, maximum_size: int, row_words: int, capacity: int) -> Workspace:
        """Make a workspace for parts whose projected rows have at most ``row_words`` words."""
        depths = maximum_size + 1
        # Each further projection at least halves the rows, so that all of them together need no more than the first.
        arena = row_words * (2 * relations + depths)
        frames = Frames(
            relation=np.zeros((depths, relations), np.uint16),
            matches=np.zeros((depths, relations), np.int64),
            row=np.zeros((depths, relations), np.int64),
            length=np.zeros(depths, np.int64),
            cursor=np.zeros(depths, np.int64),
            running=np.zeros(depths, np.int64),
            vectors=np.zeros(depths, np.int64),
            free=np.zeros(depths, np.int64),
        )
        capacity = max(capacity, relations + 1)
        output = Output(np.zeros(capacity, np.uint16), np.zeros(capacity, np.uint8), np.zeros(capacity, np.uint32))
        return cls(aligned_words(arena), frames, np.zeros(2, np.int64), output)


@kernel
def begin_part(
    rows: Any, row_words: Any, order: Any, first: Any, feature_of: Any, minimum: Any, maximum_size: Any, workspace: Any
) -> None:
    """Emit a first relation, count its pairs with the later ones, and project their rows: fills frame 1.

    Parameters
    ----------
    rows
        uint64 array of all relations' rows, ``row_words`` words each, in the order of relation ids.
    order
        uint16 [R]: relation ids in the order of the search.
    first
        Index into ``order`` of the part's first relation.
    feature_of
        int32 [R]: feature of each relation.
    minimum
        Minimal match count.
    maximum_size
        Most relations in a configuration; up to 2 the part is emitted whole.
    workspace
        The :class:`Workspace` to begin in.
    """
    words = workspace.words
    frames = workspace.frames
    output = workspace.output
    vectors = row_words // np.int64(VECTOR_WORDS)
    leader = np.int64(order[first])
    mask = leader * row_words
    matches = count_common(rows, mask, mask, vectors)
    output.relation[0] = leader
    output.depth[0] = 1
    output.matches[0] = matches
    workspace.state[EMITTED] = 1
    workspace.state[DEPTH] = 0
    if maximum_size == np.int64(1):
        return
    length = np.int64(0)
    for later in range(first + np.int64(1), order.shape[0]):
        relation = np.int64(order[later])
        if feature_of[relation] == feature_of[leader]:
            continue
        count = count_common(rows, mask, relation * row_words, vectors)
        if count >= minimum:
            frames.relation[1, length] = relation
            frames.matches[1, length] = count
            frames.row[1, length] = relation * row_words
            length += np.int64(1)
    if maximum_size == np.int64(2):
        for k in range(length):
            output.relation[k + 1] = frames.relation[1, k]
            output.depth[k + 1] = 2
            output.matches[k + 1] = frames.matches[1, k]
        workspace.state[EMITTED] += length
        return
    frames.length[1] = length
    frames.cursor[1] = np.int64(0)
    frames.running[1] = np.int64(-1)
    frames.vectors[1] = (matches + np.int64(511)) // np.int64(512)
    free = np.int64(0)
    for k in range(length):
        compress_row(rows, frames.row[1, k], rows, mask, row_words, words, free)
        frames.row[1, k] = free
        free += frames.vectors[1] * np.int64(VECTOR_WORDS)
    frames.free[1] = free
    workspace.state[DEPTH] = 1


@kernel(inline=True)
def _tested_count(words: Any, first: Any, second: Any, vectors: Any, test: Any) -> Any:
    """Count by the sequential test (GLEM, Fig. 2): -1 when rejected early, else the full count."""
    count = np.int64(0)
    place = np.int64(0)
    for chunk in range(test.reject_below.shape[0]):
        count += count_common(
            words, first + place * np.int64(VECTOR_WORDS), second + place * np.int64(VECTOR_WORDS), test.chunk_vectors
        )
        place += test.chunk_vectors
        if count >= test.accept_from[chunk]:
            break
        if count < test.reject_below[chunk]:
            return np.int64(-1)
    rest = place * np.int64(VECTOR_WORDS)
    return count + count_common(words, first + rest, second + rest, vectors - place)


@kernel
def _project(words: Any, frames: Any, depth: Any, count: Any) -> None:
    """Project the candidates' rows of a prefix on its own row."""
    mask = frames.running[depth]
    row_words = frames.vectors[depth] * np.int64(VECTOR_WORDS)
    vectors = (count + np.int64(511)) // np.int64(512)
    free = frames.free[depth]
    for k in range(frames.length[depth]):
        compress_row(words, frames.row[depth, k], words, mask, row_words, words, free)
        frames.row[depth, k] = free
        free += vectors * np.int64(VECTOR_WORDS)
    frames.running[depth] = np.int64(-1)
    frames.vectors[depth] = vectors
    frames.free[depth] = free


@kernel
def grow(workspace: Any, feature_of: Any, minimum: Any, maximum_size: Any, test: Any, budget: Any) -> bool:
    """Continue a part until it is done, the output buffer is nearly full, or the budget is spent.

    Parameters
    ----------
    workspace
        The :class:`Workspace`; its state says where the search stands.
    feature_of
        int32 [R]: feature of each relation.
    minimum
        Minimal match count.
    maximum_size
        Most relations in a configuration.
    test
        A :class:`SequentialTest`; with no chunks the counts are exact and the rows may be projected further.
    budget
        Vectors to count before pausing.

    Returns
    -------
    bool
        Whether the part is done.
    """
    words = workspace.words
    frames = workspace.frames
    state = workspace.state
    output = workspace.output
    depth = state[DEPTH]
    emitted = state[EMITTED]
    work = np.int64(0)
    exact = test.reject_below.shape[0] == 0
    full = output.relation.shape[0] - frames.relation.shape[1]
    while depth > np.int64(0) and emitted < full and work < budget:
        place = frames.cursor[depth]
        length = frames.length[depth]
        if place == length:
            depth -= np.int64(1)
            continue
        frames.cursor[depth] = place + np.int64(1)
        size = depth + np.int64(1)
        relation = frames.relation[depth, place]
        output.relation[emitted] = relation
        output.depth[emitted] = size
        output.matches[emitted] = frames.matches[depth, place]
        emitted += np.int64(1)
        if place + np.int64(1) == length:
            continue
        vectors = frames.vectors[depth]
        free = frames.free[depth]
        own = frames.row[depth, place]
        if frames.running[depth] >= np.int64(0):
            store_common(words, frames.running[depth], own, free, vectors)
            own = free
            free += vectors * np.int64(VECTOR_WORDS)
        feature = feature_of[relation]
        work += vectors * (length - place)
        if size == maximum_size - np.int64(1):
            for k in range(place + np.int64(1), length):
                other = frames.relation[depth, k]
                if feature_of[other] == feature:
                    continue
                if exact:
                    count = count_common(words, own, frames.row[depth, k], vectors)
                else:
                    count = _tested_count(words, own, frames.row[depth, k], vectors, test)
                output.relation[emitted] = other
                output.depth[emitted] = maximum_size
                output.matches[emitted] = count
                # Written in any case and kept if frequent: half of the branches would be mispredicted.
                emitted += np.int64(count >= minimum)
            continue
        kept = np.int64(0)
        for k in range(place + np.int64(1), length):
            other = frames.relation[depth, k]
            if feature_of[other] == feature:
                continue
            if exact:
                count = count_common(words, own, frames.row[depth, k], vectors)
            else:
                count = _tested_count(words, own, frames.row[depth, k], vectors, test)
            frames.relation[size, kept] = other
            frames.matches[size, kept] = count
            frames.row[size, kept] = frames.row[depth, k]
            kept += np.int64(count >= minimum)
        if kept == np.int64(0):
            continue
        frames.length[size] = kept
        frames.cursor[size] = np.int64(0)
        frames.running[size] = own
        frames.vectors[size] = vectors
        frames.free[size] = free
        matches = frames.matches[depth, place]
        shorter = (matches + np.int64(511)) // np.int64(512)
        if exact and np.int64(2) * shorter <= vectors:
            # All pairs of candidates are counted once at least, and triples follow where there is room for them.
            saved = kept * kept // np.int64(2) * (vectors - shorter)
            if size + np.int64(2) < maximum_size:
                saved *= np.int64(1) + kept // np.int64(4)
            if saved > kept * vectors * np.int64(_PROJECTION_COST):
                _project(words, frames, size, matches)
        depth = size
    state[DEPTH] = depth
    state[EMITTED] = emitted
    return bool(depth == np.int64(0))
