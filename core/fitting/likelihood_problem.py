"""Fitting value, drawishness and scale together, by the likelihood of results (beyond Ban 2012, section 3.2).

The grade of an evaluation is a likelihood, so that its weights can be fitted to it by gradient. With the prior weights
w0 of each phase k, and a basis that says how corrections may differ between phases,

    w(k, i) = w0(k, i) + sum_r basis(k, r) theta(r, i),

the parameters theta of the value and of the drawishness, and the scale b, maximize

    sum_games mean_positions log C  -  l2 / 2 sum (size_i theta(r, i))^2,

where C is the correctness of equations (9)-(14) and size_i the root mean square of the values of term i where it is not
0. So 1 / sqrt(l2) is the size, in log odds, of the corrections that are expected. The positions of a game share its one
result and together count once.

The penalty holds the weights near those of the prior in units of the prior, and b takes up whether these promise too
much or too little. Without a penalty b and a common factor of all weights would be the same thing, and b is not fitted.
"""

import math
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.digests import arrays_digest
from glem.core.fitting.least_squares_problem import Errors, Vector
from glem.core.fitting.minimizing.quasi_newton import Point
from glem.core.fitting.packed.blocks import Rows
from glem.core.fitting.packed.likelihood_passes import add_slopes
from glem.core.fitting.packed.result_rows import LikelihoodRows, RowBlock
from glem.core.tasks.threads import ordered_map

Matrix = NDArray[np.float64]

PHASE_BASES = ("each", "linear", "one")
"""How corrections may differ between phases: a parameter for each, a straight line over them, one for all."""

_CURVATURE = 0.1
"""Size of the second derivatives of a log correctness; only the speed depends on it."""


def phase_basis(kind: str, phase_count: int) -> Matrix:
    """Basis float64 [K, R] of one of :data:`PHASE_BASES`."""
    if kind not in PHASE_BASES:
        raise BadInputError(f"corrections by phase are {', '.join(PHASE_BASES)}, not {kind!r}")
    if kind == "each":
        return np.eye(phase_count)
    constant = np.ones((phase_count, 1))
    if kind == "one" or phase_count == 1:
        return constant
    return np.column_stack([constant, np.linspace(-1, 1, phase_count)])


