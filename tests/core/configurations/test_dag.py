"""The arcs of the configuration DAG against pairwise comparison; the tests of matching compare its search."""

import numpy as np
import pytest

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.dag import ConfigurationDAG
from glem.core.errors import BadInputError
from tests.core.configurations.matching_examples import configuration_set, feature_values, thinned
from tests.oracles.matching import direct_specializations


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_arcs_are_the_transitive_reduction(seed: int, share: float) -> None:
    configurations = thinned(configuration_set(feature_values(40, seed), 60, seed), share, seed)
    dag = ConfigurationDAG(configurations)
    expected = direct_specializations(configurations)
    assert [sorted(special) for special in dag.specializations] == expected
    reached = {special for specials in expected for special in specials}
    assert dag.roots == [c for c in range(len(configurations)) if c not in reached]


def test_empty_set() -> None:
    table = RelationTable(np.array([0]), np.array([1]))
    dag = ConfigurationDAG(ConfigurationSet.from_relations(table, []))
    assert dag.roots == []
    assert dag.active(np.array([1], np.int16)).tolist() == []


def test_equal_configurations_are_refused() -> None:
    twice = ConfigurationSet.from_relations(RelationTable(np.array([0]), np.array([1])), [[0], [0]])
    with pytest.raises(BadInputError, match="configurations 1 and 0 are equal"):
        ConfigurationDAG(twice)
