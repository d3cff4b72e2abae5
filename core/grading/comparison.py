"""Two evaluations on the same positions: which is better, by how much, and whether that could be chance.

What is compared is the mean of the logarithms of correctness, whose difference is the logarithm of the ratio of the two
grades. The positions are the same, so that what makes a game hard to predict cancels out of the difference, which is
known far better than either grade.

Two tests by resampling, both by game. The *bootstrap* draws as many games as there are with replacement and gives the
interval of the difference. The *sign-flip test* asks how often a difference as large arises when in every game a coin
decides which of the two evaluations is which: under "no evaluation is better" all of these are as likely.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, mix
from glem.core.grading.correctness import DEFAULT_SETTINGS, GradingSettings, checked_games, mean_by_game
from glem.core.tasks.counts import counted

Floats = NDArray[np.float64]

_FEWEST_GAMES = 6
"""With five games even a difference in the same direction in each has a two-sided p-value of 2 / 32 > 0.05."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Step of splitmix64 (Steele et al. 2014): the odd number nearest to 2^64 divided by the golden ratio."""


@kernel
def _write_bootstrap_means(sums: Any, counts: Any, salt: Any, means: Any) -> None:
    games = np.uint64(len(sums))
    for sample in range(len(means)):
        key = mix(salt + np.uint64(sample))
        total = 0.0
        positions = 0
        bits = np.uint64(0)
        for draw in range(len(sums)):
            # 32 random bits times the number of games, divided by 2^32, are a uniform number below it.
            if draw & 1 == 0:
                bits = mix(key + np.uint64(draw) * _GOLDEN)
            drawn = (bits >> np.uint64(32)) * games >> np.uint64(32)
            bits <<= np.uint64(32)
            total += sums[drawn]
            positions += counts[drawn]
        means[sample] = total / positions


@kernel
def _write_sign_flips(sums: Any, salt: Any, flipped: Any) -> None:
    for sample in range(len(flipped)):
        key = mix(salt + np.uint64(sample))
        total = 0.0
        bits = np.uint64(0)
        for game in range(len(sums)):
            if game & 63 == 0:
                bits = mix(key + np.uint64(game) * _GOLDEN)
            total += sums[game] if bits & np.uint64(1) else -sums[game]
            bits >>= np.uint64(1)
        flipped[sample] = total


def _salt(seed: int, purpose: int) -> np.uint64:
    return mix(np.uint64(seed % (1 << 64))) ^ np.uint64(purpose)


def bootstrap_means(sums: Floats, counts: NDArray[np.int64], resamples: int, seed: int) -> Floats:
    """Means of samples of games drawn with replacement: float64 [resamples].

    Parameters
    ----------
    sums, counts
        Sum of the values of each game's positions, and their number [G], G below 2**32.
    seed
        Equal seeds give equal samples.
    """
    means = np.empty(resamples)
    _write_bootstrap_means(np.ascontiguousarray(sums, np.float64), counts.astype(np.int64), _salt(seed, 1), means)
    return means


def sign_flip_sums(sums: Floats, resamples: int, seed: int) -> Floats:
    """Add up games [G] with random signs: float64 [resamples]; equal seeds give equal signs."""
    flipped = np.empty(resamples)
    _write_sign_flips(np.ascontiguousarray(sums, np.float64), _salt(seed, 2), flipped)
    return flipped


