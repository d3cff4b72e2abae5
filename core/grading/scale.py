"""The scale b and a constant drawishness by maximum likelihood (Ban 2012, section 3.2, algorithm 2, step 5).

Ban leaves the choice of b to the reader. Since the grade is a likelihood, the b that grades an evaluation highest is
the maximum-likelihood one, and so is a constant drawishness. Both are found together, as log b and the log odds of the
drawishness, by bounded quasi-Newton steps (L-BFGS-B of scipy) with the analytic gradient, from the best point of a
coarse grid. For a given drawishness the likelihood is concave in 1 / b, so that the optimum in b is the only one.

A correctness below the grade's floor counts as the floor here too: what is fitted is the grade that is printed. Without
it a single evaluation of a hundred pawns in a lost game would decide b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import FavouredOutcomes, blocks_of, favoured_outcomes, log_correctness
from glem.core.grading.correctness import LEAST_CORRECTNESS, checked_games

__all__ = ["ScaleFit", "correctness_slopes", "fit_scale"]

Floats = NDArray[np.float64]

_WIDEST = 1e6
"""The scale is looked for within this factor of the size of the values."""
_MOST_LOG_ODDS = 25.0
_GRID_SCALES = np.exp(np.linspace(math.log(0.02), math.log(50), 14))
_GRID_LOG_ODDS = (-3.0, 0.0, 3.0)
_GRID_POSITIONS = 10_000
_STEP = 1e-4
_TOLERANCE = 1e-10


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


def _odds(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


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


class _Likelihood:
    """Mean log correctness as a function of what is fitted: log b, and the log odds of a constant drawishness."""

    def __init__(self, value: Floats, result: Any, scale: float | None, drawishness: Any, floor: float) -> None:
        self._value, self._result = value, result
        self._least = math.log(floor)
        self.outcomes = favoured_outcomes(value, result)
        self.scale, self.drawishness = scale, drawishness

    def parameters(self, point: Any) -> tuple[float, Any]:
        scale = math.exp(point[0]) if self.scale is None else self.scale
        return scale, _odds(point[-1]) if self.drawishness is None else self.drawishness

    def __call__(self, point: Any) -> float:
        logs = log_correctness(self._value, self._result, *self.parameters(point))
        return float(np.maximum(logs, self._least).mean())

    def scores(self, point: Any) -> Iterator[tuple[slice, Floats]]:
        """Gradient of each position's log correctness, block by block: rows, and an array [rows, parameters]."""
        scale, alpha = self.parameters(point)
        for rows in blocks_of(len(self._value)):
            outcomes = FavouredOutcomes(self.outcomes.advantage[rows], self.outcomes.result[rows])
            own = alpha[rows] if np.ndim(alpha) else alpha
            by_scale, by_odds = correctness_slopes(outcomes, scale, own)
            wanted = [by_scale] if self.scale is None else []
            slopes = np.stack([*wanted, by_odds] if self.drawishness is None else wanted, axis=1)
            # Where the floor counts, nothing depends on the parameters.
            slopes[log_correctness(self._value[rows], self._result[rows], scale, own) < self._least] = 0.0
            yield rows, slopes

    def gradient(self, point: Any) -> Floats:
        """Gradient of the mean."""
        total: Floats = sum((part.sum(axis=0) for _, part in self.scores(point)), np.zeros(len(point)))
        return total / len(self._value)

    def loss(self, point: Any) -> tuple[float, Floats]:
        return -self(point), -self.gradient(point)


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
    values = np.asarray(value, np.float64)
    results = np.asarray(result)
    log_correctness(values[:1], results[:1], 1.0 if scale is None else scale, 0.5)
    finite = np.isfinite(values)
    games = checked_games(game, len(values))[finite]
    values, results = values[finite], results[finite]
    own = drawishness
    if drawishness is not None and np.ndim(drawishness):
        own = np.asarray(drawishness, np.float64)[finite]
    if own is None and len(results) and not (results == 0).any():
        # With no draws the likelihood falls with the drawishness whatever b is; with nothing else it rises.
        own = 0.0
    elif own is None and len(results) and not results.any():
        own = 1.0
    fitted = tuple(name for name, given in (("scale", scale), ("drawishness", drawishness)) if given is None)
    constant = float(own) if own is not None and not np.ndim(own) else None
    if scale is not None and own is not None:
        return ScaleFit(scale, constant, math.nan, math.nan, fitted, 0, True, "")
    if len(values) == 0:
        raise BadInputError("no finite evaluations to fit a scale to; give the scale and the drawishness")
    size = float(np.sqrt(np.mean(values**2)))
    if scale is None and size == 0:
        # Every scale is as good for an evaluation that is 0 everywhere.
        even = fit_scale(values, results, scale=1.0, drawishness=drawishness, floor=floor)
        text = "the evaluation is 0 everywhere, so that no scale can be fitted"
        return ScaleFit(1.0, even.drawishness, math.nan, even.drawishness_error, fitted, even.iterations, False, text)
    begin = _start(values, results, size, scale, own, floor)
    return _optimum(_Likelihood(values, results, scale, own, floor), begin, games, size, fitted)


