"""The count rules of GLEM section 5.2: how a configuration's matches in each phase decide what weight it gets there.

Enough matches in a phase: a weight of its own. So few that even the sign is lost: 0. In between, adjacent phases
are merged until the total suffices, and share one weight or a linear model ``w(k) = a k + b`` over the phases k.
The rules make weights out of parameters by a sparse matrix, ``w = B theta``, so that every fitter obeys them.
"""

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray
from scipy import sparse

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError

ZERO, OWN, MERGED, LINEAR = 0, 1, 2, 3
"""Kinds of weights: none, own, one for several phases, linear in the phase."""


@define(frozen=True, eq=False)
class WeightPlan:
    """What weight every item gets in every phase.

    Parameters
    ----------
    kinds
        uint8 [K, items]: :data:`ZERO`, :data:`OWN`, :data:`MERGED` or :data:`LINEAR`.
    expansion
        Sparse matrix B [K * items, parameters] of ``w = B theta`` (scipy CSR), weights phase by phase.
    """

    kinds: NDArray[np.uint8]
    expansion: Any


@define(frozen=True)
class CountRules:
    """Limits of the count rules.

    Parameters
    ----------
    own
        Matches in a phase from which on a weight of its own is safe (the paper: about 20).
    few
        Matches up to which a phase tells nothing (the paper: about 4).
    linear
        Matches that a run of phases needs for ``a k + b``, two parameters; None: never, always one weight.

    Notes
    -----
    The phases with more than ``few`` and fewer than ``own`` matches form runs of neighbours. A run with at least
    ``linear`` matches in two or more phases gets one linear model. Otherwise the run is cut, from its first phase
    on, into groups that have at least ``own`` matches each and one weight each; what is left over joins the group
    before. A run that has fewer than ``own`` matches altogether joins a neighbouring phase with a weight of its own,
    the one with more matches, and shares its weight; without such a neighbour its weights are 0.
    """

    own: float = 20.0
    few: float = 4.0
    linear: float | None = 40.0

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.few < self.own:
            raise BadInputError(f"count rules: few ({self.few}) must be at least 0 and below own ({self.own})")
        if self.linear is not None and self.linear < self.own:
            raise BadInputError(f"count rules: linear ({self.linear}) must not be below own ({self.own})")

    def plan(self, matches: NDArray[np.floating], always: int = 0) -> WeightPlan:
        """Apply the rules.

        Parameters
        ----------
        matches
            [K, items]: match counts by phase.
        always
            This many items at the end (linear terms, the bias) have weights of their own everywhere.

        Returns
        -------
        plan
            The parameters of B are numbered phase by phase, item by item.
        """
        counts = np.ascontiguousarray(matches, np.float64)
        phases, items = counts.shape
        kinds = np.zeros(counts.shape, np.uint8)
        owners = np.full(counts.shape, -1, np.int64)
        centres = np.zeros(counts.shape, np.float64)
        linear = np.inf if self.linear is None else float(self.linear)
        _apply_rules(counts, np.float64(self.own), np.float64(self.few), np.float64(linear), kinds, owners, centres)
        kinds[:, items - always :] = OWN
        owners[:, items - always :] = np.arange(phases)[:, None]
        return WeightPlan(kinds, _expansion(kinds, owners, centres))


@kernel
def _apply_rules(counts: Any, own: float, few: float, linear: float, kinds: Any, owners: Any, centres: Any) -> None:
    """Kind of every weight, the phase whose parameter it takes, and its place in [-1, 1] on a line."""
    phases, items = counts.shape
    for item in range(items):
        for phase in range(phases):
            if counts[phase, item] >= own:
                kinds[phase, item] = 1
                owners[phase, item] = phase
        start = 0
        while start < phases:
            if not (few < counts[start, item] < own):
                start += 1
                continue
            stop = start
            total = 0.0
            while stop < phases and few < counts[stop, item] < own:
                total += counts[stop, item]
                stop += 1
            if total >= linear and stop - start >= 2:
                half = (stop - 1 - start) / 2.0
                for phase in range(start, stop):
                    kinds[phase, item] = 3
                    owners[phase, item] = start
                    centres[phase, item] = (phase - start - half) / half
            elif total >= own:
                first = start
                gathered = 0.0
                remaining = total
                for phase in range(start, stop):
                    if gathered >= own and remaining >= own:
                        first = phase
                        gathered = 0.0
                    kinds[phase, item] = 2
                    owners[phase, item] = first
                    gathered += counts[phase, item]
                    remaining -= counts[phase, item]
            else:
                neighbour = -1
                if start > 0 and kinds[start - 1, item] == 1:
                    neighbour = start - 1
                if (
                    stop < phases
                    and counts[stop, item] >= own
                    and (neighbour < 0 or counts[stop, item] > counts[neighbour, item])
                ):
                    neighbour = stop
                if neighbour >= 0:
                    for phase in range(start, stop):
                        kinds[phase, item] = 2
                        owners[phase, item] = neighbour
            start = stop


def _expansion(kinds: NDArray[np.uint8], owners: NDArray[np.int64], centres: NDArray[np.float64]) -> Any:
    phases, items = kinds.shape
    weight = np.flatnonzero(kinds.ravel() != ZERO)
    owner = owners.ravel()[weight] * items + weight % items
    is_linear = kinds.ravel()[weight] == LINEAR
    # A level for every owner, and a slope besides for the owners of lines.
    levels = np.unique(owner)
    slopes = np.unique(owner[is_linear])
    rows = np.concatenate([weight, weight[is_linear]])
    columns = np.concatenate([np.searchsorted(levels, owner), len(levels) + np.searchsorted(slopes, owner[is_linear])])
    values = np.concatenate([np.ones(len(weight)), centres.ravel()[weight[is_linear]]])
    return sparse.csr_array((values, (rows, columns)), shape=(phases * items, len(levels) + len(slopes)))
