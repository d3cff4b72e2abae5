"""Match counts and label sums of many configurations over many positions."""

from __future__ import annotations

import queue
from typing import Any, NamedTuple

import numpy as np
from attrs import define, frozen
from numpy.typing import ArrayLike, NDArray

from glem.core.compiling.kernels import kernel
from glem.core.compiling.vectors import (
    VECTOR_WORDS,
    aligned_words,
    compress_row,
    count_common,
    store_common,
    vectors_for,
)
from glem.core.configurations.configurations import ConfigurationSet, sort_each
from glem.core.configurations.mining.relations import RelationRows, checked_values
from glem.core.errors import BadInputError
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.threads import ordered_map

_GRID_BITS = 16
_CHUNK = 16384


@define(frozen=True, eq=False)
class LabelStatistics:
    """How labels are distributed over the positions that each configuration matches.

    Parameters
    ----------
    match_counts
        int64 array [C]: positions that a configuration matches.
    label_sums
        float64 array [C]: sum of their labels.
    positions
        Number of all positions.
    label_total, label_squares
        Sum of all their labels, and of the labels' squares.
    """

    match_counts: NDArray[np.int64]
    label_sums: NDArray[np.float64]
    positions: int
    label_total: float
    label_squares: float

    @property
    def means(self) -> NDArray[np.float64]:
        """float64 array [C]: mean label of the matched positions, nan where there are none."""
        with np.errstate(invalid="ignore"):
            means: NDArray[np.float64] = self.label_sums / np.where(self.match_counts > 0, self.match_counts, np.nan)
        return means

    def correlations(self) -> NDArray[np.float64]:
        """Correlation of each configuration, as 1 where it matches and 0 elsewhere, with the label.

        Returns
        -------
        correlations
            float64 array [C]; nan where the configuration matches no position or all of them, or the labels are all
            equal: nothing can be tested there.
        """
        count, total = float(self.positions), self.label_total
        label_variance = count * self.label_squares - total * total
        match_variance = self.match_counts * (count - self.match_counts)
        # Rounding leaves a variance of equal labels slightly off zero.
        if label_variance <= 1e-12 * count * self.label_squares:
            label_variance = 0.0
        product = match_variance * label_variance
        covariance = count * self.label_sums - self.match_counts * total
        correlations = np.full(product.shape, np.nan)
        np.divide(covariance, np.sqrt(product), out=correlations, where=product > 0)
        return np.clip(correlations, -1.0, 1.0, out=correlations)


