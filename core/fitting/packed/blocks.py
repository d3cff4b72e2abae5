"""Positions packed for a fit: which weights are active in which of them, in blocks of rows.

A row is a position; its *items* are the table entries of its pattern instances, its active configurations, its linear
terms and the bias. The bias is the empty configuration, the root of GLEM's DAG, active everywhere. Pattern indices are
stored column by column in 16 bits, so that a row of Logistello's 46 instances takes 92 bytes.

There are two ways to pack, since the passes differ. Least squares runs over columns of rows of one phase, in float32:
rows are grouped by phase, small pattern tables share a column, and linear terms are columns, scaled into [-1, 1]. The
likelihood runs over rows in their order, in float64, and often has hundreds of linear terms of which few are not 0:
those stand behind the configurations of their row, with their values.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, trailing_zeros
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.configurations.matching.matcher import ConfigurationMatcher
from glem.core.errors import BadInputError, writing
from glem.core.features.features import AtomicFeatures
from glem.core.fitting.packed.columns import Columns
from glem.core.patterns.patterns import PatternSet
from glem.core.tasks.threads import ordered_map

ActiveConfigurations = Callable[[NDArray[np.int16]], tuple[NDArray[np.integer], NDArray[np.integer]]]
"""From feature values int16 [n, F] to CSR rows: row starts [n + 1] and ids ascending inside a row; an id that stands
more than once, since symmetric configurations may share a weight, counts as often."""


@kernel
def _write_classes(starts: Any, found: Any, classes: Any, counts: Any, ordered: Any) -> None:
    """Write the classes of CSR rows, ascending in each row, a class as often as it is found; ``counts`` are zeros."""
    words = np.zeros((counts.shape[0] + 63) // 64, np.uint64)
    one = np.uint64(1)
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row], starts[row + 1]):
            number = classes[found[place]]
            counts[number] += 1
            words[number >> 6] |= one << np.uint64(number & 63)
        target = starts[row]
        for word in range(words.shape[0]):
            bits = words[word]
            words[word] = 0
            while bits:
                number = (word << 6) + trailing_zeros(bits)
                bits &= bits - one
                for _ in range(counts[number]):
                    ordered[target] = number
                    target += 1
                counts[number] = 0


@define(frozen=True, eq=False)
class ListedConfigurations:
    """Finds active configurations, or their classes int32 [C] where some share a weight."""

    matcher: ConfigurationMatcher
    classes: NDArray[np.int32] | None
    most_specific: bool

    def __call__(self, values: NDArray[np.int16]) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """List those of feature values int16 [n, F]; see :data:`ActiveConfigurations`."""
        starts, found = self.matcher.active(values, most_specific=self.most_specific)
        if self.classes is None:
            return starts, found
        ordered = np.empty(len(found), np.int32)
        counts = np.zeros(int(self.classes.max(initial=-1)) + 1, np.int32)
        _write_classes(starts, found, self.classes, counts, ordered)
        return starts, ordered


def active_configurations(
    configurations: ConfigurationSet, classes: NDArray[np.int32] | None = None, *, most_specific: bool = True
) -> ActiveConfigurations:
    """Make what finds active configurations, or their classes int32 [C] where some share a weight."""
    return ListedConfigurations(ConfigurationMatcher(configurations), classes, most_specific)


@define(frozen=True)
class LinearTerms:
    """Features that enter as ``w f(p)`` (GLEM, section 4.1, last paragraph).

    Parameters
    ----------
    features
        Feature indices.
    scales
        What each feature is divided by where terms are columns, to lie in [-1, 1].
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


_LARGE = ("indices", "ids", "values", "linear")
_ORDER = "order"
_ALIGNMENT = 64
_PACKING_THREADS = 8
"""More would wait for the thread that computes feature values, each with a chunk of them."""


