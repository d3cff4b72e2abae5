"""How well predictions meet labels: errors by phase, calibration, and the baselines to beat."""

from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.features.learning import Learning

Floats = NDArray[np.float64]


class ErrorSums:
    """Sums for the errors of predictions in each of K groups, chunk by chunk.

    Parameters
    ----------
    group_count
        Number of groups K; more are made as they are met.
    """

    def __init__(self, group_count: int = 0) -> None:
        # Numbers of positions, weights, squares of errors, their magnitudes, and the errors themselves.
        self._sums: Floats = np.zeros((5, group_count))

    def add(
        self, predicted: NDArray[Any], label: NDArray[Any], group: NDArray[Any], weight: NDArray[Any] | None = None
    ) -> Self:
        """Add N predictions, their labels, groups and weights, 1 by default."""
        residual = np.asarray(predicted, np.float64) - np.asarray(label, np.float64)
        weights = np.ones(len(residual)) if weight is None else np.asarray(weight, np.float64)
        errors = (residual**2, np.abs(residual), residual)
        terms = (np.ones(len(residual)), weights, *(weights * error for error in errors))
        added: Floats = np.stack([np.bincount(group, term, self._sums.shape[1]) for term in terms]).astype(np.float64)
        added[:, : self._sums.shape[1]] += self._sums
        self._sums = added
        return self

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of positions in each group, and in all: int64 [K + 1]."""
        return _with_total(self._sums[0]).astype(np.int64)

    @property
    def weights(self) -> Floats:
        """Sum of weights in each group, and in all: float64 [K + 1]."""
        return _with_total(self._sums[1])

    @property
    def root_mean_square(self) -> Floats:
        """Root mean square error of each group, and over all: float64 [K + 1]; nan where a group is empty."""
        return np.sqrt(self._means(self._sums[2]))

    @property
    def mean_absolute(self) -> Floats:
        """Mean absolute error of each group, and over all: float64 [K + 1]; nan where a group is empty."""
        return self._means(self._sums[3])

    @property
    def mean(self) -> Floats:
        """Mean error of each group, above 0 where predictions are too high, and over all: as :attr:`mean_absolute`."""
        return self._means(self._sums[4])

    def _means(self, sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return _with_total(sums) / self.weights


def _with_total(values: Floats) -> Floats:
    return np.append(values, values.sum())


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
