"""The compiled matcher against naive scans and against the DAG, one position at a time and in batches."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.dag import ConfigurationDAG
from glem.core.configurations.matching import blocks, generalizations, lists, single, tables
from glem.core.configurations.matching.matcher import ConfigurationMatcher
from glem.core.configurations.mining import mine
from glem.core.errors import BadInputError
from tests.oracles.matching import active_rows, direct_specializations, lists_of, most_specific_rows

SPECIFIC = pytest.mark.parametrize("most_specific", [False, True], ids=["all", "most_specific"])


FEATURES = 14


def feature_values(positions: int, seed: int) -> NDArray[np.int16]:
    """Values that depend on one another like neighbouring squares: int16 [N, F]."""
    generator = np.random.default_rng(seed)
    values = generator.integers(-1, 3, (positions, FEATURES))
    for feature in range(1, FEATURES):
        same = generator.random(positions) < 0.6
        values[same, feature] = values[same, feature - 1]
    return values.astype(np.int16)


def configuration_set(values: NDArray[np.int16], minimum_matches: int, seed: int) -> ConfigurationSet:
    """What is mined from values, in a random order; feature 3 has no relation."""
    named = [feature for feature in range(FEATURES) if feature != 3]
    mined = mine(values, minimum_matches=minimum_matches, maximum_size=7, features=named).flatten()
    # The order in which a set arrives must not matter.
    return mined.select(np.random.default_rng(seed).permutation(len(mined)))


def thinned(configurations: ConfigurationSet, share: float, seed: int) -> ConfigurationSet:
    """A random share of the configurations; no longer closed under taking subsets."""
    return configurations.select(np.random.default_rng(seed).random(len(configurations)) < share)


@pytest.fixture(scope="module", params=[1.0, 0.3], ids=["closed", "thinned"])
def configurations(request: pytest.FixtureRequest) -> ConfigurationSet:
    return thinned(configuration_set(feature_values(3000, 1), 80, 1), request.param, 1)


@pytest.fixture(scope="module")
def matcher(configurations: ConfigurationSet) -> ConfigurationMatcher:
    return ConfigurationMatcher(configurations)


def expected_rows(configurations: ConfigurationSet, values: np.ndarray, most_specific: bool) -> np.ndarray:
    active = active_rows(configurations, values)
    return most_specific_rows(configurations, active) if most_specific else active


def assert_same_lists(found: Any, expected: Any) -> None:
    for found_part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_array_equal(found_part, expected_part)


@SPECIFIC
@pytest.mark.parametrize("positions", [0, 1, 96, 97, 511, 512, 513, 1100])
def test_batch_equals_scan(
    configurations: ConfigurationSet, matcher: ConfigurationMatcher, positions: int, most_specific: bool
) -> None:
    values = feature_values(positions, 2)
    expected = lists_of(expected_rows(configurations, values, most_specific))
    for layout in (np.ascontiguousarray(values), np.asfortranarray(values)):
        found = matcher.active(layout, most_specific)
        assert [part.dtype for part in found] == [np.int64, np.int32]
        assert_same_lists(found, expected)


@given(
    members=st.sets(st.frozensets(st.integers(0, 9), min_size=1, max_size=7), max_size=25),
    rows=st.lists(st.lists(st.integers(-1, 3), min_size=5, max_size=5), min_size=1, max_size=40),
)
@settings(deadline=None, max_examples=60)
def test_any_set_of_configurations(members: set[frozenset[int]], rows: list[list[int]]) -> None:
    # Also configurations that hold two values of one feature: they are active nowhere.
    table = RelationTable(np.repeat(np.arange(5), 2), np.tile([0, 2], 5))
    configurations = ConfigurationSet.from_relations(table, [sorted(m) for m in members])
    values = np.array(rows, np.int16)
    matcher = ConfigurationMatcher(configurations)
    dag = ConfigurationDAG(configurations)
    arcs = direct_specializations(configurations)
    assert dag.specializations == arcs
    assert dag.roots == sorted(set(range(len(configurations))) - {special for specials in arcs for special in specials})
    for most_specific in (False, True):
        expected = lists_of(expected_rows(configurations, values, most_specific))
        found = matcher.active(values, most_specific)
        assert_same_lists(found, expected)
        for row, start, end in zip(values, found[0], found[0][1:], strict=False):
            assert matcher.active_one(row, most_specific).tolist() == found[1][start:end].tolist()
            assert dag.active(row, most_specific).tolist() == found[1][start:end].tolist()


@SPECIFIC
def test_more_configurations_than_a_slab(most_specific: bool) -> None:
    values = feature_values(600, 4)
    configurations = thinned(configuration_set(values, 11, 4), 0.6, 4)
    assert len(configurations) > 9000
    expected = lists_of(expected_rows(configurations, values, most_specific))
    assert_same_lists(ConfigurationMatcher(configurations).active(values, most_specific), expected)


@SPECIFIC
@pytest.mark.parametrize("positions", [5, 1300])
def test_sums_equal_float64_sums(
    configurations: ConfigurationSet, matcher: ConfigurationMatcher, positions: int, most_specific: bool
) -> None:
    values = feature_values(positions, 5)
    generator = np.random.default_rng(5)
    weights = generator.normal(size=(3, len(configurations))).astype(np.float32)
    phase = generator.integers(0, 3, positions).astype(np.uint8)
    rows = expected_rows(configurations, values, most_specific)
    by_phase = weights.astype(np.float64) @ rows
    # Weights of like size add up in float64 without a rounding that float32 shows.
    expected = by_phase[phase, np.arange(positions)].astype(np.float32)
    np.testing.assert_array_equal(matcher.sums(values, weights, most_specific, phase), expected)
    np.testing.assert_array_equal(matcher.sums(values, weights[1], most_specific), by_phase[1].astype(np.float32))


@SPECIFIC
def test_jobs_change_nothing(matcher: ConfigurationMatcher, most_specific: bool) -> None:
    values = feature_values(3000, 7)
    generator = np.random.default_rng(7)
    weights = generator.normal(size=len(matcher)).astype(np.float32)
    one = matcher.active(values, most_specific)
    sums = matcher.sums(values, weights, most_specific)
    for jobs in (2, 5):
        assert_same_lists(matcher.active(values, most_specific, jobs=jobs), one)
        np.testing.assert_array_equal(sums, matcher.sums(values, weights, most_specific, jobs=jobs))


def test_threads_may_share_a_matcher(matcher: ConfigurationMatcher) -> None:
    values = feature_values(400, 8)
    alone = [matcher.active_one(row, True) for row in values]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda row: matcher.active_one(row, True), values))
    assert_same_lists(together, alone)
    bounds, indices = matcher.active(values, True)
    assert_same_lists(alone, np.split(indices, bounds[1:-1]))
    copy = pickle.loads(pickle.dumps(matcher))  # as it travels to another process
    assert_same_lists(copy.active(values, True), matcher.active(values, True))


@SPECIFIC
def test_no_configurations(most_specific: bool) -> None:
    matcher = ConfigurationMatcher(ConfigurationSet.from_relations(RelationTable(np.zeros(0), np.zeros(0)), []))
    values = feature_values(600, 11)
    indptr, indices = matcher.active(values, most_specific)
    assert not indptr.any() and len(indices) == len(matcher.active_one(values[0], most_specific)) == 0
    assert not matcher.sums(values, np.zeros(0, np.float32), most_specific).any()


def test_extreme_values_and_values_that_no_relation_names() -> None:
    table = RelationTable(np.array([0, 0]), np.array([-32768, 32767]))
    matcher = ConfigurationMatcher(ConfigurationSet.from_relations(table, [[1], [0]]))
    values = np.array([[32767], [-32768], [0], [-32767]] * 20, np.int16)
    assert matcher.active(values)[1].tolist() == [0, 1] * 20
    assert [matcher.active_one(row).tolist() for row in values[:4]] == [[0], [1], [], []]


def compiled_forms() -> dict[str, int]:
    """How many forms of each kernel this process has compiled."""
    return {
        name: len(function.signatures)
        for module in (blocks, generalizations, lists, single, tables)
        for name, function in vars(module).items()
        if hasattr(function, "signatures") and function.__module__ == module.__name__
    }


def test_kernels_are_compiled_once() -> None:
    # Mining, in a test before this one, may have called some of them with words that can be written to.
    before = compiled_forms()
    values = feature_values(200, 15)
    configurations = configuration_set(values, 20, 15)
    for array in (configurations.relations, configurations.offsets, configurations.match_counts):
        array.flags.writeable = False
    for matcher in (ConfigurationMatcher(configurations), ConfigurationMatcher(configurations.select(np.arange(9)))):
        for batch in (values, np.asfortranarray(values), values[::2], values[:99]):
            batch.flags.writeable = False
            matcher.active(batch, True)
            matcher.active_one(batch[0])
            weights = np.ones(len(matcher), np.float32)
            weights.flags.writeable = False
            matcher.sums(batch, weights)
    for name, forms in compiled_forms().items():
        # Grown are words of bits, nodes and configurations.
        assert forms - before[name] <= (3 if name == "_grown" else 1), name


def test_equal_and_long_configurations_are_refused() -> None:
    table = RelationTable(np.arange(70), np.ones(70))
    twice = ConfigurationSet.from_relations(table, [[0], [0, 1], [0]])
    with pytest.raises(BadInputError, match="configurations 0 and 2 are equal"):
        ConfigurationMatcher(twice)
    with pytest.raises(BadInputError, match="configurations 2 and 0 are equal"):
        ConfigurationDAG(twice)
    with pytest.raises(BadInputError, match="configuration 1 has 65 relations; 64 are the most"):
        ConfigurationMatcher(ConfigurationSet.from_relations(table, [[0], range(65)]))
    longest = ConfigurationMatcher(ConfigurationSet.from_relations(table, [[69], range(6, 70)]))
    assert longest.active_one(np.ones(70, np.int16), most_specific=True).tolist() == [1]


def test_wrong_arguments_are_named(matcher: ConfigurationMatcher) -> None:
    values = feature_values(50, 12)
    long_values: Any = values.astype(np.int64)
    weights = np.zeros((2, len(matcher)), np.float32)
    beyond, short = np.full(50, 2, np.uint8), np.zeros(49, np.uint8)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: matcher.active(long_values), r"expected 2 dimension\(s\) of int16, found 2 of int64"),
        (lambda: matcher.active_one(values), "found 2 of int16"),
        (lambda: matcher.active(values[:, :5]), "5 features, but a relation names feature 13"),
        (lambda: matcher.active(values, jobs=0), "jobs: expected at least 1, found 0"),
        (lambda: matcher.sums(values, weights[:, 1:]), "weights of shape"),
        (lambda: matcher.sums(values, weights, phase=beyond), r"phase: a value is outside of 0\.\.1"),
        (lambda: matcher.sums(values, weights, phase=short), "phase: expected 50 integers"),
    ]
    for call, text in cases:
        with pytest.raises(BadInputError, match=text):
            call()
