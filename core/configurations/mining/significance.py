"""Keeping the configurations that tell something about the label (GLEM, section 4.3, footnote 2).

The number of tests is the number of configurations times that of phases, so that a plain level would let through
thousands by chance: the p-values are corrected for it.
"""

from typing import Literal

import numpy as np
from attrs import define
from numpy.typing import NDArray
from scipy import special

from glem.core.configurations.mining.statistics import LabelStatistics
from glem.core.errors import BadInputError

Correction = Literal["benjamini-hochberg", "bonferroni", "none"]


@define(frozen=True, eq=False)
class Significance:
    """Outcome of the tests.

    Parameters
    ----------
    correlations
        float64 array [P, C]; nan where nothing can be tested.
    adjusted
        float64 array [P, C]: p-values after the correction, 1 where nothing can be tested.
    level
        Significant is what has an adjusted p-value of at most this.
    """

    correlations: NDArray[np.float64]
    adjusted: NDArray[np.float64]
    level: float

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Which configurations are significant in at least one phase: bool array [C]."""
        found: NDArray[np.bool_] = np.logical_or.reduce(self.adjusted <= self.level, axis=0)
        return found


def label_significance(
    statistics: LabelStatistics,
    *,
    level: float = 0.01,
    correction: Correction = "benjamini-hochberg",
    minimum_matches: int = 20,
    positions_per_label: float = 1.0,
) -> Significance:
    """Test each configuration's correlation with the label in each phase against 0, two-sided.

    Parameters
    ----------
    statistics
        Match counts and label sums.
    level
        Significance level after the correction, in (0, 1].
    correction
        ``bonferroni`` bounds the chance of one false discovery, ``benjamini-hochberg`` the share of false ones among
        the discoveries (Benjamini & Hochberg 1995); ``none`` leaves the p-values as they are.
    minimum_matches
        Configurations with fewer matches in a phase are not tested there: the test is one for large samples.
    positions_per_label
        How many positions share one independent label, on average: the positions of one game have one result between
        them, and taking them for independent makes everything significant. The sample counts as so many times smaller.

    Returns
    -------
    Significance
        One p-value per phase and configuration.

    Raises
    ------
    BadInputError
        An argument is out of range.
    """
    if not 0 < level <= 1:
        raise BadInputError(f"the level must be above 0 and at most 1, got {level}")
    if correction not in ("benjamini-hochberg", "bonferroni", "none"):
        raise BadInputError(f"the correction must be benjamini-hochberg, bonferroni or none, not {correction!r}")
    if not positions_per_label >= 1:
        raise BadInputError(f"positions per label must be at least 1, got {positions_per_label}")
    correlations = statistics.correlations()
    correlations[statistics.match_counts < minimum_matches] = np.nan
    # t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom under no correlation.
    freedom = np.maximum(statistics.positions / positions_per_label - 2, 1e-9)[:, None]
    with np.errstate(divide="ignore"):
        distance = np.abs(correlations) * np.sqrt(freedom / (1 - correlations**2))
    probabilities = 2 * special.stdtr(freedom, -distance)
    tested = np.flatnonzero(~np.isnan(correlations.ravel()))
    adjusted = np.ones(correlations.size)
    adjusted[tested] = _corrected(probabilities.ravel()[tested], correction)
    return Significance(correlations, adjusted.reshape(correlations.shape), level)


def _corrected(probabilities: NDArray[np.float64], correction: Correction) -> NDArray[np.float64]:
    if correction == "none":
        return probabilities
    count = len(probabilities)
    if correction == "bonferroni":
        return np.minimum(probabilities * count, 1.0)
    # Step-up: the least of p_(j) m / j over all j from the own place on.
    order = np.argsort(probabilities, kind="stable")
    scaled = probabilities[order] * count / np.arange(1, count + 1)
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
