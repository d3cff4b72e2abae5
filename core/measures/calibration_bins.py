"""How well predictions meet labels."""

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@define(frozen=True)
class CalibrationBins:
    """Mean prediction, mean label and number of positions in each bin of predictions, ascending."""

    predicted: Floats
    observed: Floats
    counts: NDArray[np.int64]


def calibration_bins(
    predicted: NDArray[Any], label: NDArray[Any], weight: NDArray[Any] | None = None, bins: int = 20
) -> CalibrationBins:
    """Sort positions by prediction into equally filled bins and compare the means.

    Parameters
    ----------
    predicted, label
        Arrays [N] in label units.
    weight
        Optional weights [N].
    bins
        Number of bins; bins with equal borders are merged.
    """
    if len(predicted) == 0:
        empty = np.zeros(0)
        return CalibrationBins(empty, empty, np.zeros(0, np.int64))
    weights = np.ones(len(predicted)) if weight is None else np.asarray(weight, np.float64)
    borders = np.unique(np.quantile(predicted, np.linspace(0, 1, bins + 1)[1:-1]))
    place = np.searchsorted(borders, predicted, side="right")
    mass = np.bincount(place, weights, len(borders) + 1)
    filled = mass > 0
    means = [
        np.bincount(place, weights * np.asarray(values, np.float64), len(borders) + 1)[filled] / mass[filled]
        for values in (predicted, label)
    ]
    return CalibrationBins(means[0], means[1], np.bincount(place, minlength=len(borders) + 1)[filled])