def label_statistics(
    configurations: ConfigurationSet,
    values: Any,
    labels: ArrayLike,
    *,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> LabelStatistics:
    """Sum the labels of the positions that each configuration matches.

    Labels on an even grid of at most 65,536 steps (disc differences, results) are summed exactly; others are first
    rounded to such a grid over their range.

    Parameters
    ----------
    configurations
        Any set.
    values
        Integer array [N, F] of feature values.
    labels
        float array [N], finite.
    jobs
        Threads.
    progress
        Shows the share of configurations that are done.

    Raises
    ------
    BadInputError
        Lengths disagree, a label is not finite, or a relation's feature has no values.
    """
    values = checked_values(values)
    count = len(values)
    target = np.asarray(labels, np.float64)
    if target.shape != (count,) or not np.isfinite(target).all():
        raise BadInputError(f"labels must be {count} finite numbers, one per position; got shape {target.shape}")
    low, step, grid = _gridded(target)
    rounded = low + step * grid
    counts, sums = _accumulated(configurations, _Walk.of(configurations, values), values, grid, jobs, progress)
    # Summed one after the other, not in pairs.
    total, squares = (float(np.bincount(np.zeros(count, np.int64), weights, 1)[0]) for weights in (rounded, rounded**2))
    return LabelStatistics(counts, low * counts + step * sums, count, total, squares)


def _gridded(labels: NDArray[np.float64]) -> tuple[float, float, NDArray[np.uint16]]:
    """Labels as ``low + step * grid`` with an unsigned grid of 16 bits, exactly where that is possible."""
    if not len(labels):
        return 0.0, 1.0, np.zeros(0, np.uint16)
    low, high = float(labels.min()), float(labels.max())
    if low == high:
        return low, 1.0, np.zeros(len(labels), np.uint16)
    steps = (1 << _GRID_BITS) - 1
    distinct = np.unique(labels)
    step = float(np.diff(distinct).min())
    multiples = (distinct - low) / step
    if (high - low) / step > steps or not np.array_equal(multiples, np.rint(multiples)):
        step = (high - low) / steps
    return low, step, np.rint((labels - low) / step).astype(np.uint16)


@frozen(eq=False)
class _Walk:
    """Configurations with their relations rarest first, in a sequence in which neighbours share long prefixes."""

    ranked: NDArray[np.uint16]
    """[T] ranks of the relations, ascending inside each configuration."""
    offsets: NDArray[np.int64]
    """[C + 1]"""
    sequence: NDArray[np.int64]
    """[C] indices of the configurations in lexicographic order."""

    order: NDArray[np.int64]
    """[R] relation ids by rank."""

    @classmethod
    def of(cls, configurations: ConfigurationSet, values: NDArray[np.int16]) -> _Walk:
        table = configurations.table
        if len(table) and int(table.features.max()) >= values.shape[1]:
            raise BadInputError(f"there is a relation of feature {table.features.max()} of {values.shape[1]}")
        # Rarest first, as in the search: short projections, and shared prefixes where the search found them.
        pairs = zip(table.features.tolist(), table.values.tolist(), strict=True)
        order = np.argsort([np.count_nonzero(values[:, feature] == value) for feature, value in pairs], kind="stable")
        rank = np.empty(len(order), np.uint16)
        rank[order] = np.arange(len(order))
        ranked = rank[configurations.relations]
        sort_each(ranked, configurations.offsets)
        # Four ranks to a key; absent ones sort before all others, so that a prefix precedes what extends it.
        width = -(-int(configurations.sizes.max(initial=1)) // 4)
        keys = np.zeros((width, len(configurations)), np.uint64)
        _fill_keys(ranked, configurations.offsets, keys)
        return cls(ranked, configurations.offsets, np.lexsort(keys[::-1]), order.astype(np.int64))


class _Rows(NamedTuple):
    """Rows over all positions: those of the relations by rank, then the bit planes of the labels' grid."""

    words: NDArray[np.uint64]
    row_words: np.int64
    start: NDArray[np.int64]
    """[R] first word of each relation's row."""
    planes: NDArray[np.uint64]
    """[planes * row_words]"""
    plane_count: np.int64


class _Arena(NamedTuple):
    """One worker's rows, projected on the first relation of the configuration at hand, and running intersections."""

    words: NDArray[np.uint64]
    width: np.int64
    """Words per row of the arena, enough for the most frequent first relation."""
    leader: NDArray[np.int64]
    """[R + planes] first relation on which each row was projected last; -1 at the start."""
    own: NDArray[np.int64]
    """[D + 1] where the running intersection of each depth starts."""
    matches: NDArray[np.int64]
    """[D + 1] its number of bits."""


def _accumulated(
    configurations: ConfigurationSet,
    walk: _Walk,
    values: NDArray[np.int16],
    grid: NDArray[np.uint16],
    jobs: int,
    progress: Progress,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Match counts and sums of an integer over the matched positions, both int64 [C]."""
    counts = np.zeros(len(configurations), np.int64)
    sums = np.zeros(len(configurations), np.int64)
    if not len(configurations) or not len(values):
        return counts, sums
    packed = RelationRows.of_table(values, configurations.table, jobs=jobs)
    plane_count = int(grid.max()).bit_length()
    planes = aligned_words(max(1, plane_count) * packed.row_words)
    for plane in range(plane_count):
        bits = np.packbits((grid >> np.uint16(plane)) & np.uint16(1), bitorder="little")
        planes[plane * packed.row_words : (plane + 1) * packed.row_words].view(np.uint8)[: len(bits)] = bits
    rows = _Rows(packed.words, np.int64(packed.row_words), walk.order * packed.row_words, planes, np.int64(plane_count))
    width = vectors_for(int(packed.counts.max())) * VECTOR_WORDS
    deepest = int(configurations.sizes.max())
    arenas: queue.SimpleQueue[_Arena] = queue.SimpleQueue()
    for _ in range(jobs):
        arenas.put(
            _Arena(
                words=aligned_words((len(walk.order) + plane_count + deepest + 1) * width),
                width=np.int64(width),
                leader=np.full(len(walk.order) + plane_count, -1, np.int64),
                own=np.zeros(deepest + 1, np.int64),
                matches=np.zeros(deepest + 1, np.int64),
            )
        )

    def work(start: int) -> int:
        chunk = walk.sequence[start : start + _CHUNK]
        arena = arenas.get()
        _walk_chunk(rows, walk.ranked, walk.offsets, chunk, arena, counts, sums)
        arenas.put(arena)
        return len(chunk)

    with progress("label sums", len(configurations)) as task:
        for done in ordered_map(jobs, work, range(0, len(configurations), _CHUNK)):
            task.advance(done)
    return counts, sums


@kernel
def _fill_keys(ranked: Any, offsets: Any, keys: Any) -> None:
    for place in range(offsets.shape[0] - 1):
        start = offsets[place]
        for k in range(offsets[place + 1] - start):
            shift = np.uint64(16) * np.uint64(np.int64(3) - k % np.int64(4))
            keys[k // 4, place] |= (np.uint64(ranked[start + k]) + np.uint64(1)) << shift


@kernel(inline=True)
def _projected(rows: Any, arena: Any, row: Any, leader: Any) -> Any:
    """Where a row's projection on a first relation starts in the arena; made on first use."""
    target = row * arena.width
    if arena.leader[row] != leader:
        arena.leader[row] = leader
        relations = rows.start.shape[0]
        mask = rows.start[leader]
        if row < relations:
            compress_row(rows.words, rows.start[row], rows.words, mask, rows.row_words, arena.words, target)
        else:
            plane = (row - relations) * rows.row_words
            compress_row(rows.planes, plane, rows.words, mask, rows.row_words, arena.words, target)
    return target


@kernel
def _walk_chunk(rows: Any, ranked: Any, offsets: Any, chunk: Any, arena: Any, counts: Any, sums: Any) -> None:
    """Count and sum for the configurations of one chunk; running intersections are kept per depth."""
    relations = np.int64(rows.start.shape[0])
    stack = (relations + rows.plane_count) * arena.width
    previous = np.int64(0)
    previous_size = np.int64(0)
    vectors = np.int64(1)
    for step in range(chunk.shape[0]):
        configuration = chunk[step]
        start = offsets[configuration]
        size = offsets[configuration + np.int64(1)] - start
        common = np.int64(0)
        while common < size and common < previous_size and ranked[start + common] == ranked[previous + common]:
            common += np.int64(1)
        leader = np.int64(ranked[start])
        if common == np.int64(0):
            whole = rows.row_words // np.int64(VECTOR_WORDS)
            matches = count_common(rows.words, rows.start[leader], rows.start[leader], whole)
            arena.matches[1] = matches
            vectors = max(np.int64(1), (matches + np.int64(511)) // np.int64(512))
            common = np.int64(1)
        for depth in range(common, size):
            added = _projected(rows, arena, np.int64(ranked[start + depth]), leader)
            if depth == np.int64(1):
                arena.own[2] = added
                arena.matches[2] = count_common(arena.words, added, added, vectors)
            else:
                target = stack + depth * arena.width
                arena.matches[depth + np.int64(1)] = store_common(arena.words, arena.own[depth], added, target, vectors)
                arena.own[depth + np.int64(1)] = target
        total = np.int64(0)
        for plane in range(rows.plane_count):
            place = _projected(rows, arena, relations + plane, leader)
            own = place if size == np.int64(1) else arena.own[size]
            total += count_common(arena.words, own, place, vectors) << plane
        counts[configuration] = arena.matches[size]
        sums[configuration] = total
        previous = start
        previous_size = size
