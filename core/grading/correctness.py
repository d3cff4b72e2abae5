"""The grade of an evaluation: the geometric mean of its correctness (Ban 2012, equation 15), with its error by game.

Positions of one game share its result, so that games, not positions, are what is independent. All errors here are those
of a mean over clusters (:mod:`~glem.core.fitting.sandwich`); with one position a game it is the usual error of a mean.
"""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, check_arguments
from glem.core.fitting.sandwich import mean_of_games

LEAST_CORRECTNESS = 1e-12
"""A correctness below this counts as this, and is counted: one impossible result would make any geometric mean 0."""

_MANY = 100
"""Degrees of freedom from which on a series gives quantiles."""
_SPARSEST = 4
"""Numbers of games up to so many times the positions index a table; greater ones are counted anew."""

Floats = NDArray[np.float64]


@define(frozen=True)
class GradingSettings:
    """How grades are taken and compared.

    Parameters
    ----------
    floor
        A correctness below it counts as it; above 0 and below 1/3, the correctness of knowing nothing.
    confidence
        Of all intervals, between 0 and 1.
    resamples
        Samples of the bootstrap and of the sign-flip test.
    seed
        Of these.
    bins
        Bins of the reliability curves.
    recalibrate
        Whether evaluations are calibrated to the games before they are graded and compared, each part of the games by
        the others; else their calibration is graded as well.

    Raises
    ------
    BadInputError
        A setting is out of range.
    """

    floor: float = LEAST_CORRECTNESS
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    bins: int = 20
    recalibrate: bool = True

    def __attrs_post_init__(self) -> None:
        if not 0 < self.floor < 1 / 3:
            raise BadInputError(f"the least correctness must be above 0 and below 1/3, got {self.floor}")
        if not 0 < self.confidence < 1:
            raise BadInputError(f"the confidence must be between 0 and 1, got {self.confidence}")
        check_arguments(self, resamples=(100, 10_000_000), bins=(1,), seed=(0,))

    def floored(self, log_correctness: NDArray[Any]) -> Floats:
        """Bound logarithms of correctness from below."""
        return np.maximum(np.asarray(log_correctness, np.float64), math.log(self.floor))


DEFAULT_SETTINGS = GradingSettings()


@define(frozen=True)
class Grade:
    """The grade of an evaluation on some positions.

    Parameters
    ----------
    grade
        Geometric mean of the correctness, 0 to 1 (Ban 2012, equation 15).
    error
        Its standard error by game; nan with fewer than two games.
    low, high
        Confidence interval of the grade.
    mean_log, mean_log_error
        Mean of the logarithms of the correctness, and its standard error.
    positions, games
        What was graded.
    floored
        Positions whose correctness was below the floor.
    """

    grade: float
    error: float
    low: float
    high: float
    mean_log: float
    mean_log_error: float
    positions: int
    games: int
    floored: int

    @property
    def interval(self) -> str:
        """The confidence interval in figures; empty where so few games give none."""
        return f"{self.low:.4f}-{self.high:.4f}" if math.isfinite(self.low) and math.isfinite(self.high) else ""


def checked_games(game: NDArray[Any] | None, count: int) -> NDArray[np.int64]:
    """Small numbers of the games [N], from 0 on; every position is a game of its own where they are None.

    Raises
    ------
    BadInputError
        A game is no whole number.
    """
    if game is None:
        return np.arange(count)
    numbers = np.asarray(game)
    if numbers.dtype.kind not in "iu":
        for row in np.flatnonzero(~(np.isfinite(numbers) & (numbers == np.rint(numbers))))[:1].tolist():
            raise BadInputError(f"position {row + 1} has the game {numbers[row]}; expected a whole number")
    if count and int(numbers.min()) >= 0 and int(numbers.max()) <= _SPARSEST * count:
        return numbers.astype(np.int64, copy=False)
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def mean_by_game(values: Floats, game: NDArray[np.int64]) -> tuple[float, float, int]:
    """Mean of values [N], its standard error by game (nan with fewer than two), and the number of games."""
    # Counted from the first value, so that equal values have exactly no error.
    origin = values[0]
    apart = values - origin
    counts, sums = np.bincount(game), np.bincount(game, apart)
    present = counts > 0
    offset, error = mean_of_games(sums[present], counts[present])
    return float(origin) + offset, error, int(present.sum())


def _within(angle: float, freedom: int) -> float:
    """Chance that Student's t is within ``sqrt(freedom) * tan(angle)`` of 0 (Abramowitz, Stegun 1964, 26.7.3-4)."""
    cosine, odd = math.cos(angle), freedom % 2
    term = total = (cosine if freedom > 1 else 0.0) if odd else 1.0
    for place in range(2 + odd, freedom, 2):
        term *= cosine * cosine * (place - 1) / place
        total += term
    chance = math.sin(angle) * total
    return 2 / math.pi * (angle + chance) if odd else chance


@lru_cache
def student_quantile(freedom: int, share: float) -> float:
    """Quantile of Student's t with so many degrees of freedom, of a share from 0.5 on; errs by less than 1e-8 of it.

    Own code, since importing scipy's takes a sixth of the time of a small grading.
    """
    if freedom < _MANY:
        wanted, angle, step = 2 * share - 1, 0.0, 1.0
        density = 2 * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
        # The chance is concave in the angle, so that Newton's steps come near from below.
        while step > 1e-15 * angle:
            step = (wanted - _within(angle, freedom)) / (density * math.cos(angle) ** (freedom - 1))
            angle += step
        return math.sqrt(freedom) * math.tan(angle)
    # A series in the inverse about the normal distribution's (Fisher and Cornish 1960).
    z: float = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum((term / freedom**power for power, term in enumerate(terms, 1)), 0.0)


def grade_of(
    log_correctness: NDArray[Any], game: NDArray[Any] | None = None, settings: GradingSettings = DEFAULT_SETTINGS
) -> Grade:
    """Grade of an evaluation from the logarithms of its correctness.

    Parameters
    ----------
    log_correctness
        One per position [N]; minus infinity where what happened had probability 0.
    game
        Number of each position's game [N]; None where each position is from a game of its own.
    settings
        Floor, and confidence of the interval.
    """
    count = len(log_correctness)
    mean, error, games = mean_by_game(settings.floored(log_correctness), checked_games(game, count))
    # Student's t with one degree of freedom less than games.
    reach = student_quantile(games - 1, 0.5 + settings.confidence / 2) * error if games > 1 else math.nan
    grade = math.exp(mean)
    return Grade(
        grade=grade,
        error=grade * error,
        low=math.exp(mean - reach),
        high=min(math.exp(mean + reach), 1.0) if math.isfinite(reach) else math.nan,
        mean_log=mean,
        mean_log_error=error,
        positions=count,
        games=games,
        floored=int((np.asarray(log_correctness) < math.log(settings.floor)).sum()),
    )
