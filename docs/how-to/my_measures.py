"""Measures of your own, for `glem evaluate --measure my_measures.py:NAME` and `glem.evaluate`."""

import numpy as np

from glem.core.measures.measure import Measure


def right_winner(judged):
    """Share of the decided positions whose winner the evaluation calls rightly."""
    result = judged.positions.result
    return np.where(result == 0, np.nan, np.sign(judged.sums) == result)


class Explained(Measure):
    """Share of the variance of the labels that the values explain, 1 - sum (v - l)^2 / sum (l - mean l)^2."""

    heading = "explained"
    form = ".1%"

    def terms(self, judged):
        """Squares of errors, labels, and squares of labels."""
        return np.stack([(judged.value - judged.label) ** 2, judged.label, judged.label**2], axis=1)

    def number(self, means):
        """Compare both means of squares; the second value has the derivatives by the three means."""
        error, label, square = means
        variance = square - label**2
        share = error / variance
        return 1 - share, np.array([-1, -2 * label * share, share]) / variance
