"""What an evaluation knows apart from how it is calibrated: its grade with a scale and a drawishness of other games.

Evaluations come with more or less of a calibration: log odds with a drawishness of their own that suited other games,
probabilities that are too sure, pawns that mean nothing by themselves. Two of them compare like with like only when all
are calibrated to the games in the same way. Recalibrated, a value v and the drawishness alpha of a position become

    v / b    and    log odds(alpha') = level + slope * log odds(alpha),    slope >= 0,

where an evaluation without a drawishness has slope 0. Neither b nor level and slope change which of two positions the
evaluation thinks better or more drawish. They maximize the mean log correctness of the other games: the graded games
are divided into parts, and the positions of a part get what was fitted to the other parts. Each fit also sees a win, a
draw and a loss at the typical advantage (Laplace's rule of succession), so that what its games happen not to have
keeps a probability.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.evaluation.result_distribution import favoured_outcomes, log_correctness
from glem.core.grading.correctness import LEAST_CORRECTNESS
from glem.core.grading.scale import correctness_slopes, fit_scale

__all__ = [
    "FEWEST_GAMES",
    "MOST_LOG_ODDS",
    "PARTS",
    "Calibration",
    "Recalibration",
    "fit_calibration",
    "recalibrated",
]

Floats = NDArray[np.float64]

PARTS = 5
"""Parts into which games are divided that are fitted crossed."""

FEWEST_GAMES = 100
"""With fewer games nothing is recalibrated: the fits would err by more than calibrations differ."""

MOST_LOG_ODDS = 25.0
"""Of a drawishness, either way: it is never exactly 0 or 1."""

_WIDEST = math.log(1e6)
_MOST_FITTED = 20_000
"""Positions that a fit of three numbers needs at most; of more, evenly spaced ones are taken."""


@define(frozen=True)
class Calibration:
    """What makes predictions of values and of log odds of drawishness.

    Parameters
    ----------
    scale
        b.
    level, slope
        log odds(alpha') = level + slope * log odds(alpha).
    """

    scale: float
    level: float
    slope: float

    def alpha(self, log_odds: Any) -> Any:
        """Drawishness of positions whose own has these log odds: one or [N]."""
        odds = np.clip(self.level + self.slope * np.asarray(log_odds), -MOST_LOG_ODDS, MOST_LOG_ODDS)
        return 1.0 / (1.0 + np.exp(-odds))


@define(frozen=True, eq=False)
class Recalibration:
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
    from scipy.optimize import minimize

    outcomes, least = favoured_outcomes(value, result), math.log(floor)

    def loss(point: Floats) -> tuple[float, Floats]:
        tried = Calibration(math.exp(point[0]), *point[1:])
        alpha = tried.alpha(log_odds)
        logs = log_correctness(value, result, tried.scale, alpha)
        by_scale, by_odds = correctness_slopes(outcomes, tried.scale, alpha)
        slopes = np.stack([by_scale, by_odds, by_odds * log_odds])
        slopes[:, logs < least] = 0.0
        return -float(np.maximum(logs, least).mean()), -slopes.mean(axis=1)

    size = math.log(float(np.sqrt(np.mean(value**2))) or 1.0)
    found = minimize(
        loss,
        [min(max(math.log(begin.scale), size - _WIDEST), size + _WIDEST), begin.level, begin.slope],
        jac=True,
        method="L-BFGS-B",
        bounds=[
            (size - _WIDEST, size + _WIDEST),
            (-MOST_LOG_ODDS, MOST_LOG_ODDS),
            (0.0, None) if is_slope_fitted else (begin.slope, begin.slope),
        ],
        options={"ftol": 1e-12, "gtol": 1e-8},
    )
    return Calibration(math.exp(found.x[0]), float(found.x[1]), float(found.x[2]))


def recalibrated(
    value: Any,
    result: NDArray[np.int8],
    game: NDArray[np.int64],
    drawishness: Any = None,
    *,
    seed: int = 0,
    floor: float = LEAST_CORRECTNESS,
) -> Recalibration | None:
    """Calibrate an evaluation anew, each part of the games by the others.

    Parameters
    ----------
    value
        Values from the side to move [N]; infinite ones mean the same at every scale.
    result
        1, 0 or -1 from the side to move [N].
    game
        Small number of each position's game [N], 0 or greater.
    drawishness
        The evaluation's own [N]; None, or one for all, if it has none.
    seed
        Divides the games.
    floor
        A correctness below it counts as it.

    Returns
    -------
    Recalibration
        None with finite values in fewer than :data:`FEWEST_GAMES` games.
    """
    values = np.asarray(value, np.float64)
    finite = np.isfinite(values)
    if np.count_nonzero(np.bincount(game[finite])) < FEWEST_GAMES:
        return None
    odds = np.zeros(len(values))
    if np.ndim(drawishness):
        own = np.asarray(drawishness, np.float64)
        with np.errstate(divide="ignore"):
            odds = np.clip(np.log(own) - np.log1p(-own), -MOST_LOG_ODDS, MOST_LOG_ODDS)
    # Counted in their spread from their mean, so that level and slope are of one size to the optimizer.
    mean, spread = float(odds.mean()), float(odds.std())
    odds = (odds - mean) / (spread or 1.0)
    # By the order of the games, so that gaps between their numbers do not matter.
    is_game = np.bincount(game) > 0
    part = (np.random.default_rng(seed).permutation(int(is_game.sum())) % PARTS)[(np.cumsum(is_game) - 1)[game]]
    found: Calibration | None = None
    fits = []
    logs = np.empty(len(values))
    for number in range(PARTS):
        mine = part == number
        others = np.flatnonzero(~mine & finite)
        # An odd step takes both players' positions.
        others = others[:: -(-len(others) // _MOST_FITTED) | 1]
        typical = float(np.sqrt(np.mean(values[others] ** 2)))
        some = np.concatenate([values[others], np.full(3, typical)])
        results = np.concatenate([result[others], np.array([1, 0, -1], np.int8)])
        if found is None:
            constant = fit_scale(some, results, floor=floor)
            alpha = min(max(constant.drawishness or 0.0, 1e-6), 1 - 1e-6)
            found = Calibration(constant.scale, math.log(alpha) - math.log1p(-alpha), 0.0)
        found = fit_calibration(
            some, results, np.concatenate([odds[others], np.zeros(3)]), found, floor=floor, is_slope_fitted=spread > 0
        )
        fits.append(found)
        logs[mine] = log_correctness(values[mine], result[mine], found.scale, found.alpha(odds[mine]))
    scale = math.exp(float(np.mean([math.log(one.scale) for one in fits])))
    slope = float(np.mean([one.slope for one in fits])) / (spread or 1.0)
    level = float(np.mean([one.level for one in fits])) - slope * mean
    return Recalibration(logs, Calibration(scale, level, slope))
