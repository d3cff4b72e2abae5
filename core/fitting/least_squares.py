"""From a position set to a fitted evaluation: builds the design, fits the phases, puts the weights together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.errors import BadInputError, check_arguments
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, Link
from glem.core.features.learning import Learning
from glem.core.files.atomic import temporary_folder
from glem.core.fitting.count_rules import CountRules
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.minimizer import FitResult, Minimizer
from glem.core.fitting.normal_equations import SOLVED, NormalEquations
from glem.core.fitting.packed.blocks import LinearTerms, Packing, active_configurations
from glem.core.fitting.packed.part import PackedPositions, PositionsPart, positions_in_parts, value_chunks
from glem.core.fitting.phases import PhaseWeights, fit_phases, neighbours
from glem.core.machine.large_arrays import PIECE, new_array, pieces, scratch_folder, taken
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.parts import Parts, PartsHere
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import Workers

_FALLBACK_POSITIONS = 200
"""Positions of a linear fit, so many for each of its weights where there are as many."""
_MOST_FALLBACK_POSITIONS = 1 << 20

LEAST_GAMES = 20
"""Fewer judge nothing."""

_TRIED = ConjugateGradient(iterations=10)
_TRIED_L2 = 40.0
_STEP = 4.0
_STEPS = 4
_LEAST_SHARE = 0.01
_JUDGING = 0.1
_TRIED_POSITIONS = 1 << 19
_TRIED_SEED = 1 << 20
"""Other games than those that any command holds out."""


@define(frozen=True)
class Terms:
    """What an evaluation is made of; without any, of a number for each phase.

    Parameters
    ----------
    patterns
        Pattern set.
    configurations
        Configurations, of which only the most specific active ones count if ``most_specific``.
    classes
        int32 [C]: configurations of equal number share a weight; None gives each its own.
    linear
        Names of features that enter linearly.
    """

    patterns: PatternSet | None = None
    configurations: ConfigurationSet | None = None
    classes: NDArray[np.int32] | None = None
    most_specific: bool = True
    linear: tuple[str, ...] = ()

    @classmethod
    def of(cls, evaluation: LinearEvaluation) -> Terms:
        """Terms of an evaluation, each configuration with a weight of its own."""
        features = evaluation.learning.features
        names = tuple(features[number].name for number in evaluation.linear)
        return cls(evaluation.patterns, evaluation.configurations, None, evaluation.most_specific, names)

    @property
    def class_count(self) -> int:
        """Number of different weights of configurations."""
        if self.configurations is None:
            return 0
        return len(self.configurations) if self.classes is None else int(self.classes.max(initial=-1)) + 1


@define(frozen=True)
class FitSettings:
    """How weights are fitted.

    Parameters
    ----------
    fitter
        Any :class:`~glem.core.fitting.minimizing.minimizer.Minimizer`. Where weights are few, and conjugate gradient
        would minimize their squared error, it is solved for them
        (:class:`~glem.core.fitting.normal_equations.NormalEquations`).
    link
        Link function.
    l2
        Penalty on squared weights, in positions: a weight with as many matches is halved. One for all phases or each
        its own; None chooses them on held-out games (:func:`train`).
    smoothing
        Factor for positions of adjacent phases (GLEM, section 5.2).
    count_rules
        Count rules of GLEM, section 5.2, or None.
    """

    fitter: Minimizer
    link: Link = IDENTITY
    l2: float | tuple[float, ...] | None = None
    smoothing: float | tuple[float, ...] = 0.0
    count_rules: CountRules | None = None

    def __attrs_post_init__(self) -> None:
        # Said now: positions may be labelled for hours before they are fitted.
        neighbours(1, self.smoothing)
        for each in self.l2 if isinstance(self.l2, tuple) else (self.l2,):
            check_arguments({"l2": each}, l2=(0.0,))

    @classmethod
    def default(cls) -> FitSettings:
        """60 iterations of conjugate gradient, which held-out games judge."""
        return cls(ConjugateGradient(iterations=60, patience=0), smoothing=0.25)


@define(frozen=True, eq=False)
class Training:
    """A fitted evaluation and how the fit went.

    Parameters
    ----------
    evaluation
        The evaluation.
    weights
        Weights by phase with match counts, plan and results. Configuration columns are classes.
    phase_weights
        float64 [K]: total weight of the fitted positions of each phase.
    linear_phases
        Phases whose patterns and configurations could not be fitted, for lack of positions or because held-out games
        never did better for it. They have weights of linear features alone, fitted to the nearest positions.
    has_prior
        Whether the fit began with a prior, which phases keep that could not be fitted.
    """

    evaluation: LinearEvaluation
    weights: PhaseWeights
    phase_weights: NDArray[np.float64]
    linear_phases: tuple[int, ...] = ()
    has_prior: bool = False

    @property
    def results(self) -> tuple[FitResult | None, ...]:
        """How the fit of each phase went, or of all together."""
        return self.weights.results

    @property
    def penalties(self) -> tuple[float, ...]:
        """Penalty of each phase, in positions; 0 of one that was not fitted."""
        return tuple(result.l2 if result else 0.0 for result in self.results)

    def only_in(self, phases: NDArray[np.bool_], prior: LinearEvaluation, terms: Terms) -> Training:
        """Take back what was added to a prior of the same terms in all phases but those, bool [K]."""
        kept = phases[:, None]
        bias = np.where(phases, self.evaluation.bias, prior.bias)
        patterns = np.where(kept, self.evaluation.pattern_weights, prior.pattern_weights)
        linear = np.where(kept, self.evaluation.linear_weights, prior.linear_weights)
        configurations = np.where(kept, self.evaluation.configuration_weights, prior.configuration_weights)
        by_class = configurations if terms.classes is None else configurations[:, _firsts(terms.classes)]
        return attrs.evolve(
            self,
            evaluation=attrs.evolve(
                self.evaluation,
                bias=bias,
                pattern_weights=patterns,
                linear_weights=linear,
                configuration_weights=configurations,
            ),
            weights=attrs.evolve(
                self.weights,
                bias=bias.astype(np.float64),
                patterns=patterns.astype(np.float64),
                linear=linear.astype(np.float64),
                configurations=by_class.astype(np.float64),
            ),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Name the phases that have learned nothing but a linear fit, and those that have learned nothing at all.

        An evaluation that says nothing in a phase plays it blindly.
        """
        results = self.weights.results
        names = self.evaluation.learning.phases.names if len(results) > 1 else ("all phases",)
        nothing = [number for number, result in enumerate(results) if result and not result.improved]
        told = (
            (self.linear_phases, "has only a linear fit"),
            (
                [number for number in nothing if number not in self.linear_phases],
                "keeps its prior" if self.has_prior else "has weights of 0 alone",
            ),
        )
        return tuple(
            f"{', '.join(names[number] for number in phases)} {what}: there were no positions, or fitting more never "
            "improved the error on the held-out games"
            for phases, what in told
            if phases
        )


