"""Joining configurations that were mined from different feature subsets."""

from collections.abc import Sequence

import numpy as np

from glem.core.configurations.configurations import ConfigurationSet, RelationTable, configuration_keys
from glem.core.errors import BadInputError


def union(sets: Sequence[ConfigurationSet]) -> ConfigurationSet:
    """Join sets over one common table; of equal configurations the first stays.

    Parameters
    ----------
    sets
        At least one, all counted over the same positions.

    Raises
    ------
    BadInputError
        No set, or sets of different numbers of positions.
    """
    if not sets or len({part.position_count for part in sets}) > 1:
        raise BadInputError("a union needs sets that were counted over the same positions")
    pairs = np.concatenate([np.stack([part.table.features, part.table.values], axis=1) for part in sets])
    rows = np.unique(pairs, axis=0)
    table = RelationTable(rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int16))
    # Ids ascend with (feature, value) in every table, so relations stay in ascending order.
    relations = [table.find(part.table.features, part.table.values).astype(np.uint16)[part.relations] for part in sets]
    joined = ConfigurationSet(
        table,
        np.concatenate(relations),
        np.concatenate([[0], np.cumsum(np.concatenate([part.sizes for part in sets]))]).astype(np.int64),
        np.concatenate([part.match_counts for part in sets]),
        sets[0].position_count,
        "; ".join(sorted({part.incomplete for part in sets if part.incomplete})),
    )
    _, first = np.unique(configuration_keys(joined), return_index=True)
    return joined if len(first) == len(joined) else joined.select(np.sort(first))