@define(frozen=True)
class Region:
    """Part of a file that holds arrays: by name where each begins in it, its type and shape."""

    path: Path
    start: int
    size: int
    parts: Mapping[str, tuple[int, Any, tuple[int, ...]]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Map them."""
        with self.path.open("r+b") as file:
            whole = mmap.mmap(file.fileno(), self.size, offset=self.start)
        return {
            name: np.ndarray(shape, dtype, buffer=whole, offset=offset)
            for name, (offset, dtype, shape) in self.parts.items()
        }


class Rows(NamedTuple):
    """One block of rows as the kernels see it.

    Parameters
    ----------
    indices, offsets
        uint16 [C, n] and int64 [C]: column c stands in row k for entry ``offsets[c] + indices[c, k]`` of a spread
        vector (:class:`~glem.core.fitting.packed.columns.Columns`).
    row_starts, ids
        int64 [n + 1] and uint16 or int32 [nnz]: active configurations by row; in rows grouped by phase [1] where there
        are none. In rows that are left in their order, linear terms that are not 0 follow, numbered on.
    values
        int16 [nnz]: 1, and what linear terms are multiplied by; empty in rows grouped by phase.
    linear
        float32 [L, n]: linear terms as columns; [0, n] in rows that are left in their order.
    phase
        uint8 [n]; empty in rows grouped by phase.
    configuration_start, linear_start
        Where these parts begin in a spread vector, whose last entry is the bias.
    """

    indices: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    ids: NDArray[np.uint16] | NDArray[np.int32]
    values: NDArray[np.int16]
    linear: NDArray[np.float32]
    phase: NDArray[np.uint8]
    configuration_start: np.int64
    linear_start: np.int64


@define(frozen=True, eq=False)
class Block:
    """Some rows.

    Parameters
    ----------
    in_memory
        Their items, without what is in files.
    order_in_memory, phase_starts
        int64 [n], number of each row's position in the order in which the blocks were built, unless it is in a file,
        and int64 [K + 1], first row of each phase; both empty where rows are left in their order.
    region
        Where large parts lie in a file, if they do.
    """

    in_memory: Rows
    order_in_memory: NDArray[np.int64]
    phase_starts: NDArray[np.int64]
    region: Region | None = None

    @property
    def rows(self) -> Rows:
        """The items. Files are mapped anew each time: a process then holds those of the blocks that it works on."""
        if self.region is None:
            return self.in_memory
        parts: Any = self.region.arrays()
        parts.pop(_ORDER, None)
        return self.in_memory._replace(**parts)

    @property
    def order(self) -> NDArray[np.int64]:
        """The numbers, of which the same holds."""
        parts = {} if self.region is None else self.region.arrays()
        return parts.get(_ORDER, self.order_in_memory)

    def __len__(self) -> int:
        return len(self.in_memory.phase) or int(self.phase_starts[-1:].sum())

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes for part in self.in_memory) + self.order_in_memory.nbytes + self.phase_starts.nbytes

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Everything that sums of weights depend on."""
        rows = self.rows
        return rows.indices, rows.row_starts, rows.ids, rows.values, rows.linear, rows.phase, self.phase_starts

    def by_phase(self) -> Iterator[Block]:
        """Rows of each phase as a block of their own: what is read together then lies together."""
        known = self.in_memory
        for phase, (start, stop) in enumerate(pairwise(self.phase_starts.tolist())):
            if stop > start:
                rows = known._replace(indices=known.indices[:, start:stop], linear=known.linear[:, start:stop])
                if len(known.row_starts) > 1:
                    starts = known.row_starts[start : stop + 1]
                    rows = rows._replace(row_starts=starts - starts[0], ids=known.ids[starts[0] : starts[-1]])
                own = np.where(np.arange(len(self.phase_starts)) > phase, stop - start, 0)
                yield Block(rows, self.order_in_memory[start:stop], own)


def kept(blocks: Iterable[Block], path: Path) -> list[Block]:
    """Write the large arrays of blocks into a file, from which they are mapped."""
    found = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path), path.open("wb") as file:
        for block in blocks:
            arrays: dict[str, Any] = {name: getattr(block.in_memory, name) for name in _LARGE}
            arrays[_ORDER] = block.order_in_memory
            parts: dict[str, tuple[int, Any, tuple[int, ...]]] = {}
            file.write(bytes(-file.tell() % mmap.ALLOCATIONGRANULARITY))
            start = file.tell()
            for name, array in arrays.items():
                if array.size:
                    file.write(bytes(-file.tell() % _ALIGNMENT))
                    parts[name] = file.tell() - start, array.dtype, array.shape
                    file.write(np.ascontiguousarray(array).data)
            # What is left empty has the type that the kernels know.
            nothing: dict[str, Any] = {
                name: np.zeros((0,) * array.ndim, array.dtype) for name, array in arrays.items() if name in parts
            }
            region = Region(path, start, file.tell() - start, parts) if parts else None
            order = nothing.pop(_ORDER, block.order_in_memory)
            found.append(Block(block.in_memory._replace(**nothing), order, block.phase_starts, region))
    return found


@kernel
def _fill_rows(
    starts: Any, ids: Any, table: Any, first_linear: Any, order: Any, row_starts: Any, filled: Any, values: Any
) -> Any:
    """Copy CSR rows in another order, each followed by the columns of a table [n, L] that are not 0 in it.

    ``starts`` is [1] and the table [n, 0] where there are none, ``values`` [0] where all are 1. Returns the largest id,
    or -2 where ids descend in a row, or are negative.
    """
    place = np.int64(0)
    largest = np.int64(-1)
    for row in range(order.shape[0]):
        row_starts[row] = place
        if starts.shape[0] > 1:
            previous = np.int64(0)
            for source in range(starts[order[row]], starts[order[row] + 1]):
                current = np.int64(ids[source])
                if current < previous:
                    return np.int64(-2)
                previous = current
                largest = max(largest, current)
                filled[place] = np.int32(current)
                if values.shape[0]:
                    values[place] = 1
                place += 1
        for column in range(table.shape[1]):
            value = table[order[row], column]
            if value != 0:
                filled[place] = np.int32(first_linear + column)
                values[place] = value
                place += 1
    row_starts[order.shape[0]] = place
    return largest