@define(frozen=True, eq=False, slots=False)
class PartWeights:
    """What is known beforehand of the value, or of the drawishness, and what may change.

    Parameters
    ----------
    prior
        float64 [K, weights], the bias last.
    basis
        float64 [K, R], see :func:`phase_basis`.
    free
        bool [weights]: those that are fitted.
    """

    prior: Matrix
    basis: Matrix
    free: NDArray[np.bool_]

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Numbers of the free weights."""
        return np.flatnonzero(self.free)

    @property
    def parameter_count(self) -> int:
        """R for each free weight."""
        return int(self.basis.shape[1]) * len(self.places)

    def weights(self, parameters: Vector) -> Matrix:
        """Weights [K, weights] that parameters stand for."""
        weights = self.prior.copy()
        theta = parameters.reshape(self.basis.shape[1], -1)
        for row in range(self.basis.shape[1]):
            weights[:, self.places] += self.basis[:, row, None] * theta[row]
        return weights

    def gradient(self, by_weight: Matrix) -> Vector:
        """Gradient with regard to the parameters from that with regard to the weights."""
        own = by_weight[:, self.places]
        # Without a linear algebra library: its threads would have other bits.
        by_parameter: Vector = np.einsum("kr,kp->rp", self.basis, own).ravel()
        return by_parameter

    def squares(self, by_weight: Matrix) -> Vector:
        """Sum of squares for each parameter, from sums of squares by weight."""
        by_parameter: Vector = np.einsum("kr,kp->rp", self.basis**2, by_weight[:, self.places]).ravel()
        return by_parameter


@define(frozen=True, eq=False)
class LikelihoodWeights:
    """Fitted weights, or their standard errors.

    Parameters
    ----------
    value, draw
        float64 [K, weights], the bias last.
    scale
        b.
    """

    value: Matrix
    draw: Matrix
    scale: float


class LikelihoodProblem:
    """Mean log correctness of games as a function of parameters: theta of the value, of the drawishness, then log b.

    Parameters
    ----------
    rows
        Positions with their results.
    value, draw
        Prior weights and what may change.
    scale
        b of the prior.
    l2
        Strength of the penalty: 1 / l2 is the variance of corrections, in squared log odds.
    fit_scale
        Whether b is fitted.
    floor
        A correctness below it counts as it.
    jobs
        Threads; they change no result.
    """

    def __init__(
        self,
        rows: LikelihoodRows,
        value: PartWeights,
        draw: PartWeights,
        *,
        scale: float = 1.0,
        l2: float = 1.0,
        fit_scale: bool = True,
        floor: float = 0.0,
        jobs: int = 1,
    ) -> None:
        if not 0 <= l2 < math.inf:
            raise BadInputError(f"the L2 penalty is {l2}, it must be finite and not negative")
        self.rows, self.value, self.draw = rows, value, draw
        self.scale, self.l2, self.fit_scale, self.jobs = scale, float(l2), fit_scale, jobs
        self._least = math.log(floor) if floor else -math.inf
        per_game = 1.0 / np.maximum(rows.positions_per_game, 1)
        self.weights = [np.where(block.held_out, 0.0, per_game[block.game]) for block in rows.blocks]
        self.held_weights = [np.where(block.held_out, per_game[block.game], 0.0) for block in rows.blocks]
        self.total_weight = math.fsum(float(own.sum()) for own in self.weights)
        self.held_weight = math.fsum(float(own.sum()) for own in self.held_weights)
        if self.total_weight <= 0:
            raise BadInputError("all positions are held out, none is left to fit")

    @property
    def parameter_count(self) -> int:
        """Length of a parameter vector."""
        return self.value.parameter_count + self.draw.parameter_count + self.fit_scale

    def split(self, parameters: Vector) -> tuple[Vector, Vector, float]:
        """Parameters of the value and of the drawishness, and b."""
        middle = self.value.parameter_count
        end = middle + self.draw.parameter_count
        scale = self.scale * math.exp(parameters[end]) if self.fit_scale else self.scale
        return parameters[:middle], parameters[middle:end], scale

    def weights_of(self, parameters: Vector) -> LikelihoodWeights:
        """Weights that parameters stand for."""
        value, draw, scale = self.split(parameters)
        return LikelihoodWeights(self.value.weights(value), self.draw.weights(draw), scale)

    @cached_property
    def _squares(self) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
        """Weighted sums of squared values and weights of the rows where they are not 0 [K, weights], of both parts."""
        found = [(np.zeros_like(part.prior), np.zeros_like(part.prior)) for part in (self.value, self.draw)]
        for block, weight in zip(self.rows.blocks, self.weights, strict=True):
            for packed, sums in zip((block.value, block.draw), found, strict=True):
                _add_squares(packed.rows, weight, *sums)
        return found[0], found[1]

    @cached_property
    def penalties(self) -> Vector:
        """Factor of half the squared parameter in the penalty: l2 size^2, 0 for biases and b."""
        parts = []
        for part, (squares, counts) in zip((self.value, self.draw), self._squares, strict=True):
            total, count = squares.sum(axis=0), counts.sum(axis=0)
            # A term that never occurs stays where it is; its size is of no account.
            sizes = np.where(count > 0, total / np.where(count > 0, count, 1), 1.0)
            sizes[-1] = 0.0
            parts.append(np.tile(self.l2 * sizes[part.places], part.basis.shape[1]))
        return np.concatenate([*parts, np.zeros(int(self.fit_scale))])

    @cached_property
    def units(self) -> Vector:
        """Steps of equal weight in each parameter: what the search counts in."""
        curvatures = [
            _CURVATURE * part.squares(squares)
            for part, (squares, _) in zip((self.value, self.draw), self._squares, strict=True)
        ]
        all_games = np.full(int(self.fit_scale), _CURVATURE * self.total_weight)
        diagonal = np.concatenate([*curvatures, all_games]) + self.penalties
        return np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything that the result depends on, the limits of the search excepted."""
        arrays = [array for part in (self.value, self.draw) for array in (part.prior, part.basis, part.free)]
        return arrays_digest(arrays, f"{self.rows.fingerprint} {self.scale!r} {self.l2!r} {self.fit_scale}")

    def at(self, parameters: Vector) -> Point:
        """Compute what is minimized, the negative mean penalized log correctness of a game, and its gradient."""
        weights = self.weights_of(parameters)
        inverse = 1.0 / weights.scale
        value_gradient, draw_gradient = np.zeros_like(weights.value), np.zeros_like(weights.draw)
        total = held = by_scale = 0.0

        def work(item: tuple[RowBlock, Vector, Vector]) -> Any:
            block, weight, held_weight = item
            gradients = np.zeros_like(weights.value), np.zeros_like(weights.draw)
            rows, here = (block.value.rows, block.draw.rows), (weights.value, weights.draw, inverse, self._least)
            return add_slopes(*rows, block.result, weight, held_weight, *here, *gradients), *gradients

        items = zip(self.rows.blocks, self.weights, self.held_weights, strict=True)
        for sums, own_value, own_draw in ordered_map(self.jobs, work, items):
            total += sums[0]
            held += sums[1]
            by_scale += sums[2]
            value_gradient += own_value
            draw_gradient += own_draw
        gradient = np.concatenate(
            [
                self.value.gradient(value_gradient),
                self.draw.gradient(draw_gradient),
                [by_scale] if self.fit_scale else [],
            ]
        )
        penalty = 0.5 * float(np.einsum("i,i,i->", self.penalties, parameters, parameters))
        errors = Errors(-total / self.total_weight, -held / self.held_weight if self.held_weight else math.nan)
        return Point(
            (penalty - total) / self.total_weight,
            (self.penalties * parameters - gradient) / self.total_weight,
            errors,
        )

    def at_steps(self, steps: Vector) -> Point:
        """Compute :meth:`at` as a function of parameters divided by :attr:`units`."""
        found = self.at(steps * self.units)
        return Point(found.value, found.gradient * self.units, found.errors)


def _add_squares(rows: Rows, weight: Vector, squares: Matrix, counts: Matrix) -> None:
    first = rows.phase.astype(np.int64) * squares.shape[1]
    lengths = np.diff(rows.row_starts)
    ones = np.ones(rows.indices.size)
    items = np.repeat(first + rows.configuration_start, lengths) + rows.ids
    entries = (rows.indices.T + (rows.offsets + first[:, None])).ravel()
    for place, values, own in (
        (entries, ones, np.repeat(weight, len(rows.indices))),
        (items, rows.values.astype(np.float64), np.repeat(weight, lengths)),
    ):
        squares += np.bincount(place, own * values * values, squares.size).reshape(squares.shape)
        counts += np.bincount(place, own, squares.size).reshape(squares.shape)
    bias = np.bincount(rows.phase, weight, len(squares))
    squares[:, -1] += bias
    counts[:, -1] += bias
