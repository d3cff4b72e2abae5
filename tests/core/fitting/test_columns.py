"""Columns that instances share: nothing is lost, and spreading and gathering are each other's transpose."""

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.fitting.packed.columns import Columns
from glem.core.patterns.patterns import MAX_TABLE_SIZE, PatternSet
from tests.othello import LEARNING


@pytest.fixture(scope="module", params=["logistello", "three of a kind", "none fit"])
def patterns(request: pytest.FixtureRequest) -> PatternSet:
    names = {
        "logistello": LEARNING.pattern_sets["logistello"],
        "three of a kind": {"corner": ("a1", "b1", "b2"), "file": ("c1", "c2"), "long": ("a1", "b2", "c3", "d4", "e5")},
        "none fit": {
            "edge": tuple(f"{column}1" for column in "abcdefgh"),
            "corner": ("a1", "b1", "c1", "a2", "b2", "c2"),
        },
    }
    return PatternSet.from_names(LEARNING.features, names[request.param])


def test_every_instance_has_one_place(patterns: PatternSet) -> None:
    columns = Columns.plan(patterns)
    instances = [instance for column in columns.columns for instance in column.instances]
    assert sorted(instances) == list(range(len(patterns.instances)))
    assert all(joint.shape[0] * joint.shape[1] <= MAX_TABLE_SIZE for joint in columns.joints)
    assert len({(joint.first, joint.second) for joint in columns.joints}) == len(columns.joints)


def test_logistello_needs_38_columns() -> None:
    patterns = PatternSet.from_names(LEARNING.features, LEARNING.pattern_sets["logistello"])
    columns = Columns.plan(patterns)
    joined = {
        tuple(patterns.patterns[patterns.instances[instance].pattern].name for instance in column.instances)
        for column in columns.columns
        if column.joint >= 0
    }
    assert len(columns.columns) == 38
    assert joined == {("diagonal_4", "diagonal_7"), ("diagonal_5", "diagonal_6")}


@pytest.fixture
def indices(patterns: PatternSet) -> NDArray[np.uint16]:
    """Random indices of the instances in 200 positions, the greatest ones first."""
    sizes = patterns.weight_sizes[[instance.pattern for instance in patterns.instances]]
    found = (np.random.default_rng(1).random((len(sizes), 200)) * sizes[:, None]).astype(np.uint16)
    found[:, 0] = sizes - 1
    return found


def test_joining_is_undone_by_splitting(patterns: PatternSet, indices: NDArray[np.uint16]) -> None:
    columns = Columns.plan(patterns)
    np.testing.assert_array_equal(columns.split(columns.join(indices)), indices)


def test_a_spread_vector_gives_the_same_sums_and_gathering_is_its_transpose(
    patterns: PatternSet, indices: NDArray[np.uint16]
) -> None:
    generator = np.random.default_rng(2)
    columns = Columns.plan(patterns)
    # Three more items stand for configurations, linear terms and the bias.
    weights = generator.normal(size=patterns.weight_count + 3)
    spread = columns.spread(weights)
    np.testing.assert_array_equal(spread[-3:], weights[-3:].astype(np.float32))
    expected = weights[indices + patterns.column_offsets[:, None]].sum(axis=0)
    found = spread[columns.join(indices) + columns.column_offsets[:, None]].sum(axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    gradient = generator.normal(size=len(spread))
    product = float(spread.astype(np.float64) @ gradient)
    assert float(weights @ columns.gather(gradient)) == pytest.approx(product, rel=1e-4, abs=1e-3)
