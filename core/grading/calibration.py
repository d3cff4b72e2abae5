"""From values to probabilities of results: scale, drawishness, and what an evaluation knows apart from both.

*As given* an evaluation keeps the scale and the drawishness that it comes with; what it lacks is fitted to the graded
games (Ban 2012, section 3.2, algorithm 2, step 5). Ban leaves the choice of b to the reader. Since the grade is a
likelihood, the b that grades an evaluation highest is the maximum-likelihood one, and so is a constant drawishness.
Both are found together, as log b and the log odds of the drawishness, by bounded Newton steps with the analytic
gradient (:func:`~glem.core.fitting.minimizing.newton.minimize_within`), from the best point of a coarse grid. For a
given drawishness the likelihood is concave in 1 / b, so that the optimum in b is the only one. A correctness below the
grade's floor counts as the floor here too: what is fitted is the grade that is printed. Without it a single evaluation
of a hundred pawns in a lost game would decide b.

*Recalibrated* evaluations compare like with like. They come with more or less of a calibration: log odds with a
drawishness of their own that suited other games, probabilities that are too sure, pawns that mean nothing by
themselves. So all are calibrated to the games in the same way: a value v and the drawishness alpha of a position become

    v / b    and    log odds(alpha') = level + slope * log odds(alpha),    slope >= 0,

where an evaluation without a drawishness has slope 0. Neither b nor level and slope change which of two positions the
evaluation thinks better or more drawish. They maximize the mean log correctness of the other games: the graded games
are divided into parts, and the positions of a part get what was fitted to the other parts. Each fit also sees a win, a
draw and a loss at the typical advantage (Laplace's rule of succession), so that what its games happen not to have
keeps a probability.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.errors import ABOVE_0, BELOW_1, BadInputError, check_arguments
from glem.core.evaluation.result_distribution import FavouredOutcomes, blocks_of, favoured_outcomes, log_correctness
from glem.core.evaluation.result_models import MOST_LOG_ODDS, Calibration, log_odds_of
from glem.core.fitting.minimizing.newton import minimize_within
from glem.core.fitting.sandwich import GameSums
from glem.core.grading.correctness import DEFAULT_SETTINGS, LEAST_CORRECTNESS, GradingSettings, checked_games

Floats = NDArray[np.float64]

PARTS = 5
"""Parts into which games are divided that are fitted crossed."""

FEWEST_GAMES = 100
"""With fewer games nothing is recalibrated: the fits would err by more than calibrations differ."""

_WIDEST = math.log(1e6)
"""The logarithm of the scale is looked for within this distance of that of the size of the values."""
_MOST_FITTED = 20_000
"""Positions that a fit of three numbers needs at most; of more, evenly spaced ones are taken."""
_GRID_SCALES = np.exp(np.linspace(math.log(0.02), math.log(50), 14))
_GRID_LOG_ODDS = (-3.0, 0.0, 3.0)
_GRID_POSITIONS = 10_000
_STEP = 1e-4
_TOLERANCE = 1e-10


@define(frozen=True, eq=False)
class Prediction:
    """What an evaluation says of N positions.

    Parameters
    ----------
    value
        Evaluations [N] from the side to move, in any unit that is proportional to log odds; nan where the evaluation
        has none. Such positions are left out of its grade and of its comparisons, and counted.
    drawishness
        alpha: [N] if the evaluation has its own (nan where it has none), one that is given for all, or None to fit one
        for all.
    scale
        b, or None to fit it.
    unit
        Unit of the values, for people.
    seconds
        Time that a position took on average, in seconds of one process; nan where nobody measured it.
    """

    value: NDArray[Any]
    drawishness: Any = None
    scale: float | None = None
    unit: str = ""
    seconds: float = math.nan

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """For which positions there is a value, and a drawishness if the evaluation has its own: [N]."""
        missing = np.isnan(self.value)
        if np.ndim(self.drawishness):
            missing = missing | np.isnan(self.drawishness)
        known: NDArray[np.bool_] = ~missing
        return known

    def select(self, rows: Any) -> Prediction:
        """Pick some of the positions by a mask [N], numbers or a slice."""
        own = self.drawishness
        return evolve(self, value=self.value[rows], drawishness=own[rows] if np.ndim(own) else own)


@define(frozen=True)
class ScaleFit:
    """A scale and a drawishness.

    Parameters
    ----------
    scale
        b, in the unit of the evaluations.
    drawishness
        The constant alpha; None where each position has its own.
    scale_error, drawishness_error
        Standard errors by game, right also where the model is not; nan for what was given or lies at a bound.
    fitted
        Names of what was fitted: ``scale``, ``drawishness``, both or none.
    iterations
        Of the optimizer.
    converged
        Whether it found a maximum inside the bounds.
    message
        What there is to say about it; empty when all is well.
    """

    scale: float
    drawishness: float | None
    scale_error: float
    drawishness_error: float
    fitted: tuple[str, ...]
    iterations: int
    converged: bool
    message: str

    @property
    def drawishness_text(self) -> str:
        """The drawishness in figures, or that each position has its own."""
        return "its own" if self.drawishness is None else f"{self.drawishness:.3f}"

    def alpha(self, own: Any) -> Any:
        """Return the constant drawishness, or the evaluation's own where it keeps that."""
        return own if self.drawishness is None else self.drawishness


