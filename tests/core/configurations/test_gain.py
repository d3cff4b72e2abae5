"""Gain over generalizations against the oracle."""

import numpy as np
import pytest

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.mining.gain import generalization_gain
from glem.core.errors import BadInputError
from tests.oracles.gain import gains


def _set_of(configurations: list[frozenset[int]], counts: list[int], relation_count: int) -> ConfigurationSet:
    return ConfigurationSet(
        table=RelationTable(np.arange(relation_count, dtype=np.int32), np.zeros(relation_count, np.int16)),
        relations=np.array([relation for members in configurations for relation in sorted(members)], np.uint16),
        offsets=np.cumsum([0, *(len(members) for members in configurations)]).astype(np.int64),
        match_counts=np.array(counts, np.int64),
        position_count=1000,
    )


@pytest.mark.parametrize("seed", range(5))
def test_gains_equal_the_oracle(seed: int) -> None:
    generator = np.random.default_rng(seed)
    drawn = {frozenset(map(int, generator.choice(8, generator.integers(1, 5), replace=False))) for _ in range(120)}
    configurations = sorted(drawn, key=sorted)
    counts = generator.integers(1, 6, len(configurations)).tolist()
    means = generator.normal(size=len(configurations))
    found = generalization_gain(_set_of(configurations, counts, 8), means, 0.25, 2.0)
    np.testing.assert_allclose(found, gains(configurations, counts, means.tolist(), 0.25, 2.0), rtol=1e-12)


def test_a_conjunction_that_adds_nothing_gains_nothing() -> None:
    configurations = [frozenset({0}), frozenset({1}), frozenset({0, 1})]
    found = generalization_gain(_set_of(configurations, [100, 50, 25], 2), np.array([4.0, 1.0, 4.0]), 0.0, 1.0)
    assert found.tolist() == pytest.approx([40.0, 50**0.5, 0.0])


def test_wrong_arguments_are_named() -> None:
    configurations = _set_of([frozenset({0})], [3], 1)
    with pytest.raises(BadInputError, match="finite means"):
        generalization_gain(configurations, np.array([np.nan]), 0.0, 1.0)
    with pytest.raises(BadInputError, match="standard deviation"):
        generalization_gain(configurations, np.array([1.0]), 0.0, 0.0)
