"""From positions of games to an evaluation with a drawishness, by the likelihood of results."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.errors import ABOVE_0, BELOW_1, BadInputError, check_arguments
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import Learning
from glem.core.fitting.fitters.fitter import Fit
from glem.core.fitting.likelihood_problem import (
    PHASE_BASES,
    LikelihoodProblem,
    LikelihoodWeights,
    PartWeights,
    phase_basis,
)
from glem.core.fitting.minimizing.minimizer import FileCheckpoint
from glem.core.fitting.minimizing.quasi_newton import Minimum, minimize
from glem.core.fitting.packed.blocks import LinearTerms, Packing, active_configurations
from glem.core.fitting.packed.result_rows import LikelihoodChunk, LikelihoodRows
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

BIAS = "bias"
"""Stands for the constants of the phases among names of features."""

_BLOCK = 1 << 15
"""Positions whose feature values are in memory at a time."""

_LOG_ODDS_OF_A_WIN = 8.0
"""Log odds that the greatest final score is taken for at first."""

_INT16 = -32768, 32767
_MOST_SHOWN = 15
_LAYER_STEPS = 1024.0
"""What the log odds of a hidden layer are multiplied by, to be a term of 16 bits whose weight stays."""


@define(frozen=True)
class LikelihoodSettings:
    """How weights are fitted.

    Parameters
    ----------
    l2
        Penalty on corrections to the prior: 1 / sqrt(l2) is their expected size in log odds.
    value_phases, drawishness_phases
        How corrections may differ between phases (:data:`~glem.core.fitting.likelihood_problem.PHASE_BASES`).
    iterations, patience, tolerance
        As of :func:`~glem.core.fitting.minimizing.quasi_newton.minimize`; patience needs held-out games.
    names
        Features that are fitted, and :data:`BIAS`; others keep the weights of the prior; None for all.
    drawishness_names
        The same for the drawishness.
    window
        Only positions that the prior values within so many log odds of even; None for all. Where one side is far ahead
        the log odds are no longer linear in what decides close games.
    """

    l2: float = 4.0
    value_phases: str = "linear"
    drawishness_phases: str = "linear"
    iterations: int = 200
    patience: int | None = 15
    tolerance: float = 1e-8
    names: tuple[str, ...] | None = None
    drawishness_names: tuple[str, ...] | None = None
    window: float | None = None

    def __attrs_post_init__(self) -> None:
        check_arguments(self, value_phases=PHASE_BASES, drawishness_phases=PHASE_BASES)
        check_arguments(self, l2=(0.0,), iterations=(0,), patience=(1,), tolerance=(0.0,), window=(ABOVE_0,))


@define(frozen=True, eq=False, repr=False, kw_only=True)
class LikelihoodFit(Fit):
    """A fit to the results of games.

    Parameters
    ----------
    evaluation
        Its scale is 1, so that values are the log odds of the expected score.
    prior_scale
        b of the fit, in units of the prior's value.
    minimum
        How the search went; its errors are negative mean logarithms of the correctness, without the penalty.
    errors
        Standard errors of the weights of the evaluation; None where there are too many.
    positions, games, held_out_games
        What was fitted, and how many games were left for validation.
    parameters
        Number of parameters.
    recalibrated
        Grades of the prior with nothing but b and the level of its drawishness fitted, on the fitted and on the
        held-out games: what a fit gains beyond these, it gains by weights.
    remarks
        On the files.
    """

    evaluation: ResultEvaluation
    prior_scale: float
    minimum: Minimum
    errors: LikelihoodWeights | None
    positions: int
    games: int
    held_out_games: int
    parameters: int
    recalibrated: tuple[float, float]
    remarks: tuple[str, ...] = ()

    def grades(self) -> tuple[float, float, float, float]:
        """Geometric means of the correctness: fitted games before and after, held-out games before and after.

        A game counts once, with the mean logarithm of its positions; nan without held-out games.
        """
        monitor = self.minimum.monitor
        errors = (monitor.training_errors, monitor.held_out_errors)
        before, after, held_before, held_after = (
            float(np.exp(-curve[place])) for curve in errors for place in (0, monitor.best_iteration)
        )
        return before, after, held_before, held_after

    def lines(self) -> Iterator[str | Table]:
        """Say how the fit went: grades before and after, the scale, the surest weights."""
        before, after, held_before, held_after = self.grades()
        minimum = self.minimum
        yield (
            f"{counted(self.positions, 'position')} of {counted(self.games, 'game')}, "
            f"{counted(self.parameters, 'parameter')}; "
            f"{counted(minimum.monitor.iterations, 'iteration')}, {minimum.reason}"
        )
        games = [f"{counted(self.games, 'fitted game')}", f"{counted(self.held_out_games, 'held-out game')}"]
        grades = zip((before, held_before), self.recalibrated, (after, held_after), strict=True)
        rows = [(name, *(f"{grade:.4f}" for grade in three)) for name, three in zip(games, grades, strict=True)]
        header = ("", "prior", "prior recalibrated", "fitted")
        yield Table(
            "Geometric mean of the probability given to the result", header, rows[: 2 if self.held_out_games else 1]
        )
        if self.held_out_games and held_before < held_after <= self.recalibrated[1]:
            yield "on held-out games the fit is better scaled than the prior, not better ordered"
        error = self.errors.scale if self.errors is not None else math.nan
        more = f" ± {error:.2g}" if math.isfinite(error) else ""
        yield f"scale of the prior: {self.prior_scale:.4g}{more}; the fitted value has scale 1"
        if self.errors is None:
            yield "too many parameters for standard errors"
        else:
            surest = sorted(
                (row for row in self._weights() if row["error"] > 0 and row["feature"] != "bias"),
                key=lambda row: -abs(row["weight"] / row["error"]),
            )[:_MOST_SHOWN]
            yield Table.of(
                "Weights that are known best: log odds a unit of the feature",
                surest,
                {
                    **{name: lambda row, name=name: row[name] for name in ("feature", "part", "phase")},  # type: ignore[misc]
                    "weight": lambda row: f"{row['weight']:+.4f}",
                    "error": lambda row: f"{row['error']:.4f}",
                },
            )
        yield from (f"note: {remark}" for remark in self.remarks)

    def as_json(self) -> dict[str, Any]:
        """Figures of the fit as ``glem fit likelihood --json`` prints them."""
        monitor = self.minimum.monitor
        before, after, held_before, held_after = self.grades()
        return {
            "positions": self.positions,
            "games": self.games,
            "held_out_games": self.held_out_games,
            "parameters": self.parameters,
            "grade": {"before": before, "recalibrated": self.recalibrated[0], "after": after},
            "held_out_grade": {"before": held_before, "recalibrated": self.recalibrated[1], "after": held_after},
            "prior_scale": self.prior_scale,
            "prior_scale_error": None if self.errors is None else self.errors.scale,
            "converged": self.minimum.converged,
            "reason": self.minimum.reason,
            "iterations": monitor.iterations,
            "best_iteration": monitor.best_iteration,
            "weights": self._weights(),
            "remarks": list(self.remarks),
        }

    def _weights(self) -> list[dict[str, Any]]:
        """List the linear weights of value and drawishness with their errors."""
        found = []
        evaluation, errors = self.evaluation, self.errors
        names = evaluation.learning.phases.names
        for part, linear, table in (
            ("value", evaluation.value, None if errors is None else errors.value),
            ("drawishness", evaluation.drawishness, None if errors is None else errors.draw),
        ):
            count = len(linear.linear)
            for place, feature in enumerate((*linear.linear, None)):
                name = "bias" if feature is None else evaluation.learning.features[feature].name
                weights = linear.bias if feature is None else linear.linear_weights[:, place]
                for phase, phase_name in enumerate(names):
                    error = math.nan if table is None else float(table[phase, place - count - 1])
                    own = {"part": part, "feature": name, "phase": phase_name}
                    found.append({**own, "weight": float(weights[phase]), "error": error})
        return found


def without_knowledge(learning: Learning) -> ResultEvaluation:
    """Make the prior of a fit that knows nothing: all positions even, half of what is not won drawn."""
    value = LinearEvaluation(learning, np.zeros(len(learning.phases), np.float32), link=LOGISTIC)
    return ResultEvaluation.with_constant_drawishness(value, 0.5)


def prior_of(evaluation: LinearEvaluation | ResultEvaluation) -> ResultEvaluation:
    """Make a prior of an evaluation of either kind.

    One without a drawishness gets that of :func:`without_knowledge`, and label units become log odds by dividing the
    weights by an eighth of the greatest final score; the fit finds the scale.
    """
    if isinstance(evaluation, ResultEvaluation):
        return evaluation
    unit = 1.0
    # The sums of any sigmoid are log odds already.
    if not evaluation.link.span:
        unit = evaluation.learning.game.greatest_score / _LOG_ODDS_OF_A_WIN
    value = _scaled(evolve(evaluation, link=LOGISTIC), evaluation.weights, unit)
    return ResultEvaluation.with_constant_drawishness(value, 0.5)


def fit_likelihood(
    parts: Iterable[Positions],
    prior: ResultEvaluation,
    settings: LikelihoodSettings | None = None,
    *,
    linear: Sequence[str] = (),
    drawishness: Sequence[str] = (),
    patterns: PatternSet | None = None,
    configurations: ConfigurationSet | None = None,
    held_out: float = 0.0,
    seed: int = 0,
    work: Path | None = None,
    provenance: dict[str, str] | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> LikelihoodFit:
    """Fit value, drawishness and scale to the results of games.

    Parameters
    ----------
    parts
        Positions of the games; read once.
    prior
        Where the fit begins and what it is held to. What it has is fitted too; of a hidden layer the scale alone.
    settings
        How to fit.
    linear, drawishness
        Names of features that the value and the drawishness may use beside those of the prior.
    patterns, configurations
        The same; only for a prior without.
    held_out
        Share of the games, chosen by their keys and the seed, that are not fitted and tell when to stop.
    seed
        Chooses them.
    work
        Folder for the state of an unfinished fit, and for the active terms of positions where there are many; the same
        call continues there after a kill. Its files stay.
    provenance
        Kept in the evaluation.
    jobs
        Threads; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        No positions, a prior that has other patterns or configurations, or settings out of range.
    """
    # Here, so that grading, which takes other things of this module, does not wait for scipy.
    from glem.core.fitting.packed.likelihood_errors import likelihood_errors

    chosen = LikelihoodSettings() if settings is None else settings
    check_arguments({"held_out": held_out, "seed": seed, "jobs": jobs}, held_out=(0.0, BELOW_1), seed=(0,), jobs=(1,))
    basic, drawn = widened(prior.value, linear, patterns, configurations), widened(prior.drawishness, drawishness)
    rows = LikelihoodRows.build(
        _chunks(parts, prior, chosen.window, held_out, seed),
        value=_packing(basic),
        draw=_packing(drawn),
        folder=None if work is None else work / "rows",
        jobs=jobs,
        progress=progress,
    )
    problem = LikelihoodProblem(
        rows,
        _part(basic, chosen.value_phases, chosen.names),
        _part(drawn, chosen.drawishness_phases, chosen.drawishness_names),
        scale=prior.scale,
        l2=chosen.l2,
        # Beside a layer that stays, the scale is known without a penalty too.
        fit_scale=basic.network is not None or (chosen.l2 > 0 and bool(np.any(basic.weights))),
        jobs=jobs,
    )
    minimum = minimize(
        problem.at_steps,
        np.zeros(problem.parameter_count),
        first_step=problem.total_weight,
        iterations=chosen.iterations,
        patience=chosen.patience if problem.held_weight else None,
        tolerance=chosen.tolerance,
        checkpoint=None
        if work is None
        else FileCheckpoint(work / "likelihood.npz", f"{problem.fingerprint} {chosen!r}"),
        progress=progress,
    )
    parameters = minimum.parameters * problem.units
    weights = problem.weights_of(parameters)
    errors = likelihood_errors(problem, parameters)
    # The scale goes into the weights: the value then means the log odds of the expected score.
    fitted = _scaled(basic, _own(basic, weights.value), weights.scale), drawn.with_weights(weights.draw)
    # Where the weights come from stands in the whole; what the prior says of its own is true of them no more.
    value, drawishness_part = (evolve(part, provenance={}) for part in fitted)
    return LikelihoodFit(
        evaluation=ResultEvaluation(value, drawishness_part, 1.0, provenance or {}),
        prior_scale=weights.scale,
        minimum=minimum,
        errors=None if errors is None else evolve(errors, value=_own(basic, errors.value) / weights.scale),
        positions=len(rows),
        games=round(problem.total_weight),
        held_out_games=round(problem.held_weight),
        parameters=problem.parameter_count,
        recalibrated=_recalibrated(rows, prior, basic, drawn, jobs),
    )


def _recalibrated(
    rows: LikelihoodRows, prior: ResultEvaluation, value: LinearEvaluation, drawishness: LinearEvaluation, jobs: int
) -> tuple[float, float]:
    """Grade the prior with b and the level of its drawishness fitted, on the fitted and on the held-out games."""
    problem = LikelihoodProblem(
        rows,
        _part(value, "one", ()),
        _part(drawishness, "one", (BIAS,)),
        scale=prior.scale,
        fit_scale=value.network is not None or bool(np.any(value.weights)),
        jobs=jobs,
    )
    found = minimize(problem.at_steps, np.zeros(problem.parameter_count), first_step=problem.total_weight)
    fitted, held = (
        float(np.exp(-curve[-1])) for curve in (found.monitor.training_errors, found.monitor.held_out_errors)
    )
    return fitted, held


def _chunks(
    parts: Iterable[Positions], prior: ResultEvaluation, window: float | None, held_out: float, seed: int
) -> Iterator[LikelihoodChunk]:
    learning = prior.learning
    for part in parts:
        outside, game = part.held_out_mask(held_out, seed), part.record.astype(np.int64)
        for start in range(0, len(part), _BLOCK):
            rows = slice(start, start + _BLOCK)
            some = part.select(rows)
            values, phase = learning.features.values(some.positions), learning.phases.of(some.positions)
            layer = prior.value.network
            columns = values
            if layer is not None:
                # Behind all features.
                steps = np.rint(_LAYER_STEPS * prior.value.layer_values(values, phase)).clip(*_INT16)
                columns = np.column_stack([values, steps.astype(np.int16)])
            chunk = LikelihoodChunk(columns, phase, some.result, game[rows], outside[rows])
            if window is not None:
                near = np.abs(prior.value.sums_of_values(values, phase)) <= window * prior.scale
                chunk = rows_of(chunk, near)
            yield chunk


def widened(
    evaluation: LinearEvaluation,
    names: Iterable[str],
    patterns: PatternSet | None = None,
    configurations: ConfigurationSet | None = None,
) -> LinearEvaluation:
    """Take features, patterns and configurations into an evaluation, with weights 0.

    Raises
    ------
    BadInputError
        It has patterns or configurations of its own, or a hidden layer, or a feature is unknown.
    """
    if patterns is not None and evaluation.patterns is not None:
        raise BadInputError("the prior has patterns of its own, which are fitted; others cannot be added")
    if configurations is not None and evaluation.configurations is not None:
        raise BadInputError("the prior has configurations of its own, which are fitted; others cannot be added")
    features, phases = evaluation.learning.features, len(evaluation.bias)
    linear = tuple(dict.fromkeys((*evaluation.linear, *(features.index(name) for name in names))))
    added = len(linear) - len(evaluation.linear)
    if evaluation.network is not None and (added or patterns or configurations):
        raise BadInputError("the prior has a hidden layer, beside which no terms are fitted")
    more: dict[str, Any] = {"linear": linear, "linear_weights": np.pad(evaluation.linear_weights, ((0, 0), (0, added)))}
    if patterns is not None:
        more |= {"patterns": patterns, "pattern_weights": np.zeros((phases, patterns.weight_count), np.float32)}
    if configurations is not None:
        weights = np.zeros((phases, len(configurations)), np.float32)
        more |= {"configurations": configurations, "configuration_weights": weights}
    return evolve(evaluation, **more)


def _own(evaluation: LinearEvaluation, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights without that of a hidden layer's value."""
    return weights if evaluation.network is None else np.delete(weights, -2, axis=1)


