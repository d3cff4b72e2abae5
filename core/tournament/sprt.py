"""Sequential tests: play until the results tell which of two Elo differences is the truer one.

The generalized sequential probability ratio test (A. Wald 1945; X. Li, J. Liu and Z. Ying 2014) compares the
greatest likelihood of the results under "the first player is ``elo1`` stronger" with that under "it is ``elo0``
stronger". Both maximum likelihood distributions follow M. Van den Bergh, "Comments on Normalized Elo",
https://www.cantate.be/Fishtest/normalized_elo_practical.pdf: proposition 1.1 for a given mean (logistic Elo), section
4.1 for a given ratio of mean and standard deviation (normalized Elo).
"""

import math
from enum import StrEnum

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.tournament.elo import NORMALIZED_ELO_SCALE, PairCounts, moments, score_of_elo

_UNSEEN = 1e-3
"""Count of a result that did not occur: without it, unlikely results would be impossible."""

_PRECISION = 1e-9
_MOST_ITERATIONS = 200
_MOST_DOUBLINGS = 12


class EloModel(StrEnum):
    """What the bounds of a test are measured in."""

    LOGISTIC = "logistic"
    NORMALIZED = "normalized"


class SprtVerdict(StrEnum):
    """What a sequential test has found so far."""

    CONTINUE = "continue"
    ACCEPT_H0 = "H0"
    ACCEPT_H1 = "H1"


@define(frozen=True)
class SprtState:
    """State of a sequential test.

    Parameters
    ----------
    llr
        Logarithm of the likelihood ratio of H1 to H0.
    lower, upper
        H0 is accepted at or below, H1 at or above.
    verdict
        What follows.
    """

    llr: float
    lower: float
    upper: float
    verdict: SprtVerdict


@define(frozen=True)
class Sprt:
    """A sequential test of H1, the first player is ``elo1`` stronger, against H0, it is ``elo0`` stronger.

    Parameters
    ----------
    elo0, elo1
        Elo differences, ``elo0 < elo1``.
    alpha
        Chance of accepting H1 where H0 holds.
    beta
        Chance of accepting H0 where H1 holds.
    model
        ``logistic`` or ``normalized`` Elo.

    Raises
    ------
    BadInputError
        The bounds are not ascending finite numbers, or the chances lie not between 0 and 1 with a sum below 1.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: EloModel | str = EloModel.LOGISTIC

    def __attrs_post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise BadInputError(f"a sequential test needs elo0 < elo1, got {self.elo0} and {self.elo1}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise BadInputError(f"alpha and beta are positive with a sum below 1, got {self.alpha} and {self.beta}")
        if self.model not in set(EloModel):
            raise BadInputError(f"no Elo model {str(self.model)!r}; known: {', '.join(EloModel)}")

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def test(self, results: PairCounts | tuple[int, int, int]) -> SprtState:
        """Judge results.

        Parameters
        ----------
        results
            Game pairs, or wins, draws and losses of single games.

        Returns
        -------
        state
            Its verdict is only valid if the results were judged as they came in, and the test ended at the first
            verdict.
        """
        llr = self._log_likelihood_ratio(results)
        verdict = SprtVerdict.CONTINUE
        if llr >= self.upper:
            verdict = SprtVerdict.ACCEPT_H1
        elif llr <= self.lower:
            verdict = SprtVerdict.ACCEPT_H0
        return SprtState(llr, self.lower, self.upper, verdict)

    def _log_likelihood_ratio(self, results: PairCounts | tuple[int, int, int]) -> float:
        counts: tuple[int, ...] = results.counts if isinstance(results, PairCounts) else tuple(reversed(results))
        if min(counts) < 0:
            raise BadInputError(f"games are counted from 0 on, got {results}")
        if sum(counts) == 0:
            return 0.0
        seen = np.array([count or _UNSEEN for count in counts])
        total = float(seen.sum())
        shares = seen / total
        if self.model == EloModel.LOGISTIC:
            scores = np.linspace(0, 1, len(counts))
            first, second = (_likeliest(scores - score_of_elo(elo), shares) for elo in (self.elo0, self.elo1))
            assert first is not None
            assert second is not None
        else:
            # The score of a pair has 1 / sqrt(2) of a game's standard deviation.
            scale = math.sqrt(2) if isinstance(results, PairCounts) else 1.0
            first, second = (
                _likeliest_of_ratio(shares, scale * elo / NORMALIZED_ELO_SCALE) for elo in (self.elo0, self.elo1)
            )
        return total * float(shares @ np.log(second / first))


def _likeliest(values: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Distribution over values of mean zero that makes the observed shares likeliest (proposition 1.1).

    It is ``share / (1 + theta * value)`` with the root ``theta`` of a decreasing function; None if all values have the
    same sign.
    """
    if not values.min() < 0 < values.max():
        return None
    least, greatest = -1 / values.max(), -1 / values.min()
    while least < (theta := (least + greatest) / 2) < greatest:
        if shares @ (values / (1 + theta * values)) > 0:
            least = theta
        else:
            greatest = theta
    return np.asarray(shares / (1 + theta * values))


def _likeliest_of_ratio(shares: NDArray[np.float64], ratio: float) -> NDArray[np.float64]:
    """Distribution with ``(mean - 1/2) / deviation = ratio`` that makes the observed shares likeliest (section 4.1).

    The iteration may fail far from its solution. It therefore begins at the observed shares, which are the solution
    for their own ratio, and where it fails goes the way to the wanted one in more steps. Where even that fails the
    results contradict the ratio utterly; the solution for the nearest ratio that was reached then says so too.
    """
    mean, variance = moments(shares.tolist())
    observed = (mean - 0.5) / math.sqrt(variance)
    nearest = shares
    for steps in (1 << power for power in range(_MOST_DOUBLINGS)):
        nearest = shares
        for step in range(1, steps + 1):
            improved = _improved(shares, nearest, observed + (ratio - observed) * step / steps)
            if improved is None:
                break
            nearest = improved
        else:
            return nearest
    return nearest


def _improved(shares: NDArray[np.float64], found: NDArray[np.float64], ratio: float) -> NDArray[np.float64] | None:
    """Iterate from a distribution: the condition on the ratio is made linear at the last one; None if that fails."""
    scores = np.linspace(0, 1, len(shares))
    for _ in range(_MOST_ITERATIONS):
        mean, variance = moments(found.tolist())
        values = scores - 0.5 - ratio * math.sqrt(variance) * (1 + (scores - mean) ** 2 / variance) / 2
        improved = _likeliest(values, shares)
        if improved is None:
            return None
        if np.abs(improved / found - 1).max() < _PRECISION:
            return improved
        found = improved
    return None
