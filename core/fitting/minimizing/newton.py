"""Newton's method for a few parameters between bounds."""

from collections.abc import Callable, Sequence

import numpy as np
from attrs import define
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_STEP = 1e-5
_MOST_ITERATIONS = 100
_MOST_HALVINGS = 40
_SUFFICIENT = 1e-4


@define(frozen=True, eq=False)
class Found:
    """Where a minimization ended.

    Parameters
    ----------
    point
        float64 [P].
    iterations
        Steps that were made.
    slope
        Greatest absolute derivative by a parameter that is not held at a bound.
    """

    point: Vector
    iterations: int
    slope: float


def minimize_within(
    function: Callable[[Vector], tuple[float, Vector]],
    start: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    tolerance: float,
) -> Found:
    """Minimize a smooth function of a few parameters.

    Second derivatives are differences of the first. Where they do not curve upwards, the step goes against the slope;
    parameters at a bound that the slope would drive beyond it stay there. Without scipy, whose import takes longer than
    most of these fits.

    Parameters
    ----------
    function
        Gives its value and gradient at parameters [P].
    start
        Parameters [P] within the bounds.
    bounds
        Least and greatest value of each; equal ones hold it.
    tolerance
        Ends where no derivative is greater.
    """
    low, high = np.array(bounds, np.float64).T
    point = np.clip(np.array(start, np.float64), low, high)
    value, gradient = function(point)
    iterations = 0
    while True:
        free = np.flatnonzero((low < high) & ~((point <= low) & (gradient > 0)) & ~((point >= high) & (gradient < 0)))
        slope = float(np.abs(gradient[free]).max(initial=0.0))
        if slope <= tolerance or iterations == _MOST_ITERATIONS:
            return Found(point, iterations, slope)
        steps = _STEP * np.eye(len(point))[free]
        curvature = np.stack([function(point + step)[1] - function(point - step)[1] for step in steps]) / (2 * _STEP)
        curvature = (curvature[:, free] + curvature[:, free].T) / 2
        values, vectors = np.linalg.eigh(curvature)
        values = np.maximum(np.abs(values), 1e-8 * max(float(np.abs(values).max()), 1e-300))
        direction = np.zeros(len(point))
        direction[free] = -vectors @ ((vectors.T @ gradient[free]) / values)
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            tried = np.clip(point + length * direction, low, high)
            there, its_gradient = function(tried)
            if there <= value + _SUFFICIENT * float(gradient @ (tried - point)) and (tried != point).any():
                break
            length /= 2
        else:
            # The last digits of the value are reached.
            return Found(point, iterations, slope)
        point, value, gradient = tried, there, its_gradient
        iterations += 1