def correctness_slopes(outcomes: FavouredOutcomes, scale: float, alpha: Any) -> tuple[Floats, Floats]:
    """Differentiate each position's log correctness by log b and by the log odds of its drawishness.

    Parameters
    ----------
    outcomes
        Of N positions.
    scale
        b.
    alpha
        Drawishness, above 0 and below 1: one or [N].

    Returns
    -------
    by_scale, by_odds
        float64 [N] each.
    """
    units = outcomes.advantage / scale
    lesser = np.exp(-np.logaddexp(0, units))
    phi = 2 * lesser / (2 - alpha)
    # 1 - phi; 0 only for a certain draw, where an expected win is impossible.
    rest = np.maximum((1 - alpha + np.tanh(units / 2)) / (2 - alpha), np.finfo(np.float64).tiny)
    by_units = np.where(outcomes.result > 0, phi / rest, -1.0) * (1 - lesser)
    spread = alpha * (1 - alpha)
    by_odds = np.select(
        [outcomes.result > 0, outcomes.result < 0],
        [-phi / rest * spread / (2 - alpha), -alpha + spread / (2 - alpha)],
        (1 - alpha) + spread / (2 - alpha),
    )
    return -units * by_units, by_odds


@define(frozen=True, eq=False)
class _Likelihood:
    """Mean log correctness as a function of log b, and of level and slope of the log odds of the drawishness."""

    value: Floats
    result: NDArray[np.int8]
    log_odds: Any
    """Of the evaluation's drawishness: one or [N]."""
    floor: float
    given: Any = None
    """Drawishness in place of that of level and slope: one or [N]."""

    @property
    def outcomes(self) -> FavouredOutcomes:
        return favoured_outcomes(self.value, self.result)

    def alpha(self, point: Any) -> Any:
        return Calibration(1.0, *point[1:]).alpha(self.log_odds) if self.given is None else self.given

    def scores(self, point: Any) -> Iterator[tuple[slice, Floats, Floats]]:
        """Log correctness of each position and its gradient, block by block: rows, [rows] and [3, rows]."""
        scale, alpha, least = math.exp(point[0]), self.alpha(point), math.log(self.floor)
        for rows in blocks_of(len(self.value)):
            own, odds = (each[rows] if np.ndim(each) else each for each in (alpha, self.log_odds))
            logs = log_correctness(self.value[rows], self.result[rows], scale, own)
            outcomes = favoured_outcomes(self.value[rows], self.result[rows])
            by_scale, by_odds = correctness_slopes(outcomes, scale, own)
            slopes = np.stack([by_scale, by_odds, by_odds * odds])
            # Where the floor counts, nothing depends on the parameters.
            slopes[:, logs < least] = 0.0
            yield rows, np.maximum(logs, least), slopes

    def loss(self, point: Any) -> tuple[float, Floats]:
        total, slope = 0.0, np.zeros(3)
        for _, logs, slopes in self.scores(point):
            total += float(logs.sum())
            slope += slopes.sum(axis=1)
        return -total / len(self.value), -slope / len(self.value)

    def errors(self, point: Floats, games: NDArray[np.int64], free: NDArray[np.int64]) -> Floats:
        """Compute standard errors of the free parameters by game; nan for the others."""
        sums = GameSums(int(games.max()) + 1, in_order=False)
        for rows, _, slopes in self.scores(point):
            sums.add(slopes[free].T, games[rows])
        covariance = covariance_by_game(sums, lambda near: self.loss(near)[1] * len(games), point, _STEP, free)
        errors, variances = np.full(3, math.nan), np.diag(covariance)
        errors[free] = np.sqrt(np.where(variances > 0, variances, math.nan))
        return errors


