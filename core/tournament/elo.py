"""How much stronger one player is, and how surely: Elo differences and significance from game pairs or games.

Every opening is played twice with colours reversed, and the two games are not independent: an unbalanced opening
wins one game for either player. The unit of chance is therefore the *pair*, whose score for the first player is 0,
1/2, 1, 3/2 or 2 points (pentanomial statistics). Where only single games exist, wins, draws and losses take the
pairs' place (trinomial statistics).

Logistic Elo ``400 log10(s / (1 - s))`` depends on how often openings are drawn or lost; *normalized* Elo measures the
distance of the score ``s`` from 1/2 in standard deviations of a game, so that it says how many games a test needs:
M. Van den Bergh, "Comments on Normalized Elo", https://www.cantate.be/Fishtest/normalized_elo_practical.pdf.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define
from scipy import special

from glem.core.errors import BadInputError

CONFIDENCE_95 = 1.959963984540054
"""Quantile of the normal distribution that leaves 2.5 % on either side."""

NORMALIZED_ELO_SCALE = 800 / math.log(10)
"""Normalized Elo per standard deviation of a game's score; close to 1/2 it agrees with logistic Elo without draws."""


@define(frozen=True)
class PairCounts:
    """How many game pairs gave the first player 0, 1/2, 1, 3/2 and 2 points.

    Parameters
    ----------
    counts
        The five counts, in this order.

    Raises
    ------
    BadInputError
        There are not five of them, or one is negative.
    """

    counts: tuple[int, ...] = (0, 0, 0, 0, 0)

    def __attrs_post_init__(self) -> None:
        if len(self.counts) != 5 or any(count < 0 for count in self.counts):
            raise BadInputError(f"pair counts are five numbers from 0 on, got {self.counts}")

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(tuple(map(operator.add, self.counts, other.counts)))

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)

    def reversed(self) -> PairCounts:
        """Return the same pairs as the second player sees them."""
        return PairCounts(self.counts[::-1])


@define(frozen=True)
class EloEstimate:
    """How much stronger the first player is.

    Parameters
    ----------
    score
        Winning percentage as a fraction, draws as half a win; nan without games.
    elo
        Logistic Elo difference; infinite for a score of 0 or 1.
    error
        Half the width of its 95 % confidence interval; infinite where the interval reaches a score of 0 or 1.
    normalized_elo
        Normalized Elo difference; nan where all results are equal.
    normalized_error
        Half the width of its 95 % confidence interval.
    superiority
        Likelihood that the first player is the stronger one, by the normal approximation.
    """

    score: float
    elo: float
    error: float
    normalized_elo: float
    normalized_error: float
    superiority: float


def elo_of_score(score: float) -> float:
    """Logistic Elo difference at which a score, 0 to 1, is expected; scores beyond have infinite ones."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def score_of_elo(elo: float) -> float:
    """Score, 0 to 1, that a logistic Elo difference lets expect."""
    return 1 / (1 + 10 ** (-elo / 400))


def moments(counts: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of results that lie evenly from 0 to 1, by how often, or how likely, each is; nan for none."""
    total = sum(counts)
    if total == 0:
        return math.nan, math.nan
    step = 1 / (len(counts) - 1)
    mean = sum(count * place * step for place, count in enumerate(counts)) / total
    variance = sum(count * (place * step - mean) ** 2 for place, count in enumerate(counts)) / total
    return mean, variance


def elo_estimate(counts: Sequence[int]) -> EloEstimate:
    """Estimate the Elo difference from how often each result was, the first player's worst one first.

    Five counts are those of game pairs (pentanomial), three those of single games (trinomial), taken as independent.
    """
    total = sum(counts)
    if total == 0:
        return EloEstimate(math.nan, math.nan, math.nan, math.nan, math.nan, 0.5)
    mean, variance = moments(counts)
    deviation = math.sqrt(variance / total)
    lower, upper = mean - CONFIDENCE_95 * deviation, mean + CONFIDENCE_95 * deviation
    elo = elo_of_score(mean)
    error = math.inf if lower <= 0 or upper >= 1 else (elo_of_score(upper) - elo_of_score(lower)) / 2
    if variance == 0:
        superiority = 0.5 if mean == 0.5 else float(mean > 0.5)
        return EloEstimate(mean, elo, error, math.nan, math.nan, superiority)
    # The mean of a pair has half the variance of a game's.
    games_per_result = len(counts) // 2
    scale = NORMALIZED_ELO_SCALE / math.sqrt(games_per_result * variance)
    superiority = (1 + math.erf((mean - 0.5) / (deviation * math.sqrt(2)))) / 2
    return EloEstimate(mean, elo, error, (mean - 0.5) * scale, CONFIDENCE_95 * deviation * scale, superiority)


def pairs_significance(pairs: PairCounts) -> float:
    """One-sided p-value of "the first player is not stronger": the exact randomization test over pairs.

    If the players were equal, exchanging their names would make each pair's lead of ``x`` points a deficit of ``x``
    as likely as not. Over all assignments of signs to the leads found, the p-value is the share of those whose sum is
    at least the one observed (R. A. Fisher, "The Design of Experiments", 1935, section 21). It needs no assumption
    on openings or draws. Where every decided pair is won by two points it is the sign test.

    Returns
    -------
    p
        At most 0.05 where the first player is significantly stronger at 5 %; 1 without a decided pair.
    """
    lost, behind, _, ahead, won = pairs.counts
    # With B1 of the one-point and B2 of the two-point leads positive, the sum of leads is 2 B1 + 4 B2 less a constant.
    single, double = behind + ahead, lost + won
    needed = ahead + 2 * won
    singles = np.arange(single + 1)
    orders = special.gammaln(single + 1) - special.gammaln(singles + 1) - special.gammaln(single - singles + 1)
    chance = np.exp(orders - single * math.log(2))
    return min(1.0, float(chance @ _binomial_tail(np.ceil((needed - singles) / 2), double)))


def binomial_significance(pairs: PairCounts) -> float:
    """One-sided p-value of the score, as if each pair were one decided game: conservative.

    The chance that ``n`` fair coins show at least the ``n`` pairs' winning percentage of heads. Drawn games and pairs
    make the spread smaller than that of coins, so that the true chance is smaller. For 100 pairs, 59 % are significant
    at 5 %, which is the bound of Buro 1995, section 4.
    """
    points = sum(count * place for place, count in enumerate(pairs.counts))
    return float(_binomial_tail(math.ceil(points / 4), pairs.pairs))


def _binomial_tail(least: Any, coins: int) -> Any:
    """Chance of at least so many heads, one number or several, among fair coins."""
    return special.bdtrc(np.minimum(least - 1, coins), coins, 0.5)
