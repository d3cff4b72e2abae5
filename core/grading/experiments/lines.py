"""Straight lines and correlations, with what is known of their errors."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted, interval_text

Numbers = Sequence[float] | NDArray[np.float64]

_FEWEST_FOR_INTERVAL = 4
"""Fisher's z has the variance 1 / (n - 3)."""


@define(frozen=True)
class LineFit:
    """A straight line by least squares.

    Parameters
    ----------
    slope, intercept
        ``y = intercept + slope * x``.
    slope_error
        Standard error of the slope; nan with fewer than three points.
    r_squared
        Share of the variance of y that the line explains; nan where y does not vary, and with fewer than three points,
        through which a line always goes.
    """

    slope: float
    intercept: float
    slope_error: float
    r_squared: float
    points: int


@define(frozen=True)
class Correlation:
    """How closely two figures of the same things go together.

    Parameters
    ----------
    pearson
        Correlation coefficient; nan where one of the figures does not vary.
    low, high
        Its confidence interval by Fisher's z; nan with fewer than four points.
    p_value
        Two-sided, of no correlation.
    spearman
        Correlation of the ranks.
    """

    pearson: float
    low: float
    high: float
    p_value: float
    spearman: float
    points: int

    def text(self, what: str) -> str:
        """Say in one sentence how closely they go together."""
        return (
            f"{what}: r = {self.pearson:+.2f} ({interval_text(self.low, self.high, 2)}), p = {self.p_value:.2g}, "
            f"of the ranks {self.spearman:+.2f}, {counted(self.points, 'point')}"
        )


def fit_line(x: Numbers, y: Numbers) -> LineFit:
    """Fit a straight line to two points or more [n]; :class:`BadInputError` where all have one x."""
    from scipy.stats import linregress

    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if np.ptp(one) == 0:
        raise BadInputError("points that all have one x lie on no single line")
    found: Any = linregress(one, other)
    return LineFit(
        slope=float(found.slope),
        intercept=float(found.intercept),
        slope_error=float(found.stderr) if len(one) > 2 else math.nan,
        r_squared=float(found.rvalue) ** 2 if np.ptp(other) > 0 and len(one) > 2 else math.nan,
        points=len(one),
    )


def correlate(x: Numbers, y: Numbers, *, confidence: float = 0.95) -> Correlation:
    """Correlate two figures [n] of the same three things or more."""
    from scipy.stats import pearsonr, spearmanr

    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return Correlation(math.nan, math.nan, math.nan, math.nan, math.nan, len(one))
    found: Any = pearsonr(one, other)
    ranks: Any = spearmanr(one, other)
    low = high = math.nan
    if len(one) >= _FEWEST_FOR_INTERVAL:
        interval = found.confidence_interval(confidence)
        low, high = float(interval.low), float(interval.high)
    return Correlation(float(found.statistic), low, high, float(found.pvalue), float(ranks.statistic), len(one))
