"""The design of a fit: which weights are active in which position, packed for fast passes.

A row is a position; its *items* are the table entries of its pattern instances, its active configurations, its
linear terms and the bias. The bias is the empty configuration, the root of GLEM's DAG, active everywhere. Rows are
kept in blocks, in which they are grouped by phase; pattern indices are stored column by column in 16 bits, so that
a row of Logistello's 46 instances takes 92 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeatures
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.columns import Columns
from glem.core.fitting.packed.passes import Rows, sum_weights
from glem.core.fitting.packed.threads import ordered_map
from glem.core.patterns.patterns import PatternSet, count_matches
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["ActiveConfigurations", "Design", "DesignBlock", "Layout", "LinearTerms", "Segment"]

ActiveConfigurations = Callable[[NDArray[np.int16]], tuple[NDArray[np.integer], NDArray[np.integer]]]
"""From feature values int16 [n, F] to CSR rows: row starts [n + 1] and ids ascending inside a row; an id that stands
more than once, since symmetric configurations may share a weight, counts as often."""


@define(frozen=True)
class LinearTerms:
    """Features that enter as ``w f(p)`` (GLEM, section 4.1, last paragraph), scaled into [-1, 1] for the fit.

    Parameters
    ----------
    features
        Feature indices.
    scales
        What each feature is divided by.
    """

    features: tuple[int, ...] = ()
    scales: tuple[float, ...] = ()

    @classmethod
    def from_names(cls, features: AtomicFeatures, names: Sequence[str]) -> LinearTerms:
        """Terms for the named features, each scaled by the largest magnitude in its range."""
        indices = tuple(features.index(name) for name in names)
        bounds = [max(abs(features[index].low), abs(features[index].high), 1) for index in indices]
        return cls(indices, tuple(float(bound) for bound in bounds))

    def __len__(self) -> int:
        return len(self.features)


@define(frozen=True)
class Layout:
    """Where the parts of a weight vector lie: pattern weights, configurations, linear terms, bias."""

    patterns: int
    configurations: int
    linear: int

    @property
    def configuration_start(self) -> int:
        """First configuration."""
        return self.patterns

    @property
    def linear_start(self) -> int:
        """First linear term; the items before it are configurations in GLEM's sense."""
        return self.patterns + self.configurations

    @property
    def bias(self) -> int:
        """Place of the bias, the last one."""
        return self.linear_start + self.linear

    @property
    def item_count(self) -> int:
        """Length of a weight vector."""
        return self.bias + 1


