"""Parameters of Multi-ProbCut as the search kernel reads them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHECKS", "FULL_WIDTH", "Selectivity"]

CHECKS = 2
"""Check searches at most for one phase and depth."""


class Selectivity(NamedTuple):
    """Parameters of Multi-ProbCut.

    Source: Buro 1997, Experiments with Multi-ProbCut and a New High-Quality Evaluation Function.
    The score of a search of depth d is taken to be ``slope * c + offset`` from the score c of a check search, with a
    normal error of standard deviation ``deviation``. Check number k of phase p at remaining depth d stands at index
    ``(p * depth_count + d) * CHECKS + k`` of the arrays.
    """

    depth_count: np.int64
    """Depths 0 to ``depth_count - 1`` have parameters; 0 switches selectivity off."""
    threshold: np.float64
    """Standard deviations by which a check must clear the bound."""
    check_depths: NDArray[np.int64]
    """Remaining depth of the check search, below d; -1 where there is none. Shallow checks stand first."""
    slopes: NDArray[np.float64]
    """Positive slopes."""
    offsets: NDArray[np.float64]
    """Offsets, in steps."""
    deviations: NDArray[np.float64]
    """Standard deviations, in steps."""


FULL_WIDTH = Selectivity(np.int64(0), np.float64(0), np.full(1, -1, np.int64), np.zeros(1), np.zeros(1), np.zeros(1))
"""No selectivity."""
