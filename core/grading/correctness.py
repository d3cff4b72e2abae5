"""The grade of an evaluation: the geometric mean of its correctness (Ban 2012, equation 15), with its error by game.

Positions of one game share its result, so that games, not positions, are what is independent. All errors here are those
of a mean over clusters: with the sum S and the number n of the logarithms of each of G games and their mean m,

    error(m)^2 = G / (G - 1) * sum (S - m n)^2 / (sum n)^2,

which with one position a game is the usual error of a mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError

__all__ = [
    "LEAST_CORRECTNESS",
    "Grade",
    "checked_games",
    "floored",
    "grade_by_group",
    "grade_of",
    "mean_by_game",
    "student_quantile",
]

LEAST_CORRECTNESS = 1e-12
"""A correctness below this counts as this, and is counted: one impossible result would make any geometric mean 0."""

_SPARSEST = 4
"""Numbers of games up to so many times the positions index a table; greater ones are counted anew."""

Floats = NDArray[np.float64]


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


def floored(log_correctness: NDArray[Any], floor: float = LEAST_CORRECTNESS) -> tuple[Floats, NDArray[np.bool_]]:
    """Bound logarithms of correctness from below; the second array tells where that changed one.

    Raises
    ------
    BadInputError
        The floor is not above 0 and below 1/3, the correctness of knowing nothing.
    """
    if not 0 < floor < 1 / 3:
        raise BadInputError(f"the least correctness must be above 0 and below 1/3, got {floor}")
    logs = np.asarray(log_correctness, np.float64)
    below = logs < math.log(floor)
    return np.maximum(logs, math.log(floor)), below


def checked_games(game: NDArray[Any] | None, count: int) -> NDArray[np.int64]:
    """Small numbers of the games [N], from 0 on; every position is a game of its own where they are None."""
    if game is None:
        return np.arange(count)
    if len(game) != count:
        raise BadInputError(f"{count} positions have {len(game)} game numbers")
    numbers = np.asarray(game)
    if count and int(numbers.min()) >= 0 and int(numbers.max()) <= _SPARSEST * count:
        return numbers.astype(np.int64, copy=False)
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def student_quantile(confidence: float, games: int) -> float:
    """Half width of a confidence interval in standard errors: Student's t with one degree of freedom less than games.

    Raises
    ------
    BadInputError
        The confidence is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise BadInputError(f"the confidence must be between 0 and 1, got {confidence}")
    if games < 2:
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(games - 1, 0.5 + confidence / 2))


def mean_by_game(values: Floats, game: NDArray[np.int64]) -> tuple[float, float, int]:
    """Mean of values [N], its standard error by game (nan with fewer than two), and the number of games."""
    # Counted from the first value, so that equal values have exactly no error.
    origin = values[0]
    sums, counts = np.bincount(game, values - origin), np.bincount(game)
    present = counts > 0
    sums, counts = sums[present], counts[present]
    games, total = len(counts), int(counts.sum())
    offset = float(sums.sum() / total)
    mean = float(origin) + offset
    if games < 2:
        return mean, math.nan, games
    deviations = sums - offset * counts
    return mean, math.sqrt(games / (games - 1) * float(deviations @ deviations)) / total, games


def grade_of(
    log_correctness: NDArray[Any],
    game: NDArray[Any] | None = None,
    *,
    floor: float = LEAST_CORRECTNESS,
    confidence: float = 0.95,
) -> Grade:
    """Grade of an evaluation from the logarithms of its correctness.

    Parameters
    ----------
    log_correctness
        One per position [N]; minus infinity where what happened had probability 0.
    game
        Number of each position's game [N]; None where each position is from a game of its own.
    floor
        A correctness below it counts as it.
    confidence
        Of the interval.

    Raises
    ------
    BadInputError
        No positions, or a floor or confidence out of range.
    """
    logs, below = floored(log_correctness, floor)
    if len(logs) == 0:
        raise BadInputError("no positions to grade")
    mean, error, games = mean_by_game(logs, checked_games(game, len(logs)))
    reach = student_quantile(confidence, games) * error
    grade = math.exp(mean)
    return Grade(
        grade=grade,
        error=grade * error,
        low=math.exp(mean - reach),
        high=min(math.exp(mean + reach), 1.0) if math.isfinite(reach) else math.nan,
        mean_log=mean,
        mean_log_error=error,
        positions=len(logs),
        games=games,
        floored=int(below.sum()),
    )


def grade_by_group(
    log_correctness: NDArray[Any],
    game: NDArray[Any] | None,
    group: NDArray[Any],
    names: Sequence[str],
    *,
    floor: float = LEAST_CORRECTNESS,
    confidence: float = 0.95,
) -> tuple[Grade | None, ...]:
    """Grade in each group of positions; None for an empty group.

    Parameters
    ----------
    log_correctness, game, floor, confidence
        As for :func:`grade_of`.
    group
        Group of each position [N], in ``range(len(names))``; -1 for none.
    names
        Names of the groups.
    """
    grades: list[Grade | None] = []
    for place in range(len(names)):
        rows = np.flatnonzero(group == place)
        games = None if game is None else game[rows]
        grades.append(grade_of(log_correctness[rows], games, floor=floor, confidence=confidence) if len(rows) else None)
    return tuple(grades)