def covariance_by_game(
    sums: GameSums, gradient: Callable[[Floats], Floats], point: Floats, step: float, free: NDArray[np.int64]
) -> Floats:
    """Sandwich covariance of the free ones of k parameters; nan where it cannot be told.

    Parameters
    ----------
    sums
        Of the slopes of all rows by the free parameters.
    gradient
        Of what is minimized, a sum over rows: float64 [k] at parameters [k].
    point, step
        Where, and by how much parameters change for the second derivatives.
    free
        Numbers of the free parameters.
    """
    steps = step * np.eye(len(point))[free]
    differences = [(gradient(point + each) - gradient(point - each))[free] for each in steps]
    curvature = np.reshape(differences, (len(free), len(free))) / (2 * step)
    try:
        inverse = np.asarray(np.linalg.inv((curvature + curvature.T) / 2), np.float64)
    except np.linalg.LinAlgError:
        return np.full(curvature.shape, math.nan)
    return sums.covariance(inverse, len(free))


def fit_scale(
    value: Any,
    result: Any,
    *,
    scale: float | None = None,
    drawishness: Any = None,
    game: NDArray[Any] | None = None,
    floor: float = LEAST_CORRECTNESS,
) -> ScaleFit:
    """Fit the scale b and a constant drawishness to results.

    Parameters
    ----------
    value
        Evaluations [N] from the side to move. Infinite ones predict the same at every scale and are left out.
    result
        1, 0 or -1 from the side to move [N].
    scale
        b; fitted if None.
    drawishness
        alpha, one or [N]; one for all positions is fitted if None.
    game
        Number of each position's game [N], for the standard errors.
    floor
        A correctness below it counts as it.

    Returns
    -------
    ScaleFit
        Without a draw among the results the fitted drawishness is 0, without a decided game it is 1.

    Raises
    ------
    BadInputError
        No finite evaluation to fit to, or an argument out of range.
    """
    check_arguments({"floor": floor}, floor=(ABOVE_0, BELOW_1))
    values = np.asarray(value, np.float64)
    results = np.asarray(result)
    log_correctness(values[:1], results[:1], 1.0 if scale is None else scale, 0.5)
    finite = np.isfinite(values)
    games = checked_games(game, len(values))[finite]
    values, results = values[finite], results[finite]
    own = np.asarray(drawishness, np.float64)[finite] if np.ndim(drawishness) else drawishness
    if own is None and len(results) and not (results == 0).any():
        # With no draws the likelihood falls with the drawishness whatever b is; with nothing else it rises.
        own = 0.0
    elif own is None and len(results) and not results.any():
        own = 1.0
    fitted = tuple(name for name, given in (("scale", scale), ("drawishness", drawishness)) if given is None)
    if scale is not None and own is not None:
        constant = None if np.ndim(own) else float(own)
        return ScaleFit(scale, constant, math.nan, math.nan, fitted, 0, True, "")
    if len(values) == 0:
        raise BadInputError("no finite evaluations to fit a scale to; give the scale and the drawishness")
    size = _size(values)
    if scale is None and size == 0:
        # Every scale is as good for an evaluation that is 0 everywhere.
        even = fit_scale(values, results, scale=1.0, drawishness=drawishness, floor=floor)
        text = "the evaluation is 0 everywhere, so that no scale can be fitted"
        return evolve(even, scale_error=math.nan, fitted=fitted, converged=False, message=text)
    likelihood = _Likelihood(values, results, 0.0, floor, own)
    begun = np.log(size * _GRID_SCALES).tolist() if scale is None else [math.log(scale)]
    bounds = [
        (math.log(size) - _WIDEST, math.log(size) + _WIDEST) if scale is None else (begun[0], begun[0]),
        (-MOST_LOG_ODDS, MOST_LOG_ODDS) if own is None else (0.0, 0.0),
        (0.0, 0.0),
    ]
    # The best point of a coarse grid, on some of the positions.
    step = slice(None, None, -(-len(values) // _GRID_POSITIONS))
    given = own[step] if isinstance(own, np.ndarray) else own
    some = evolve(likelihood, value=values[step], result=results[step], given=given)
    grid = itertools.product(begun, _GRID_LOG_ODDS if own is None else [0.0], [0.0])
    found = minimize_within(likelihood.loss, min(grid, key=lambda point: some.loss(point)[0]), bounds, _TOLERANCE)
    point, margin = found.point, 1e-3
    inside = [low + margin < place < high - margin for place, (low, high) in zip(point, bounds, strict=True)]
    errors = likelihood.errors(point, games, np.flatnonzero(inside))
    best_scale, best_alpha = math.exp(point[0]) if scale is None else scale, likelihood.alpha(point)
    remarks = []
    outcomes = likelihood.outcomes
    separates = scale is None and not ((outcomes.result <= 0) & (outcomes.advantage > 0)).any()
    if separates:
        remarks.append("no scale is best: here the evaluation separates wins from losses without an error")
    elif scale is None and not inside[0]:
        remarks.append("no scale is best: here the evaluation tells nothing of the results")
    if own is None and not inside[1]:
        best_alpha = float(best_alpha > 0.5)
        remarks.append(f"the drawishness went to {best_alpha:g}")
    if not found.slope < 1e-6:
        remarks.append(f"the fit stopped where the slope is still {found.slope:.2g}")
    return ScaleFit(
        scale=float(best_scale),
        drawishness=None if np.ndim(best_alpha) else float(best_alpha),
        scale_error=float(errors[0] * best_scale),
        drawishness_error=math.nan if np.ndim(best_alpha) else float(errors[1] * best_alpha * (1 - best_alpha)),
        fitted=fitted,
        iterations=found.iterations,
        converged=not remarks,
        message="; ".join(remarks),
    )


def log_correctness_of(
    prediction: Prediction, result: NDArray[Any], game: NDArray[Any] | None = None, floor: float = LEAST_CORRECTNESS
) -> tuple[ScaleFit, Floats]:
    """Logarithms of the correctness [N] of an evaluation as given, and the fit of what it lacks.

    Parameters
    ----------
    prediction
        What it says of N positions; nothing is nan.
    result, game, floor
        As for :func:`fit_scale`.
    """
    value, own = prediction.value, prediction.drawishness
    fit = fit_scale(value, result, scale=prediction.scale, drawishness=own, game=game, floor=floor)
    return fit, log_correctness(value, result, fit.scale, fit.alpha(own))


class Recalibration(NamedTuple):
    """An evaluation with the calibrations that were fitted to the other parts of the games.

    Parameters
    ----------
    logs
        Logarithms of the correctness [N], each position's under the calibration of its part.
    calibration
        Means over the parts; that of the scale is geometric.
    """

    logs: Floats
    calibration: Calibration


def fit_calibration(
    value: Floats,
    result: NDArray[np.int8],
    log_odds: Any,
    begin: Calibration,
    *,
    floor: float = LEAST_CORRECTNESS,
    is_slope_fitted: bool,
) -> Calibration:
    """Fit scale, level and, if wanted, slope to results.

    Parameters
    ----------
    value
        Finite values from the side to move [N].
    result
        1, 0 or -1 from the side to move [N].
    log_odds
        Of the evaluation's drawishness: one or [N].
    begin
        Where to begin.
    floor
        A correctness below it counts as it.
    is_slope_fitted
        Whether the slope is fitted, or stays.
    """
    size = math.log(_size(value) or 1.0)
    bounds = [
        (size - _WIDEST, size + _WIDEST),
        (-MOST_LOG_ODDS, MOST_LOG_ODDS),
        (0.0, math.inf) if is_slope_fitted else (begin.slope, begin.slope),
    ]
    start = math.log(begin.scale), begin.level, begin.slope
    found = minimize_within(_Likelihood(value, result, log_odds, floor).loss, start, bounds, 1e-8)
    log_scale, level, slope = found.point.tolist()
    return Calibration(math.exp(log_scale), level, slope)


def parts_of_games(game: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Divide games into :data:`PARTS` parts at random: the part of each position [N], all of a game in one.

    Parameters
    ----------
    game
        Small number of each position's game [N], 0 or greater.
    seed
        Equal seeds give equal parts.
    """
    # By the order of the games, so that gaps between their numbers do not matter.
    is_game = np.bincount(game) > 0
    of_game = np.random.default_rng(seed).permutation(int(is_game.sum())) % PARTS
    parts: NDArray[np.int64] = of_game[(np.cumsum(is_game) - 1)[game]]
    return parts


def recalibrated(
    prediction: Prediction,
    result: NDArray[np.int8],
    game: NDArray[Any] | None = None,
    settings: GradingSettings = DEFAULT_SETTINGS,
) -> Recalibration | None:
    """Calibrate an evaluation anew, each part of the games by the others.

    Parameters
    ----------
    prediction
        What it says of N positions; infinite values mean the same at every scale, and nothing is nan. Neither its scale
        nor a drawishness that is one for all counts.
    result, game
        As for :func:`fit_scale`.
    settings
        The floor, and the seed that divides the games.

    Returns
    -------
    Recalibration
        None with finite values in fewer than :data:`FEWEST_GAMES` games.
    """
    values, floor = np.asarray(prediction.value, np.float64), settings.floor
    finite, games = np.isfinite(values), checked_games(game, len(values))
    if np.count_nonzero(np.bincount(games[finite])) < FEWEST_GAMES:
        return None
    own = _Calibrating.of(values, result, prediction.drawishness, floor)
    part = parts_of_games(games, settings.seed)
    found: Calibration | None = None
    fits = []
    logs = np.empty(len(values))
    for number in range(PARTS):
        mine = part == number
        found = own.fit(np.flatnonzero(~mine & finite), found)
        fits.append(found)
        logs[mine] = log_correctness(values[mine], result[mine], found.scale, found.alpha(own.odds[mine]))
    scale = math.exp(float(np.mean([math.log(one.scale) for one in fits])))
    level, slope = (float(np.mean([getattr(one, name) for one in fits])) for name in ("level", "slope"))
    return Recalibration(logs, own.plain(Calibration(scale, level, slope)))


def calibrated(
    value: Any, result: NDArray[np.int8], drawishness: Any = None, *, floor: float = LEAST_CORRECTNESS
) -> Calibration:
    """Calibrate an evaluation to all games, as :func:`recalibrated` does to the other parts of them.

    Raises
    ------
    BadInputError
        No value is finite.
    """
    values = np.asarray(value, np.float64)
    own = _Calibrating.of(values, result, drawishness, floor)
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        raise BadInputError("no finite evaluations to fit a scale to; give the scale and the drawishness")
    return own.plain(own.fit(rows))


class _Calibrating(NamedTuple):
    """What calibrations are fitted to; log odds count in their spread from their mean: level and slope are of one size.

    Parameters
    ----------
    odds
        Standard log odds of the drawishness [N].
    mean, spread
        Of the log odds; 0 where there is no drawishness of its own.
    """

    value: Floats
    result: NDArray[np.int8]
    odds: Floats
    mean: float
    spread: float
    floor: float

    @classmethod
    def of(cls, value: Floats, result: NDArray[np.int8], drawishness: Any, floor: float) -> _Calibrating:
        odds = log_odds_of(drawishness) if np.ndim(drawishness) else np.zeros(len(value))
        mean, spread = float(odds.mean()), float(odds.std())
        return cls(value, result, (odds - mean) / (spread or 1.0), mean, spread, floor)

    def plain(self, found: Calibration) -> Calibration:
        """Give a calibration of standard log odds as one of plain ones."""
        slope = found.slope / (self.spread or 1.0)
        return evolve(found, level=found.level - slope * self.mean, slope=slope)

    def fit(self, rows: NDArray[np.int64], begin: Calibration | None = None) -> Calibration:
        """Fit to some of the positions, and to a win, a draw and a loss at the typical advantage."""
        # An odd step takes both players' positions.
        rows = rows[:: -(-len(rows) // _MOST_FITTED) | 1]
        value, result = with_each_result(self.value[rows], self.result[rows])
        if begin is None:
            constant = fit_scale(value, result, floor=self.floor)
            alpha = min(max(constant.drawishness or 0.0, 1e-6), 1 - 1e-6)
            begin = Calibration(constant.scale, math.log(alpha) - math.log1p(-alpha), 0.0)
        odds = np.concatenate([self.odds[rows], np.zeros(3)])
        return fit_calibration(value, result, odds, begin, floor=self.floor, is_slope_fitted=self.spread > 0)


def with_each_result(value: Floats, result: NDArray[Any]) -> tuple[Floats, NDArray[np.int8]]:
    """Add a win, a draw and a loss at the typical advantage to values and results [N]."""
    results = np.concatenate([result, [1, 0, -1]]).astype(np.int8)
    return np.concatenate([value, np.full(3, _size(value))]), results


def _size(value: Floats) -> float:
    return float(np.sqrt(np.mean(value**2)))
