"""The least-squares problem that fitters solve: a design, labels, a link, and for which phases the weights are.

A problem has one weight vector per *target* phase. Its rows are views: a position of phase s enters the fit of
target t with a factor, so that neighbouring phases can lend their positions (GLEM, section 5.2, first option). An
*expansion* makes weights out of fewer parameters, ``w = B theta`` (second option).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.links import IDENTITY, Link
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
from glem.core.machine.large_arrays import let_go
from glem.core.tasks.threads import ordered_map

Vector = NDArray[np.float64]

# A private gradient serves this many rows at least; the number of private gradients, and so the order of additions,
# depends on the rows alone.
_SLAB_ROWS = 1 << 18
_PIECE_ROWS = 1 << 15


class Source(NamedTuple):
    """A phase whose positions take part in the fit of a target, each with ``factor`` times its weight.

    Validation looks at the sources that are ``own``.
    """

    phase: int
    factor: float
    own: bool = True


class Errors(NamedTuple):
    """Mean squared errors D^2, weighted; the held-out one is nan where nothing is held out."""

    training: float
    held_out: float


class Along(NamedTuple):
    """The objective along a line: half its value, derivative and Gauss-Newton curvature."""

    value: float
    slope: float
    curvature: float


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


def inner(one: Vector, other: Vector) -> float:
    """Inner product, without the threads of a linear algebra library: on other threads it would have other bits."""
    return float(np.einsum("i,i->", one, other))


class LeastSquares:
    """Weighted squared error of a design under a link, with an optional L2 penalty.

    The objective is ``sum_k weight_k D_k^2 + l2 sum_i w_i^2`` with ``D_k = r_k - g(o_k + sum_i w_i h_ik)``, the second
    sum over patterns and configurations. In the identity link's terms, every weight gets ``l2`` further positions in
    which it alone is active and the residual is 0; a weight with n matches shrinks by about n / (n + l2). Reported
    errors are means over the rows and leave the penalty out.

    Parameters
    ----------
    design
        Items of N positions.
    labels
        float32 [N], in the order in which the design was built. Positions with a nan label take no part.
    weights
        float32 [N], at least 0; 1 by default.
    held_out
        bool [N]: positions for validation; they take no part in the fit.
    offsets
        float32 [N]: what is added to each position's sum of weights, 0 by default.
    link
        Link function.
    l2
        Strength of the penalty, in positions.
    targets
        For every weight vector the phases whose positions are fitted; by default each phase by itself.
    expansion
        Sparse matrix B [targets * items, parameters] (scipy CSR), the identity by default.
    jobs
        Threads. They change no result.
    """

    def __init__(
        self,
        design: Design,
        labels: NDArray[np.floating],
        *,
        weights: NDArray[np.floating] | None = None,
        held_out: NDArray[np.bool_] | None = None,
        offsets: NDArray[np.floating] | None = None,
        link: Link = IDENTITY,
        l2: float = 0.0,
        targets: Sequence[Sequence[Source]] | None = None,
        expansion: Any = None,
        jobs: int = 1,
    ) -> None:
        self.design = design
        self.link = link
        self.l2 = float(l2)
        self.jobs = jobs
        self.expansion = expansion
        self.targets = (
            [(Source(phase, 1.0),) for phase in range(design.phase_count)]
            if targets is None
            else [tuple(sources) for sources in targets]
        )
        self._slabs: list[_Slab] = []
        self._spread(labels, weights, held_out, offsets)

    def _spread(self, labels: Any, weights: Any, held_out: Any, offsets: Any) -> None:
        """Lay out the rows of all targets one after the other and cut them into slabs."""
        label_parts, weight_parts, held_parts, offset_parts = [], [], [], []
        first = 0
        for target, sources in enumerate(self.targets):
            pieces: list[_Piece] = []
            for source in sources:
                for segment in self.design.segments(source.phase):
                    rows = self.design.positions_of(segment)
                    label = np.asarray(labels[rows], np.float32)
                    weight = np.asarray(1.0 if weights is None else weights[rows], np.float32)
                    known = ~np.isnan(label)
                    held = np.zeros(len(rows), bool) if held_out is None else np.asarray(held_out[rows], bool)
                    label_parts.append(np.where(known, label, np.float32(0)))
                    weight_parts.append(np.where(known & ~held, weight * np.float32(source.factor), np.float32(0)))
                    held_parts.append(np.where(known & held & source.own, weight, np.float32(0)))
                    if offsets is not None:
                        offset_parts.append(np.asarray(offsets[rows], np.float32))
                    for start in range(segment.start, segment.stop, _PIECE_ROWS):
                        stop = min(start + _PIECE_ROWS, segment.stop)
                        pieces.append(_Piece(Segment(segment.block, start, stop), first))
                        first += stop - start
            self._slabs.extend(_cut(target, pieces))
        let_go(*(array for array in (labels, weights, held_out, offsets) if array is not None))
        nothing = np.zeros(0, np.float32)
        self._labels = np.concatenate([nothing, *label_parts])
        self._row_weights = np.concatenate([nothing, *weight_parts])
        self._held_weights = np.concatenate([nothing, *held_parts])
        self._offsets = np.concatenate([nothing, *offset_parts])
        if not (
            np.isfinite(self._offsets).all() and np.isfinite(self._labels).all() and (self._row_weights >= 0).all()
        ):
            raise BadInputError("labels must be finite or nan, offsets finite, weights at least 0")
        self.total_weight = float(self._row_weights.sum(dtype=np.float64))
        self.held_weight = float(self._held_weights.sum(dtype=np.float64))

    @property
    def row_count(self) -> int:
        """Rows of all targets together."""
        return len(self._labels)

    @property
    def weight_count(self) -> int:
        """Weights of all targets together."""
        return len(self.targets) * self.design.layout.item_count

    @property
    def parameter_count(self) -> int:
        """Length of a parameter vector."""
        return self.weight_count if self.expansion is None else int(self.expansion.shape[1])

    @cached_property
    def _counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        matches, squares = [], []
        items = self.design.layout.item_count
        by_target: list[list[_Piece]] = [[] for _ in self.targets]
        for slab in self._slabs:
            by_target[slab.target].extend(slab.pieces)

        def count(pieces: list[_Piece]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            if not pieces:
                return np.zeros(items), np.zeros(items)
            rows = slice(pieces[0].first, pieces[-1].first + len(pieces[-1].segment))
            return self.design.count_items([piece.segment for piece in pieces], self._row_weights[rows])

        for match, square in ordered_map(self.jobs, count, by_target):
            matches.append(match)
            squares.append(square)
        return np.concatenate(matches), np.concatenate(squares)

    @cached_property
    def parameter_matches(self) -> Vector:
        """Rows, weighted, in which each parameter has any effect: what descent divides a gradient by.

        GLEM 5.1 counts the k with ``h_ik != 0``. A weight that symmetric instances share may be active more than
        once in a position (``h_ik > 1``); the position still counts once.
        """
        matches = self._counts[0]
        if self.expansion is None:
            return matches
        touched = self.expansion.copy()
        touched.data = np.ones_like(touched.data)
        return np.asarray(touched.T @ matches, np.float64)

    @cached_property
    def _penalties(self) -> NDArray[np.float64]:
        layout = self.design.layout
        one = np.zeros(layout.item_count)
        one[: layout.linear_start] = self.l2
        return np.tile(one, len(self.targets))

    @cached_property
    def diagonal(self) -> Vector:
        """Diagonal of the objective's Gauss-Newton matrix at 0, halved: ``g'(0)^2 sum weight h^2 + l2``."""
        own = self._counts[1] * self.link.largest_slope**2 + self._penalties
        if self.expansion is None:
            return own
        # Phases share no rows, and a parameter acts on one item: no products of two entries of B come in.
        return np.asarray(self.expansion.multiply(self.expansion).T @ own, np.float64)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything that a fit's result depends on, the fitter excepted."""
        arrays = [self._labels, self._row_weights, self._held_weights, *([self._offsets] if len(self._offsets) else [])]
        if self.expansion is not None:
            arrays += [self.expansion.data, self.expansion.indices, self.expansion.indptr]
        return arrays_digest(arrays, repr((self.link, self.l2, self.targets, self.design.fingerprint)))

    def weights_of(self, parameters: Vector) -> NDArray[np.float64]:
        """Weights [targets, items] that a parameter vector stands for."""
        weights = parameters if self.expansion is None else self.expansion @ parameters
        return np.asarray(weights, np.float64).reshape(len(self.targets), -1)

    def _spread_weights(self, parameters: Vector) -> list[NDArray[np.float32]]:
        """Weights of each target as the kernels want them."""
        return [self.design.columns.spread(weights) for weights in self.weights_of(parameters)]

    def _descent(self, spread: NDArray[np.float64], parameters: Vector) -> Vector:
        """Gradient of the objective divided by -2, from that of the errors by the entries of spread vectors."""
        gradient = np.array([self.design.columns.gather(own) for own in spread])
        shrinking = self._penalties * self.weights_of(parameters).ravel()
        return self._parameters_of(gradient) - self._parameters_of(shrinking)

    def _parameters_of(self, gradient: NDArray[np.float64]) -> Vector:
        """Gradient with regard to the parameters, from that with regard to the weights."""
        flat = gradient.ravel()
        return flat if self.expansion is None else np.asarray(self.expansion.T @ flat, np.float64)

    def errors_and_gradient(self, parameters: Vector) -> tuple[Errors, Vector]:
        """One pass: errors, and the gradient of the objective divided by -2.

        Returns
        -------
        errors
            Mean squared errors.
        descent
            [parameters]: ``sum_k weight_k g' D_k h_ik - l2 w_i``.
        """
        weights = self._spread_weights(parameters)
        link = self._link_terms

        def work(slab: _Slab, gradient: NDArray[np.float32]) -> tuple[float, float]:
            error = held = 0.0
            for block, start, stop, rows in self._calls(slab):
                known = self._labels[rows], self._row_weights[rows], self._held_weights[rows]
                offsets = self._offsets[rows]
                one, other = pass_over(block, weights[slab.target], start, stop, offsets, *known, link, gradient)
                error += one
                held += other
            return error, held

        errors, descent = self._over_slabs(work, parameters)
        return self._errors(*errors), descent

    def _over_slabs(
        self, work: Callable[[_Slab, NDArray[np.float32]], tuple[float, float]], parameters: Vector
    ) -> tuple[tuple[float, float], Vector]:
        """Add up what a function returns for the slabs, each with a private gradient to add to, and those gradients."""
        length = self.design.columns.joint_size + self.design.layout.item_count

        def run(slab: _Slab) -> tuple[float, float, NDArray[np.float32]]:
            gradient = np.zeros(length, np.float32)
            return *work(slab, gradient), gradient

        total = np.zeros((len(self.targets), length))
        error = held = 0.0
        for slab, (one, other, gradient) in zip(self._slabs, ordered_map(self.jobs, run, self._slabs), strict=True):
            total[slab.target] += gradient
            error += one
            held += other
        return (error, held), self._descent(total, parameters)

    def sums(self, parameters: Vector, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Offset and active weights of every row, added up: float32 [rows], written into ``out`` if given."""
        sums = self.steps(parameters, out)
        if len(self._offsets):
            sums += self._offsets
        return sums

    def steps(self, direction: Vector, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Add up the active weights of every row alone: float32 [rows], written into ``out`` if given."""
        weights = self._spread_weights(direction)
        sums = np.empty(self.row_count, np.float32) if out is None else out

        def work(slab: _Slab) -> None:
            for block, start, stop, rows in self._calls(slab):
                sum_weights(block, weights[slab.target], start, stop, sums[rows])

        for _ in ordered_map(self.jobs, work, self._slabs):
            pass
        return sums

    def _calls(self, slab: _Slab) -> Iterator[tuple[Rows, np.int64, np.int64, slice]]:
        """For each piece of a slab its block, start and stop there, and its rows among all."""
        for number, pieces in groupby(slab.pieces, lambda piece: piece.segment.block):
            block = self.design.blocks[number].rows
            for piece in pieces:
                own = piece.segment
                rows = slice(piece.first, piece.first + len(own))
                yield block, np.int64(own.start), np.int64(own.stop), rows

    def along(
        self,
        sums: NDArray[np.float32],
        steps: NDArray[np.float32],
        length: float,
        parameters: Vector,
        direction: Vector,
    ) -> Along:
        """Look at the objective along a line, with a sigmoid link.

        The point is ``parameters + length * direction``, where the rows sum to ``sums + length * steps``.
        """
        link = self._link_terms

        def work(rows: slice) -> tuple[float, ...]:
            own = self._labels[rows], self._row_weights[rows]
            return tuple(errors_along(sums[rows], steps[rows], np.float64(length), *own, link))

        value, slope, curvature = self._summed(work)
        along = self.weights_of(direction).ravel()
        here = self.weights_of(parameters).ravel() + length * along
        value += inner(self._penalties, here * here)
        slope += inner(self._penalties, here * along)
        curvature += inner(self._penalties, along * along)
        return Along(value / 2, slope, curvature)

    def straight_curvature(self, steps: NDArray[np.float32], direction: Vector) -> float:
        """Second derivative of half the objective along a line, with the identity link; steps belong to direction."""

        def work(rows: slice) -> tuple[float]:
            return (float(curvature_along(steps[rows], self._row_weights[rows])),)

        return self._summed(work)[0] + self._penalty(direction)

    def penalized(self, errors: Errors, parameters: Vector) -> float:
        """Half the objective where the errors and parameters are these."""
        return (errors.training * self.total_weight + self._penalty(parameters)) / 2

    def _penalty(self, parameters: Vector) -> float:
        weights = self.weights_of(parameters).ravel()
        return inner(self._penalties, weights * weights)

    def move(
        self, sums: NDArray[np.float32], steps: NDArray[np.float32], length: float, residuals: NDArray[np.float32]
    ) -> Errors:
        """Add ``length * steps`` to ``sums`` in place.

        ``weight_k g' D_k`` there, for :meth:`gradient`, is written into ``residuals``, float32 [rows].
        """
        link = self._link_terms

        def work(rows: slice) -> tuple[float, ...]:
            own = self._labels[rows], self._row_weights[rows], self._held_weights[rows]
            return tuple(residuals_at(sums[rows], steps[rows], np.float64(length), *own, link, residuals[rows]))

        return self._errors(*self._summed(work))

    def gradient(self, residuals: NDArray[np.float32], parameters: Vector) -> Vector:
        """Gradient of the objective divided by -2, from the residuals that :meth:`move` gives."""

        def work(slab: _Slab, gradient: NDArray[np.float32]) -> tuple[float, float]:
            for block, start, stop, rows in self._calls(slab):
                add_gradient(block, gradient, start, stop, residuals[rows])
            return 0.0, 0.0

        return self._over_slabs(work, parameters)[1]

    def curvature(self, direction: Vector) -> Vector:
        """Half the objective's Gauss-Newton matrix times a vector, every row taken at the link's steepest point."""
        residuals = self.steps(direction) * self._row_weights
        residuals *= np.float32(-(self.link.largest_slope**2))
        return -self.gradient(residuals, direction)

    @property
    def _link_terms(self) -> LinkTerms:
        return LinkTerms(np.float64(self.link.span), np.float64(self.link.low))

    def _summed(self, work: Callable[[slice], tuple[float, ...]]) -> tuple[float, ...]:
        """Add up what a function gives for ranges of rows, always cut and added in one order."""
        parts = [slice(start, start + _PIECE_ROWS) for start in range(0, self.row_count, _PIECE_ROWS)]
        return tuple(np.sum(list(ordered_map(self.jobs, work, parts)), axis=0).tolist())

    def _errors(self, error: float, held: float) -> Errors:
        return Errors(error / self.total_weight, held / self.held_weight if self.held_weight else float("nan"))


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
