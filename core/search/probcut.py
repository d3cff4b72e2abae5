"""Multi-ProbCut: what a shallow search says about a deeper one (Buro 1997); reductions of late moves go with it.

M. Buro, Experiments with Multi-ProbCut and a New High-Quality Evaluation Function, 1997. The score of a
search of depth d is taken to be a v + b + e, where v is the score of a check search of depth c < d and e a normal error
of standard deviation s. Where a v + b is beyond a bound by more than t s, the deeper score is almost certainly beyond
it too, and the bound stands for the search.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.features.evaluators import Evaluator
from glem.core.files.archives import ArchiveFormat

DEFAULT_PROBCUT = "default"
"""Names the parameters that a game's plugin ships."""

CHECKS = 2
"""Check searches at most for one phase and depth."""

LATEST = 15
"""Moves of a node behind the one at this place are reduced like it."""

_ARRAYS: dict[str, Any] = {
    "check_depths": np.int64,
    "slopes": np.float64,
    "offsets": np.float64,
    "deviations": np.float64,
    "counts": np.int64,
}
_FORMAT = ArchiveFormat("glem probcut", version=1, required=tuple(_ARRAYS), largest=64 << 20)


class Selectivity(NamedTuple):
    """Parameters of Multi-ProbCut.

    Source: Buro 1997, Experiments with Multi-ProbCut and a New High-Quality Evaluation Function.
    The score of a search of depth d is taken to be ``slope * c + offset`` from the score c of a check search, with a
    normal error of standard deviation ``deviation``. Check number k of phase p at remaining depth d stands at index
    ``(p * depth_count + d) * CHECKS + k`` of the arrays.
    """

    depth_count: np.int64
    """Depths 0 to ``depth_count - 1`` have parameters; 0 switches selectivity off."""
    threshold: np.float64
    """Standard deviations by which a check must clear the bound."""
    check_depths: NDArray[np.int64]
    """Remaining depth of the check search, below d; -1 where there is none. Shallow checks stand first."""
    slopes: NDArray[np.float64]
    """Positive slopes."""
    offsets: NDArray[np.float64]
    """Offsets, in steps."""
    deviations: NDArray[np.float64]
    """Standard deviations, in steps."""
    reductions: NDArray[np.int64]
    """Plies less for the move at place p of a node of depth d, at index ``d * (LATEST + 1) + min(p, LATEST)``."""


def reductions_of(depth_count: int) -> NDArray[np.int64]:
    """Make :attr:`Selectivity.reductions`: half a ply and half the logarithms' product, in whole pairs of plies.

    Pairs, because the scores of odd and even depths differ (GLEM, section 3); never beyond the leaves.
    """
    depths, places = np.ogrid[:depth_count, : LATEST + 1]
    pairs = np.floor(0.5 + 0.5 * np.log(np.maximum(depths, 1)) * np.log(places + 1))
    pairs = np.minimum(pairs, np.maximum(depths - 1, 0) // 2)
    pairs[:, 0] = 0
    reductions: NDArray[np.int64] = 2 * pairs.astype(np.int64).ravel()
    return reductions


FULL_WIDTH = Selectivity(
    np.int64(0), np.float64(0), np.full(1, -1, np.int64), np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, np.int64)
)
"""Parameters that cut nothing."""


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
            reductions_of(len(self.check_depths)),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file, atomically; the path should end in ``.npz``."""
        arrays = {name: np.ascontiguousarray(getattr(self, name), kind) for name, kind in _ARRAYS.items()}
        header = {
            "game": self.game,
            "phases": list(self.phases),
            "unit": self.unit,
            "threshold": self.threshold,
            "provenance": dict(self.provenance),
        }
        _FORMAT.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` wrote; :class:`BadInputError` when it is anything else."""
        source = Path(path)
        header, arrays = _FORMAT.read(source)
        with reading(source, "glem probcut file"):
            for name, kind in _ARRAYS.items():
                if arrays[name].dtype != kind:
                    raise BadInputError(f"{name} is of {arrays[name].dtype}, expected {np.dtype(kind)}")
            return cls(
                game=str(header["game"]),
                phases=tuple(str(name) for name in header["phases"]),
                unit=str(header["unit"]),
                threshold=float(header["threshold"]),
                provenance={str(name): str(text) for name, text in header["provenance"].items()},
                **arrays,
            )