@define(frozen=True, eq=False)
class DesignBlock:
    """Some rows, grouped by phase.

    Parameters
    ----------
    indices
        uint16 [C, n], as :class:`~glem.core.fitting.packed.columns.Columns` lays them out.
    row_starts, configurations
        int64 [n + 1] and int32 [nnz]; ``row_starts`` is [1] in a design without configurations.
    linear
        float32 [L, n].
    order
        int64 [n]: number of each row's position in the order in which the design was built.
    phase_starts
        int64 [K + 1]: first row of each phase.
    """

    indices: NDArray[np.uint16]
    row_starts: NDArray[np.int64]
    configurations: NDArray[np.int32]
    linear: NDArray[np.float32]
    order: NDArray[np.int64]
    phase_starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Everything but the order."""
        return self.indices, self.row_starts, self.configurations, self.linear, self.phase_starts

    @property
    def byte_count(self) -> int:
        """Memory that the rows take, the order excluded."""
        return sum(array.nbytes for array in self.arrays())


@define(frozen=True)
class Segment:
    """Rows ``start`` to ``stop`` of a block, all of one phase."""

    block: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@kernel
def _sort_rows(starts: Any, ids: Any, order: Any, sorted_starts: Any, sorted_ids: Any) -> Any:
    """Copy CSR rows in another order; the largest id, or -2 where ids descend in a row, or are negative."""
    place = np.int64(0)
    largest = np.int64(-1)
    for row in range(order.shape[0]):
        sorted_starts[row] = place
        previous = np.int64(0)
        for source in range(starts[order[row]], starts[order[row] + 1]):
            current = np.int64(ids[source])
            if current < previous:
                return np.int64(-2)
            previous = current
            largest = max(largest, current)
            sorted_ids[place] = np.int32(current)
            place += 1
    sorted_starts[order.shape[0]] = place
    return largest


@kernel
def _count_configurations(
    row_starts: Any, configurations: Any, weights: Any, start: Any, stop: Any, matches: Any, squares: Any
) -> None:
    """As :func:`glem.core.patterns.patterns.count_matches`, for configurations in CSR rows with ascending ids."""
    for row in range(start, stop):
        place = row_starts[row]
        weight = np.float64(weights[row])
        while place < row_starts[row + 1]:
            current = configurations[place]
            multiplicity = 0.0
            while place < row_starts[row + 1] and configurations[place] == current:
                multiplicity += 1.0
                place += 1
            matches[current] += weight
            squares[current] += weight * multiplicity * multiplicity


@define(frozen=True, eq=False, slots=False)
class Design:
    """Active items of many positions.

    Parameters
    ----------
    blocks
        Rows, grouped by phase inside each block.
    phase_count
        Number of phases K.
    layout
        Parts of a weight vector.
    columns
        What the index columns stand for.
    group_starts
        int64 [P + 1]: first instance of each pattern.
    linear
        The linear terms.
    """

    blocks: tuple[DesignBlock, ...]
    phase_count: int
    layout: Layout
    columns: Columns
    group_starts: NDArray[np.int64]
    linear: LinearTerms = field(factory=LinearTerms)

    @classmethod
    def build(
        cls,
        chunks: Iterable[tuple[NDArray[np.int16], NDArray[np.integer]]],
        *,
        phase_count: int,
        patterns: PatternSet | None = None,
        configurations: ActiveConfigurations | None = None,
        configuration_count: int = 0,
        linear: LinearTerms | None = None,
        folder: Path | None = None,
        jobs: int = 1,
        progress: Progress = SILENT,
    ) -> Design:
        """Build a design chunk by chunk; a chunk becomes a block.

        Parameters
        ----------
        chunks
            Feature values int16 [n, F] and phases [n] of some positions at a time; 100,000 to 1,000,000 positions
            a chunk keep the memory for feature values small and the passes long.
        phase_count
            Number of phases K.
        patterns
            Their table entries become items, one per instance and position.
        configurations, configuration_count
            Finds the active configurations of a chunk, and the number of weights that they have.
        linear
            Terms that enter with their value.
        folder
            Where to keep the arrays as memory-mapped files, for designs that are larger than memory; the operating
            system then streams them in every pass. The files stay, the caller removes the folder.
        jobs
            Threads.
        progress
            Counts positions.

        Raises
        ------
        BadInputError
            A phase or configuration out of range, ids that descend inside a row, nothing to fit, and what
            :meth:`PatternSet.indices` raises.
        """
        terms = linear if linear is not None else LinearTerms()
        columns = Columns() if patterns is None else Columns.plan(patterns)
        layout = Layout(patterns.weight_count if patterns else 0, configuration_count, len(terms))
        if configurations is None and configuration_count:
            raise BadInputError(f"{configuration_count} configurations and nothing that finds the active ones")

        def numbered() -> Iterator[tuple[int, int, NDArray[np.int16], NDArray[np.integer]]]:
            first = 0
            for number, (values, phases) in enumerate(chunks):
                if len(values) != len(phases):
                    raise BadInputError(f"chunk {number}: {len(values)} rows of values and {len(phases)} phases")
                yield number, first, values, phases
                first += len(phases)

        def block_of(chunk: tuple[int, int, NDArray[np.int16], NDArray[np.integer]]) -> DesignBlock:
            number, first, values, phases = chunk
            block = _make_block(
                values, phases, first, phase_count, patterns, columns, configurations, configuration_count, terms
            )
            return block if folder is None else _mapped(block, folder, number)

        blocks = []
        with progress("indexing positions") as task:
            for block in ordered_map(jobs, block_of, numbered()):
                blocks.append(block)
                task.advance(len(block))
        return cls(
            tuple(blocks),
            phase_count,
            layout,
            columns,
            patterns.group_starts if patterns else np.zeros(1, np.int64),
            terms,
        )

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def byte_count(self) -> int:
        """Memory that the rows take."""
        return sum(block.byte_count for block in self.blocks)

    def segments(self, phase: int) -> list[Segment]:
        """Rows of a phase, block by block."""
        found = [
            Segment(number, int(block.phase_starts[phase]), int(block.phase_starts[phase + 1]))
            for number, block in enumerate(self.blocks)
        ]
        return [segment for segment in found if len(segment)]

    def rows(self, block: int) -> Rows:
        """Arguments of the passes for a block."""
        own = self.blocks[block]
        before = self.columns.joint_size
        return Rows(
            own.indices,
            self._column_offsets,
            own.row_starts,
            own.configurations,
            own.linear,
            np.int64(before + self.layout.configuration_start),
            np.int64(before + self.layout.linear_start),
        )

    @cached_property
    def _column_offsets(self) -> NDArray[np.int64]:
        return self.columns.column_offsets

    def positions_of(self, segment: Segment) -> NDArray[np.int64]:
        """Numbers of a segment's positions in the order in which the design was built."""
        return self.blocks[segment.block].order[segment.start : segment.stop]

    @cached_property
    def phases(self) -> NDArray[np.uint8]:
        """Phase of each position, in the order in which the design was built: uint8 [N]."""
        phases = np.empty(len(self), np.uint8)
        for phase in range(self.phase_count):
            for segment in self.segments(phase):
                phases[self.positions_of(segment)] = phase
        return phases

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the rows, so that a checkpoint knows what it belongs to."""
        arrays = (array for block in self.blocks for array in block.arrays())
        return arrays_digest(arrays, repr((self.phase_count, self.layout, self.linear)))

    def count_items(
        self, segments: Sequence[Segment], weights: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Match counts and squared norms of all items over some rows.

        Parameters
        ----------
        segments
            The rows.
        weights
            float32 [sum of the segments' lengths]: weight of each row.

        Returns
        -------
        matches
            float64 [items]: weight of the rows in which the item is active, however often (GLEM, section 5.1).
        squares
            float64 [items]: sum of weight h^2, the diagonal of the normal equations.
        """
        layout = self.layout
        matches = np.zeros(layout.item_count)
        squares = np.zeros(layout.item_count)
        first = 0
        for segment in segments:
            block = self.blocks[segment.block]
            own = np.zeros(segment.stop, np.float32)
            own[segment.start :] = weights[first : first + len(segment)]
            first += len(segment)
            start, stop = np.int64(segment.start), np.int64(segment.stop)
            indices = self.columns.split(block.indices[:, segment.start : segment.stop])
            count_matches(indices, self.group_starts, self.columns.offsets, own[start:], matches, squares)
            if len(block.row_starts) > 1:
                part = slice(layout.configuration_start, layout.linear_start)
                _count_configurations(
                    block.row_starts, block.configurations, own, start, stop, matches[part], squares[part]
                )
            for term in range(layout.linear):
                values = block.linear[term, segment.start : segment.stop].astype(np.float64)
                own_weights = own[segment.start :].astype(np.float64)
                matches[layout.linear_start + term] += own_weights[values != 0].sum()
                squares[layout.linear_start + term] += (own_weights * values * values).sum()
        matches[layout.bias] = squares[layout.bias] = float(weights.sum(dtype=np.float64))
        return matches, squares

    def sums(self, weights: NDArray[np.floating], jobs: int = 1) -> NDArray[np.float32]:
        """Sum of active weights of every position.

        Parameters
        ----------
        weights
            [K, items]: a weight vector for each phase, linear weights for the scaled terms.
        jobs
            Threads.

        Returns
        -------
        sums
            float32 [N], in the order in which the design was built.
        """
        if np.shape(weights) != (self.phase_count, self.layout.item_count):
            raise BadInputError(
                f"weights are {np.shape(weights)}, the design needs {(self.phase_count, self.layout.item_count)}"
            )
        by_phase = [self.columns.spread(own) for own in weights]
        total = np.empty(len(self), np.float32)

        def work(item: tuple[int, Segment]) -> None:
            phase, segment = item
            sums = np.empty(len(segment), np.float32)
            start, stop = np.int64(segment.start), np.int64(segment.stop)
            sum_weights(self.rows(segment.block), by_phase[phase], start, stop, sums)
            total[self.positions_of(segment)] = sums

        pieces = [(phase, segment) for phase in range(self.phase_count) for segment in self.segments(phase)]
        for _ in ordered_map(jobs, work, pieces):
            pass
        return total


