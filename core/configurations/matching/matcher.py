"""Finding the active configurations of positions, one at a time and in batches (GLEM, section 4.3)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.vectors import VECTOR_WORDS, aligned_words
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.configurations.matching.blocks import (
    BLOCK,
    COUNTER_PLANES,
    WORD_STRIDE_PADDING,
    add_sums,
    count_rows,
    fill_relation_rows,
    fill_rows,
    read_counts,
    transpose_rows,
    write_indices,
)
from glem.core.configurations.matching.lists import BIT_PLACES
from glem.core.configurations.matching.single import (
    PositionTables,
    Scratch,
    build_position_tables,
    list_bits,
    match_one,
    sum_bits,
)
from glem.core.configurations.matching.tables import MatchingTables, build_tables
from glem.core.errors import BadInputError
from glem.core.tasks.threads import ordered_map

_SLAB = 4096
"""Configurations whose bits are turned round at once, a multiple of 64: a quarter megabyte each way, in the cache."""

_FEW = 96
"""Up to so many positions are matched one by one: a block costs as much, however few positions it has."""

_MOST_PHASES = 256


class ConfigurationMatcher:
    """Finds which configurations of a set are active in a position.

    A configuration is *active* where all its relations hold, and *most specific* there when no active configuration of
    the set has all its relations and more. The set need not be closed under taking subsets. A feature value that no
    relation names makes no relation hold.

    Batches are matched 512 positions at a time, one position 512 configurations at a time. All methods give the same
    answers, those of :class:`~glem.core.configurations.dag.ConfigurationDAG`, whatever the number of ``jobs`` (threads;
    the kernels run without the interpreter's lock). Beside its result a batch needs a megabyte for each job, however
    many positions and configurations there are. A matcher may be used from several threads at once.

    Parameters
    ----------
    configurations
        The set. Results name configurations by their index in it.

    Raises
    ------
    BadInputError
        Two configurations are equal, or one has more than 64 relations.
    """

    def __init__(self, configurations: ConfigurationSet) -> None:
        self.configurations = configurations
        self._tables: MatchingTables = build_tables(configurations)
        self._local = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return ConfigurationMatcher, (self.configurations,)

    def __len__(self) -> int:
        return len(self.configurations)

    @cached_property
    def position_tables(self) -> PositionTables:
        """What :func:`~glem.core.configurations.matching.single.match_one` takes."""
        return build_position_tables(self._tables)

    def active_one(self, values: NDArray[np.int16], most_specific: bool = False) -> NDArray[np.int32]:
        """Find the active configurations of one position.

        Parameters
        ----------
        values
            int16 [F], the position's feature values.
        most_specific
            Leave out configurations with an active specialization.

        Returns
        -------
        indices
            int32, ascending.

        Raises
        ------
        BadInputError
            The values are no int16 array of one row, or lack a feature that a relation names.
        """
        scratch = self._match_one(values, most_specific)
        return scratch.listed[: list_bits(scratch, BIT_PLACES)].copy()

    def active(
        self, values: NDArray[np.int16], most_specific: bool = False, jobs: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Find the active configurations of many positions.

        Parameters
        ----------
        values
            int16 [N, F]; fastest when stored feature by feature, as
            :meth:`AtomicFeatures.values <glem.core.features.features.AtomicFeatures.values>` gives them.
        most_specific
            Leave out configurations with an active specialization.
        jobs
            Threads.

        Returns
        -------
        indptr
            int64 [N + 1].
        indices
            int32: the configurations of position ``n`` are ``indices[indptr[n] : indptr[n + 1]]``, ascending.

        Raises
        ------
        BadInputError
            The values are no int16 matrix, or lack a feature that a relation names; fewer than one job.
        """
        values = self._checked(values, dimensions=2)
        positions = len(values)
        workers = _worker_count(jobs, positions)
        indptr = np.zeros(positions + 1, np.int64)
        if positions <= _FEW:
            rows = [self.active_one(row, most_specific) for row in values]
            np.cumsum([len(row) for row in rows], out=indptr[1:])
            return indptr, np.concatenate([np.empty(0, np.int32), *rows])

        # Matching twice costs less than copying the lists together: they are written where they belong, in memory
        # that is asked for once and so comes in large pages.
        def count(block: _Block, start: int) -> None:
            counts = block.load(values, start).counts()
            indptr[start + 1 : start + 1 + len(counts)] = counts

        def write(block: _Block, start: int) -> None:
            block.load(values, start).write(indptr[start : start + BLOCK + 1], indices)

        self._each_block(count, positions, most_specific, workers)
        np.cumsum(indptr, out=indptr)
        indices = np.empty(indptr[-1], np.int32)
        self._each_block(write, positions, most_specific, workers)
        return indptr, indices

    def sums(
        self,
        values: NDArray[np.int16],
        weights: NDArray[np.float32],
        most_specific: bool = False,
        phase: NDArray[np.uint8] | None = None,
        jobs: int = 1,
    ) -> NDArray[np.float32]:
        """Sum the weights of the active configurations of many positions, without listing them.

        Parameters
        ----------
        values, most_specific, jobs
            As for :meth:`active`.
        weights
            float32 [C], or [P, C] with a row per phase.
        phase
            uint8 [N], the row of ``weights`` for each position; 0 where not given.

        Returns
        -------
        sums
            float32 [N], the sums taken in float64.

        Raises
        ------
        BadInputError
            As for :meth:`active`; or weights or phases do not fit.
        """
        values = self._checked(values, dimensions=2)
        rows = self._weight_rows(weights)
        phases = _checked_phases(phase, len(values), len(rows))
        workers = _worker_count(jobs, len(values))
        sums = np.zeros(len(values), np.float64)
        if len(values) <= _FEW:
            for place, row in enumerate(values):
                scratch = self._match_one(row, most_specific)
                sums[place] = sum_bits(scratch, BIT_PLACES, rows[phases[place]])
        else:

            def add(block: _Block, start: int) -> None:
                block.load(values, start).add_sums(rows, phases, sums)

            self._each_block(add, len(values), most_specific, workers)
        return sums.astype(np.float32)

    def _each_block(
        self, work: Callable[[_Block, int], None], positions: int, most_specific: bool, workers: int
    ) -> None:
        """Call ``work(block, start)`` for every block of positions, each worker with memory of its own."""

        def run(worker: int) -> None:
            block = _Block(self._tables, most_specific)
            for start in range(worker * BLOCK, positions, BLOCK * workers):
                work(block, start)

        for _ in ordered_map(workers, run, range(workers)):
            pass

    def _match_one(self, values: NDArray[np.int16], most_specific: bool) -> Scratch:
        values = np.require(self._checked(values, dimensions=1), requirements=("C", "W"))
        scratch: Scratch | None = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = Scratch.for_tables(self._tables)
        match_one(values, self.position_tables, bool(most_specific), scratch)
        return scratch

    def _checked(self, values: NDArray[np.int16], dimensions: int) -> NDArray[np.int16]:
        if values.dtype != np.int16 or values.ndim != dimensions:
            raise BadInputError(
                f"feature values: expected {dimensions} dimension(s) of int16, found {values.ndim} of {values.dtype}"
            )
        needed = int(self._tables.lookup.features.max(initial=-1)) + 1
        if values.shape[-1] < needed:
            raise BadInputError(
                f"feature values: {values.shape[-1]} features, but a relation names feature {needed - 1}"
            )
        return values

    def _weight_rows(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        rows = np.require(np.atleast_2d(weights), np.float32, ("C", "W"))
        if rows.ndim != 2 or rows.shape[1] != len(self):
            raise BadInputError(f"weights of shape {np.shape(weights)} for {len(self)} configurations")
        return rows


class _Block:
    """Working memory of one job: up to 512 positions against all configurations."""

    def __init__(self, tables: MatchingTables, most_specific: bool) -> None:
        self.tables = tables
        self.most_specific = most_specific
        self.configurations = len(tables.offsets) - 1
        self.start = 0
        self.count = 0
        relations = int(tables.lookup.relations.max(initial=-1)) + 1
        self.relation_rows = aligned_words(relations * VECTOR_WORDS)
        self.rows = aligned_words(_SLAB * VECTOR_WORDS)
        self.stride = np.int64(_SLAB // 64 + WORD_STRIDE_PADDING)
        self.words = aligned_words(BLOCK * int(self.stride))
        self.listed = np.empty(_SLAB + 64, np.int32)

    def load(self, values: NDArray[np.int16], start: int) -> _Block:
        """Take the block of positions that begins at ``start``."""
        self.start = start
        self.count = min(BLOCK, len(values) - start)
        if values.flags.f_contiguous and values.flags.writeable:
            columns, first = values.T, start
        else:
            # Read-only arrays are another type to the compiler, so they are copied rather than compiled for.
            columns, first = np.array(values[start : start + BLOCK].T, order="C"), 0
        fill_relation_rows(columns, np.int64(first), np.int64(self.count), self.tables.lookup, self.relation_rows)
        return self

    def _row_slabs(self) -> Iterator[tuple[np.int64, np.int64]]:
        """Ranges of configurations whose rows stand in ``rows``: the first one and the one after the last."""
        for first in range(0, self.configurations, _SLAB):
            bounds = np.int64(first), np.int64(min(first + _SLAB, self.configurations))
            fill_rows(self.relation_rows, self.tables, *bounds, self.most_specific, self.rows)
            yield bounds

    def _word_slabs(self) -> Iterator[tuple[np.int64, np.int64]]:
        """First configuration and number of words of the ranges whose bits stand in ``words``."""
        for first, last in self._row_slabs():
            groups = np.int64(-(-(last - first) // 64))
            transpose_rows(self.rows, groups, self.words, self.stride)
            yield first, groups

    def counts(self) -> NDArray[np.int64]:
        """Count the configurations of each position: int64 [count]."""
        planes = aligned_words(COUNTER_PLANES * VECTOR_WORDS)
        for first, last in self._row_slabs():
            count_rows(self.rows, np.int64(-(-(last - first) // 64) * 64), planes)
        counts = np.empty(self.count, np.int64)
        read_counts(planes, counts)
        return counts

    def write(self, bounds: NDArray[np.int64], indices: NDArray[np.int32]) -> None:
        """Write each position's configurations between its bounds, int64 [count + 1], in ``indices``."""
        cursors = bounds[:-1].copy()
        for first, groups in self._word_slabs():
            write_indices(self.words, self.stride, groups, first, BIT_PLACES, cursors, bounds[1:], indices)

    def add_sums(self, weights: NDArray[np.float32], phases: NDArray[np.uint8], sums: NDArray[np.float64]) -> None:
        """Add the weights of each position's configurations to its place in ``sums``."""
        own = slice(self.start, self.start + self.count)
        for first, groups in self._word_slabs():
            add_sums(self.words, self.stride, groups, first, BIT_PLACES, weights, phases[own], self.listed, sums[own])


def _checked_phases(phase: NDArray[np.uint8] | None, positions: int, rows: int) -> NDArray[np.uint8]:
    if not 1 <= rows <= _MOST_PHASES:
        raise BadInputError(f"expected 1 to {_MOST_PHASES} phases, found {rows}")
    if phase is None:
        return np.zeros(positions, np.uint8)
    if phase.shape != (positions,) or phase.dtype.kind not in "iu":
        raise BadInputError(f"phase: expected {positions} integers, found shape {phase.shape} of {phase.dtype}")
    if positions and not 0 <= int(phase.min()) <= int(phase.max()) < rows:
        raise BadInputError(f"phase: a value is outside of 0..{rows - 1}")
    return np.require(phase, np.uint8, ("C", "W"))


def _worker_count(jobs: int, positions: int) -> int:
    if jobs < 1:
        raise BadInputError(f"jobs: expected at least 1, found {jobs}")
    return max(1, min(jobs, -(-positions // BLOCK)))
