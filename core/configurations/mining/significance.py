"""Keeping the configurations that tell something about the label (GLEM, section 4.3, footnote 2).

There are as many tests as configurations, so that a plain level would let through thousands by chance: the p-values
are corrected for it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from glem.core.configurations.mining.statistics import LabelStatistics
from glem.core.errors import BadInputError


def label_significance(
    statistics: LabelStatistics, *, minimum_matches: int = 20, positions_per_label: float = 1.0
) -> NDArray[np.float64]:
    """Test each configuration's correlation with the label against 0, two-sided.

    The configurations whose p-values are at most a level are significant: the correction bounds the share of false
    discoveries among them by that level (Benjamini & Hochberg 1995).

    Parameters
    ----------
    statistics
        Match counts and label sums.
    minimum_matches
        Configurations with fewer matches are not tested: the test is one for large samples.
    positions_per_label
        How many positions share one independent label, on average: the positions of one game have one result between
        them, and taking them for independent makes everything significant. The sample counts as so many times smaller.

    Returns
    -------
    p_values
        float64 array [C]: after the correction, 1 where nothing can be tested.

    Raises
    ------
    BadInputError
        Less than one position per label.
    """
    if not positions_per_label >= 1:
        raise BadInputError(f"positions per label must be at least 1, got {positions_per_label}")
    correlations = statistics.correlations()
    correlations[statistics.match_counts < minimum_matches] = np.nan
    # t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom under no correlation.
    freedom = max(statistics.positions / positions_per_label - 2, 1e-9)
    with np.errstate(divide="ignore"):
        distance = np.abs(correlations) * np.sqrt(freedom / (1 - correlations**2))
    probabilities = 2 * special.stdtr(freedom, -distance)
    tested = np.flatnonzero(~np.isnan(correlations))
    # Step-up: the least of p_(j) m / j over all j from the own place on.
    order = tested[np.argsort(probabilities[tested], kind="stable")]
    scaled = probabilities[order] * len(order) / np.arange(1, len(order) + 1)
    corrected = np.ones(len(correlations))
    corrected[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return corrected