@define(frozen=True)
class Comparison:
    """How a first evaluation compares with a second on the same positions.

    Parameters
    ----------
    first, second
        Their names.
    difference
        Mean log correctness of the first less that of the second; positive where the first is better.
    error
        Its standard error by game.
    low, high
        Bootstrap interval of the difference.
    p_value
        Two-sided, of the sign-flip test of this pair alone.
    adjusted_p_value
        Adjusted for the number of pairs that were compared together (:func:`holm_adjusted`).
    ratio
        Grade of the first divided by that of the second: the exponential of the difference.
    confidence
        Of the interval; an adjusted p-value below 1 less this is significant.
    positions, games
        What both were graded on.
    resamples
        Samples of each test; no p-value is below 1 / (resamples + 1).
    grades
        Of the first and of the second, on these positions.
    pairs
        Number of pairs that were compared together.
    as_given
        Their grades on these positions with the scales and drawishnesses that they came with; None where what is
        compared are not recalibrated grades.
    as_given_difference, as_given_error
        The difference between these in mean log correctness, and its standard error by game; None likewise.
    """

    first: str
    second: str
    difference: float
    error: float
    low: float
    high: float
    p_value: float
    adjusted_p_value: float
    ratio: float
    confidence: float
    positions: int
    games: int
    resamples: int
    grades: tuple[float, float]
    pairs: int = 1
    as_given: tuple[float, float] | None = None
    as_given_difference: float | None = None
    as_given_error: float | None = None

    @property
    def is_reversed(self) -> bool:
        """Whether the two grade in the other order as they were given."""
        return self.as_given_difference is not None and self.difference * self.as_given_difference < 0

    @property
    def is_significant(self) -> bool:
        """Whether the difference is unlikely to be chance: both tests say so."""
        apart = self.low > 0 or self.high < 0
        return self.games >= _FEWEST_GAMES and apart and self.adjusted_p_value < 1 - self.confidence

    @property
    def verdict(self) -> str:
        """One sentence for people."""
        if self.difference == 0 and self.error == 0:
            return f"{self.first} and {self.second} grade alike in every game"
        if self.games < _FEWEST_GAMES:
            return f"{counted(self.games, 'game')} cannot tell {self.first} from {self.second}"
        better, worse = (self.first, self.second) if self.difference > 0 else (self.second, self.first)
        size = math.expm1(abs(self.difference))
        given = self._as_given_text()
        chance = f"p = {self.adjusted_p_value:.2g}" + (f" (adjusted for {self.pairs} pairs)" if self.pairs > 1 else "")
        if not self.is_significant:
            return (
                f"no significant difference: {better} grades {size:.2%} higher than {worse}, {chance}; "
                f"about {self._games_needed():,} games would tell a difference of this size{given}"
            )
        return f"{better} is better than {worse}: it grades {size:.2%} higher, {chance}{given}"

    def _as_given_text(self) -> str:
        if self.as_given is None:
            return ""
        order = 1 if self.difference > 0 else -1
        recalibrated, given = (
            " against ".join(f"{grade:.4f}" for grade in pair[::order]) for pair in (self.grades, self.as_given)
        )
        return f"; recalibrated {recalibrated}, as given {given}{self._disagreement}"

    @property
    def _disagreement(self) -> str:
        """Say where the grades as given differ for another reason than what the evaluations know."""
        assert self.as_given_difference is not None
        assert self.as_given_error is not None
        scaled = self.first if self.as_given_difference > 0 else self.second
        if self.is_reversed:
            return f", in the other order: {scaled} is better scaled, not better ordered"
        if not self.is_significant and abs(self.as_given_difference) > 2 * self.as_given_error:
            return f": {scaled} may be better scaled, it is not known to be better ordered"
        return ""

    def _games_needed(self) -> int:
        """Games with which the observed difference would lie two standard errors from 0."""
        if self.difference == 0 or not math.isfinite(self.error):
            return self.games
        return math.ceil(self.games * (2 * self.error / abs(self.difference)) ** 2)


def holm_adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Adjust the p-values of comparisons, so that the chance of any false discovery keeps its level (Holm 1979).

    The smallest of n is multiplied by n, the next by n - 1 and so on; none becomes smaller than one before it, or
    greater than 1.
    """
    adjusted = list(comparisons)
    least, pairs = 0.0, len(adjusted)
    for rank, place in enumerate(sorted(range(pairs), key=lambda place: comparisons[place].p_value)):
        least = max(least, min(1.0, (pairs - rank) * comparisons[place].p_value))
        adjusted[place] = evolve(comparisons[place], adjusted_p_value=least, pairs=pairs)
    return tuple(adjusted)


def compare(
    first: NDArray[Any],
    second: NDArray[Any],
    game: NDArray[Any] | None = None,
    *,
    names: tuple[str, str] = ("first", "second"),
    as_given: tuple[NDArray[Any], NDArray[Any]] | None = None,
    settings: GradingSettings = DEFAULT_SETTINGS,
) -> Comparison:
    """Compare two evaluations by the logarithms of their correctness on the same positions.

    Parameters
    ----------
    first, second
        Logarithms [N] of the correctness of each.
    game
        Number of each position's game [N]; None where each position is from a game of its own.
    names
        For the verdict.
    as_given
        The same logarithms as given, where ``first`` and ``second`` are recalibrated.
    settings
        Floor, confidence, and samples of the tests.
    """
    logs = settings.floored(first), settings.floored(second)
    differences = logs[0] - logs[1]
    numbers = checked_games(game, len(differences))
    mean, error, games = mean_by_game(differences, numbers)
    counts = np.bincount(numbers)
    sums: Floats = np.bincount(numbers, differences)[counts > 0].astype(np.float64)
    counts = counts[counts > 0]
    tail = 50 * (1 - settings.confidence)
    low, high = np.percentile(bootstrap_means(sums, counts, settings.resamples, settings.seed), [tail, 100 - tail])
    observed = abs(float(sums.sum()))
    # Sums in another order differ in the last digits; those that are equal but for that count as equal.
    slack = 1e-12 * float(np.abs(sums).sum())
    as_large = int((np.abs(sign_flip_sums(sums, settings.resamples, settings.seed)) >= observed - slack).sum())
    p_value = (as_large + 1) / (settings.resamples + 1)
    given: dict[str, Any] = {}
    if as_given is not None:
        one, other = (settings.floored(each) for each in as_given)
        given["as_given"] = math.exp(one.mean()), math.exp(other.mean())
        given["as_given_difference"], given["as_given_error"], _ = mean_by_game(one - other, numbers)
    return Comparison(
        first=names[0],
        second=names[1],
        difference=mean,
        error=error,
        low=float(low),
        high=float(high),
        p_value=p_value,
        adjusted_p_value=p_value,
        ratio=math.exp(mean),
        confidence=settings.confidence,
        positions=len(differences),
        games=games,
        resamples=settings.resamples,
        grades=(math.exp(logs[0].mean()), math.exp(logs[1].mean())),
        **given,
    )
