"""Gain of configurations over their generalizations, by dictionaries of sets."""

import math


def gains(
    configurations: list[frozenset[int]], counts: list[int], means: list[float], overall: float, deviation: float
) -> list[float]:
    """For each configuration the smallest difference to a direct generalization, in standard errors."""
    known = dict(zip(configurations, range(len(configurations)), strict=True))
    result = []
    for place, configuration in enumerate(configurations):
        parents = [
            known[configuration - {relation}] for relation in configuration if configuration - {relation} in known
        ]
        differences = [
            0.0 if counts[parent] == counts[place] else means[place] - means[parent] for parent in parents
        ] or [means[place] - overall]
        result.append(min(differences, key=abs) * math.sqrt(counts[place]) / deviation)
    return result
