"""Positions in parts, as a fit goes through them: here or on workers (:mod:`glem.core.tasks.parts`)."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Self

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.features.learning import Learning
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.blocks import Packing
from glem.core.fitting.packed.design import Design
from glem.core.machine.large_arrays import are_many_items, let_go, scratch_folder
from glem.core.tasks.parts import Parts, PartsHere, parts_of
from glem.core.tasks.tasks import Workers
from glem.core.tasks.threads import ordered_map

CHUNK = 1 << 18
"""Positions whose feature values are in memory at a time."""
CONFIGURATION_CHUNK = 1 << 15
"""The same where active configurations are listed: hundreds a position."""

_LEAST_PART = 1 << 21
_MOST_PARTS = 32
"""A part costs as much as a gradient when gradients are added up, and more than the positions where it has few."""
_JUDGED_POSITIONS = 4096


def value_chunks(
    learning: Learning, positions: Any, chunk: int = CHUNK, left_out: NDArray[np.bool_] | None = None
) -> Iterator[tuple[NDArray[np.int16], NDArray[np.uint8]]]:
    """Feature values int16 [n, F] and phases uint8 [n] of a position of columns, chunk by chunk, without those [N]."""
    for start in range(0, len(positions[0]), chunk):
        rows = slice(start, start + chunk)
        part = rows_of(positions, rows)
        if left_out is not None:
            part = rows_of(part, ~left_out[rows])
        yield learning.features.values(part), learning.phases.of(part)
        let_go(*positions)


@define(frozen=True, eq=False)
class PositionsPart:
    """Some positions.

    Parameters
    ----------
    positions
        Position of columns [n].
    labels, weights
        float32 [n].
    offsets
        float32 [n]: what is added to the sum of weights of each, or None.
    """

    positions: Any
    labels: NDArray[np.float32]
    weights: NDArray[np.float32]
    offsets: NDArray[np.float32] | None

    @classmethod
    def of(cls, *arrays: Any, jobs: int) -> Self:
        """Take them as they are."""
        return cls(*arrays)

    def packed(self, place: Path | None, learning: Learning, packing: Packing, whole: int, *, jobs: int) -> PackedPart:
        """Pack them; where the items of all positions, ``whole`` of them, would take much memory, into files.

        These lie in a folder ``place``, or, without one, in one that goes with what is returned.
        """
        folder = None
        if self.is_large(learning, packing, whole):
            folder = Path(mkdtemp(dir=scratch_folder(), prefix="glem-")) if place is None else place
        chunk = CHUNK if packing.configurations is None else CONFIGURATION_CHUNK
        design = Design.build(
            value_chunks(learning, self.positions, chunk), packing, count=len(self.labels), folder=folder, jobs=jobs
        )
        found = PackedPart(design, self.labels, self.weights, self.offsets)
        if folder is not None and place is None:
            weakref.finalize(found.design, rmtree, folder, ignore_errors=True)
        return found

    def is_large(self, learning: Learning, packing: Packing, count: int) -> bool:
        """Whether the active items of so many such positions would take much memory, judged by a few thousand."""
        rows = np.linspace(0, len(self.labels) - 1, _JUDGED_POSITIONS).astype(np.int64)
        some = rows_of(self.positions, rows)
        sizes = [packing.pack(*chunk).size for chunk in value_chunks(learning, some)]
        return are_many_items(sum(sizes) / len(rows) * count)


@define(frozen=True, eq=False)
class PackedPart:
    """Positions with their active items.

    Parameters
    ----------
    design
        Items of n positions.
    labels
        float32 [n], in the order in which the design was built. Positions with a nan label take no part.
    weights
        float32 [n], at least 0; None for 1.
    offsets
        float32 [n]: what is added to each position's sum of weights; None for 0.
    held_out
        bool [n]: positions for validation, which take no part in the fit; None for none.
    """

    design: Design
    labels: NDArray[np.floating]
    weights: NDArray[np.floating] | None = None
    offsets: NDArray[np.floating] | None = None
    held_out: NDArray[np.bool_] | None = None

    def judged(self, held_out: NDArray[np.bool_] | None, *, jobs: int) -> Self:
        """Hold out other positions."""
        return attrs.evolve(self, held_out=held_out)

    def let_go(self) -> None:
        """Take from memory what lies in files."""
        let_go(*(each for each in (self.labels, self.weights, self.held_out, self.offsets) if each is not None))

    def is_on_disk(self, *, jobs: int) -> bool:
        """Whether the items lie in files."""
        return self.design.is_on_disk

    def digest(self, *, jobs: int) -> str:
        """Digest of the items."""
        return self.design.fingerprint

    def matches(self, phases: Sequence[int], *, jobs: int) -> NDArray[np.float64]:
        """Match counts of every item in some phases, of the positions that are fitted: [phases, items]."""
        design = self.design

        def count(phase: int) -> NDArray[np.float64]:
            found = np.zeros(design.layout.item_count)
            for segment in design.segments(phase):
                rows = design.positions_of(segment)
                own = np.ones(len(rows), np.float32)
                if self.weights is not None:
                    own = np.asarray(self.weights[rows], np.float32)
                own[np.isnan(self.labels[rows]) | (False if self.held_out is None else self.held_out[rows])] = 0
                found += design.count_items([segment], own)[0]
            return found

        found = np.array(list(ordered_map(jobs, count, phases)))
        self.let_go()
        return found


@define(frozen=True, eq=False)
class PackedPositions:
    """All positions of a fit, packed.

    Parameters
    ----------
    packing
        What is linear in the evaluation.
    parts
        :class:`PackedPart`, or the same on workers.
    cuts
        Which positions each part has.
    """

    packing: Packing
    parts: Parts
    cuts: tuple[slice, ...]

    def judged(self, held_out: NDArray[np.bool_] | None) -> Self:
        """Hold out positions, bool [N]."""
        own = [None if held_out is None else held_out[rows] for rows in self.cuts]
        return attrs.evolve(self, parts=self.parts.derived(PackedPart.judged, own=own))

    def with_jobs(self, jobs: int) -> Self:
        """Take so many threads where the parts are here."""
        parts = self.parts
        return attrs.evolve(self, parts=attrs.evolve(parts, jobs=jobs)) if isinstance(parts, PartsHere) else self

    @property
    def fingerprint(self) -> str:
        """Digest of the rows, so that a checkpoint knows what it belongs to."""
        packing = self.packing
        known = packing.phase_count, packing.layout, packing.linear, list(self.parts.results(PackedPart.digest))
        return arrays_digest([], repr(known))


def cuts_of(count: int) -> tuple[slice, ...]:
    """Cut positions into parts; how depends on their number alone."""
    size = _LEAST_PART * -(-count // (_MOST_PARTS * _LEAST_PART))
    return tuple(slice(start, min(start + size, count)) for start in range(0, count, size))


def positions_in_parts(
    positions: Any,
    labels: NDArray[np.float32],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float32] | None,
    *,
    workers: Workers | None = None,
    jobs: int = 1,
) -> tuple[Parts, tuple[slice, ...]]:
    """Cut N positions into parts, here or on workers that keep them."""
    cuts = cuts_of(len(labels))
    items = [
        (rows_of(positions, rows), labels[rows], weights[rows], None if offsets is None else offsets[rows])
        for rows in cuts
    ]
    return parts_of(items, PositionsPart.of, workers, jobs), cuts
