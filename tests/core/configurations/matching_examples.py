"""Feature values and configuration sets for the tests of matching."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, RelationTable

FEATURES = 14
LOW, HIGH = -1, 2


def feature_values(positions: int, seed: int, features: int = FEATURES) -> NDArray[np.int16]:
    """Values that depend on one another like neighbouring squares: int16 [N, F]."""
    generator = np.random.default_rng(seed)
    values = generator.integers(LOW, HIGH + 1, (positions, features))
    for feature in range(1, features):
        same = generator.random(positions) < 0.6
        values[same, feature] = values[same, feature - 1]
    return values.astype(np.int16)


def configuration_set(values: NDArray[np.int16], seeds: int, seed: int, longest: int = 5) -> ConfigurationSet:
    """All subsets of what ``seeds`` random positions have at up to ``longest`` random features.

    Feature 3 has no relation, and its neighbours lack some values, so positions have values that no relation names.
    """
    generator = np.random.default_rng(seed)
    features = values.shape[1]
    known = [
        (f, v) for f in range(features) for v in range(LOW, HIGH + 1) if f != 3 and (f, v) not in ((2, LOW), (4, 0))
    ]
    number = {relation: place for place, relation in enumerate(known)}
    found: set[tuple[int, ...]] = set()
    for _ in range(seeds):
        row = values[generator.integers(len(values))]
        chosen = generator.choice(features, generator.integers(1, longest + 1), replace=False)
        relations = sorted(number[f, int(row[f])] for f in chosen.tolist() if (f, int(row[f])) in number)
        for size in range(1, len(relations) + 1):
            found.update(combinations(relations, size))
    members = [list(relations) for relations in found]
    # The order in which a set arrives must not matter.
    generator.shuffle(members)
    table = RelationTable(np.array([f for f, _ in known]), np.array([v for _, v in known]))
    holds = values[:, table.features] == table.values
    counts = [holds[:, relations].all(axis=1).sum() for relations in members]
    return ConfigurationSet.from_relations(table, members, counts, len(values))


def thinned(configurations: ConfigurationSet, share: float, seed: int) -> ConfigurationSet:
    """A random share of the configurations; no longer closed under taking subsets."""
    return configurations.select(np.random.default_rng(seed).random(len(configurations)) < share)
