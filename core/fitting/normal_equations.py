"""Least squares by normal equations: exact, in one pass over the positions, where weights are few.

The products of all pairs of terms are added up, phase by phase, for the positions that are fitted and for those that
judge. Whatever comes then needs no positions any more: neighbouring phases that lend theirs, penalties that are tried,
errors on the games that judge. So neither time nor memory depends on how the fit goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.evaluation.links import IDENTITY
from glem.core.features.learning import Learning
from glem.core.fitting.minimizing.minimizer import FitResult
from glem.core.fitting.packed.blocks import Block, Packing
from glem.core.fitting.packed.part import CONFIGURATION_CHUNK, PositionsPart, value_chunks
from glem.core.fitting.packed.part_rows import Source
from glem.core.fitting.phases import PhaseWeights, nearest_of, neighbours, penalties_of
from glem.core.machine.large_arrays import let_go
from glem.core.tasks.parts import Parts
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.threads import ordered_map

Floats = NDArray[np.float64]

SOLVED = "normal equations"
"""How the fit is called where it is described."""
_LARGEST = 1 << 24
"""Products of all phases: 64 MB, once for the positions that are fitted and once for those that judge."""
_RIDGE = 1e-9
"""Share of the diagonal that is added to it: of terms that are equal in all positions each gets a part."""


@kernel(inline=True)
def _row_start(number: Any, count: Any) -> Any:
    """Where column 0 of a row of an upper triangle would stand among the entries of its rows, one after the other."""
    return number * (2 * count - number - 1) // 2


@kernel
def _add_products(
    block: Any, start: Any, stop: Any, labels: Any, weights: Any, products: Any, sums: Any, matches: Any, totals: Any
) -> None:
    """Add up rows ``start`` to ``stop`` of a block, whose labels and weights are given; see :class:`Sums`."""
    ids, row_starts, linear, first = block.ids, block.row_starts, block.linear, block.linear_start
    count = sums.shape[0]
    values, active = np.zeros(count), np.empty(count, np.uint32)
    for row in range(start, stop):
        weight = np.float64(weights[row - start])
        if weight == 0:
            continue
        found = 0
        if row_starts.shape[0] > 1:
            for place in range(row_starts[row], row_starts[row + 1]):
                number = np.uint32(ids[place])
                # They ascend, and equal ones stand side by side.
                if found and active[found - 1] == number:
                    values[found - 1] += 1
                else:
                    active[found], values[found] = number, 1
                    found += 1
        for term in range(linear.shape[0]):
            if linear[term, row] != 0:
                active[found], values[found] = np.uint32(first + term), linear[term, row]
                found += 1
        active[found], values[found] = np.uint32(count - 1), 1
        found += 1
        label = np.float64(labels[row - start])
        for place in range(found):
            number = active[place]
            scaled = weight * values[place]
            matches[number] += weight
            sums[number] += scaled * label
            own = products[_row_start(np.int64(number), count) :]
            for other in range(place, found):
                own[active[other]] += scaled * values[other]
        totals[0] += weight
        totals[1] += weight * label * label


class Sums(NamedTuple):
    """What is added up over positions of K phases, for n terms with the bias as the last.

    Parameters
    ----------
    products
        float64 [K, n (n + 1) / 2]: sum of weight h_i h_j, for i not above j, row by row: less to keep in the cache.
    sums
        float64 [K, n]: sum of weight h_i r.
    matches
        float64 [K, n]: weight of the positions in which a term is not 0.
    totals
        float64 [K, 2]: sum of the weights, and of weight r^2.
    """

    products: Floats
    sums: Floats
    matches: Floats
    totals: Floats

    @classmethod
    def zero(cls, phases: int, terms: int) -> Self:
        """Begin without positions."""
        return cls(*(np.zeros((phases, size)) for size in (terms * (terms + 1) // 2, terms, terms, 2)))

    def of(self, sources: Iterable[Source]) -> Sums:
        """Add up some phases, each with its factor, into one."""
        factors = np.zeros(len(self.totals))
        for source in sources:
            factors[source.phase] += source.factor
        return Sums(*(np.einsum("k,kn->n", factors, each)[None] for each in self))

    def error(self, phase: int, weights: Floats) -> float:
        """Mean squared error of some weights; nan without positions."""
        total, squares = self.totals[phase]
        explained = weights @ (2 * self.sums[phase] - self.matrix(phase) @ weights)
        return float(max(squares - explained, 0.0) / total) if total else float("nan")

    def matrix(self, phase: int) -> Floats:
        """Products of a phase as a symmetric matrix [n, n]."""
        count = self.sums.shape[1]
        places = np.triu_indices(count)
        matrix = np.zeros((count, count))
        matrix[places] = self.products[phase]
        matrix.T[places] = self.products[phase]
        return matrix


@define(frozen=True, eq=False)
class NormalEquations:
    """Sums over the positions that are fitted, and over those that judge, which the caller may fit, too."""

    packing: Packing
    fitted: Sums
    judging: Sums

    @staticmethod
    def fits(packing: Packing) -> bool:
        """Whether the products of a packing's terms are few enough."""
        return packing.patterns is None and packing.phase_count * packing.layout.item_count**2 <= _LARGEST

    @classmethod
    def of(
        cls,
        parts: Parts,
        learning: Learning,
        packing: Packing,
        judging: Sequence[NDArray[np.bool_] | None],
        progress: Progress = SILENT,
    ) -> Self:
        """Add up positions.

        Parameters
        ----------
        parts
            :class:`~glem.core.fitting.packed.part.PositionsPart`, or the same on workers.
        learning, packing
            What is seen of them: configurations and linear terms, by phase.
        judging
            For each part bool [n], or None for no position.
        progress
            Counts parts.
        """
        sizes = packing.phase_count, packing.layout.item_count
        with progress("adding up positions", len(parts)) as task:
            start = Sums.zero(*sizes), Sums.zero(*sizes)
            found = parts.total(_sums_of, learning, packing, own=judging, start=start, done=task.advance)
        return cls(packing, *found)

    def with_judging(self) -> NormalEquations:
        """Fit the positions that judge, too; none judge then."""
        both = Sums(*(one + other for one, other in zip(self.fitted, self.judging, strict=True)))
        return NormalEquations(self.packing, both, Sums.zero(*self.fitted.sums.shape))

    def solve(self, l2: float | Sequence[float], smoothing: float | Sequence[float]) -> PhaseWeights:
        """Find the weights of all phases; arguments are those of :func:`~glem.core.fitting.phases.fit_phases`.

        A phase that is worse on the positions that judge than without weights gets none; one without positions has
        those of the nearest.

        Raises
        ------
        BadInputError
            No position is fitted, or there are penalties for another number of phases.
        """
        layout, phases = self.packing.layout, self.packing.phase_count
        penalties = penalties_of(l2, phases)
        known = np.flatnonzero(self.fitted.totals[:, 0] > 0).tolist()
        if not known:
            raise BadInputError("no position to fit has a label")
        weights = np.zeros((phases, layout.item_count))
        results: list[FitResult | None] = [None] * phases
        for phase, sources in enumerate(neighbours(phases, smoothing)):
            if phase not in known:
                continue
            own = self.fitted.of(sources)
            weights[phase] = _solved(own, layout.linear_start, penalties[phase])
            nothing = np.zeros(layout.item_count)
            errors, judged = (
                np.array([sums.error(place, each) for each in (nothing, weights[phase])])
                for sums, place in ((own, 0), (self.judging, phase))
            )
            is_worse = bool(judged[1] >= judged[0])
            if is_worse:
                weights[phase] = 0
            results[phase] = FitResult(
                SOLVED,
                converged=not is_worse,
                reason="the solution is exact",
                training_errors=errors,
                held_out_errors=judged,
                best_iteration=0 if is_worse else 1,
                parameter_count=layout.item_count,
                training_weight=float(own.totals[0, 0]),
                l2=penalties[phase],
            )
        weights = weights[nearest_of(known, phases)]
        return PhaseWeights(
            bias=weights[:, layout.bias],
            patterns=np.zeros((phases, 0)),
            configurations=weights[:, : layout.linear_start],
            linear=weights[:, layout.linear_start : layout.bias] / np.array(self.packing.linear.scales, np.float64),
            match_counts=self.fitted.matches[:, : layout.linear_start],
            link=IDENTITY,
            results=tuple(results),
        )


