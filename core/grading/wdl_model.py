"""WDL_model's polynomials a and b fitted to results by maximum likelihood.

The model is :class:`~glem.core.evaluation.result_models.WdlModel`. All coefficients maximize the mean log correctness
of the positions at once, which is the grade that is printed. (WDL_model began with least squares: a and b of each
covariate by its win rates, then polynomials through these.)

The polynomials are fitted in a basis that is orthonormal over the positions, in which all directions have one size, by
sequential quadratic programming (SLSQP of scipy) with the analytic gradient: that a and b stay above 0 wherever the
model is used is linear in the coefficients. Where there are hardly any positions, polynomials would run away: beyond
the last 0.5 % of the covariates at either end, a and b stay what they are there. Each fit also sees a win, a draw and a
loss at the typical advantage, as every calibration does.

Errors are by game (:mod:`~glem.core.fitting.sandwich`), as for the scale b.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.errors import ABOVE_0, BELOW_1, BadInputError, check_arguments
from glem.core.evaluation.result_models import WdlModel, log_probability
from glem.core.fitting.sandwich import GameSums
from glem.core.grading.calibration import covariance_by_game, fit_scale, with_each_result
from glem.core.grading.correctness import LEAST_CORRECTNESS, checked_games

Floats = NDArray[np.float64]

DEGREE = 3
"""Of both polynomials, as Stockfish has them."""

_TAIL = 0.005
_WIDEST_ALONE = 1e3
"""a and b that do not depend on the covariate stay within this factor of Ban's b."""
_WIDEST = 20.0
"""a(m) and b(m) stay within this factor of these."""
_CHECKED = 100
"""Covariates at which that is made sure of."""
_STEP = 1e-5


class Bounds(NamedTuple):
    """Between which covariates a model is fitted, and by what they are divided."""

    least: float
    most: float
    unit: float


def bounds_of(covariate: NDArray[Any], least: float, most: float, unit: float) -> Bounds:
    """Narrow bounds, and the unit with them, to where all but 1 % of the positions lie, to whole numbers."""
    low, high = np.quantile(covariate, [_TAIL, 1 - _TAIL])
    least, most = min(max(math.floor(low), least), most), max(min(math.ceil(high), most), least)
    return Bounds(least, most, min(max(unit, least), most) or 1.0)


@define(frozen=True, eq=False)
class WdlFit:
    """A fitted model.

    Parameters
    ----------
    covariance
        Of the coefficients of a, then of b: float64 [2 (D + 1), 2 (D + 1)]; nan where it cannot be told.
    converged
        Whether the optimizer found a maximum.
    message
        What there is to say about it; empty when all is well.
    """

    model: WdlModel
    covariance: Floats
    converged: bool
    message: str

    def errors(self, covariate: Any) -> tuple[Floats, Floats]:
        """Estimate the standard errors by game of a(m) and b(m) at covariates [M]: float64 [M] each."""
        x = np.clip(np.asarray(covariate, np.float64), self.model.least, self.model.most) / self.model.unit
        count = len(self.model.win)
        powers = np.vander(x, count)
        parts = self.covariance[:count, :count], self.covariance[count:, count:]
        a, b = (np.sqrt(np.maximum(np.einsum("mi,ij,mj->m", powers, part, powers), 0.0)) for part in parts)
        return a, b


def probability_slopes(value: Floats, result: NDArray[Any], a: Any, b: Any) -> tuple[Floats, Floats]:
    """Differentiate each position's log probability by a and by b: float64 [N] each; as for :func:`log_probability`."""
    from scipy.special import expit

    p, q, t = (value + a) / b, (value - a) / b, 2.0 * a / b
    win, loss = expit(q), expit(-p)
    with np.errstate(divide="ignore", over="ignore"):
        rest = 1.0 / np.expm1(t)
    by_p = np.where(result > 0, 0.0, np.where(result < 0, loss - 1.0, loss))
    by_q = np.where(result > 0, 1.0 - win, np.where(result < 0, 0.0, -win))
    by_t = np.where(result == 0, rest, 0.0)
    return (by_p - by_q + 2.0 * by_t) / b, -(by_p * p + by_q * q + by_t * t) / b


