"""How well predictions meet labels: calibration, and the baselines to beat."""

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.features.learning import Learning

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


@define(frozen=True)
class Baseline:
    """Least-squares regression of the label on a few features, phase by phase.

    Parameters
    ----------
    features
        Indices of the features [L].
    coefficients
        float64 array [K, L + 1], the constant first.
    """

    features: tuple[int, ...]
    coefficients: Floats

    def predict(self, values: NDArray[np.int16], phase: NDArray[Any]) -> Floats:
        """Predictions [N] for feature values [N, F] and phases [N]."""
        rows = self.coefficients[phase]
        predicted: Floats = rows[:, 0].copy()
        for place, feature in enumerate(self.features):
            predicted += rows[:, place + 1] * values[:, feature]
        return predicted


class BaselineFit:
    """Collects the normal equations of all baselines of a game chunk by chunk, then solves them."""

    def __init__(self, learning: Learning) -> None:
        self._phase_count = len(learning.phases)
        self._features = {
            name: tuple(learning.features.index(feature) for feature in features)
            for name, features in learning.baselines.items()
        }
        self._moments = {
            name: np.zeros((self._phase_count, len(features) + 1, len(features) + 2))
            for name, features in self._features.items()
        }

    def add(self, values: NDArray[np.int16], phase: NDArray[Any], label: NDArray[Any], weight: NDArray[Any]) -> None:
        """Add positions: feature values [N, F], phases, labels and weights [N]."""
        for name, features in self._features.items():
            columns = [np.ones(len(label)), *(values[:, feature].astype(np.float64) for feature in features)]
            targets = [*columns, np.asarray(label, np.float64)]
            for row, left in enumerate(columns):
                weighted = left * weight
                for column, right in enumerate(targets):
                    self._moments[name][:, row, column] += np.bincount(phase, weighted * right, self._phase_count)

    def solve(self) -> dict[str, Baseline]:
        """Coefficients of every baseline; zero in phases without positions."""
        found = {}
        for name, features in self._features.items():
            moments = self._moments[name]
            coefficients = np.zeros((self._phase_count, len(features) + 1))
            for phase in range(self._phase_count):
                # A feature that is constant in a phase makes the system singular: the shortest solution serves.
                coefficients[phase] = np.linalg.lstsq(moments[phase, :, :-1], moments[phase, :, -1], rcond=1e-10)[0]
            found[name] = Baseline(features, coefficients)
        return found
