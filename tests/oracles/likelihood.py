"""The likelihood of results position by position, as Ban 2012 and the prior print it: to differentiate numerically."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tests.oracles.grading import distribution


class Row(NamedTuple):
    """A position: phase, active terms of value and drawishness with their values, result, weight."""

    phase: int
    value: dict[int, float]
    draw: dict[int, float]
    result: int
    weight: float


def sum_of(weights: Sequence[Sequence[float]], phase: int, terms: dict[int, float]) -> float:
    """Sum of active weights; the last one is the bias."""
    own = weights[phase]
    return own[-1] + sum(own[term] * value for term, value in terms.items())


def log_likelihood(
    rows: Sequence[Row], value: Sequence[Sequence[float]], draw: Sequence[Sequence[float]], scale: float
) -> float:
    """Weighted sum of the logarithms of the correctness."""
    total = 0.0
    for row in rows:
        v = sum_of(value, row.phase, row.value)
        alpha = 1 / (1 + math.exp(-sum_of(draw, row.phase, row.draw)))
        total += row.weight * float(distribution(v, scale, alpha)[row.result].ln())
    return total
