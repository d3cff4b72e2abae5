"""Straight lines and correlations."""

import math

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.grading.experiments.lines import correlate, fit_line


def test_a_line_leaves_the_least_squares() -> None:
    x, y = np.arange(6.0), np.array([0.0, 2.0, 1.0, 4.0, 3.0, 6.0])
    line = fit_line(x, y)
    assert line.points == 6
    rest = y - line.intercept - line.slope * x
    assert line.r_squared == pytest.approx(1 - rest @ rest / ((y - y.mean()) @ (y - y.mean())))
    assert line.slope_error == pytest.approx(math.sqrt(rest @ rest / 4 / ((x - x.mean()) @ (x - x.mean()))))
    assert math.isnan(fit_line([0, 1, 2], [1, 1, 1]).r_squared)
    # Through two points a line always goes.
    assert math.isnan(fit_line([0, 1], [1, 2]).r_squared)


def test_a_correlation_has_the_interval_of_fishers_z() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    y = [2.0, 1.0, 4.0, 3.0, 7.0, 5.0, 6.0]
    found = correlate(x, y)
    assert found.pearson == pytest.approx(np.corrcoef(x, y)[0, 1])
    middle, reach = math.atanh(found.pearson), 1.959963984540054 / math.sqrt(len(x) - 3)
    assert (found.low, found.high) == pytest.approx((math.tanh(middle - reach), math.tanh(middle + reach)))
    assert found.spearman == pytest.approx(np.corrcoef(x, y)[0, 1])  # they are their own ranks
    assert math.isnan(correlate([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]).pearson)
    assert math.isnan(correlate([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]).low)


def test_points_that_lie_on_no_single_line_are_named() -> None:
    with pytest.raises(BadInputError, match="no single line"):
        fit_line([1.0, 1.0], [1.0, 2.0])
