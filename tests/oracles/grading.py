"""Grading as Ban 2012 prints it, from White's view, position by position, with enough digits for 1000 b."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal, localcontext

HALF = Decimal("0.5")
ONE = Decimal(1)
DIGITS = 460


def expectation(value: float, scale: float) -> Decimal:
    """Equation 1."""
    with localcontext(prec=DIGITS):
        return ONE / (ONE + (-Decimal(value) / Decimal(scale)).exp())


def distribution(value: float, scale: float, drawishness: float) -> dict[int, Decimal]:
    """Equations 9 to 14: probability of 1 (White wins), 0 and -1."""
    with localcontext(prec=DIGITS):
        q, alpha = expectation(value, scale), Decimal(drawishness)
        if q >= HALF:
            phi = 2 * (1 - q) / (2 - alpha)
            return {1: 1 - phi, 0: alpha * phi, -1: (1 - alpha) * phi}
        phi = 2 * q / (2 - alpha)
        return {1: (1 - alpha) * phi, 0: alpha * phi, -1: 1 - phi}


def grade(correctness: Sequence[Decimal]) -> float:
    """Equation 15."""
    with localcontext(prec=DIGITS):
        product = ONE
        for one in correctness:
            product *= one
        return float(product ** (ONE / len(correctness)))


def mean_log_likelihood(values: Sequence[float], results: Sequence[int], scale: float, drawishness: float) -> float:
    """Mean logarithm of the correctness, in plain floating point: for evaluations of a few b."""
    total = 0.0
    for value, result in zip(values, results, strict=True):
        q = 1 / (1 + math.exp(-value / scale))
        phi = 2 * min(q, 1 - q) / (2 - drawishness)
        better = 1 if q >= 1 / 2 else -1
        total += math.log({better: 1 - phi, 0: drawishness * phi, -better: (1 - drawishness) * phi}[result])
    return total / len(values)


def clustered_error(values: Sequence[float], games: Sequence[int]) -> float:
    """Standard error of the mean of values whose games are independent."""
    mean = sum(values) / len(values)
    by_game: dict[int, float] = defaultdict(float)
    for value, game in zip(values, games, strict=True):
        by_game[game] += value - mean
    count = len(by_game)
    return math.sqrt(count / (count - 1) * sum(total**2 for total in by_game.values())) / len(values)


def exact_sign_flip_p_value(sums: Sequence[float]) -> float:
    """Share of all assignments of signs whose sum is at least as large as the observed one."""
    observed = abs(sum(sums))
    flips = itertools.product((1, -1), repeat=len(sums))
    as_large = [abs(sum(s * x for s, x in zip(signs, sums, strict=True))) >= observed - 1e-12 for signs in flips]
    return sum(as_large) / len(as_large)


def eligible_plies(length: int, skip_moves: int, tenths_skipped: int) -> list[int]:
    """Plies of the positions of a game that are left after the first moves of each side and the last tenths."""
    return [ply for ply in range(length - length * tenths_skipped // 10) if ply >= 2 * skip_moves]