def values_of(
    learning: Learning, positions: Any, held_out: NDArray[np.bool_] | None = None
) -> Callable[[], Iterator[NDArray[np.int16]]]:
    """Make what gives the values of :func:`value_chunks` anew when it is called, of positions that are not held out."""
    return lambda: (values for values, _ in value_chunks(learning, positions, left_out=held_out))


def train(
    positions: Positions,
    learning: Learning,
    terms: Terms,
    settings: FitSettings | None = None,
    *,
    held_out: NDArray[np.bool_] | None = None,
    prior: LinearEvaluation | None = None,
    work: Path | None = None,
    provenance: dict[str, str] | None = None,
    workers: Workers | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> Training:
    """Fit an evaluation to scored positions.

    Where the active items of all would take much memory, they lie in files, from which each phase reads its own.

    The best penalty is the variance of the labels' noise by that of the weights (their normal prior). Noise differs by
    phase, and the weights vary with what there is to explain. Where the penalty is to be chosen, a few iterations of
    conjugate gradient come first: a phase's penalty is in proportion to the share of its error at the start that they
    leave on held-out games. The factor is the same for all phases, as positions of a game share its result or have
    labels of their own. It is the best of 40, 160, ... or of 40, 10, ..., after as few iterations on the same games.
    Where weights are few, solutions take the place of iterations, and all positions are looked at.

    Parameters
    ----------
    positions
        N scored positions.
    learning
        Features and phases of their game.
    terms
        What the evaluation is made of.
    settings
        How to fit; :meth:`FitSettings.default` by default.
    held_out
        bool [N]: positions that judge the fit and are not fitted, of :data:`LEAST_GAMES` games or more; fewer are
        fitted. Where none judge, a tenth of the games, or more of few, says how great the penalty is, and is fitted
        with the others.
    prior
        Evaluation of the same phases and link. What is fitted, smoothed and penalized is what is added to its weights.
        Terms are the prior's own (:meth:`Terms.of`), or others, which are fitted to what the prior leaves and stand
        beside its own; of those that are not named the weights stay as they are. A phase that cannot be fitted keeps
        the prior.
    work
        Folder for the state of an unfinished fit; the same call continues there after a kill. Its files stay.
    provenance
        Kept in the evaluation, with the fitter and what it was held to.
    workers
        Those that keep something have the positions, by parts, and give sums. They change no result; nor do those that
        are lost or come.
    jobs
        Threads of this process; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        No positions, positions of another game, a prior of other terms, or what
        :func:`~glem.core.fitting.phases.fit_phases` raises.
    """
    chosen = settings if settings is not None else FitSettings.default()
    if positions.game.name != learning.game.name:
        raise BadInputError(f"positions of {positions.game.name} do not fit features of {learning.game.name}")
    if len(positions) == 0:
        raise BadInputError("there are no positions to fit")
    configurations = None
    if terms.configurations is not None:
        configurations = active_configurations(terms.configurations, terms.classes, most_specific=terms.most_specific)
    linear = LinearTerms.from_names(learning.features, terms.linear)
    packing = Packing(len(learning.phases), terms.patterns, configurations, terms.class_count, linear)

    if held_out is not None and len(np.unique(positions.game_key[held_out])) < LEAST_GAMES:
        held_out = None
    offsets = None
    if prior is not None:
        _check_prior(prior, learning, terms, chosen.link)
        offsets = prior.sums(positions.positions, jobs=jobs)
    data = positions.positions, positions.label, positions.weight, offsets
    in_parts = partial(positions_in_parts, workers=workers, jobs=jobs)

    def fitting(parts: Parts, cuts: tuple[slice, ...], folder: Path | None = None) -> Callable[..., PhaseWeights]:
        """Prepare fits of positions in parts, whose items lie in a folder where they are large."""
        places = [None if folder is None else folder / f"part-{number:02d}" for number in range(len(cuts))]
        with progress("indexing positions", len(cuts)) as task:
            how: dict[str, Any] = {"own": places, "done": task.advance}
            packed = parts.derived(PositionsPart.packed, learning, packing, cuts[-1].stop, **how)
        return partial(fit_phases, PackedPositions(packing, packed, cuts), jobs=jobs, progress=progress)

    own = attrs.asdict(chosen, recurse=False) | {"l2": chosen.l2 or 0.0}
    known = None
    # Linear features have no penalty.
    is_chosen = chosen.l2 is None and (terms.patterns is not None or bool(terms.class_count))
    judging = held_out
    if is_chosen and judging is None:
        # More games than these make no difference.
        share = max(_JUDGING, LEAST_GAMES / len(np.unique(positions.game_key[:PIECE])))
        judging = positions.held_out_mask(min(share, 0.5))
    is_exact = (
        isinstance(chosen.fitter, ConjugateGradient)
        and chosen.link == IDENTITY
        and chosen.count_rules is None
        and NormalEquations.fits(packing)
    )

    def solved() -> PhaseWeights:
        """Solve the normal equations."""
        parts, cuts = in_parts(*data)
        judged = [None if judging is None or judging.all() else judging[rows] for rows in cuts]
        with parts:
            equations = NormalEquations.of(parts, learning, packing, judged, progress)
        l2, smoothing = own["l2"], chosen.smoothing
        if is_chosen:
            l2 = _penalties(lambda tried: equations.solve(tried, smoothing).results)
        return (equations if held_out is not None else equations.with_judging()).solve(l2, smoothing)

    with contextlib.ExitStack() as opened:
        if judging is not None and is_chosen and not is_exact:
            if len(positions) > _TRIED_POSITIONS:
                mask = positions.held_out_mask(_TRIED_POSITIONS / len(positions), seed=_TRIED_SEED)
                some = positions.select(mask)
                tried = None if offsets is None else taken(offsets, mask)
                trying = fitting(*in_parts(some.positions, some.label, some.weight, tried, workers=None))
                judges = taken(judging, mask)
            else:
                parts, cuts = in_parts(*data)
                trying = known = fitting(opened.enter_context(parts), cuts)
                judges = judging
            short = own | {"fitter": _TRIED, "held_out": None if judges.all() else judges}
            own["l2"] = _penalties(lambda l2: trying(**short | {"l2": l2}).results)
            # It takes memory.
            del trying
        if is_exact:
            weights = _once(work, "solved", chosen.link, solved)
        else:
            if known is None:
                parts, cuts = in_parts(*data)
                folder = None
                if isinstance(parts, PartsHere) and parts.items[0].is_large(learning, packing, len(positions)):
                    folder = opened.enter_context(_folder_of_items(work or scratch_folder()))
                known = fitting(opened.enter_context(parts), cuts, folder)
            weights = known(held_out=held_out, checkpoint=work, **own)
    fitted = _Fitted.of(positions, learning, held_out)
    linear_phases: tuple[int, ...] = ()
    if prior is not None:
        weights = _added(prior, terms, weights, fitted.weights)
        terms = _united(terms, Terms.of(prior))
    else:
        weights, linear_phases = _with_linear_fallback(weights, positions, fitted, learning, linear)
    penalties = [f"{result.l2:.3g}" for result in weights.results if result]
    told = {
        "fitter": f"{SOLVED if is_exact else repr(chosen.fitter)}, smoothing={chosen.smoothing}",
        "l2": " ".join(penalties if len(set(penalties)) > 1 else penalties[:1]),
    }
    evaluation = _evaluation(learning, terms, weights, chosen, told | (provenance or {}))
    return Training(evaluation, weights, fitted.weights, linear_phases, prior is not None)


class _Fitted(NamedTuple):
    """Which positions were fitted.

    Parameters
    ----------
    phase, is_fitted
        uint8 [N] and bool [N], of all positions.
    weights, counts
        float64 [K] and int64 [K]: total weight and number of the fitted positions of each phase.
    """

    phase: NDArray[np.uint8]
    is_fitted: NDArray[np.bool_]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, positions: Positions, learning: Learning, held_out: NDArray[np.bool_] | None) -> Self:
        """Go through all positions."""
        count, phases = len(positions), len(learning.phases)
        phase, is_fitted = new_array(count, np.uint8), new_array(count, np.bool_)
        weights, counts = np.zeros(phases), np.zeros(phases, np.int64)
        for rows in pieces(count, *positions.positions, positions.weight, phase, is_fitted):
            own = phase[rows] = learning.phases.of(rows_of(positions.positions, rows))
            weight = positions.weight[rows] if held_out is None else positions.weight[rows] * ~held_out[rows]
            is_fitted[rows] = weight > 0
            weights += np.bincount(own, weight, phases)
            counts += np.bincount(own[weight > 0], minlength=phases)
        return cls(phase, is_fitted, weights, counts)


