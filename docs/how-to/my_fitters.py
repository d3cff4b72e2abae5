"""A fitter of your own, for `glem fit my_fitters.py:Ridge positions.parquet -o ridge.npz` and `glem.fit`."""

import attrs
import numpy as np
from sklearn.linear_model import Ridge as Regression

import glem
from glem.core.evaluation.linear import LinearEvaluation


@attrs.define(frozen=True, slots=False)
class Ridge(glem.Fitter):
    """Fit the game's linear features to scores by scikit-learn's ridge regression, phase by phase.

    Parameters
    ----------
    penalty
        Penalty on squared weights.
    """

    name = "ridge"

    penalty: float = glem.setting(1.0, least=0.0)

    def fit(self, data, learning, run):
        """Fit the positions of each phase by themselves."""
        features = [learning.features.index(name) for name in learning.linear]
        values = learning.features.values(data.positions)[:, features]
        phase = learning.phases.of(data.positions)
        bias = np.zeros(len(learning.phases), np.float32)
        weights = np.zeros((len(bias), len(features)), np.float32)
        for number in np.unique(phase):
            rows = phase == number
            model = Regression(alpha=self.penalty).fit(values[rows], data.label[rows], data.weight[rows])
            bias[number], weights[number] = model.intercept_, model.coef_
        return glem.Fit(LinearEvaluation(learning, bias, linear=tuple(features), linear_weights=weights))