def _scaled(evaluation: LinearEvaluation, weights: NDArray[Any], unit: float) -> LinearEvaluation:
    """Divide other weights, and what a hidden layer says, by a unit."""
    layer = evaluation.network
    if layer is not None:
        layer = evolve(layer, output=layer.output / np.float32(unit))
    return evolve(evaluation.with_weights(weights / unit), network=layer)


def _packing(evaluation: LinearEvaluation) -> Packing:
    own, most_specific = evaluation.configurations, evaluation.most_specific
    layer = () if evaluation.network is None else (len(evaluation.learning.features),)
    return Packing(
        len(evaluation.bias),
        evaluation.patterns,
        active_configurations(own, most_specific=most_specific) if own else None,
        len(own) if own else 0,
        LinearTerms((*evaluation.linear, *layer)),
        by_phase=False,
    )


def _part(evaluation: LinearEvaluation, phases: str, names: tuple[str, ...] | None) -> PartWeights:
    prior = evaluation.weights.astype(np.float64)
    free = np.ones(prior.shape[1], bool)
    if evaluation.patterns is not None:
        free[evaluation.patterns.null_weights] = False
        if evaluation.network is not None:
            # The layer stays, and what it is over gets no weights beside it.
            free[: evaluation.patterns.weight_count] = False
    if names is not None:
        free[:] = False
        free[-1] = BIAS in names
        wanted = {evaluation.learning.features.index(name) for name in names if name != BIAS}
        free[len(free) - 1 - len(evaluation.linear) : -1] = [feature in wanted for feature in evaluation.linear]
    if evaluation.network is not None:
        prior, free = np.insert(prior, -1, 1 / _LAYER_STEPS, axis=1), np.insert(free, -1, False)
    return PartWeights(prior, phase_basis(phases, len(prior)), free)