@contextlib.contextmanager
def _folder_of_items(place: Path) -> Iterator[Path]:
    """Give a folder for packed items; it goes with the fit, or with the next one after a kill."""
    place.mkdir(parents=True, exist_ok=True)
    with temporary_folder(place / "items") as folder:
        yield folder


def _once(work: Path | None, name: str, link: Link, find: Callable[[], PhaseWeights]) -> PhaseWeights:
    """Find weights, unless an earlier run has left them in a folder."""
    done = None if work is None else work / f"{name}.npz"
    if done is not None and done.exists():
        return PhaseWeights.load(done, link)
    found = find()
    if done is not None:
        done.parent.mkdir(parents=True, exist_ok=True)
        found.save(done)
    return found


def _penalties(results_of: Callable[[Any], tuple[FitResult | None, ...]]) -> Any:
    """Choose penalties by short fits, which return their results for penalties that are given."""

    def share(result: FitResult | None) -> float:
        # Where nothing is known of a phase, nothing counts as explained.
        errors = np.zeros(1) if result is None else result.held_out_errors
        return max(float(errors.min() / errors[0]), _LEAST_SHARE) if errors[0] > 0 else 1.0

    def error(factor: float) -> float:
        results = results_of(factor * shares)
        return float(np.nansum([each.training_weight * each.held_out_errors[-1] for each in results if each]))

    shares = np.array([share(result) for result in results_of(_TRIED_L2)])
    best, least = _TRIED_L2, error(_TRIED_L2)
    for step in (_STEP, 1 / _STEP):
        for _ in range(_STEPS):
            if not (found := error(best * step)) < least:
                break
            best, least = best * step, found
        if best != _TRIED_L2:
            break
    return best * shares


