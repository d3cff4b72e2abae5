"""From an evaluation and a drawishness to the probabilities of the three results (Ban 2012, section 3.1).

The paper speaks from White's view. Its equations keep their form when both sides are exchanged, so that here, as
everywhere in glem, values and results are from the side to move: a win is a win of that side.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError

_BLOCK = 1 << 16
"""Positions at a time: what is computed on the way fits into the cache, and memory stays small."""

Floats = NDArray[np.float64]


class ResultDistribution(NamedTuple):
    """Probabilities of the results of N positions, from the side to move: three float64 arrays [N]."""

    win: Floats
    draw: Floats
    loss: Floats


class FavouredOutcomes(NamedTuple):
    """Evaluations and results seen from the favoured side, the one for which the evaluation speaks.

    Parameters
    ----------
    advantage
        float64 [N], how much the evaluation speaks for it; 0 or greater.
    result
        int8 [N], 1 where the favoured side won, 0 for a draw, -1 where it lost. At an evaluation of 0 the side to move
        counts as favoured, as in the paper; the probabilities are the same either way.
    """

    advantage: Floats
    result: NDArray[np.int8]


def _checked_values(value: Any) -> Floats:
    values = np.asarray(value, np.float64)
    if np.isnan(values).any():
        raise BadInputError(f"value {int(np.flatnonzero(np.isnan(values.ravel()))[0])} of an evaluation is no number")
    return values


def _checked_scale(scale: float) -> float:
    if not 0 < scale < np.inf:
        raise BadInputError(f"the scale b of an evaluation must be positive and finite, got {scale}")
    return float(scale)


def _checked_drawishness(drawishness: Any) -> Floats:
    alpha = np.asarray(drawishness, np.float64)
    wrong = ~((alpha >= 0) & (alpha <= 1))
    if wrong.any():
        raise BadInputError(f"drawishness must be between 0 and 1, got {alpha[wrong].ravel()[0]}")
    return alpha


def expectation(value: Any, scale: float) -> Floats:
    """Compute the expected score E(v) = 1 / (1 + exp(-v / b)) (Ban 2012, equation 1).

    A win counts 1, a draw 1/2, a loss 0.

    Parameters
    ----------
    value
        Evaluations v [N]; infinite ones are certain.
    scale
        b, positive, in the unit of the evaluations.
    """
    logs = np.logaddexp(0.0, -_checked_values(value) / _checked_scale(scale))
    expected: Floats = np.exp(-logs)
    return expected


def result_distribution(value: Any, scale: float, drawishness: Any) -> ResultDistribution:
    """Probabilities of win, draw and loss (Ban 2012, equations 9-14).

    Parameters
    ----------
    value
        Evaluations v [N] from the side to move.
    scale
        b, positive, in the unit of the evaluations.
    drawishness
        alpha, one or [N], between 0 and 1.

    Returns
    -------
    ResultDistribution
        They add up to 1 (equation 7), and a win and half a draw to the expectation (equation 8).

    Raises
    ------
    BadInputError
        A value is not a number, the scale is not positive, or a drawishness is outside of 0 to 1.
    """
    values, alpha = _checked_values(value), _checked_drawishness(drawishness)
    # Expectation of the side that is not favoured: exact where 1 - E(|v|) would round to 0.
    lesser = np.exp(-np.logaddexp(0.0, np.abs(values) / _checked_scale(scale)))
    phi = 2 * lesser / (2 - alpha)
    draw, upset = alpha * phi, (1 - alpha) * phi
    favoured = values >= 0
    return ResultDistribution(np.where(favoured, 1 - phi, upset), draw, np.where(favoured, upset, 1 - phi))


def favoured_outcomes(value: Any, result: Any) -> FavouredOutcomes:
    """See evaluations [N] and results [N] (1, 0 or -1 from the side to move) from the favoured side.

    Raises
    ------
    BadInputError
        A value is not a number, or a result is none of the three.
    """
    values, results = _checked_values(value), np.asarray(result)
    if values.shape != results.shape:
        raise BadInputError(f"{len(values)} evaluations cannot be graded by {len(results)} results")
    wrong = (results != 1) & (results != 0) & (results != -1)
    if wrong.any():
        raise BadInputError(f"a result is 1, 0 or -1, got {results[wrong][0]}")
    return FavouredOutcomes(np.abs(values), np.where(values >= 0, results, -results).astype(np.int8))


def log_correctness(value: Any, result: Any, scale: float, drawishness: Any) -> Floats:
    """Logarithm of the probability that an evaluation gave to what happened (Ban 2012, definition 1).

    Computed in log space: probabilities far below the smallest float64 keep their logarithm.

    Parameters
    ----------
    value
        Evaluations v [N] from the side to move.
    result
        1, 0 or -1 for a game that the side to move won, drew or lost [N].
    scale
        b, positive.
    drawishness
        alpha, one or [N], between 0 and 1.

    Returns
    -------
    log_correctness
        float64 [N], at most 0. Minus infinity where the probability is exactly 0: a draw at drawishness 0, a decided
        game at drawishness 1 unless the favoured side won it, what an infinite evaluation rules out. Who takes means
        bounds it first, see :func:`~glem.core.grading.correctness.grade_of`.

    Raises
    ------
    BadInputError
        As :func:`result_distribution`; or a result is none of the three.
    """
    alpha = _checked_drawishness(drawishness)
    outcomes = favoured_outcomes(value, result)
    divisor = _checked_scale(scale)
    logs = np.empty(outcomes.advantage.shape)
    for rows in blocks_of(len(logs)):
        own = alpha[rows] if alpha.ndim else alpha
        logs[rows] = _log_probability(outcomes.advantage[rows] / divisor, outcomes.result[rows], own)
    return logs


def _log_probability(units: Floats, result: NDArray[np.int8], alpha: Floats) -> Floats:
    """Logarithm of the probability of results seen from the favoured side, at advantages counted in b."""
    with np.errstate(divide="ignore"):
        log_phi = np.log(2 / (2 - alpha)) - np.logaddexp(0, units)
        drawn = np.log(alpha) + log_phi
        upset = np.log1p(-alpha) + log_phi
        # 1 - phi = (1 - alpha + tanh(u / 2)) / (2 - alpha) loses no digits where phi is near 1.
        phi = np.exp(log_phi)
        expected = np.where(
            phi < 0.5, np.log1p(-np.minimum(phi, 0.5)), np.log((1 - alpha + np.tanh(units / 2)) / (2 - alpha))
        )
    logs: Floats = np.select([result > 0, result < 0], [expected, upset], drawn)
    return logs


def blocks_of(count: int) -> Iterator[slice]:
    """Divide so many positions into blocks of a size that is fast."""
    for start in range(0, count, _BLOCK):
        yield slice(start, min(start + _BLOCK, count))