@define(frozen=True, eq=False)
class _Problem:
    """Mean log correctness as a function of the coordinates of a, then of b, in a basis of the polynomials."""

    value: Floats
    result: NDArray[np.int8]
    place: NDArray[np.int64]
    """Place of each position's covariate among the distinct ones [N]."""
    basis: Floats
    """[M, D + 1] at the distinct covariates."""
    floor: float

    def slopes(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Log correctness, floored, and its slopes by a and by b: float64 [N] each."""
        a, b = (np.einsum("mi,i->m", self.basis, half)[self.place] for half in np.split(point, 2))
        logs, least = log_probability(self.value, self.result, a, b), math.log(self.floor)
        by_a, by_b = (np.where(logs < least, 0.0, each) for each in probability_slopes(self.value, self.result, a, b))
        return np.maximum(logs, least), by_a, by_b

    def loss(self, point: Floats) -> tuple[float, Floats]:
        logs, *slopes = self.slopes(point)
        sums = [np.bincount(self.place, each, len(self.basis)) for each in slopes]
        gradient = np.concatenate([np.einsum("mi,m->i", self.basis, each) for each in sums])
        return -float(logs.mean()), -gradient / len(self.value)

    def fit(self, begin: Floats, checked: Floats, middle: tuple[float, float], factor: float) -> Any:
        """Minimize the loss while a and b stay within a factor of ``middle`` in the rows of ``checked`` [C, D + 1]."""
        from scipy.optimize import minimize

        rows, center = np.kron(np.eye(2), checked), np.repeat(middle, len(checked))
        both, limits = np.concatenate([rows, -rows]), np.concatenate([center / factor, -center * factor])
        within = {"type": "ineq", "fun": lambda point: both @ point - limits, "jac": lambda _: both}
        options = {"ftol": 1e-14, "maxiter": 500}
        return minimize(self.loss, begin, jac=True, method="SLSQP", constraints=[within], options=options)

    def covariance(self, point: Floats, game: NDArray[np.int64], size: float) -> Floats:
        """Sandwich covariance of the coordinates; nan where it cannot be told.

        Games are those of each position [N]; steps stay within the ``size`` of the least of a and b.
        """
        _, *by_each = self.slopes(point)
        columns = [self.basis[self.place, each] * slope for slope in by_each for each in range(self.basis.shape[1])]
        # The last game is that of the three results which are no data.
        last = int(game.max())
        sums = GameSums(last, in_order=False)
        sums.add(np.stack(columns, axis=1)[game < last], game[game < last])
        every = np.arange(len(point))
        return covariance_by_game(sums, lambda near: self.loss(near)[1] * len(game), point, _STEP * size, every)


def fit_wdl_model(
    value: Any,
    result: Any,
    covariate: Any,
    bounds: Bounds,
    *,
    degree: int = DEGREE,
    game: NDArray[Any] | None = None,
    floor: float = LEAST_CORRECTNESS,
) -> WdlFit:
    """Fit WDL_model's polynomials to results.

    Parameters
    ----------
    value
        Values [N] from the side to move. Infinite ones mean the same in every model and are left out.
    result
        1, 0 or -1 from the side to move [N].
    covariate
        Of the positions [N], such as the material left.
    bounds
        Smaller and greater covariates count as these.
    degree
        Of both polynomials, at most :data:`DEGREE`; lower where there are too few different covariates. Coefficients
        of higher powers are 0.
    game
        Number of each position's game [N], for the errors.
    floor
        A correctness below it counts as it.

    Raises
    ------
    BadInputError
        No finite values but 0, or arrays of different lengths.
    """
    check_arguments({"degree": degree, "floor": floor}, degree=(0, DEGREE), floor=(ABOVE_0, BELOW_1))
    values, results, covariates = np.asarray(value, np.float64), np.asarray(result), np.asarray(covariate, np.float64)
    if not len(values) == len(results) == len(covariates):
        raise BadInputError(f"{len(values)} values go with {len(results)} results and {len(covariates)} covariates")
    games = checked_games(game, len(values))
    known = np.flatnonzero(np.isfinite(values))
    if not values[known].any():
        raise BadInputError("no position has a finite value other than 0: there is nothing to fit a model to")
    clipped = np.clip(covariates[known], bounds.least, bounds.most)
    values, results = with_each_result(values[known], results[known])
    # Values are counted in Ban's b, so that a and b are numbers near 1.
    scale = fit_scale(values, results, floor=floor).scale
    values /= scale
    games = np.concatenate([games[known], np.full(3, games.max() + 1)])
    clipped = np.concatenate([clipped, np.full(3, np.sort(clipped)[len(clipped) // 2])])
    distinct, place = np.unique(clipped / bounds.unit, return_inverse=True)
    terms = min(degree, len(distinct) - 1) + 1

    # Polynomials in the powers are ``coefficients`` times those in the basis, which is orthonormal over the positions.
    weights = np.sqrt(np.bincount(place) / len(place))
    triangle = np.linalg.qr(weights[:, None] * np.vander(distinct, terms))[1]
    coefficients = np.linalg.inv(triangle)
    problem = _Problem(values, results, place, np.vander(distinct, terms) @ coefficients, floor)

    # At first without the covariate.
    alone = evolve(problem, basis=np.ones((len(distinct), 1)))
    a, b = alone.fit(np.ones(2), np.ones((1, 1)), (1.0, 1.0), _WIDEST_ALONE).x.tolist()
    begin = np.concatenate([a * triangle[:, -1], b * triangle[:, -1]])
    checked = np.vander(np.linspace(bounds.least, bounds.most, _CHECKED) / bounds.unit, terms) @ coefficients
    found = problem.fit(begin, checked, (a, b), _WIDEST)
    point = np.asarray(found.x, np.float64)
    remarks = [] if found.success else [f"the optimizer stopped early: {found.message}"]
    at = np.stack([checked @ half for half in np.split(point, 2)]) / [[a], [b]]
    if at.min() < 1.001 / _WIDEST or at.max() > 0.999 * _WIDEST:
        remarks.append("a or b went as far as it may somewhere: these games are too few for such polynomials")
    if min(a, b) < 1.001 / _WIDEST_ALONE or max(a, b) > 0.999 * _WIDEST_ALONE:
        remarks.append("no a and b are best: these games are all decided or all drawn, or the values tell nothing")

    whole = np.kron(np.eye(2), coefficients) * scale
    kept = np.concatenate([np.arange(DEGREE + 1 - terms, DEGREE + 1) + half for half in (0, DEGREE + 1)])
    both, covariance = np.zeros(2 * DEGREE + 2), np.zeros((2 * DEGREE + 2, 2 * DEGREE + 2))
    both[kept] = whole @ point
    covariance[np.ix_(kept, kept)] = whole @ problem.covariance(point, games, min(a, b)) @ whole.T
    return WdlFit(WdlModel(*bounds, *np.split(both, 2)), covariance, not remarks, "; ".join(remarks))
