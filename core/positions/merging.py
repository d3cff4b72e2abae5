"""Merging equal positions of sets that come one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glem.core.game.equal_positions import group_equal
from glem.core.positions.positions import PositionSet

__all__ = ["Merger"]


class Merger:
    """Merges equal positions into the first of them; holds only what is different.

    Parameters
    ----------
    symmetries, keep_spread
        See :meth:`PositionSet.merge_duplicates <glem.core.positions.positions.PositionSet.merge_duplicates>`.
    """

    def __init__(self, *, symmetries: bool = True, keep_spread: bool = False) -> None:
        self._symmetries = symmetries
        self._keep_spread = keep_spread
        self._first: PositionSet | None = None
        # Sums of weights, weighted deviations from the group's first label, and squares: squares of equal labels then
        # cancel exactly.
        self._sums: NDArray[np.float64] = np.zeros((3, 0))

    def add(self, part: PositionSet) -> None:
        """Merge a set into those before; the sets are parts of one, as a file has them."""
        joined = part if self._first is None else PositionSet.concatenate([self._first, part], renumber=False)
        before = self._sums.shape[1]
        first, group = group_equal(joined.game, joined.positions, symmetries=self._symmetries)
        self._first, group = joined.select(first), group[before:]
        weight = part.weight.astype(np.float64)
        deviation = part.label - self._first.label[group].astype(np.float64)
        sums = np.zeros((3, len(first)))
        sums[:, :before] = self._sums
        sums[0] += np.bincount(group, weight, len(first))
        sums[1] += np.bincount(group, weight * deviation, len(first))
        if self._keep_spread:
            inner = 0.0 if part.label_spread is None else part.label_spread.astype(np.float64) ** 2
            sums[2] += np.bincount(group, weight * (deviation**2 + inner), len(first))
        self._sums = sums

    def merged(self) -> PositionSet:
        """Return one position per group of equals, in the order of their first rows."""
        if self._first is None:
            raise RuntimeError("nothing was added to be merged")
        total, deviations, squares = self._sums
        # A group whose weights are all zero has no mean; its first label stands.
        divisor = np.where(total > 0, total, 1)
        mean = deviations / divisor
        columns = self._first.columns()
        columns["label"] = (self._first.label.astype(np.float64) + mean).astype(np.float32)
        columns["weight"] = total.astype(np.float32)
        columns.pop("label_spread", None)
        if self._keep_spread:
            columns["label_spread"] = np.sqrt(np.maximum(squares / divisor - mean**2, 0)).astype(np.float32)
        return PositionSet.from_columns(self._first.game, columns, self._first.sources, self._first.label_kind)