def _check_prior(prior: LinearEvaluation, learning: Learning, terms: Terms, link: Link) -> None:
    own = Terms.of(prior)
    counted, known = ((each.configurations, each.most_specific) for each in (terms, own))
    classes, weights = terms.classes, prior.configuration_weights
    if counted == known and classes is not None and (weights != weights[:, _firsts(classes)][:, classes]).any():
        raise BadInputError("configurations of one class have different weights in the prior")
    if (
        (link, learning.phases.names) != (prior.link, prior.learning.phases.names)
        or (terms.linear and own.linear and terms.linear != own.linear)
        or (counted[0] is not None and known[0] is not None and counted != known)
        or prior.network is not None
    ):
        raise BadInputError(
            "what is added to a prior has its phases and link, and its configurations and linear features where the "
            "prior has any"
        )


def _firsts(classes: NDArray[np.int32]) -> NDArray[np.intp]:
    """First configuration of each class."""
    return np.unique(classes, return_index=True)[1]


def _united(terms: Terms, own: Terms) -> Terms:
    """Terms of a prior, and behind its patterns and in place of what it lacks those that were fitted."""
    counted = terms if terms.configurations is not None else own
    patterns = terms.patterns if own.patterns is None else own.patterns
    if patterns is not None and terms.patterns is not None and terms.patterns is not patterns:
        patterns = PatternSet(patterns.features, (*patterns.patterns, *terms.patterns.patterns))
    linear = terms.linear or own.linear
    return Terms(patterns, counted.configurations, counted.classes, counted.most_specific, linear)