@define(frozen=True, eq=False, slots=False)
class Packing:
    """What is linear in an evaluation, and how positions are packed for it.

    Parameters
    ----------
    phase_count
        Number of phases K.
    patterns
        Their table entries become items, one per instance and position.
    configurations, configuration_count
        Finds the active configurations of positions, and the number of weights that they have.
    linear
        Terms that enter with their value.
    by_phase
        Whether rows are grouped by phase, for least squares, or left in their order, for likelihood.
    """

    phase_count: int
    patterns: PatternSet | None = None
    configurations: ActiveConfigurations | None = None
    configuration_count: int = 0
    linear: LinearTerms = field(factory=LinearTerms)
    by_phase: bool = True

    @cached_property
    def columns(self) -> Columns:
        """What the index columns stand for."""
        return Columns() if self.patterns is None else Columns.plan(self.patterns, joined=self.by_phase)

    @property
    def layout(self) -> Layout:
        """Parts of a weight vector."""
        patterns = 0 if self.patterns is None else self.patterns.weight_count
        return Layout(patterns, self.configuration_count, len(self.linear))

    def pack(self, values: NDArray[np.int16], phases: NDArray[np.integer], first: int = 0) -> Block:
        """Pack positions.

        Parameters
        ----------
        values
            int16 [n, F], feature values.
        phases
            Phases [n].
        first
            Number of the first position.

        Raises
        ------
        BadInputError
            A configuration out of range, ids that descend inside a row, or what :meth:`PatternSet.indices` raises.
        """
        count = len(phases)
        order = np.argsort(phases, kind="stable").astype(np.int64) if self.by_phase else np.arange(count)
        targets = np.empty(count, np.int64)
        targets[order] = np.arange(count)
        indices = np.empty((0, count), np.uint16)
        if self.patterns is not None:
            indices = self.columns.join(self.patterns.indices(values, targets=targets))
        linear = np.empty((len(self.linear) if self.by_phase else 0, count), np.float32)
        if self.by_phase:
            for place, (feature, scale) in enumerate(zip(self.linear.features, self.linear.scales, strict=True)):
                linear[place, targets] = values[:, feature] / np.float32(scale)
        layout, before = self.layout, self.columns.joint_size
        rows = Rows(
            indices,
            self.columns.column_offsets,
            *self._sparse(values, order),
            linear,
            np.zeros(0, np.uint8) if self.by_phase else np.ascontiguousarray(phases, np.uint8),
            np.int64(before + layout.configuration_start),
            np.int64(before + layout.linear_start),
        )
        if not self.by_phase:
            return Block(rows, np.zeros(0, np.int64), np.zeros(0, np.int64))
        starts = np.concatenate([[0], np.cumsum(np.bincount(phases, minlength=self.phase_count))])
        return Block(rows, order + first, starts.astype(np.int64))

    def blocks(
        self, chunks: Iterable[tuple[NDArray[np.int16], NDArray[np.integer]]], jobs: int = 1, folder: Path | None = None
    ) -> Iterator[Block]:
        """Pack chunk by chunk, in threads: feature values and phases of some positions; in files where a folder is."""

        def numbered() -> Iterator[tuple[int, NDArray[np.int16], NDArray[np.integer], int]]:
            first = 0
            for number, (values, phases) in enumerate(chunks):
                yield number, values, phases, first
                first += len(phases)

        def pack(chunk: tuple[int, NDArray[np.int16], NDArray[np.integer], int]) -> list[Block]:
            block = self.pack(*chunk[1:])
            return [block] if folder is None else kept(block.by_phase(), folder / f"rows-{chunk[0]:05d}-all.bin")

        for blocks in ordered_map(min(jobs, _PACKING_THREADS), pack, numbered()):
            yield from blocks

    def _sparse(
        self, values: NDArray[np.int16], order: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int16]]:
        """Row starts, ids and values of configurations and of sparse linear terms."""
        listed = [] if self.by_phase else list(self.linear.features)
        starts: Any = np.zeros(1, np.int64)
        found: Any = np.zeros(0, np.int32)
        if self.configurations is not None:
            starts, found = self.configurations(values)
        elif self.by_phase:
            return starts, np.zeros(0, np.uint16), np.zeros(0, np.int16)
        table = np.ascontiguousarray(values[:, listed], np.int16)
        room = len(found) + int(np.count_nonzero(table))
        is_small = self.by_phase and self.configuration_count <= 1 << 16
        row_starts, ids = np.empty(len(order) + 1, np.int64), np.empty(room, np.uint16 if is_small else np.int32)
        multiples = np.empty(0 if self.by_phase else room, np.int16)
        first_linear = np.int64(self.configuration_count)
        starts, found = np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(found, np.int32)
        largest = _fill_rows(starts, found, table, first_linear, order, row_starts, ids, multiples)
        if largest == -2:
            raise BadInputError("active configurations: ids are negative or descend inside a row")
        if largest >= self.configuration_count:
            raise BadInputError(f"active configurations: id {largest} among {self.configuration_count} weights")
        return row_starts, ids, multiples
