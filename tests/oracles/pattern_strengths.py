"""Strengths of sets of features, set by set."""

from collections.abc import Sequence
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray


def strengths(
    values: NDArray[np.int16], labels: NDArray[np.float64], symmetries: Sequence[Sequence[int]]
) -> list[NDArray[np.float64]]:
    """Share of the variance that the joint values of one, two and three features explain beyond their subsets'."""
    count = values.shape[1]
    variance = labels.var()

    def mean(members: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, float]:
        rows = (values[:, members] == wanted).all(axis=1)
        return int(rows.sum()), float(labels[rows].mean()) if rows.any() else 0.0

    def explained(members: tuple[int, ...]) -> float:
        total = 0.0
        for wanted in product(*(np.unique(values[:, member]) for member in members)):
            matches, own = mean(members, wanted)
            if not matches:
                continue
            difference = own
            for size in range(len(members)):
                for kept in combinations(range(len(members)), size):
                    part = mean(tuple(members[k] for k in kept), tuple(wanted[k] for k in kept))[1]
                    difference += (-1) ** (len(members) - size) * (part if kept else labels.mean())
            total += matches * difference**2 - variance
        return total

    found = []
    for size in (1, 2, 3):
        strength = np.zeros((count,) * size)
        for members in permutations(range(count), size):
            images = [tuple(sorted(image[member] for member in members)) for image in symmetries]
            strength[members] = max(sum(map(explained, images)) / len(images), 0) / (len(values) * variance)
        found.append(strength)
    return found
