"""Fitting done the long way: dense matrices, dictionaries, and GLEM's formulas read line by line."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.links import Link
from glem.core.features.features import AtomicFeatures
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.packed.design import Design
from glem.core.fitting.packed.part import PackedPart, PackedPositions
from glem.core.fitting.packed.part_rows import PartRows
from glem.core.fitting.phases import PhaseWeights, fit_phases
from glem.core.tasks.parts import PartsHere

Matrix = NDArray[np.float64]


def pattern_orbits(features: AtomicFeatures, base: Sequence[int]) -> dict[tuple[int, ...], frozenset[tuple[int, ...]]]:
    """For every assignment of values to a pattern's features all assignments that must share its weight.

    An assignment is a tuple of values in the order of ``base``. A symmetry that maps the set of features onto
    itself carries the value of each feature to another one.
    """
    symmetries = features.symmetries if features.symmetries is not None else [range(len(features))]
    own = [symmetry for symmetry in symmetries if {int(symmetry[feature]) for feature in base} == set(base)]
    ranges = [range(features[feature].low, features[feature].high + 1) for feature in base]
    orbits = {}
    for assignment in product(*ranges):
        images = set()
        for symmetry in own:
            moved = {int(symmetry[feature]): value for feature, value in zip(base, assignment, strict=True)}
            images.add(tuple(moved[feature] for feature in base))
        orbits[assignment] = frozenset(images)
    return orbits


def dense_matrix(design: Design) -> tuple[Matrix, NDArray[np.int64]]:
    """Matrix [N, items] of a design, rows in the order in which it was built, and the phase of each row."""
    matrix = np.zeros((len(design), design.layout.item_count))
    phases = np.zeros(len(design), np.int64)
    for block in design.blocks:
        indices = design.columns.split(block.rows.indices)
        for row, number in enumerate(block.order):
            for instance, offset in enumerate(design.columns.offsets):
                matrix[number, offset + indices[instance, row]] += 1
            if len(block.rows.row_starts) > 1:
                for place in range(block.rows.row_starts[row], block.rows.row_starts[row + 1]):
                    matrix[number, design.layout.configuration_start + block.rows.ids[place]] += 1
            for term in range(design.layout.linear):
                matrix[number, design.layout.linear_start + term] = block.rows.linear[term, row]
            matrix[number, design.layout.bias] = 1
            phases[number] = np.searchsorted(block.phase_starts, row, side="right") - 1
    if design.packing.patterns is not None:
        matrix[:, design.packing.patterns.null_weights] = 0
    return matrix, phases


def phases_of(design: Design) -> NDArray[np.int64]:
    """Phase of each position, in the order in which the design was built."""
    phases = np.empty(len(design), np.int64)
    for phase in range(design.phase_count):
        for segment in design.segments(phase):
            phases[design.positions_of(segment)] = phase
    return phases


def byte_count(design: Design) -> int:
    """Memory that the rows take, their order excluded."""
    return sum(array.nbytes for block in design.blocks for array in block.arrays())


def kept_sums(rows: PartRows, *, jobs: int) -> NDArray[np.float32]:
    """Sums of the rows of a part where the point is."""
    return rows.sums.copy()


def packed(
    design: Design,
    labels: NDArray[np.floating],
    *,
    weights: NDArray[np.floating] | None = None,
    offsets: NDArray[np.floating] | None = None,
    jobs: int = 1,
) -> PackedPositions:
    """Take a design as one part."""
    part = PackedPart(design, labels, weights, offsets)
    return PackedPositions(design.packing, PartsHere([part], jobs), (slice(0, len(design)),))


def problem_of(
    design: Design, labels: NDArray[np.floating], *, held_out: NDArray[np.bool_] | None = None, **how: Any
) -> LeastSquares:
    """Make the problem of a design; positions and problem share the arguments."""
    own = {name: how.pop(name) for name in ("weights", "offsets", "jobs") if name in how}
    return LeastSquares(packed(design, labels, **own).judged(held_out), **how)


def fit_design(design: Design, labels: NDArray[np.floating], *, jobs: int = 1, **how: Any) -> PhaseWeights:
    """Fit all phases of a design."""
    own = {name: how.pop(name) for name in ("weights", "offsets") if name in how}
    return fit_phases(packed(design, labels, **own, jobs=jobs), jobs=jobs, **how)


def sums(design: Design, weights: NDArray[np.floating], jobs: int = 1) -> NDArray[np.float32]:
    """Sum of active weights [K, items] of every position, by a pass, in the order in which the design was built."""
    found = np.empty(len(design), np.float32)
    rows = [design.positions_of(segment) for phase in range(design.phase_count) for segment in design.segments(phase)]
    problem = problem_of(design, np.zeros(len(design), np.float32), jobs=jobs)
    problem.begin(np.asarray(weights, np.float64).ravel())
    (part,) = problem.rows.results(kept_sums)
    found[np.concatenate(rows)] = part
    return found


def predicted(design: Design, weights: PhaseWeights, jobs: int = 1) -> NDArray[np.float64]:
    """Label that fitted weights predict for every position."""
    linear = weights.linear * np.array(design.linear.scales, np.float64)
    parts = [weights.patterns, weights.configurations, linear, weights.bias[:, None]]
    return weights.link(sums(design, np.concatenate(parts, axis=1), jobs))


def objective(
    matrix: Matrix, labels: Matrix, offsets: Matrix, row_weights: Matrix, penalties: Matrix, link: Link, weights: Matrix
) -> float:
    """``sum_k weight_k (r_k - g(o_k + x_k))^2 + sum_i penalty_i w_i^2``."""
    differences = labels - link(offsets + matrix @ weights)
    return float(row_weights @ differences**2 + penalties @ weights**2)


def least_squares(matrix: Matrix, labels: Matrix, row_weights: Matrix, penalties: Matrix) -> Matrix:
    """Weights of least norm that minimize the objective with the identity link, by an orthogonal decomposition."""
    roots = np.sqrt(row_weights)
    stacked = np.vstack([matrix * roots[:, None], np.diag(np.sqrt(penalties))])
    right = np.concatenate([labels * roots, np.zeros(len(penalties))])
    return np.asarray(np.linalg.lstsq(stacked, right, rcond=None)[0], np.float64)


def derivative(link: Link, sums: Matrix) -> Matrix:
    """g'(x) at each sum of weights."""
    if not link.span:
        return np.ones_like(sums)
    share = (link(sums) - link.low) / link.span
    return np.asarray(link.span * share * (1 - share), np.float64)


