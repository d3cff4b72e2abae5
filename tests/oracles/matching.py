"""Matching by scanning all configurations, and the DAG's arcs by looking at all pairs."""

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet


def active_rows(configurations: ConfigurationSet, values: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Whether each configuration is active in each position: [C, N]."""
    table = configurations.table
    holds = [values[:, feature] == value for feature, value in zip(table.features, table.values, strict=True)]
    active = np.ones((len(configurations), len(values)), bool)
    for configuration in range(len(configurations)):
        for relation in configurations.relations_of(configuration):
            active[configuration] &= holds[relation]
    return active


def most_specific_rows(configurations: ConfigurationSet, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Strike out every proper subset of every active configuration: [C, N]."""
    members = [tuple(configurations.relations_of(c).tolist()) for c in range(len(configurations))]
    index = {relations: configuration for configuration, relations in enumerate(members)}
    kept = active.copy()
    for special, relations in enumerate(members):
        for chosen in range(2 ** len(relations) - 1):
            general = index.get(tuple(r for place, r in enumerate(relations) if chosen >> place & 1))
            if general is not None:
                kept[general] &= ~active[special]
    return kept


def lists_of(rows: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows [C, N] as the list of configurations of each position: bounds [N + 1] and indices."""
    positions, configurations = np.nonzero(rows.T)
    bounds = np.searchsorted(positions, np.arange(rows.shape[1] + 1))
    return bounds.astype(np.int64), configurations.astype(np.int32)


def direct_specializations(configurations: ConfigurationSet) -> list[list[int]]:
    """For every configuration its supersets in the set with nothing in between."""
    members = [frozenset(configurations.relations_of(c).tolist()) for c in range(len(configurations))]
    supersets = [{s for s, outer in enumerate(members) if inner < outer} for inner in members]
    return [sorted(above - set().union(*(supersets[s] for s in above))) for above in supersets]
