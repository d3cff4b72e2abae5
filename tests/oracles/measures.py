"""Measures and their errors by game, written down naively."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Number = Callable[[Array], float]
"""The number of a measure, by what each game weighs [G]."""


def error_by_game(number: Number, games: int) -> float:
    """Standard error of a number: what it changes by with each game's weight, squared and added up.

    Of a mean that is ``sqrt(G / (G - 1) * sum (S - m n)^2) / sum n`` with the sums S and counts n of the games.
    """
    step, ones = 1e-5, np.ones(games)
    changes = [
        (number(ones + step * (np.arange(games) == game)) - number(ones - step * (np.arange(games) == game)))
        / (2 * step)
        for game in range(games)
    ]
    return math.sqrt(games / (games - 1) * sum(change**2 for change in changes))


def error_by_bootstrap(number: Number, games: int, seed: int, resamples: int = 2_000) -> float:
    """Standard deviation of a number over samples of the games, drawn with replacement."""
    generator = np.random.default_rng(seed)
    draws = generator.multinomial(games, np.full(games, 1 / games), resamples).astype(np.float64)
    return float(np.std([number(draw) for draw in draws], ddof=1))


def rmse(value: Array, label: Array, weight: Array) -> float:
    return math.sqrt(np.average((value - label) ** 2, weights=weight))


def mae(value: Array, label: Array, weight: Array) -> float:
    return float(np.average(np.abs(value - label), weights=weight))


def mean_error(value: Array, label: Array, weight: Array) -> float:
    return float(np.average(value, weights=weight) - np.average(label, weights=weight))


def explained(value: Array, label: Array, weight: Array) -> float:
    mean = np.average(label, weights=weight)
    return float(1 - np.average((value - label) ** 2, weights=weight) / np.average((label - mean) ** 2, weights=weight))


def calibration_error(value: Array, label: Array, weight: Array, bins: int = 5) -> float:
    borders = np.quantile(value, np.linspace(0, 1, bins + 1)[1:-1])
    total = 0.0
    for low, high in zip([-math.inf, *borders], [*borders, math.inf], strict=True):
        mine = (value >= low) & (value < high)
        if weight[mine].sum() > 0:
            apart = np.average(value[mine] - label[mine], weights=weight[mine])
            total += float(weight[mine].sum() / weight.sum() * abs(apart))
    return total
