"""A drawishness from the features of positions, for values that come without one (Ban 2012, section 3.1.2).

Scores in comments, programs, tables and functions give a value and seldom a drawishness. It is fitted to results: its
log odds are linear in the features that the game names for it (``Learning.drawishness``), each with a weight that is a
straight line over the phases,

    log odds(alpha) = level + sum_i (theta(0, i) + theta(1, i) t) f_i + theta(1) t,   t from -1 to 1 over the phases.

The values are not touched. The scale b, the level and theta maximize the mean log correctness of a game less the
penalty of :mod:`glem.core.fitting.likelihood_problem`, l2 / 2 (size_i theta)^2 with size_i the root mean square of a
feature where it is not 0.

What is graded must not have been fitted. So theta comes from other games: from tuning games, or crossed, which means
that the graded games are divided by their keys and each part gets theta from the others. Scale and level are then
fitted to the graded games, as the scale and the constant drawishness are to which it is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import FavouredOutcomes, blocks_of, favoured_outcomes, log_correctness
from glem.core.features.learning import Learning
from glem.core.fitting.likelihood_problem import phase_basis
from glem.core.game.equal_positions import scatter
from glem.core.grading.correctness import LEAST_CORRECTNESS
from glem.core.grading.recalibration import MOST_LOG_ODDS, PARTS, Calibration, fit_calibration
from glem.core.grading.scale import correctness_slopes, fit_scale
from glem.core.grading.scorers.scorer_tables import ScorerTable
from glem.core.tasks.counts import counted

__all__ = [
    "DrawishnessFit",
    "DrawishnessRows",
    "DrawishnessSettings",
    "FeaturedDrawishness",
    "crossed_drawishness",
    "drawishness_values",
    "fit_drawishness",
    "tuned_drawishness",
]

Floats = NDArray[np.float64]

_ITERATIONS = 500
_FEATURE_BLOCK = 1 << 15


@define(frozen=True)
class DrawishnessSettings:
    """How a drawishness is fitted.

    Parameters
    ----------
    l2
        Penalty: 1 / sqrt(l2) is the expected size, in log odds, of what a feature contributes.
    parts
        Into how many parts games are divided that are fitted crossed.
    seed
        Divides them.
    floor
        A correctness below it counts as it.
    """

    l2: float = 4.0
    parts: int = PARTS
    seed: int = 0
    floor: float = LEAST_CORRECTNESS

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.l2 < math.inf:
            raise BadInputError(f"the penalty of a drawishness is finite and not negative, got {self.l2}")
        if self.parts < 2:
            raise BadInputError(f"games are divided into two parts or more, got {self.parts}")


def drawishness_values(learning: Learning, positions: Any) -> NDArray[np.int16]:
    """Values of a game's features of drawishness of N positions: int16 [N, D].

    Raises
    ------
    BadInputError
        The game names no features for it.
    """
    if not learning.drawishness:
        raise BadInputError(
            f"{learning.game.name} names no features of drawishness (Learning.drawishness): there is nothing that a "
            "drawishness could be fitted from; fit one constant"
        )
    columns = [learning.features.index(name) for name in learning.drawishness]
    count = len(positions[0])
    found = np.empty((count, len(columns)), np.int16)
    for start in range(0, count, _FEATURE_BLOCK):
        rows = slice(start, start + _FEATURE_BLOCK)
        found[rows] = learning.features.values(type(positions)(*(column[rows] for column in positions)))[:, columns]
    return found


@define(frozen=True, eq=False)
class DrawishnessRows:
    """N positions with the features of their drawishness, the values that go with it, and results.

    Parameters
    ----------
    features
        int16 [N, D], see :func:`drawishness_values`.
    phase
        Phase of each position [N].
    phase_count
        Number of phases K.
    value
        Values from the side to move [N]; nan where there is none.
    result
        int8 [N]: 1, 0 or -1 from the side to move.
    game_key
        uint64 [N]: hash of the game; a game is one, however many files have it.
    """

    features: NDArray[np.int16]
    phase: NDArray[Any]
    phase_count: int
    value: NDArray[Any]
    result: NDArray[np.int8]
    game_key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.result)

    def select(self, rows: NDArray[Any]) -> DrawishnessRows:
        """Pick some of the rows by a mask or by numbers."""
        columns = (self.value[rows], self.result[rows], self.game_key[rows])
        return DrawishnessRows(self.features[rows], self.phase[rows], self.phase_count, *columns)

    @property
    def is_fitted(self) -> NDArray[np.bool_]:
        """Which have a finite value: others predict the same at every scale, or nothing."""
        finite: NDArray[np.bool_] = np.isfinite(self.value)
        return finite

    @property
    def basis(self) -> Floats:
        """Functions of the phase that weights multiply: a constant and, with several phases, a line [N, R]."""
        found: Floats = phase_basis("linear", self.phase_count)[self.phase]
        return found

    def game_weights(self) -> Floats:
        """Weight of each row by which every game counts once: [N]."""
        _, game, counts = np.unique(self.game_key, return_inverse=True, return_counts=True)
        weights: Floats = 1.0 / counts[game]
        return weights


@define(frozen=True, eq=False)
class DrawishnessFit:
    """Weights of a drawishness.

    Parameters
    ----------
    weights
        float64 [terms]: the constants of the phases, then the features' weights, then their slopes over the phases.
    scale
        b of the values.
    games
        How many games it was fitted to.
    converged
        Whether the optimizer found a maximum.
    """

    weights: Floats
    scale: float
    games: int
    converged: bool

    def log_odds(self, rows: DrawishnessRows) -> Floats:
        """Log odds of the drawishness of positions [N]."""
        return _Terms(rows).log_odds(self.weights)


class _Terms:
    """What the log odds of N positions are linear in: R functions of the phase, and their products with D features.

    The products are not made: weights stand as R constants, and then a column of D for each function.
    """

    def __init__(self, rows: DrawishnessRows) -> None:
        self.basis = rows.basis
        self.features = rows.features.astype(np.float64)
        self.constants = self.basis.shape[1]
        self.count = self.constants * (1 + self.features.shape[1])

    def _columns(self, weights: Floats) -> Floats:
        return weights[self.constants :].reshape(self.constants, -1).T

    def log_odds(self, weights: Floats) -> Floats:
        """Sum of the terms, weighted: [N]."""
        # Without a linear algebra library: its threads would have other bits.
        sums = np.einsum("nd,dr->nr", self.features, self._columns(weights)) + weights[: self.constants]
        found: Floats = np.einsum("nr,nr->n", sums, self.basis)
        return found

    def gradient(self, slopes: Floats) -> Floats:
        """Sum over the positions of slopes [N] times terms."""
        by_function = slopes[:, None] * self.basis
        products = np.einsum("nr,nd->rd", by_function, self.features)
        return np.concatenate([by_function.sum(axis=0), products.ravel()])

    def sizes(self, weights: Floats) -> Floats:
        """Root mean square of each feature where it is not 0, positions weighted; of the constants 1.

        A slope's size is that of its feature, so that the penalty means what it means for the feature.
        """
        squares = np.einsum("n,nd,nd->d", weights, self.features, self.features)
        counts = np.einsum("n,nd->d", weights, self.features != 0)
        sizes = np.sqrt(np.divide(squares, counts, out=np.zeros_like(squares), where=counts > 0))
        return np.concatenate([np.ones(self.constants), np.tile(sizes, self.constants)])


class _Likelihood:
    """Penalized mean log correctness of a game, as a function of log b and of weights in units of their sizes."""

    def __init__(self, rows: DrawishnessRows, settings: DrawishnessSettings) -> None:
        self._result, self._least = rows.result, math.log(settings.floor)
        self._value = rows.value.astype(np.float64)
        self._outcomes = favoured_outcomes(self._value, rows.result)
        self._terms = _Terms(rows)
        self._weights = rows.game_weights()
        self.games = float(self._weights.sum())
        sizes = self._terms.sizes(self._weights)
        self.units = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        self._penalty = np.full(len(self.units), settings.l2 / self.games)
        self._penalty[: self._terms.constants] = 0.0
        # A feature that never occurs stays without a weight.
        self._penalty[self.units == 0] = 1.0

    def loss(self, point: Floats) -> tuple[float, Floats]:
        scale = math.exp(point[0])
        alpha = _alpha_of(self._terms.log_odds(point[1:] * self.units))
        total, by_scale = 0.0, 0.0
        slopes = np.empty(len(alpha))
        for block in blocks_of(len(alpha)):
            outcomes = FavouredOutcomes(self._outcomes.advantage[block], self._outcomes.result[block])
            logs = log_correctness(self._value[block], self._result[block], scale, alpha[block])
            by_log_scale, by_odds = correctness_slopes(outcomes, scale, alpha[block])
            weights = self._weights[block]
            counted = np.where(logs < self._least, 0.0, weights)
            total += float(weights @ np.maximum(logs, self._least))
            by_scale += float(counted @ by_log_scale)
            slopes[block] = counted * by_odds
        penalty = 0.5 * float(self._penalty @ point[1:] ** 2)
        by_weights = self._terms.gradient(slopes) * self.units
        gradient = np.concatenate([[-by_scale / self.games], self._penalty * point[1:] - by_weights / self.games])
        return penalty - total / self.games, gradient


def _alpha_of(log_odds: Floats) -> Floats:
    """Drawishness [N] of log odds [N]; never exactly 0 or 1."""
    alpha: Floats = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS)))
    return alpha


def fit_drawishness(rows: DrawishnessRows, settings: DrawishnessSettings | None = None) -> DrawishnessFit:
    """Fit b and the weights of a drawishness to results.

    Parameters
    ----------
    rows
        N positions. A game counts once, however many of its positions there are.
    settings
        How to fit.

    Raises
    ------
    BadInputError
        No position has a finite value, or all games are drawn, or none.
    """
    from scipy.optimize import minimize

    chosen = DrawishnessSettings() if settings is None else settings
    rows = rows.select(rows.is_fitted)
    if not len(rows):
        raise BadInputError("no position to fit a drawishness to has a finite value")
    drawn = int((rows.result == 0).sum())
    if drawn in (0, len(rows)):
        what = "all" if drawn else "none"
        raise BadInputError(f"a drawishness is fitted to drawn and to decided games; of these {what} are drawn")
    likelihood = _Likelihood(rows, chosen)
    constant = fit_scale(rows.value, rows.result, floor=chosen.floor)
    assert constant.drawishness is not None
    begin = np.zeros(1 + len(likelihood.units))
    begin[0] = math.log(constant.scale)
    begin[1] = math.log(constant.drawishness) - math.log1p(-constant.drawishness)
    found = minimize(
        likelihood.loss,
        begin,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS, "ftol": 1e-12, "gtol": 1e-7},
    )
    point = np.asarray(found.x, np.float64)
    slopes_vanish = bool((np.abs(np.asarray(found.jac, np.float64)) < 1e-4).all())
    return DrawishnessFit(
        point[1:] * likelihood.units,
        math.exp(point[0]),
        round(likelihood.games),
        bool(found.success) or slopes_vanish,
    )


# ------------------------------------------------------------------------------- drawishness of graded positions


@define(frozen=True, eq=False)
class FeaturedDrawishness:
    """A drawishness from features, of positions that it was not fitted to.

    Parameters
    ----------
    alpha
        float64 [N].
    remark
        What it was fitted to, for people.
    table
        Its weights, for people.
    """

    alpha: Floats
    remark: str
    table: ScorerTable


def _levelled(rows: DrawishnessRows, log_odds: Floats, settings: DrawishnessSettings) -> Floats:
    """Drawishness [N] at the level, added to all log odds, that suits the graded games; b is fitted along with it."""
    fitted = np.flatnonzero(rows.is_fitted)
    value, result = rows.value[fitted].astype(np.float64), rows.result[fitted]
    if not (result == 0).any() or not result.any():
        return _alpha_of(log_odds)
    begin = Calibration(fit_scale(value, result, floor=settings.floor).scale, 0.0, 1.0)
    found = fit_calibration(value, result, log_odds[fitted], begin, floor=settings.floor, is_slope_fitted=False)
    return _alpha_of(log_odds + found.level)


def crossed_drawishness(
    name: str, features: Sequence[str], rows: DrawishnessRows, settings: DrawishnessSettings | None = None
) -> FeaturedDrawishness:
    """Find the drawishness of the graded positions, those of a part of the games from a fit to the other parts.

    Parameters
    ----------
    name
        Of the evaluation, for people.
    features
        Names of the D features.
    rows
        The N graded positions.
    settings
        How to fit and to divide the games.

    Raises
    ------
    BadInputError
        A part leaves nothing to fit to.
    """
    chosen = DrawishnessSettings() if settings is None else settings
    hashed = scatter(rows.game_key, chosen.seed) >> np.uint64(32)
    part = (hashed * np.uint64(chosen.parts) >> np.uint64(32)).astype(np.int64)
    log_odds = np.zeros(len(rows))
    fits = []
    for number in range(chosen.parts):
        mine = part == number
        if not mine.any():
            continue
        fits.append(fit_drawishness(rows.select(~mine), chosen))
        log_odds[mine] = fits[-1].log_odds(rows.select(mine))
    remark = (
        f"{name}: drawishness from {counted(len(features), 'feature')}, of each of {chosen.parts} parts of the games "
        "from a fit to the others"
    )
    return _featured(name, features, rows, fits, log_odds, chosen, remark)


def tuned_drawishness(
    name: str,
    features: Sequence[str],
    rows: DrawishnessRows,
    tuning: DrawishnessRows,
    settings: DrawishnessSettings | None = None,
) -> FeaturedDrawishness:
    """Find the drawishness of the graded positions from a fit to other games.

    Parameters
    ----------
    name
        Of the evaluation, for people.
    features
        Names of the D features.
    rows
        The N graded positions.
    tuning
        Positions to fit to; games that are graded as well are left out.
    settings
        How to fit.

    Raises
    ------
    BadInputError
        Nothing is left to fit to.
    """
    chosen = DrawishnessSettings() if settings is None else settings
    is_graded = np.isin(tuning.game_key, rows.game_key)
    fit = fit_drawishness(tuning.select(~is_graded), chosen)
    remark = (
        f"{name}: drawishness from {counted(len(features), 'feature')}, fitted to {counted(fit.games, 'tuning game')}"
    )
    if is_graded.any():
        remark += f"; {len(np.unique(tuning.game_key[is_graded])):,} that are graded too were left out"
    return _featured(name, features, rows, [fit], fit.log_odds(rows), chosen, remark)


def _featured(
    name: str,
    features: Sequence[str],
    rows: DrawishnessRows,
    fits: Sequence[DrawishnessFit],
    log_odds: Floats,
    settings: DrawishnessSettings,
    remark: str,
) -> FeaturedDrawishness:
    if not all(fit.converged for fit in fits):
        remark += " (the optimizer stopped early)"
    table = _table(name, features, rows, np.mean([fit.weights for fit in fits], axis=0))
    return FeaturedDrawishness(_levelled(rows, log_odds, settings), remark, table)


def _table(name: str, features: Sequence[str], rows: DrawishnessRows, weights: Floats) -> ScorerTable:
    """Tell of each feature what it adds to the log odds, those that matter most first."""
    basis = rows.basis
    functions, count = basis.shape[1], len(features)
    constant = weights[functions : functions + count]
    slope = weights[functions + count :] if functions > 1 else np.zeros(count)
    line = basis[:, 1] if functions > 1 else np.zeros(len(rows))
    spread = [
        float(np.std(rows.features[:, place] * (constant[place] + slope[place] * line))) for place in range(count)
    ]
    order: list[int] = np.argsort(-np.array(spread), kind="stable").tolist()
    return ScorerTable(
        f"Drawishness of {name}: log odds that a feature adds",
        ("feature", "first phase", "last phase", "spread"),
        tuple(
            (
                features[place],
                f"{constant[place] - slope[place]:+.4f}",
                f"{constant[place] + slope[place]:+.4f}",
                f"{spread[place]:.3f}",
            )
            for place in order
        ),
    )