def descent(
    matrix: Matrix, labels: Matrix, link: Link, step_size: float, momentum: float, iterations: int
) -> list[float]:
    """GLEM section 5.1 with N replaced by the number of k where h_ik is not 0: mean squared errors."""
    weights = np.zeros(matrix.shape[1])
    step = np.zeros_like(weights)
    errors = []
    for _ in range(iterations + 1):
        sums = matrix @ weights
        differences = labels - link(sums)
        errors.append(float(np.mean(differences**2)))
        for item in range(len(weights)):
            count = np.count_nonzero(matrix[:, item])
            gradient = -2 / max(count, 1) * np.sum(derivative(link, sums) * differences * matrix[:, item])
            step[item] = -step_size * gradient + momentum * step[item]
        weights = weights + step
    return errors


def rule_kinds(counts: Sequence[float], own: float, few: float, linear: float | None) -> list[str]:
    """What GLEM section 5.2 gives one configuration in each phase, for its match counts by phase.

    ``own``, ``zero``, ``linear 3-5`` for one line over phases 3 to 5, ``merged 2-3`` for one weight over those
    phases, ``with 4`` for the weight of phase 4.
    """
    between = [few < count < own for count in counts]
    kinds = ["own" if count >= own else "zero" for count in counts]
    phase = 0
    while phase < len(counts):
        if not between[phase]:
            phase += 1
            continue
        run = [phase]
        while run[-1] + 1 < len(counts) and between[run[-1] + 1]:
            run.append(run[-1] + 1)
        phase = run[-1] + 1
        total = sum(counts[member] for member in run)
        if linear is not None and total >= linear and len(run) >= 2:
            groups, name = [run], "linear"
        elif total >= own:
            groups, name = [[]], "merged"
            for member in run:
                rest = sum(counts[later] for later in run if later >= member)
                if sum(counts[earlier] for earlier in groups[-1]) >= own and rest >= own:
                    groups.append([])
                groups[-1].append(member)
        else:
            neighbours = [
                place for place in (run[0] - 1, run[-1] + 1) if 0 <= place < len(counts) and counts[place] >= own
            ]
            best = max(neighbours, key=lambda place: (counts[place], -place), default=None)
            for member in run:
                kinds[member] = "zero" if best is None else f"with {best}"
            continue
        for group in groups:
            for member in group:
                kinds[member] = f"{name} {group[0]}-{group[-1]}"
    return kinds