def _added(prior: LinearEvaluation, terms: Terms, weights: PhaseWeights, sizes: NDArray[np.float64]) -> PhaseWeights:
    """Weights of a prior and what was fitted to be added to them, nothing where a phase has no positions.

    Match counts of terms that were not fitted are nan.
    """
    own, known = Terms.of(prior), (sizes > 0)[:, None]
    counts = np.split(weights.match_counts, [weights.patterns.shape[1]], axis=1)
    changed: dict[str, Any] = {"bias": prior.bias + weights.bias * known[:, 0]}
    for number, kind in enumerate(("patterns", "configurations", "linear")):
        old, new = getattr(prior, f"{kind.removesuffix('s')}_weights"), getattr(weights, kind) * known
        # Otherwise the prior's stand first; of configurations and linear features one of the two has none.
        is_same = getattr(terms, kind) == getattr(own, kind)
        if kind == "configurations" and is_same and terms.classes is not None:
            old = old[:, _firsts(terms.classes)]
        changed[kind] = old + new if is_same else np.concatenate([old, new], axis=1, dtype=np.float64)
        if number < len(counts) and not is_same:
            counts[number] = np.concatenate([np.full(old.shape, np.nan), counts[number]], axis=1)
    return attrs.evolve(weights, match_counts=np.concatenate(counts, axis=1), **changed)


def _with_linear_fallback(
    weights: PhaseWeights,
    positions: Positions,
    fitted: _Fitted,
    learning: Learning,
    linear: LinearTerms,
) -> tuple[PhaseWeights, tuple[int, ...]]:
    """Give phases that have learned nothing weights of the linear features."""
    poor = [number for number, result in enumerate(weights.results) if result is None or not result.improved]
    if not linear.features or len(weights.results) < len(learning.phases) or not poor:
        return weights, ()
    changed = {name: getattr(weights, name).copy() for name in ("bias", "patterns", "configurations", "linear")}
    wanted = min(_FALLBACK_POSITIONS * (len(linear.features) + 1), int(fitted.counts.sum()))
    for number in poor:
        distance = np.abs(np.arange(len(fitted.counts)) - number)
        reach = next(far for far in range(len(distance)) if fitted.counts[distance <= far].sum() >= wanted)
        chosen = np.flatnonzero((distance <= reach)[fitted.phase] & fitted.is_fitted)
        chosen = chosen[:: max(len(chosen) // _MOST_FALLBACK_POSITIONS, 1)]
        values = learning.features.values(rows_of(positions.positions, chosen))[:, linear.features]
        scale = np.sqrt(positions.weight[chosen].astype(np.float64))
        columns = np.column_stack([np.ones(len(chosen)), values]) * scale[:, None]
        sums = weights.link.sums_of(positions.label[chosen])
        found = np.linalg.lstsq(columns, sums * scale, rcond=1e-10)[0]
        changed["patterns"][number] = changed["configurations"][number] = 0
        changed["bias"][number], changed["linear"][number] = found[0], found[1:]
    return attrs.evolve(weights, **changed), tuple(poor)


def _evaluation(
    learning: Learning, terms: Terms, weights: PhaseWeights, settings: FitSettings, provenance: dict[str, str]
) -> LinearEvaluation:
    own = weights.configurations if terms.classes is None else weights.configurations[:, terms.classes]
    return LinearEvaluation(
        learning=learning,
        bias=weights.bias.astype(np.float32),
        link=settings.link,
        patterns=terms.patterns,
        pattern_weights=weights.patterns.astype(np.float32),
        configurations=terms.configurations,
        configuration_weights=own.astype(np.float32),
        most_specific=terms.most_specific,
        linear=tuple(learning.features.index(name) for name in terms.linear),
        linear_weights=weights.linear.astype(np.float32),
        provenance=provenance,
    )
