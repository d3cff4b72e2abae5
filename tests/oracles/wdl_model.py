"""The model of WDL_model position by position, as its formulas stand there, for scores of a few b."""

import math
from collections.abc import Sequence


def polynomial(coefficients: Sequence[float], covariate: float, bounds: tuple[float, float, float]) -> float:
    """Value at a covariate, the highest power first."""
    least, most, unit = bounds
    x = min(max(covariate, least), most) / unit
    return sum(each * x**power for power, each in enumerate(reversed(coefficients)))


def probability(value: float, result: int, a: float, b: float) -> float:
    """Probability of a result of the side to move."""
    win = 1 / (1 + math.exp((a - value) / b))
    loss = 1 / (1 + math.exp((a + value) / b))
    return {1: win, 0: 1 - win - loss, -1: loss}[result]


def grade(
    values: Sequence[float],
    results: Sequence[int],
    covariates: Sequence[float],
    coefficients: tuple[Sequence[float], Sequence[float]],
    bounds: tuple[float, float, float],
) -> float:
    """Geometric mean of the probabilities of what happened."""
    product = 0.0
    for value, result, covariate in zip(values, results, covariates, strict=True):
        a, b = (polynomial(each, covariate, bounds) for each in coefficients)
        product += math.log(probability(value, result, a, b))
    return math.exp(product / len(values))
