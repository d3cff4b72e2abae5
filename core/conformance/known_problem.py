"""A small problem whose solution is known, to examine fitters on."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.evaluation.links import IDENTITY, Link
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.packed.blocks import Packing
from glem.core.fitting.packed.design import Design

__all__ = ["ABSENT", "KnownProblem"]

_ROWS = 600
_ITEMS = 12
ABSENT = (3, 8)
"""Items that are active in no position."""
_SHARE = 0.35
"""Share of the positions in which any other item is active."""
_STEEP = 0.4
"""Size of the weights under a sigmoid link."""


@define(frozen=True, eq=False)
class KnownProblem:
    """Positions whose labels are made of known weights.

    Parameters
    ----------
    active
        bool [N, items]: active items of every position.
    weights
        float64 [items + 1]: the bias comes last.
    link
        Link function.
    """

    active: NDArray[np.bool_]
    weights: NDArray[np.float64]
    link: Link = IDENTITY

    @classmethod
    def random(cls, seed: int, link: Link = IDENTITY) -> KnownProblem:
        """Draw a well-posed problem: many more positions than items, which hardly depend on each other."""
        generator = np.random.default_rng(seed)
        active = generator.random((_ROWS, _ITEMS)) < _SHARE
        active[:, list(ABSENT)] = False
        weights = generator.standard_normal(_ITEMS + 1)
        weights[list(ABSENT)] = 0.0
        if link.span:
            # Sums where the link is steep: at its flat ends the labels tell little of them.
            weights *= _STEEP
        return cls(active, weights, link)

    @property
    def labels(self) -> NDArray[np.float32]:
        """Labels without noise."""
        sums = self.active @ self.weights[:-1] + self.weights[-1]
        return self.link(sums).astype(np.float32)

    def design(self, rows: NDArray[np.int64] | None = None, phases: NDArray[np.int64] | None = None) -> Design:
        """Design of some rows, all by default, in one phase unless phases are given."""
        chosen = self.active if rows is None else self.active[rows]

        def configurations(values: NDArray[np.int16]) -> tuple[Any, Any]:
            # The values are the numbers of the rows.
            found = chosen[values[:, 0]]
            return np.concatenate([[0], np.cumsum(found.sum(axis=1))]), np.nonzero(found)[1].astype(np.int64)

        values = np.arange(len(chosen), dtype=np.int16)[:, None]
        own = np.zeros(len(chosen), np.int64) if phases is None else phases
        packing = Packing(int(own.max(initial=0)) + 1, configurations=configurations, configuration_count=_ITEMS)
        return Design.build([(values, own)], packing)

    def least_squares(self, **changes: Any) -> LeastSquares:
        """Give all rows to a fit."""
        return LeastSquares(self.design(), self.labels, link=self.link, **changes)