def added_up(
    blocks: Iterable[Block],
    packing: Packing,
    labels: NDArray[np.float32],
    weights: NDArray[np.float32],
    judging: NDArray[np.bool_] | None = None,
    *,
    jobs: int = 1,
) -> tuple[Sums, Sums]:
    """Add up N positions: those that are fitted and those that judge.

    Parameters
    ----------
    blocks
        Their rows, see :meth:`Packing.blocks`.
    packing
        What made them: of configurations and linear terms, by phase.
    labels, weights
        float32 [N]; labels are what is to be explained, without what others explain.
    judging
        bool [N], or None for no position.
    jobs
        Threads; they change no result.
    """
    sizes = packing.phase_count, packing.layout.item_count
    fitted, judged = Sums.zero(*sizes), Sums.zero(*sizes)

    def add(block: Block, phase: int) -> None:
        start, stop = block.phase_starts[phase : phase + 2]
        order = block.order[start:stop]
        label, weight = labels[order], weights[order]
        judges = np.zeros(len(order), bool) if judging is None else judging[order]
        for sums, chosen in ((fitted, ~judges), (judged, judges)):
            own = np.where(chosen, weight, np.float32(0))
            _add_products(block.rows, start, stop, label, own, *(each[phase] for each in sums))

    for block in blocks:
        for _ in ordered_map(jobs, partial(add, block), range(packing.phase_count)):
            pass
        let_go(labels, weights, *([] if judging is None else [judging]))
    return fitted, judged


def _sums_of(
    part: PositionsPart, judging: NDArray[np.bool_] | None, learning: Learning, packing: Packing, *, jobs: int
) -> tuple[Sums, Sums]:
    left = part.labels if part.offsets is None else part.labels - part.offsets
    blocks = packing.blocks(value_chunks(learning, part.positions, CONFIGURATION_CHUNK), jobs)
    return added_up(blocks, packing, left, part.weights, judging, jobs=jobs)


def _solved(sums: Sums, linear_start: int, l2: float) -> Floats:
    """Weights [n] of the least squared error, and of the penalty on those before ``linear_start``."""
    matrix, right = sums.matrix(0), sums.sums[0]
    places = np.arange(len(matrix))
    matrix[places[:linear_start], places[:linear_start]] += l2
    diagonal = matrix[places, places]
    used = np.flatnonzero(diagonal > 0)
    scale = 1 / np.sqrt(diagonal[used])
    scaled = matrix[np.ix_(used, used)] * scale[:, None] * scale
    scaled[np.arange(len(used)), np.arange(len(used))] += _RIDGE
    weights = np.zeros(len(matrix))
    weights[used] = scale * np.linalg.solve(scaled, scale * right[used])
    return weights
