"""Small designs for the tests of fitting, with every kind of item, and their dense matrices."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.features.features import AtomicFeatures
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.design import Design
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_patterns import valid_contents
from tests.oracles.fitting import dense_matrix

PHASES = 4
CONFIGURATIONS = 30
NAMES = {"corner": ("a1", "b1", "a2", "b2"), "diagonal": ("a4", "b3", "c2", "d1"), "edge": ("a1", "b1", "c1")}


def _patterns(features: AtomicFeatures, values: NDArray[np.int16]) -> PatternSet:
    """Dense patterns with a sparse one among them, which knows about half of the contents that occur."""
    one, *others = PatternSet.from_names(features, NAMES).patterns
    sparse = Pattern("sparse", tuple(map(features.index, ("b2", "c2", "b3", "c3"))))
    sparse = evolve(sparse, contents=valid_contents(features, sparse, [values], len(values) // 50))
    assert sparse.contents is not None and 5 < len(sparse.contents) < 40
    return PatternSet(features, (one, sparse, *others))


@define(frozen=True, eq=False)
class Small:
    """A small design, its dense matrix [N, items] and the phase of each row."""

    design: Design
    matrix: NDArray[np.float64]
    phases: NDArray[np.int64]


def small_design(
    features: AtomicFeatures,
    count: int = 700,
    *,
    seed: int = 0,
    patterns: bool = True,
    configurations: bool = True,
    linear: Sequence[str] = ("mobility", "disc_difference"),
    chunks: int = 3,
    jobs: int = 1,
) -> Small:
    """Random feature values; configuration c is active where the squares c and c + 1 are alike, ten ids share three."""
    generator = np.random.default_rng(seed)
    values = np.zeros((len(features), count), np.int16)
    for place, feature in enumerate(features.features):
        values[place] = generator.integers(feature.low, feature.high + 1, count)
    values[:64][generator.random((64, count)) < 0.5] = 0
    phases = generator.integers(0, PHASES, count)
    edges = np.linspace(0, count, chunks + 1).astype(int)

    def parts() -> Iterator[tuple[Any, Any]]:
        for start, stop in pairwise(edges):
            yield values.T[start:stop], phases[start:stop]

    def active(rows: Any) -> tuple[Any, Any]:
        alike = rows[:, : CONFIGURATIONS + 9] == rows[:, 1 : CONFIGURATIONS + 10]
        ids = [
            sorted(min(c, CONFIGURATIONS - 1) if c < CONFIGURATIONS else c % 3 for c in np.flatnonzero(row))
            for row in alike
        ]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in ids])])
        return starts, np.array([c for row in ids for c in row], np.int64)

    packing = Packing(
        PHASES,
        _patterns(features, values.T) if patterns else None,
        active if configurations else None,
        CONFIGURATIONS if configurations else 0,
        LinearTerms.from_names(features, linear),
    )
    design = Design.build(parts(), packing, jobs=jobs)
    matrix, found = dense_matrix(design)
    np.testing.assert_array_equal(found, phases)
    return Small(design, matrix, phases)
