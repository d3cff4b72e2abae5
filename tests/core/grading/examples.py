"""Results that follow the equations, for the tests of grading."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.result_distribution import result_distribution


def played(value: Any, alpha: Any, *, scale: float = 1.0, seed: int = 0) -> NDArray[np.int8]:
    """Results drawn from what values and drawishness predict: int8 [N]."""
    win, draw, _ = result_distribution(value, scale, alpha)
    chance = np.random.default_rng(seed).random(len(value))
    return np.where(chance < win, 1, np.where(chance < win + draw, 0, -1)).astype(np.int8)
