"""Weights for every phase: each phase by itself and its neighbours, or all together under count rules (GLEM 5.2)."""

import copy
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.evaluation.links import IDENTITY, Link
from glem.core.files.archives import ArchiveFormat
from glem.core.fitting.count_rules import CountRules, WeightPlan
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.minimizer import FileCheckpoint, FitResult, Minimizer
from glem.core.fitting.packed.part import PackedPart, PackedPositions
from glem.core.fitting.packed.part_rows import Source
from glem.core.tasks.counts import counted
from glem.core.tasks.parts import PartsHere
from glem.core.tasks.progress import SILENT, Parts, Progress
from glem.core.tasks.threads import ordered_map

_ARRAYS = ("bias", "patterns", "configurations", "linear", "match_counts")
_ERRORS = ("training_errors", "held_out_errors")
_SIDE_BY_SIDE = 2
_FORMAT = ArchiveFormat("glem fit", version=2, required=_ARRAYS, optional=None, largest=1 << 40, packed=False)


@define(frozen=True, eq=False)
class PhaseWeights:
    """Fitted weights of every phase.

    Parameters
    ----------
    bias
        float64 [K].
    patterns
        float64 [K, Wp].
    configurations
        float64 [K, C].
    linear
        float64 [K, L], for the features' own values, not the scaled ones of the design.
    match_counts
        float64 [K, Wp + C]: training positions of the phase itself in which each weight is active; nan where a prior
        has a weight that was not fitted.
    link
        Link function.
    results
        One per phase, None for a phase without positions, which has the weights of the nearest one; or a single one
        where all phases were fitted together.
    plan
        What the count rules gave to every weight, None without them.
    """

    bias: NDArray[np.float64]
    patterns: NDArray[np.float64]
    configurations: NDArray[np.float64]
    linear: NDArray[np.float64]
    match_counts: NDArray[np.float64]
    link: Link
    results: tuple[FitResult | None, ...]
    plan: WeightPlan | None = None

    def save(self, path: Path) -> None:
        """Write weights and results atomically, for a later run to continue with; link and plan are left out."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        results = [None if result is None else attrs.asdict(result) for result in self.results]
        for number, result in enumerate(results):
            arrays |= {f"{name}_{number}": result.pop(name) for name in _ERRORS if result}
        _FORMAT.write(path, {"results": results}, arrays)

    @classmethod
    def load(cls, path: Path, link: Link) -> Self:
        """Read what :meth:`save` wrote."""
        header, arrays = _FORMAT.read(path)

        def result(number: int, told: Any) -> FitResult | None:
            errors: Any = {name: arrays[f"{name}_{number}"] for name in _ERRORS} if told else {}
            return FitResult(**told, **errors) if told else None

        known: Any = {name: arrays[name] for name in _ARRAYS}
        with reading(path, "fitted weights"):
            results = tuple(result(number, told) for number, told in enumerate(header["results"]))
        return cls(**known, link=link, results=results)


def neighbours(phase_count: int, smoothing: float | Sequence[float]) -> list[tuple[Source, ...]]:
    """For every phase itself, with factor 1, and the phases beside it.

    Parameters
    ----------
    phase_count
        K.
    smoothing
        Factor for positions of adjacent phases, between 0 and 1; or one factor for each distance 1, 2, ...
    """
    factors = (smoothing,) if isinstance(smoothing, int | float) else tuple(smoothing)
    if not all(0 <= factor <= 1 for factor in factors):
        raise BadInputError(f"smoothing is {smoothing}, every factor must be between 0 and 1")
    targets = []
    for phase in range(phase_count):
        beside = [
            Source(other, float(factor), own=False)
            for distance, factor in enumerate(factors, start=1)
            for other in (phase - distance, phase + distance)
            if factor and 0 <= other < phase_count
        ]
        targets.append(tuple(sorted([Source(phase, 1.0), *beside])))
    return targets


def nearest_of(known: Collection[int], phase_count: int) -> list[int]:
    """For every phase the nearest of those that are known, the later of two."""
    return [min(known, key=lambda number: (abs(number - phase), -number)) for phase in range(phase_count)]


def penalties_of(l2: float | Sequence[float], count: int) -> list[float]:
    """Penalty of each of some fits, from one for all or one for each."""
    penalties = [float(l2)] * count if isinstance(l2, int | float) else list(l2)
    if len(penalties) != count:
        raise BadInputError(f"there are {len(penalties)} penalties for {counted(count, 'fit')}")
    return penalties


def fit_phases(
    packed: PackedPositions,
    *,
    held_out: NDArray[np.bool_] | None = None,
    fitter: Minimizer | None = None,
    link: Link = IDENTITY,
    l2: float | Sequence[float] = 0.0,
    smoothing: float | Sequence[float] = 0.0,
    count_rules: CountRules | None = None,
    phases: Sequence[int] | None = None,
    checkpoint: Path | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> PhaseWeights:
    """Fit the weights of all phases; one without labelled positions gets those of its nearest neighbour.

    Parameters
    ----------
    packed
        N positions.
    held_out
        bool [N]: positions for validation. They are left out of the fit, and each phase keeps the weights of the
        iteration that does best on them.
    fitter
        :class:`ConjugateGradient` with its defaults, if not given; the one given is copied and left as it is.
    link, l2
        As in :class:`LeastSquares`; the penalty for all phases, or one for each fit.
    smoothing
        As in :func:`neighbours`; 0 fits each phase on its own positions.
    count_rules
        Rules that tie the phases together; then one fit covers all phases, smoothed or not.
    phases
        Phases to fit, the others are taken for phases without positions; all by default. Not under count rules, which
        tie all phases together.
    checkpoint
        Folder for the state of an unfinished fit. After a kill, the same call continues with it and gives the same
        result as without the interruption. The files stay.
    jobs
        Threads, of positions that are here; they change no result.
    progress
        Counts phases and iterations.

    Raises
    ------
    BadInputError
        No labelled position at all, a checkpoint of another fit, and what :class:`LeastSquares` raises.
    """
    chosen = fitter if fitter is not None else ConjugateGradient()
    phase_count, layout = packed.packing.phase_count, packed.packing.layout
    scales = np.array(packed.packing.linear.scales, np.float64)
    targets = neighbours(phase_count, smoothing)
    judged = packed.judged(held_out)
    match_counts: NDArray[np.float64] = judged.parts.total(PackedPart.matches, range(phase_count))
    plan = None
    groups = [[sources] for sources in targets]
    if count_rules is not None:
        if phases is not None:
            raise BadInputError("count rules fit all phases together: name no single ones")
        plan = count_rules.plan(match_counts, always=layout.linear + 1)
        groups = [targets]
    known = np.flatnonzero(match_counts[:, -1] > 0)
    if phases is not None:
        known = np.intersect1d(known, np.asarray(phases, np.int64))
    if len(known) == 0:
        raise BadInputError("no position to fit has a label")
    penalties = penalties_of(l2, len(groups))
    wanted = known.tolist() if plan is None else [0]
    # Fits side by side keep threads busier than the parts of one do; of few, each has several. Where memory is short,
    # two at a time keep the columns of their rows there.
    is_short = not isinstance(judged.parts, PartsHere) or any(judged.parts.results(PackedPart.is_on_disk))
    fits = min(jobs, _SIDE_BY_SIDE if is_short else len(wanted))
    judged = judged.with_jobs(max(1, jobs // fits))
    expansion = None if plan is None else plan.expansion

    def fit(number: int) -> tuple[NDArray[np.float64], FitResult]:
        problem = LeastSquares(judged, link=link, l2=penalties[number], targets=groups[number], expansion=expansion)
        with problem.rows:
            keeper = None
            if checkpoint is not None:
                keeper = FileCheckpoint(checkpoint / f"fit-{number:02d}.npz", f"{problem.fingerprint} {chosen!r}")
            one = copy.copy(chosen).fit(problem, checkpoint=keeper, progress=parts)
            return problem.weights_of(one.parameters_), one.result_

    fitted: list[NDArray[np.float64]] = []
    results: list[FitResult | None] = [None] * len(groups)
    with progress("fitting phases", len(wanted)) as task:
        parts = Parts(task)
        for number, (found, result) in zip(wanted, ordered_map(fits, fit, wanted, parts.stop), strict=True):
            fitted.append(found)
            results[number] = result
    weights_by_phase = np.concatenate(fitted)
    if plan is None:
        # A phase without positions plays with the weights of the nearest one that has some.
        weights_by_phase = weights_by_phase[np.searchsorted(known, nearest_of(known.tolist(), phase_count))]
    return PhaseWeights(
        bias=weights_by_phase[:, layout.bias].copy(),
        patterns=weights_by_phase[:, : layout.patterns].copy(),
        configurations=weights_by_phase[:, layout.configuration_start : layout.linear_start].copy(),
        linear=weights_by_phase[:, layout.linear_start : layout.bias] / scales,
        match_counts=match_counts[:, : layout.linear_start].copy(),
        link=link,
        results=tuple(results),
        plan=plan,
    )
