"""Fits of an engine's terms, written out: dense, in one piece, by Newton's method."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Coefficients [N, K], phase [N], result [N] (1, 0, -1), game [N]."""

    coefficients: Floats
    phase: Floats
    result: Floats
    game: NDArray[np.int64]

    def design(self) -> Floats:
        """Coefficients times the share of either end of the game: [N, 2 K], the middlegame's first."""
        share = self.phase[:, None]
        return np.concatenate([self.coefficients * share, self.coefficients * (1 - share)], axis=1)


def logistic_weights(rows: Rows, start: Floats, l2: float) -> Floats:
    """Minimize the logistic loss plus l2 / 2 times the squared change from ``start`` [2 K], all in log odds."""
    design, target = rows.design(), (rows.result + 1) / 2
    weights = start.copy()
    for _ in range(50):
        expected = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (expected - target) + l2 * (weights - start)
        curvature = (design.T * (expected * (1 - expected))) @ design + l2 * np.eye(len(weights))
        weights = weights - np.linalg.solve(curvature, slope)
    return weights


def logistic_errors(rows: Rows, weights: Floats, l2: float) -> Floats:
    """Standard errors by the sandwich of games, corrected for few games and rows."""
    design, target = rows.design(), (rows.result + 1) / 2
    expected = 1 / (1 + np.exp(-design @ weights))
    information = (design.T * (expected * (1 - expected))) @ design
    bread = np.linalg.inv(information + l2 * np.eye(len(weights)))
    squares = np.zeros_like(bread)
    for game in np.unique(rows.game):
        own = rows.game == game
        slope = design[own].T @ (target - expected)[own]
        squares += np.outer(slope, slope)
    games, count = len(np.unique(rows.game)), len(design)
    few = games / (games - 1) * (count - 1) / (count - np.trace(bread @ information))
    return np.sqrt(few * np.diag(bread @ squares @ bread))
