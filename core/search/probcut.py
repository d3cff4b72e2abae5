"""Multi-ProbCut: what a shallow search says about a deeper one (Buro 1997).

M. Buro, Experiments with Multi-ProbCut and a New High-Quality Evaluation Function for Othello, 1997. The score of a
search of depth d is taken to be a v + b + e, where v is the score of a check search of depth c < d and e a normal error
of standard deviation s. Where a v + b is beyond a bound by more than t s, the deeper score is almost certainly beyond
it too, and the bound stands for the search.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.search.evaluators import Evaluator
from glem.core.search.selectivity import CHECKS, Selectivity

__all__ = ["DEEPEST", "ProbCut", "check_depths_of", "regress_scores"]

DEEPEST = 24
"""Greatest depth that gets parameters, by default."""

_LEAST_DEPTH = 2
_LEAST_SEARCHED = 4
_LEAST_SPREAD = 1e-6
_LEAST_DEVIATION = 1e-3
_FEWEST_POSITIONS = 10
_SLOPES = (0.5, 2.0)


def check_depths_of(depth: int) -> tuple[int, ...]:
    """Depths of the check searches for a search of some depth, shallow ones first.

    One, about a third as deep and of the same parity: the scores of odd and even depths differ by what the last move is
    worth.
    """
    return (2 * (depth // 6) + depth % 2,) if depth >= _LEAST_DEPTH else ()


@define(frozen=True, eq=False)
class ProbCut:
    """Parameters of selective search, fitted to an evaluation of a game with K phases.

    Parameters
    ----------
    game
        Name of the game.
    phases
        Names of the phases [K].
    unit
        Unit of offsets and deviations: that of the evaluation's labels, or of its log odds.
    check_depths
        int64 [D, CHECKS]: depths of the check searches by depth of the search, -1 where there is none.
    slopes, offsets, deviations
        float64 [K, D, CHECKS]: a, b and s of every phase, depth and check.
    counts
        int64 [K, D, CHECKS]: positions that the three come from, those of neighbouring phases included; 0 where they
        are extrapolated from smaller depths.
    threshold
        Standard deviations t by which a check must clear a bound.
    provenance
        Where the parameters come from; names and texts, kept in files.

    Raises
    ------
    BadInputError
        Shapes do not fit, a check is not shallower than its search, a slope or deviation is not positive, or a number
        not finite.
    """

    game: str
    phases: tuple[str, ...]
    unit: str
    check_depths: NDArray[np.int64]
    slopes: NDArray[np.float64]
    offsets: NDArray[np.float64]
    deviations: NDArray[np.float64]
    counts: NDArray[np.int64]
    threshold: float = 1.0
    provenance: Mapping[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        depths = len(self.check_depths)
        if self.check_depths.shape != (depths, CHECKS):
            raise BadInputError(f"check depths have shape {self.check_depths.shape}, expected ({depths}, {CHECKS})")
        shape = (len(self.phases), depths, CHECKS)
        for name in ("slopes", "offsets", "deviations", "counts"):
            found = getattr(self, name)
            if found.shape != shape:
                raise BadInputError(f"{name} have shape {found.shape}, expected {shape}")
            if not np.isfinite(found).all():
                raise BadInputError(f"{name} hold values that are not finite")
        too_deep = self.check_depths >= np.arange(depths)[:, None]
        wrong = np.flatnonzero((too_deep | (self.check_depths < -1)).any(axis=1))
        if len(wrong):
            raise BadInputError(f"check depths {self.check_depths[wrong[0]].tolist()} do not fit the depth {wrong[0]}")
        used = np.broadcast_to(self.check_depths >= 0, shape)
        if (self.slopes[used] <= 0).any() or (self.deviations[used] <= 0).any():
            raise BadInputError("slopes and deviations must be positive")
        if not 0 <= self.threshold < np.inf:
            raise BadInputError(f"the threshold is {self.threshold}, it must be at least 0")

    @property
    def deepest(self) -> int:
        """Greatest depth with parameters."""
        return len(self.check_depths) - 1

    def with_threshold(self, threshold: float) -> ProbCut:
        """Return the same parameters with another threshold: a smaller one cuts more and errs more."""
        return evolve(self, threshold=threshold)

    def arrays(self, evaluator: Evaluator) -> Selectivity:
        """Give the parameters as the search reads them, in steps of an evaluator.

        Raises
        ------
        BadInputError
            The evaluator has another number of phases or another unit.
        """
        if (evaluator.phase_count, evaluator.unit) != (len(self.phases), self.unit):
            raise BadInputError(
                f"the parameters of selective search are for {len(self.phases)} phases and {self.unit}, "
                f"the evaluation has {evaluator.phase_count} and {evaluator.unit}"
            )
        steps = evaluator.steps_per_unit
        return Selectivity(
            np.int64(len(self.check_depths)),
            np.float64(self.threshold),
            np.tile(self.check_depths.astype(np.int64).ravel(), len(self.phases)),
            np.ascontiguousarray(self.slopes, np.float64).ravel(),
            (self.offsets * steps).ravel(),
            (self.deviations * steps).ravel(),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file, atomically; see :mod:`glem.core.search.probcut_files`."""
        _file_format().save_probcut(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ProbCut:
        """Read a file that :meth:`save` wrote; :class:`BadInputError` when it is anything else."""
        loaded: ProbCut = _file_format().load_probcut(path)
        return loaded


def _file_format() -> Any:
    # Imported late: it needs this module.
    from glem.core.search import probcut_files

    return probcut_files


# ---------------------------------------------------------------------------------------- the regression


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
    depths that were not searched, slope and offset are those of the greatest searched depth of the same parity; the
    deviation follows from log s = x(phase) + y log(d - c) + z log(c + 1), fitted by least squares to all others.

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
        Greatest depth with parameters.
    checks
        Depths of the check searches by depth, at most :data:`~glem.core.search.selectivity.CHECKS`.
    least_positions
        Positions below which a phase borrows.

    Raises
    ------
    BadInputError
        There are too few positions or depths.
    """
    # Signed, for distances between phases.
    phase_numbers = phases.astype(np.int64)
    searched = scores.shape[1] - 1
    if searched < _LEAST_SEARCHED or deepest < searched:
        raise BadInputError(
            f"scores of depths up to {searched} cannot be extended to {deepest}: expected at least {_LEAST_SEARCHED} "
            "depths and no more than the parameters"
        )
    shape = (len(names), deepest + 1, CHECKS)
    slopes, offsets, deviations = np.ones(shape), np.zeros(shape), np.ones(shape)
    counts = np.zeros(shape, np.int64)
    check_depths = np.full(shape[1:], -1, np.int64)
    for depth in range(deepest + 1):
        for place, check in enumerate(checks(depth)):
            check_depths[depth, place] = check
    for phase, depth, place in _checks(check_depths, len(names), range(searched + 1)):
        check = int(check_depths[depth, place])
        known = np.isfinite(scores[:, check]) & np.isfinite(scores[:, depth])
        reach = _reach(phase_numbers[known], phase, least_positions)
        rows = known & (np.abs(phase_numbers - phase) <= reach)
        slope, offset, deviation = _line(scores[rows, check], scores[rows, depth])
        slopes[phase, depth, place] = slope
        offsets[phase, depth, place] = offset
        deviations[phase, depth, place] = deviation
        counts[phase, depth, place] = rows.sum()
    _extrapolate(check_depths, slopes, offsets, deviations, searched)
    return ProbCut(
        game, names, unit, check_depths, slopes, offsets, deviations, counts, provenance=dict(provenance or {})
    )


def _checks(check_depths: NDArray[np.int64], phases: int, depths: range) -> list[tuple[int, int, int]]:
    """Phase, depth and place of every check search."""
    return [
        (phase, depth, place)
        for phase in range(phases)
        for depth in depths
        for place in range(CHECKS)
        if check_depths[depth, place] >= 0
    ]


def _reach(phases: NDArray[np.int64], phase: int, least_positions: int) -> int:
    """How far neighbours are that together have so many positions; all there are if they have fewer."""
    distances = np.sort(np.abs(phases - phase))
    if len(distances) < _FEWEST_POSITIONS:
        raise BadInputError(f"{len(distances)} searched positions are too few to fit selective search to")
    return int(distances[min(least_positions, len(distances)) - 1])


def _line(shallow: NDArray[np.float64], deep: NDArray[np.float64]) -> tuple[float, float, float]:
    """Slope, offset and residual deviation of the least-squares line."""
    spread = float(shallow.var())
    covariance = float(((shallow - shallow.mean()) * (deep - deep.mean())).mean())
    slope = float(np.clip(covariance / spread, *_SLOPES)) if spread > _LEAST_SPREAD else 1.0
    offset = float(deep.mean() - slope * shallow.mean())
    squares = float(((deep - slope * shallow - offset) ** 2).sum())
    return slope, offset, max(np.sqrt(squares / (len(deep) - 2)), _LEAST_DEVIATION)


def _extrapolate(
    check_depths: NDArray[np.int64],
    slopes: NDArray[np.float64],
    offsets: NDArray[np.float64],
    deviations: NDArray[np.float64],
    searched: int,
) -> None:
    """Fill in the depths beyond those searched."""
    phases = len(slopes)

    def terms(depth: int, place: int) -> tuple[float, float]:
        check = int(check_depths[depth, place])
        return np.log(depth - check), np.log(check + 1)

    known = _checks(check_depths, phases, range(searched + 1))
    design = np.zeros((len(known), phases + 2))
    for row, (phase, depth, place) in enumerate(known):
        design[row, phase] = 1.0
        design[row, phases:] = terms(depth, place)
    logarithms = np.log([deviations[each] for each in known])
    solution = np.linalg.lstsq(design, logarithms, rcond=None)[0]
    for phase, depth, place in _checks(check_depths, phases, range(searched + 1, len(check_depths))):
        nearest = searched - (searched - depth) % 2
        nearest_place = min(place, np.flatnonzero(check_depths[nearest] >= 0)[-1])
        slopes[phase, depth, place] = slopes[phase, nearest, nearest_place]
        offsets[phase, depth, place] = offsets[phase, nearest, nearest_place]
        deviations[phase, depth, place] = np.exp(solution[phase] + np.dot(solution[phases:], terms(depth, place)))
