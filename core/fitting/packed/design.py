"""The design of a least-squares fit: many positions, packed and grouped by phase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import NotEnoughMemoryError
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.blocks import Block, Layout, LinearTerms, Packing
from glem.core.fitting.packed.columns import Columns
from glem.core.machine.memory import shortage
from glem.core.patterns.patterns import count_matches


@define(frozen=True)
class Segment:
    """Rows ``start`` to ``stop`` of a block, all of one phase."""

    block: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


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
    packing
        What their items are.
    """

    blocks: tuple[Block, ...]
    packing: Packing

    @classmethod
    def build(
        cls,
        chunks: Iterable[tuple[NDArray[np.int16], NDArray[np.integer]]],
        packing: Packing,
        *,
        count: int = 0,
        folder: Path | None = None,
        jobs: int = 1,
    ) -> Design:
        """Build a design chunk by chunk; a chunk becomes a block.

        Parameters
        ----------
        chunks
            Feature values int16 [n, F] and phases [n] of some positions at a time; 100,000 to 1,000,000 positions
            a chunk keep the memory for feature values small and the passes long.
        packing
            What makes rows of them, by phase.
        count
            Number of positions, where it is known: whether they fit into memory is then seen at the first chunk.
        folder
            Where to keep the items as memory-mapped files, for more of them than memory holds; the files stay.
        jobs
            Threads.

        Raises
        ------
        BadInputError
            What a packing raises.
        NotEnoughMemoryError
            The terms of all positions do not fit into memory.
        """
        blocks: list[Block] = []
        done = size = 0
        for block in packing.blocks(chunks, jobs, folder):
            blocks.append(block)
            done, size = done + len(block), size + block.size
            if missing := shortage(size * (max(count, done) / max(done, 1) - 1)):
                raise NotEnoughMemoryError(
                    f"the terms of {count:,} positions do not fit into memory ({missing}); fit fewer of either"
                )
        return cls(tuple(blocks), packing)

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def is_on_disk(self) -> bool:
        """Whether the items lie in files."""
        return any(block.region for block in self.blocks)

    @property
    def phase_count(self) -> int:
        """Number of phases K."""
        return self.packing.phase_count

    @property
    def columns(self) -> Columns:
        """What the index columns stand for."""
        return self.packing.columns

    @property
    def linear(self) -> LinearTerms:
        """Terms that enter with one weight a unit."""
        return self.packing.linear

    @cached_property
    def layout(self) -> Layout:
        """Parts of a weight vector."""
        return self.packing.layout

    def segments(self, phase: int) -> list[Segment]:
        """Rows of a phase, block by block."""
        found = [
            Segment(number, int(block.phase_starts[phase]), int(block.phase_starts[phase + 1]))
            for number, block in enumerate(self.blocks)
        ]
        return [segment for segment in found if len(segment)]

    def positions_of(self, segment: Segment) -> NDArray[np.int64]:
        """Numbers of a segment's positions in the order in which the design was built."""
        return self.blocks[segment.block].order[segment.start : segment.stop]

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the rows, so that a checkpoint knows what it belongs to."""
        # The same for rows that lie together by phase and for those that do not.
        blocks = (part for block in self.blocks for part in ((block,) if block.region else block.by_phase()))
        arrays = (array for block in blocks for array in block.arrays())
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
        layout, patterns = self.layout, self.packing.patterns
        matches = np.zeros(layout.item_count)
        squares = np.zeros(layout.item_count)
        first = 0
        for segment in segments:
            rows = self.blocks[segment.block].rows
            own = np.zeros(segment.stop, np.float32)
            own[segment.start :] = weights[first : first + len(segment)]
            first += len(segment)
            start, stop = np.int64(segment.start), np.int64(segment.stop)
            if patterns is not None:
                indices = self.columns.split(rows.indices[:, segment.start : segment.stop])
                count_matches(indices, patterns.group_starts, self.columns.offsets, own[start:], matches, squares)
                matches[self.columns.nulls] = squares[self.columns.nulls] = 0
            if len(rows.row_starts) > 1:
                part = slice(layout.configuration_start, layout.linear_start)
                _count_configurations(rows.row_starts, rows.ids, own, start, stop, matches[part], squares[part])
            for term in range(layout.linear):
                values = rows.linear[term, segment.start : segment.stop].astype(np.float64)
                own_weights = own[segment.start :].astype(np.float64)
                matches[layout.linear_start + term] += own_weights[values != 0].sum()
                squares[layout.linear_start + term] += (own_weights * values * values).sum()
        matches[layout.bias] = squares[layout.bias] = float(weights.sum(dtype=np.float64))
        return matches, squares