def _make_block(
    values: NDArray[np.int16],
    phases: NDArray[np.integer],
    first: int,
    phase_count: int,
    patterns: PatternSet | None,
    columns: Columns,
    configurations: ActiveConfigurations | None,
    configuration_count: int,
    terms: LinearTerms,
) -> DesignBlock:
    count = len(phases)
    if count and not 0 <= int(phases.min()) <= int(phases.max()) < phase_count:
        raise BadInputError(f"phases {phases.min()}..{phases.max()} are not all in 0..{phase_count - 1}")
    order = np.argsort(phases, kind="stable").astype(np.int64)
    targets = np.empty(count, np.int64)
    targets[order] = np.arange(count)
    indices = np.empty((0, count), np.uint16)
    if patterns is not None:
        indices = columns.join(patterns.indices(values, targets=targets))
    row_starts, ids = np.zeros(1, np.int64), np.zeros(0, np.int32)
    if configurations is not None:
        starts, found = configurations(values)
        row_starts, ids = np.empty(count + 1, np.int64), np.empty(len(found), np.int32)
        largest = _sort_rows(
            np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(found, np.int32), order, row_starts, ids
        )
        if largest == -2:
            raise BadInputError("active configurations: ids are negative or descend inside a row")
        if largest >= configuration_count:
            raise BadInputError(f"active configurations: id {largest} among {configuration_count} weights")
    linear = np.empty((len(terms), count), np.float32)
    for place, (feature, scale) in enumerate(zip(terms.features, terms.scales, strict=True)):
        linear[place, targets] = values[:, feature] / np.float32(scale)
    counts = np.bincount(phases, minlength=phase_count)
    phase_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return DesignBlock(indices, row_starts, ids, linear, order + first, phase_starts)


def _mapped(block: DesignBlock, folder: Path, number: int) -> DesignBlock:
    """Block whose large arrays live in files."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for name in ("indices", "row_starts", "configurations", "linear"):
        array = getattr(block, name)
        if array.size == 0:
            arrays[name] = array
            continue
        path = folder / f"block-{number:05d}-{name}.npy"
        np.save(path, array, allow_pickle=False)
        # A plain view of the map: the kernels know one array type.
        arrays[name] = np.load(path, mmap_mode="r+", allow_pickle=False).view(np.ndarray)
    return DesignBlock(**arrays, order=block.order, phase_starts=block.phase_starts)
