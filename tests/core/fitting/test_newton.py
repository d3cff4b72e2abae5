"""Newton's method between bounds, beside scipy's."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from glem.core.fitting.minimizing.newton import minimize_within


def valley(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Rosenbrock's, curved and in parts not convex, and a third parameter."""
    x, y, z = point
    value = 100 * (y - x**2) ** 2 + (1 - x) ** 2 + (z - x) ** 2
    return value, np.array([-400 * x * (y - x**2) - 2 * (1 - x) - 2 * (z - x), 200 * (y - x**2), 2 * (z - x)])


@pytest.mark.parametrize("start", [(-0.5, 1.0, 0.25), (0.0, 0.0, 0.25), (2.0, -1.0, 0.25)])
@pytest.mark.parametrize("most", [2.0, 0.3])
def test_minima_are_those_of_scipy(start: tuple[float, ...], most: float) -> None:
    bounds = [(-0.5, most), (-1.0, math.inf), (0.25, 0.25)]
    found = minimize_within(valley, start, bounds, 1e-9)
    expected = minimize(valley, np.clip(start, *np.transpose(bounds)), jac=True, method="L-BFGS-B", bounds=bounds)
    np.testing.assert_allclose(found.point, expected.x, atol=1e-4)
    assert valley(found.point)[0] <= expected.fun + 1e-12
    assert found.slope <= 1e-9


def test_a_parameter_runs_to_its_bound_and_stays() -> None:
    found = minimize_within(lambda x: (float(x[0]), np.ones(1)), [0.5], [(-3.0, 4.0)], 1e-9)
    assert found.point == [-3.0]
    assert found.slope == 0


def test_nothing_is_asked_of_a_flat_function() -> None:
    found = minimize_within(lambda _: (1.0, np.zeros(2)), [0.5, 1.0], [(-3.0, 4.0), (0.0, 2.0)], 1e-9)
    assert found.point.tolist() == [0.5, 1.0]
    assert found.iterations == 0
