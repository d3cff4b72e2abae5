"""The rows of a least-squares problem that come from one part of the positions, and what is kept of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Self

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.blocks import Rows
from glem.core.fitting.packed.design import Design, Segment
from glem.core.fitting.packed.least_squares_passes import (
    LinkTerms,
    add_gradient,
    curvature_along,
    errors_along,
    pass_over,
    residuals_at,
    sum_weights,
)
from glem.core.fitting.packed.part import PackedPart
from glem.core.tasks.threads import ordered_map

# A private gradient serves this many rows at least; the number of private gradients, and so the order of additions,
# depends on the rows alone.
_SLAB_ROWS = 1 << 18
_PIECE_ROWS = 1 << 15

Floats = NDArray[np.float32]
Spread = Sequence[Floats]
"""Weights of each target as the kernels want them."""


class Source(NamedTuple):
    """A phase whose positions take part in the fit of a target, each with ``factor`` times its weight.

    Validation looks at the sources that are ``own``.
    """

    phase: int
    factor: float
    own: bool = True


@define(frozen=True)
class _Piece:
    """Rows that one kernel call works on."""

    segment: Segment
    first: int


@define(frozen=True)
class _Slab:
    """Pieces that add to one private gradient."""

    target: int
    pieces: tuple[_Piece, ...]


class Passed(NamedTuple):
    """What a pass adds up: squared errors of the rows that are fitted and that judge, and gradients by target."""

    error: float
    held: float
    gradient: NDArray[np.floating]


@define(eq=False)
class PartRows:
    """Rows of all targets, one after the other, and their sums.

    Parameters
    ----------
    design
        Items of the part's positions.
    slabs
        How the rows are worked on.
    labels, weights, held_weights
        float32 [rows]: weights in the fit and as judges.
    offsets
        float32 [rows], or [0] for 0.
    sums, steps
        float32 [rows]: offsets and active weights at some point; active weights of a direction.
    """

    design: Design
    slabs: list[_Slab]
    labels: Floats
    weights: Floats
    held_weights: Floats
    offsets: Floats
    sums: Floats = field(factory=lambda: np.zeros(0, np.float32))
    steps: Floats = field(factory=lambda: np.zeros(0, np.float32))

    @classmethod
    def of(cls, part: PackedPart, targets: Sequence[Sequence[Source]], *, jobs: int) -> Self:
        """Lay out the rows of all targets one after the other and cut them into slabs.

        Raises
        ------
        BadInputError
            Labels that are not finite or nan, offsets that are not finite, negative weights.
        """
        design, slabs = part.design, []
        label_parts, weight_parts, held_parts, offset_parts = [], [], [], []
        first = 0
        for target, sources in enumerate(targets):
            pieces: list[_Piece] = []
            for source in sources:
                for segment in design.segments(source.phase):
                    rows = design.positions_of(segment)
                    label = np.asarray(part.labels[rows], np.float32)
                    weight = np.asarray(1.0 if part.weights is None else part.weights[rows], np.float32)
                    known = ~np.isnan(label)
                    held = np.zeros(len(rows), bool) if part.held_out is None else np.asarray(part.held_out[rows], bool)
                    label_parts.append(np.where(known, label, np.float32(0)))
                    weight_parts.append(np.where(known & ~held, weight * np.float32(source.factor), np.float32(0)))
                    held_parts.append(np.where(known & held & source.own, weight, np.float32(0)))
                    if part.offsets is not None:
                        offset_parts.append(np.asarray(part.offsets[rows], np.float32))
                    for start in range(segment.start, segment.stop, _PIECE_ROWS):
                        stop = min(start + _PIECE_ROWS, segment.stop)
                        pieces.append(_Piece(Segment(segment.block, start, stop), first))
                        first += stop - start
            slabs.extend(_cut(target, pieces))
        part.let_go()
        nothing = np.zeros(0, np.float32)
        arrays = [np.concatenate([nothing, *each]) for each in (label_parts, weight_parts, held_parts, offset_parts)]
        labels, weights, _, offsets = arrays
        if not (np.isfinite(offsets).all() and np.isfinite(labels).all() and (weights >= 0).all()):
            raise BadInputError("labels must be finite or nan, offsets finite, weights at least 0")
        return cls(design, slabs, *arrays)

    def __len__(self) -> int:
        return len(self.labels)

    def sizes(self, *, jobs: int) -> tuple[float, float]:
        """Weight of the rows that are fitted, and of those that judge."""
        return float(self.weights.sum(dtype=np.float64)), float(self.held_weights.sum(dtype=np.float64))

    def digest(self, *, jobs: int) -> str:
        """Digest of everything that is known of the rows but their items."""
        arrays = [self.labels, self.weights, self.held_weights, *([self.offsets] if len(self.offsets) else [])]
        return arrays_digest(arrays)

    def counts(self, targets: int, *, jobs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Count matches and squares of the items (:meth:`Design.count_items`) of all targets, one after the other."""
        by_target: list[list[_Piece]] = [[] for _ in range(targets)]
        for slab in self.slabs:
            by_target[slab.target].extend(slab.pieces)

        def count(pieces: list[_Piece]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            if not pieces:
                return np.zeros(self.design.layout.item_count), np.zeros(self.design.layout.item_count)
            rows = slice(pieces[0].first, pieces[-1].first + len(pieces[-1].segment))
            return self.design.count_items([piece.segment for piece in pieces], self.weights[rows])

        matches, squares = zip(*ordered_map(jobs, count, by_target), strict=True)
        return np.concatenate(matches), np.concatenate(squares)

    def whole_pass(self, weights: Spread, link: LinkTerms, *, jobs: int) -> Passed:
        """One pass at some weights."""

        def work(slab: _Slab, gradient: Floats) -> tuple[float, float]:
            error = held = 0.0
            for block, start, stop, rows in self._calls(slab):
                known = self.labels[rows], self.weights[rows], self.held_weights[rows]
                one, other = pass_over(
                    block, weights[slab.target], start, stop, self.offsets[rows], *known, link, gradient
                )
                error += one
                held += other
            return error, held

        return self._over_slabs(work, len(weights), jobs)

    def begin(self, weights: Spread, *, jobs: int) -> int:
        """Take the point at some weights, and no direction; count the rows."""
        self.sums = self._summed(weights, jobs, self.sums)
        if len(self.offsets):
            self.sums += self.offsets
        self.steps = np.zeros_like(self.sums)
        return len(self)

    def look(self, direction: Spread, *, jobs: int) -> float:
        """Take a direction, and give the curvature along it with the identity link."""
        self.steps = self._summed(direction, jobs, self.steps)

        def work(rows: slice) -> tuple[float]:
            return (float(curvature_along(self.steps[rows], self.weights[rows])),)

        (curvature,) = self._over_rows(work, 1, jobs)
        return curvature

    def move(self, length: float, link: LinkTerms, targets: int, *, jobs: int) -> Passed:
        """Go along the direction; see what is there."""
        residuals = np.empty_like(self.sums)

        def work(rows: slice) -> tuple[float, ...]:
            own = self.labels[rows], self.weights[rows], self.held_weights[rows]
            at = self.sums[rows], self.steps[rows], np.float64(length)
            return tuple(residuals_at(*at, *own, link, residuals[rows]))

        error, held = self._over_rows(work, 2, jobs)
        return Passed(error, held, self._gradient(residuals, targets, jobs))

    def along(self, length: float, link: LinkTerms, *, jobs: int) -> tuple[float, float, float]:
        """Look along the direction: squared error, slope and curvature."""

        def work(rows: slice) -> tuple[float, ...]:
            at = self.sums[rows], self.steps[rows], np.float64(length)
            return tuple(errors_along(*at, self.labels[rows], self.weights[rows], link))

        value, slope, curvature = self._over_rows(work, 3, jobs)
        return value, slope, curvature

    def curvature(self, direction: Spread, slope: float, *, jobs: int) -> NDArray[np.floating]:
        """Gradients by target along a direction where every row is taken at a link's steepest point."""
        residuals = self._summed(direction, jobs) * self.weights
        residuals *= np.float32(-(slope**2))
        return self._gradient(residuals, len(direction), jobs)

    def _gradient(self, residuals: Floats, targets: int, jobs: int) -> NDArray[np.floating]:
        def work(slab: _Slab, gradient: Floats) -> tuple[float, float]:
            for block, start, stop, rows in self._calls(slab):
                add_gradient(block, gradient, start, stop, residuals[rows])
            return 0.0, 0.0

        return self._over_slabs(work, targets, jobs).gradient

    def _over_slabs(self, work: Callable[[_Slab, Floats], tuple[float, float]], targets: int, jobs: int) -> Passed:
        """Add up what a function returns for the slabs, each with a private gradient to add to, and those gradients."""
        length = self.design.columns.joint_size + self.design.layout.item_count

        def run(slab: _Slab) -> tuple[float, float, Floats]:
            gradient = np.zeros(length, np.float32)
            return *work(slab, gradient), gradient

        found = ordered_map(jobs, run, self.slabs)
        if len(self.slabs) == targets == 1:
            ((error, held, gradient),) = found
            return Passed(error, held, gradient[None])
        total = np.zeros((targets, length))
        error = held = 0.0
        for slab, (one, other, gradient) in zip(self.slabs, found, strict=True):
            total[slab.target] += gradient
            error += one
            held += other
        return Passed(error, held, total)

    def _summed(self, weights: Spread, jobs: int, out: Floats | None = None) -> Floats:
        """Add up the active weights of every row."""
        sums = out if out is not None and len(out) == len(self) else np.empty(len(self), np.float32)

        def work(slab: _Slab) -> None:
            for block, start, stop, rows in self._calls(slab):
                sum_weights(block, weights[slab.target], start, stop, sums[rows])

        for _ in ordered_map(jobs, work, self.slabs):
            pass
        return sums

    def _over_rows(self, work: Callable[[slice], tuple[float, ...]], count: int, jobs: int) -> list[float]:
        """Add up what a function gives for ranges of rows, always cut and added in one order."""
        ranges = [slice(start, start + _PIECE_ROWS) for start in range(0, len(self), _PIECE_ROWS)]
        found = np.array(list(ordered_map(jobs, work, ranges))).reshape(-1, count)
        sums: list[float] = found.sum(axis=0).tolist()
        return sums

    def _calls(self, slab: _Slab) -> Iterator[tuple[Rows, np.int64, np.int64, slice]]:
        """For each piece of a slab its block, start and stop there, and its rows among all."""
        for number, pieces in groupby(slab.pieces, lambda piece: piece.segment.block):
            block = self.design.blocks[number].rows
            for piece in pieces:
                own = piece.segment
                rows = slice(piece.first, piece.first + len(own))
                yield block, np.int64(own.start), np.int64(own.stop), rows


def _cut(target: int, pieces: list[_Piece]) -> list[_Slab]:
    """Divide pieces among slabs of about equally many rows."""
    rows = sum(len(piece.segment) for piece in pieces)
    count = max(1, rows // _SLAB_ROWS)
    groups: list[list[_Piece]] = [[] for _ in range(count)]
    done = 0
    for piece in pieces:
        groups[done * count // max(rows, 1)].append(piece)
        done += len(piece.segment)
    return [_Slab(target, tuple(group)) for group in groups if group]
