"""The least-squares problem that fitters solve: positions, labels, a link, and for which phases the weights are.

A problem has one weight vector per *target* phase. Its rows are views: a position of phase s enters the fit of
target t with a factor, so that neighbouring phases can lend their positions (GLEM, section 5.2, first option). An
*expansion* makes weights out of fewer parameters, ``w = B theta`` (second option).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.links import IDENTITY, Link
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.least_squares_passes import LinkTerms
from glem.core.fitting.packed.part import PackedPositions
from glem.core.fitting.packed.part_rows import Floats, PartRows, Passed, Source

Vector = NDArray[np.float64]


class Errors(NamedTuple):
    """Mean squared errors D^2, weighted; the held-out one is nan where nothing is held out."""

    training: float
    held_out: float


class Along(NamedTuple):
    """The objective along a line: half its value, derivative and Gauss-Newton curvature."""

    value: float
    slope: float
    curvature: float


def inner(one: Vector, other: Vector) -> float:
    """Inner product, without the threads of a linear algebra library: on other threads it would have other bits."""
    return float(np.einsum("i,i->", one, other))


class LeastSquares:
    """Weighted squared error of packed positions under a link, with an optional L2 penalty.

    The objective is ``sum_k weight_k D_k^2 + l2 sum_i w_i^2`` with ``D_k = r_k - g(o_k + sum_i w_i h_ik)``, the second
    sum over patterns and configurations. In the identity link's terms, every weight gets ``l2`` further positions in
    which it alone is active and the residual is 0; a weight with n matches shrinks by about n / (n + l2). Reported
    errors are means over the rows and leave the penalty out.

    A search along a line keeps the sums of all rows: :meth:`begin` takes a point, :meth:`look` a direction and
    :meth:`move` goes along it; the others look from there. The rows are where the positions are.

    Parameters
    ----------
    packed
        Positions.
    link
        Link function.
    l2
        Strength of the penalty, in positions.
    targets
        For every weight vector the phases whose positions are fitted; by default each phase by itself.
    expansion
        Sparse matrix B [targets * items, parameters] (scipy CSR), the identity by default.

    Raises
    ------
    BadInputError
        What :meth:`PartRows.of` raises.
    """

    def __init__(
        self,
        packed: PackedPositions,
        *,
        link: Link = IDENTITY,
        l2: float = 0.0,
        targets: Sequence[Sequence[Source]] | None = None,
        expansion: Any = None,
    ) -> None:
        self.packing, self._layout, self._columns = packed.packing, packed.packing.layout, packed.packing.columns
        self._packed = packed
        self.link = link
        self.l2 = float(l2)
        self.expansion = expansion
        self.targets = (
            [(Source(phase, 1.0),) for phase in range(self.packing.phase_count)]
            if targets is None
            else [tuple(sources) for sources in targets]
        )
        self.rows = packed.parts.derived(PartRows.of, self.targets)
        sizes: tuple[float, float] = self.rows.total(PartRows.sizes)
        self.total_weight, self.held_weight = sizes

    @property
    def weight_count(self) -> int:
        """Weights of all targets together."""
        return len(self.targets) * self._layout.item_count

    @property
    def parameter_count(self) -> int:
        """Length of a parameter vector."""
        return self.weight_count if self.expansion is None else int(self.expansion.shape[1])

    @cached_property
    def _counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        found: tuple[NDArray[np.float64], NDArray[np.float64]] = self.rows.total(PartRows.counts, len(self.targets))
        return found

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
        layout = self._layout
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
        parts = self.expansion
        arrays = [] if parts is None else [parts.data, parts.indices, parts.indptr]
        known = self.link, self.l2, self.targets, self._packed.fingerprint, list(self.rows.results(PartRows.digest))
        return arrays_digest(arrays, repr(known))

    def weights_of(self, parameters: Vector) -> NDArray[np.float64]:
        """Weights [targets, items] that a parameter vector stands for."""
        weights = parameters if self.expansion is None else self.expansion @ parameters
        return np.asarray(weights, np.float64).reshape(len(self.targets), -1)

    def _spread_weights(self, parameters: Vector) -> list[Floats]:
        """Weights of each target as the kernels want them."""
        return [self._columns.spread(weights) for weights in self.weights_of(parameters)]

    def _nothing(self) -> Passed:
        return Passed(0.0, 0.0, np.zeros((len(self.targets), self._columns.joint_size + self._layout.item_count)))

    def _descent(self, spread: NDArray[np.floating], parameters: Vector) -> Vector:
        """Gradient of the objective divided by -2, from that of the errors by the entries of spread vectors."""
        gradient = np.array([self._columns.gather(own) for own in spread])
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
        spread = self._spread_weights(parameters)
        found = self.rows.total(PartRows.whole_pass, spread, self._link_terms, start=self._nothing())
        return self._seen(found, parameters)

    def begin(self, parameters: Vector) -> None:
        """Take a point."""
        self.rows.change(PartRows.begin, self._spread_weights(parameters), anew=True)

    def look(self, direction: Vector) -> float:
        """Take a direction; give the second derivative of half the objective along it, with the identity link."""
        curvature: float = self.rows.change(PartRows.look, self._spread_weights(direction))
        return curvature + self._penalty(direction)

    def move(self, length: float, parameters: Vector) -> tuple[Errors, Vector]:
        """Go along the direction, so far, to those parameters; see :meth:`errors_and_gradient`."""
        found = self.rows.change(PartRows.move, length, self._link_terms, len(self.targets), start=self._nothing())
        return self._seen(found, parameters)

    def along(self, length: float, parameters: Vector, direction: Vector) -> Along:
        """Look at the objective along the line, with a sigmoid link, at ``parameters + length * direction``."""
        value, slope, curvature = self.rows.total(PartRows.along, length, self._link_terms)
        along = self.weights_of(direction).ravel()
        here = self.weights_of(parameters).ravel() + length * along
        value += inner(self._penalties, here * here)
        slope += inner(self._penalties, here * along)
        curvature += inner(self._penalties, along * along)
        return Along(value / 2, slope, curvature)

    def penalized(self, errors: Errors, parameters: Vector) -> float:
        """Half the objective where the errors and parameters are these."""
        return (errors.training * self.total_weight + self._penalty(parameters)) / 2

    def _penalty(self, parameters: Vector) -> float:
        weights = self.weights_of(parameters).ravel()
        return inner(self._penalties, weights * weights)

    def curvature(self, direction: Vector) -> Vector:
        """Half the objective's Gauss-Newton matrix times a vector, every row taken at the link's steepest point."""
        spread = self._spread_weights(direction)
        start = self._nothing().gradient
        found = self.rows.total(PartRows.curvature, spread, self.link.largest_slope, start=start)
        return -1.0 * self._descent(found, direction)

    @property
    def _link_terms(self) -> LinkTerms:
        return LinkTerms(np.float64(self.link.span), np.float64(self.link.low))

    def _seen(self, found: Passed, parameters: Vector) -> tuple[Errors, Vector]:
        held = found.held / self.held_weight if self.held_weight else float("nan")
        return Errors(found.error / self.total_weight, held), self._descent(found.gradient, parameters)
