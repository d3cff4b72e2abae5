"""Evaluations of a few weights, for tests of what plays with them."""

from __future__ import annotations

import numpy as np

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.features.learning import Learning

__all__ = ["mobility_evaluation"]


def mobility_evaluation(learning: Learning, *, logistic: bool = False) -> LinearEvaluation:
    """Own moves less the opponent's: in label units, or as the winning chance at a tenth of a log odd each."""
    names = [feature.name for feature in learning.features.features]
    features = (names.index("mobility"), names.index("opponent_mobility"))
    weights = np.array([1.0, -1.0]) * (0.1 if logistic else 1.0)
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        link=LOGISTIC if logistic else IDENTITY,
        linear=features,
        linear_weights=np.tile(weights.astype(np.float32), (phases, 1)),
    )
