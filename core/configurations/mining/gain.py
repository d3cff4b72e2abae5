"""What a configuration says beyond its generalizations.

Mining by match count finds mostly variations of a few strong themes: whatever contains a strong relation is
itself correlated with the label. The gain of a configuration compares it with the configurations that lack one of
its relations: only where its mean label differs from all of theirs does the conjunction carry news. (GLEM, section
4.4, suggests statistical significance as the criterion and calls the relevance of a variable among many the hard part;
this is one answer to it.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, mix
from glem.core.configurations.configurations import ConfigurationSet, configuration_keys
from glem.core.errors import BadInputError

_EMPTY = np.int32(-1)


@kernel
def _fill_table(keys: Any, slots: Any) -> None:
    mask = np.uint64(slots.shape[0] - 1)
    for configuration in range(keys.shape[0]):
        slot = mix(keys[configuration]) & mask
        while slots[slot] != _EMPTY:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = np.int32(configuration)


@kernel
def _find(key: Any, keys: Any, slots: Any) -> Any:
    mask = np.uint64(slots.shape[0] - 1)
    slot = mix(key) & mask
    while slots[slot] != _EMPTY:
        if keys[slots[slot]] == key:
            return np.int64(slots[slot])
        slot = (slot + np.uint64(1)) & mask
    return np.int64(-1)


@kernel
def _write_gains(
    relations: Any, offsets: Any, counts: Any, means: Any, overall: Any, keys: Any, slots: Any, gains: Any
) -> None:
    for configuration in range(keys.shape[0]):
        start = offsets[configuration]
        end = offsets[configuration + 1]
        mean = means[configuration]
        # Every direct generalization known: the gain is over the nearest of them.
        nearest = mean - overall if end - start == 1 else np.inf
        for place in range(start, end):
            if end - start == 1:
                break
            parent = _find(keys[configuration] ^ mix(np.uint64(relations[place]) + np.uint64(1)), keys, slots)
            if parent < 0:
                continue
            difference = mean - means[parent]
            # A generalization with the same matches is no other configuration: nothing is gained.
            if counts[parent] == counts[configuration]:
                difference = 0.0
            if abs(difference) < abs(nearest):
                nearest = difference
        if np.isinf(nearest):
            nearest = mean - overall
        gains[configuration] = nearest * np.sqrt(np.float64(counts[configuration]))


def generalization_gain(
    configurations: ConfigurationSet, means: NDArray[np.floating], overall: float, deviation: float
) -> NDArray[np.float64]:
    """Compare the mean label of every configuration with those of its direct generalizations.

    Parameters
    ----------
    configurations
        C configurations, as mined: closed under generalization, or nearly so. Generalizations that are not in the
        set are passed over; where none is, the mean of all positions stands in.
    means
        Mean label [C] of the positions that each configuration matches.
    overall, deviation
        Mean and standard deviation of the labels of all positions; the deviation is positive.

    Returns
    -------
    gains
        float64 [C]: the difference that is smallest in size, with its sign, in standard errors of a mean of as many
        labels. Between -3 and 3 it is what chance gives.

    Raises
    ------
    BadInputError
        The means are not C finite numbers, or the deviation is not positive.
    """
    if len(means) != len(configurations) or not np.isfinite(means).all():
        raise BadInputError(f"{len(configurations)} configurations need as many finite means, got {len(means)}")
    if not deviation > 0:
        raise BadInputError(f"labels with a standard deviation of {deviation} tell nothing apart")
    slots = np.full(1 << max(4, (2 * len(configurations)).bit_length()), _EMPTY)
    keys = configuration_keys(configurations)
    _fill_table(keys, slots)
    gains = np.zeros(len(configurations))
    relations, offsets, counts = configurations.relations, configurations.offsets, configurations.match_counts
    mean_labels = np.ascontiguousarray(means, np.float64)
    _write_gains(relations, offsets, counts, mean_labels, np.float64(overall), keys, slots, gains)
    return gains / deviation
