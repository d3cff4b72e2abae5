"""The configuration DAG against pairwise comparison and naive scans."""

from __future__ import annotations

import numpy as np
import pytest

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.dag import ConfigurationDAG
from glem.core.errors import BadInputError
from tests.core.configurations.matching_examples import configuration_set, feature_values, thinned
from tests.oracles.matching import active_rows, direct_specializations, lists_of, most_specific_rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_arcs_are_the_transitive_reduction(seed: int, share: float) -> None:
    configurations = thinned(configuration_set(feature_values(40, seed), 60, seed), share, seed)
    dag = ConfigurationDAG(configurations)
    expected = direct_specializations(configurations)
    assert [sorted(special) for special in dag.specializations] == expected
    reached = {special for specials in expected for special in specials}
    assert dag.roots == [c for c in range(len(configurations)) if c not in reached]


def test_arcs_of_a_closed_set_add_one_relation() -> None:
    configurations = configuration_set(feature_values(40, 5), 60, 5)
    dag = ConfigurationDAG(configurations)
    sizes = configurations.sizes
    for general, specials in enumerate(dag.specializations):
        assert all(sizes[special] == sizes[general] + 1 for special in specials)
    assert all(sizes[root] == 1 for root in dag.roots)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_search_equals_scan(share: float) -> None:
    values = feature_values(80, 7)
    configurations = thinned(configuration_set(values, 80, 7), share, 7)
    dag = ConfigurationDAG(configurations)
    active = active_rows(configurations, values)
    for most_specific in (False, True):
        bounds, indices = lists_of(most_specific_rows(configurations, active) if most_specific else active)
        for position, row in enumerate(values):
            found = dag.active(row, most_specific)
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, indices[bounds[position] : bounds[position + 1]])


def test_empty_set() -> None:
    table = RelationTable(np.array([0]), np.array([1]))
    dag = ConfigurationDAG(ConfigurationSet.from_relations(table, []))
    assert dag.roots == []
    assert dag.active(np.array([1], np.int16)).tolist() == []


def test_equal_configurations_are_refused() -> None:
    twice = ConfigurationSet.from_relations(RelationTable(np.array([0]), np.array([1])), [[0], [0]])
    with pytest.raises(BadInputError, match="configurations 1 and 0 are equal"):
        ConfigurationDAG(twice)
