"""From the scores of searches to the parameters of Multi-ProbCut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.search.probcut import ProbCut
from glem.core.search.selectivity import CHECKS

__all__ = ["DEEPEST", "LEAST_SEARCHED", "check_depths_of", "regress_scores"]

DEEPEST = 24
"""Greatest depth that gets parameters, by default."""

LEAST_SEARCHED = 5
"""Depth that positions must be searched to, at least: from depths below it nothing follows for greater ones."""

_SHALLOWEST = 2
_FEWEST_POSITIONS = 10
_LEAST_SPREAD = 1e-6
_LEAST_DEVIATION = 1e-3
_SLOPES = (0.5, 2.0)


def check_depths_of(depth: int) -> tuple[int, ...]:
    """Depths of the check searches for a search of some depth, shallow ones first.

    One, about a third as deep and of the same parity: the scores of odd and even depths differ by what the evaluation
    takes the right to move to be worth (GLEM, section 3).
    """
    return (2 * (depth // 6) + depth % 2,) if depth >= _SHALLOWEST else ()


class _Line(NamedTuple):
    """Least-squares line from shallow to deep scores."""

    slope: float
    offset: float
    deviation: float
    positions: int


@define(frozen=True, eq=False)
class _Scores:
    """Scores [N, D + 1] and phases [N] of positions, and the number of positions below which a phase borrows."""

    scores: NDArray[np.float64]
    phases: NDArray[np.int64]
    least_positions: int

    def line(self, phase: int, check: int, depth: int) -> _Line:
        """Regress the scores of a depth on those of another one, over a phase and as many neighbours as it takes."""
        known = np.isfinite(self.scores[:, check]) & np.isfinite(self.scores[:, depth])
        distances = np.abs(self.phases - phase)
        nearest = np.sort(distances[known])
        if len(nearest) < _FEWEST_POSITIONS:
            raise BadInputError(
                f"only {len(nearest)} positions have scores of the depths {check} and {depth}, at least "
                f"{_FEWEST_POSITIONS} are needed to fit selective search"
            )
        rows = known & (distances <= nearest[min(self.least_positions, len(nearest)) - 1])
        shallow, deep = self.scores[rows, check], self.scores[rows, depth]
        spread = float(shallow.var())
        covariance = float(((shallow - shallow.mean()) * (deep - deep.mean())).mean())
        slope = float(np.clip(covariance / spread, *_SLOPES)) if spread > _LEAST_SPREAD else 1.0
        offset = float(deep.mean() - slope * shallow.mean())
        squares = float(((deep - slope * shallow - offset) ** 2).sum())
        return _Line(slope, offset, max(np.sqrt(squares / (len(deep) - 2)), _LEAST_DEVIATION), len(deep))


def regress_scores(
    scores: NDArray[np.float64],
    phases: NDArray[np.integer],
    names: tuple[str, ...],
    *,
    game: str,
    unit: str,
    deepest: int = DEEPEST,
    checks: Callable[[int], tuple[int, ...]] = check_depths_of,
    least_positions: int = 50,
    provenance: Mapping[str, str] | None = None,
) -> ProbCut:
    """Regress the scores of deeper searches on those of their check searches, phase by phase.

    A phase with fewer positions than ``least_positions`` borrows those of its neighbours, from nearer ones first. For
    depths d that were not searched, slope and offset are those of the greatest searched depth of the same parity. The
    deviation from check depth c follows the law log s = x(phase) + y log(d - c) + z log(c + 1), fitted by least squares
    to all pairs of searched depths of the same parity but those from depth 0.

    Parameters
    ----------
    scores
        float64 [N, D + 1]: score of each position at depths 0 (the static score) to D, nan where there is none.
    phases
        Phase of each position [N].
    names
        Names of the phases.
    game, unit, provenance
        Kept in the result.
    deepest
        Greatest depth with parameters, at least D.
    checks
        Depths of the check searches by depth, at most :data:`~glem.core.search.selectivity.CHECKS`.
    least_positions
        Positions below which a phase borrows.

    Raises
    ------
    BadInputError
        There are too few positions or depths.
    """
    searched = scores.shape[1] - 1
    if not LEAST_SEARCHED <= searched <= deepest:
        raise BadInputError(
            f"scores of depths up to {searched}, parameters of depths up to {deepest}: expected at least "
            f"{LEAST_SEARCHED} and no less than the scores have"
        )
    # Signed phases, for distances between them.
    known = _Scores(scores, phases.astype(np.int64), least_positions)
    shape = (len(names), deepest + 1, CHECKS)
    slopes, offsets, deviations, counts = np.ones(shape), np.zeros(shape), np.ones(shape), np.zeros(shape, np.int64)
    check_depths = np.full(shape[1:], -1, np.int64)
    for depth in range(deepest + 1):
        check_depths[depth, : len(checks(depth))] = checks(depth)
    laws = _deviation_laws(known, len(names), searched)
    for phase in range(len(names)):
        for depth, place, check in _pairs(check_depths):
            at = phase, depth, place
            if depth <= searched:
                slopes[at], offsets[at], deviations[at], counts[at] = known.line(phase, check, depth)
                continue
            alike = searched - (searched - depth) % 2
            alike_place = min(place, np.flatnonzero(check_depths[alike] >= 0)[-1])
            slopes[at], offsets[at] = slopes[phase, alike, alike_place], offsets[phase, alike, alike_place]
            deviations[at] = np.exp(laws[phase] @ _terms(check, depth))
    return ProbCut(
        game, names, unit, check_depths, slopes, offsets, deviations, counts, provenance=dict(provenance or {})
    )


def _pairs(check_depths: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Depth, place and depth of each check search, by ascending depths."""
    for depth, place in np.argwhere(check_depths >= 0):
        yield int(depth), int(place), int(check_depths[depth, place])


def _terms(check: int, depth: int) -> NDArray[np.float64]:
    return np.array([1.0, np.log(depth - check), np.log(check + 1)])


def _deviation_laws(known: _Scores, phases: int, searched: int) -> NDArray[np.float64]:
    """Coefficients [phases, 3] of the law of deviations, the last two alike for all phases."""
    rows, logarithms = [], []
    for phase in range(phases):
        for depth in range(_SHALLOWEST, searched + 1):
            for check in range(2 - depth % 2, depth, 2):
                own = np.eye(phases)[phase]
                rows.append(np.concatenate([own, _terms(check, depth)[1:]]))
                logarithms.append(np.log(known.line(phase, check, depth).deviation))
    solution = np.linalg.lstsq(np.array(rows), np.array(logarithms), rcond=None)[0]
    return np.column_stack([solution[:phases], np.tile(solution[phases:], (phases, 1))])
