"""Small evaluations for players."""

from __future__ import annotations

import numpy as np

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning


def linear_evaluation(learning: Learning, **weights: float) -> LinearEvaluation:
    """Evaluation that adds up features, with the same weights in every phase."""
    phases = len(learning.phases)
    names = [known.name for known in learning.features.features]
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        linear=tuple(names.index(feature) for feature in weights),
        linear_weights=np.tile(np.array([*weights.values()], np.float32), (phases, 1)),
    )


def mobility_difference(learning: Learning) -> LinearEvaluation:
    """Own moves less the opponent's."""
    return linear_evaluation(learning, mobility=1.0, opponent_mobility=-1.0)
