"""Mining as the paper states it, with sets of positions instead of bits."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet

Configuration = frozenset[tuple[int, int]]
"""Relations (feature, value)."""


def names_of(configurations: ConfigurationSet) -> list[Configuration]:
    """Relations of each configuration of a set."""
    table = configurations.table
    return [
        frozenset(table[relation] for relation in configurations.relations_of(place).tolist())
        for place in range(len(configurations))
    ]


def gen_conf(values: NDArray[np.int16], minimum: int, maximum_size: int | None = None) -> dict[Configuration, int]:
    """GLEM, Fig. 1, with ordered specialization: every valid configuration with its match count."""
    # A set of positions is the set bits of one large integer.
    matches: dict[tuple[int, int], int] = {}
    for place, row in enumerate(values.tolist()):
        for relation in enumerate(row):
            matches[relation] = matches.get(relation, 0) | 1 << place
    valid = sorted(relation for relation, rows in matches.items() if rows.bit_count() >= minimum)
    newest = {frozenset([relation]): matches[relation] for relation in valid}
    found: dict[Configuration, int] = {}
    while newest:
        found.update({configuration: rows.bit_count() for configuration, rows in newest.items()})
        specialized = {}
        for configuration, rows in newest.items():
            if maximum_size is not None and len(configuration) == maximum_size:
                continue
            for relation in valid:
                if relation > max(configuration) and (rows & matches[relation]).bit_count() >= minimum:
                    specialized[configuration | {relation}] = rows & matches[relation]
        newest = specialized
    return found


def match_heuristic(matches: Sequence[bool], minimum: int, chunk_size: int, confidence: float) -> bool:
    """GLEM, Fig. 2, over positions in random order."""
    q = minimum / len(matches)
    chunks = [matches[start : start + chunk_size] for start in range(0, len(matches), chunk_size)]
    d = u = 0
    for chunk in chunks[:-1]:
        u += sum(chunk)
        d += chunk_size
        spread = confidence * math.sqrt(d * q * (1 - q))
        if u >= d * q + spread:
            return True
        if u < d * q - spread:
            return False
    return u + sum(chunks[-1]) >= minimum


def orbit(configuration: Configuration, symmetries: NDArray[np.intp]) -> frozenset[Configuration]:
    """All images of a configuration under the board's symmetries."""
    return frozenset(
        frozenset((int(image[feature]), value) for feature, value in configuration) for image in symmetries
    )