def _optimum(
    likelihood: _Likelihood,
    begin: list[float],
    games: NDArray[np.int64],
    size: float,
    fitted: tuple[str, ...],
) -> ScaleFit:
    from scipy.optimize import minimize

    outcomes, scale, own = likelihood.outcomes, likelihood.scale, likelihood.drawishness
    middle = math.log(size) if size else 0.0
    bounds = []
    if scale is None:
        bounds.append((middle - math.log(_WIDEST), middle + math.log(_WIDEST)))
    if own is None:
        bounds.append((-_MOST_LOG_ODDS, _MOST_LOG_ODDS))
    found = minimize(
        likelihood.loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15, "gtol": _TOLERANCE}
    )
    point = np.asarray(found.x, np.float64)
    best_scale, best_alpha = likelihood.parameters(point)
    margin = 1e-3
    inside = [low + margin < place < high - margin for place, (low, high) in zip(point, bounds, strict=True)]
    errors = _errors(likelihood, point, games, inside)
    remarks = []
    separates = scale is None and not ((outcomes.result <= 0) & (outcomes.advantage > 0)).any()
    if separates:
        remarks.append("no scale is best: here the evaluation separates wins from losses without an error")
    elif scale is None and not inside[0]:
        remarks.append("no scale is best: here the evaluation tells nothing of the results")
    if own is None and not inside[-1]:
        best_alpha = float(best_alpha > 0.5)
        remarks.append(f"the drawishness went to {best_alpha:g}")
    # The line search gives up at the last digits; a gradient of nearly zero is what convergence means.
    slope = np.abs(np.asarray(found.jac, np.float64))
    converged = bool(found.success or (slope < 1e-6).all())
    if not converged:
        remarks.append(f"the optimizer stopped early: {found.message}")
    places = iter(errors)
    scale_error = next(places) * best_scale if scale is None else math.nan
    alpha_error = next(places) * best_alpha * (1 - best_alpha) if own is None else math.nan
    return ScaleFit(
        scale=float(best_scale),
        drawishness=None if np.ndim(best_alpha) else float(best_alpha),
        scale_error=float(scale_error),
        drawishness_error=float(alpha_error),
        fitted=fitted,
        iterations=int(found.nit),
        converged=converged and all(inside) and not separates,
        message="; ".join(remarks),
    )


def _start(values: Floats, results: Any, size: float, scale: float | None, own: Any, floor: float) -> list[float]:
    """Best point of a coarse grid, on some of the positions."""
    step = -(-len(values) // _GRID_POSITIONS)
    some_own = own[::step] if own is not None and np.ndim(own) else own
    some = _Likelihood(values[::step], results[::step], scale, some_own, floor)
    scales = [math.log(size * factor) for factor in _GRID_SCALES] if scale is None else [0.0]
    odds = _GRID_LOG_ODDS if own is None else (0.0,)
    points = [
        [*([log_scale] if scale is None else []), *([log_odds] if own is None else [])]
        for log_scale in scales
        for log_odds in odds
    ]
    return max(points, key=some)


def _errors(likelihood: _Likelihood, point: Floats, games: NDArray[np.int64], inside: list[bool]) -> list[float]:
    """Compute standard errors of the fitted parameters by the sandwich formula over games; nan at a bound."""
    free = np.flatnonzero(inside)
    errors = np.full(len(point), math.nan)
    sums = np.zeros((int(games.max()) + 1, len(point)))
    for rows, part in likelihood.scores(point):
        for place in range(len(point)):
            sums[:, place] += np.bincount(games[rows], part[:, place], len(sums))
    hessian = np.empty((len(point), len(point)))
    for place in range(len(point)):
        step = np.zeros(len(point))
        step[place] = _STEP
        hessian[place] = (likelihood.gradient(point + step) - likelihood.gradient(point - step)) / (2 * _STEP)
    number = int((np.bincount(games) > 0).sum())
    if number < 2 or not len(free):
        return errors.tolist()
    spread = number / (number - 1) * sums.T @ sums / len(games) ** 2
    try:
        inverse = np.linalg.inv(-hessian[np.ix_(free, free)])
    except np.linalg.LinAlgError:
        return errors.tolist()
    variances = np.diag(inverse @ spread[np.ix_(free, free)] @ inverse)
    errors[free] = np.sqrt(np.where(variances > 0, variances, math.nan))
    return errors.tolist()
