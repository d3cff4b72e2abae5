"""The compiled matcher against naive scans and against the DAG, one position at a time and in batches."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.compiling.columns import rows_of
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.dag import ConfigurationDAG
from glem.core.configurations.matching import ConfigurationMatcher, blocks, generalizations, lists, single, tables
from glem.core.configurations.matching.tables import build_tables
from glem.core.configurations.mining import mine
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.positions.reading import read_records
from glem.core.positions.replay import replay
from tests.core.configurations.matching_examples import FEATURES, configuration_set, feature_values, thinned
from tests.oracles.matching import active_rows, direct_specializations, lists_of, most_specific_rows

SPECIFIC = pytest.mark.parametrize("most_specific", [False, True], ids=["all", "most_specific"])


@pytest.fixture(scope="module", params=[1.0, 0.3], ids=["closed", "thinned"])
def configurations(request: pytest.FixtureRequest) -> ConfigurationSet:
    return thinned(configuration_set(feature_values(3000, 1), 400, 1, longest=7), request.param, 1)


@pytest.fixture(scope="module")
def matcher(configurations: ConfigurationSet) -> ConfigurationMatcher:
    return ConfigurationMatcher(configurations)


def expected_rows(configurations: ConfigurationSet, values: np.ndarray, most_specific: bool) -> np.ndarray:
    active = active_rows(configurations, values)
    return most_specific_rows(configurations, active) if most_specific else active


@SPECIFIC
@pytest.mark.parametrize("positions", [0, 1, 96, 97, 511, 512, 513, 1100])
def test_batch_equals_scan(
    configurations: ConfigurationSet, matcher: ConfigurationMatcher, positions: int, most_specific: bool
) -> None:
    values = feature_values(positions, 2)
    bounds, indices = lists_of(expected_rows(configurations, values, most_specific))
    for layout in (np.ascontiguousarray(values), np.asfortranarray(values)):
        indptr, found = matcher.active(layout, most_specific)
        assert (indptr.dtype, found.dtype) == (np.int64, np.int32)
        np.testing.assert_array_equal(indptr, bounds)
        np.testing.assert_array_equal(found, indices)


@SPECIFIC
def test_one_equals_dag_and_batch(
    configurations: ConfigurationSet, matcher: ConfigurationMatcher, most_specific: bool
) -> None:
    values = feature_values(120, 3)
    dag = ConfigurationDAG(configurations)
    indptr, indices = matcher.active(values, most_specific)
    for position, row in enumerate(values):
        found = matcher.active_one(row, most_specific)
        np.testing.assert_array_equal(found, dag.active(row, most_specific))
        np.testing.assert_array_equal(found, indices[indptr[position] : indptr[position + 1]])


def test_extensions_lead_along_the_arcs_of_the_dag(configurations: ConfigurationSet) -> None:
    extensions = build_tables(configurations).extensions
    members = [frozenset(configurations.relations_of(c).tolist()) for c in range(len(configurations))]
    index = {relations: configuration for configuration, relations in enumerate(members)}
    counts = configurations.match_counts
    for general, expected in enumerate(ConfigurationDAG(configurations).specializations):
        single = extensions.single[extensions.single_offsets[general] : extensions.single_offsets[general + 1]]
        found = [[index[members[general] | {relation}] for relation in single.tolist()], []]
        added: set[int] = set()
        several = slice(extensions.several_offsets[general], extensions.several_offsets[general + 1])
        for element in extensions.several[several].tolist():
            added.add(element >> 1)
            if element & 1:
                assert len(added) > 1
                found[1].append(index[members[general] | added])
                added = set()
        assert sorted(found[0] + found[1]) == expected
        for specials in found:
            assert (np.diff(counts[specials]) <= 0).all()


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
    for most_specific in (False, True):
        bounds, indices = lists_of(expected_rows(configurations, values, most_specific))
        indptr, found = matcher.active(values, most_specific)
        assert (indptr.tolist(), found.tolist()) == (bounds.tolist(), indices.tolist())
    dag = ConfigurationDAG(configurations)
    assert dag.specializations == direct_specializations(configurations)


@SPECIFIC
def test_more_configurations_than_a_slab(most_specific: bool) -> None:
    values = feature_values(600, 4)
    configurations = thinned(configuration_set(values, 900, 4, longest=8), 0.6, 4)
    assert len(configurations) > 9000
    bounds, indices = lists_of(expected_rows(configurations, values, most_specific))
    indptr, found = ConfigurationMatcher(configurations).active(values, most_specific)
    np.testing.assert_array_equal(indptr, bounds)
    np.testing.assert_array_equal(found, indices)


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
        for a, b in zip(one, matcher.active(values, most_specific, jobs=jobs), strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(sums, matcher.sums(values, weights, most_specific, jobs=jobs))


def test_threads_may_share_a_matcher(matcher: ConfigurationMatcher) -> None:
    values = feature_values(400, 8)
    alone = [matcher.active_one(row, True) for row in values]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda row: matcher.active_one(row, True), values))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_matcher_travels_to_another_process(matcher: ConfigurationMatcher) -> None:
    copy = pickle.loads(pickle.dumps(matcher))
    row = feature_values(1, 9)[0]
    np.testing.assert_array_equal(copy.active_one(row), matcher.active_one(row))


@SPECIFIC
def test_values_that_no_relation_names(most_specific: bool) -> None:
    configurations = configuration_set(feature_values(100, 10), 50, 10)
    matcher = ConfigurationMatcher(configurations)
    for value in (-32768, 32767, 7):
        values = np.full((40, FEATURES), value, np.int16)
        assert len(matcher.active(values, most_specific)[1]) == 0
        assert len(matcher.active_one(values[0], most_specific)) == 0


@SPECIFIC
def test_no_configurations(most_specific: bool) -> None:
    matcher = ConfigurationMatcher(ConfigurationSet.from_relations(RelationTable(np.zeros(0), np.zeros(0)), []))
    values = feature_values(600, 11)
    indptr, indices = matcher.active(values, most_specific)
    assert not indptr.any()
    assert len(indices) == 0
    assert not matcher.sums(values, np.zeros(0, np.float32), most_specific).any()
    assert matcher.active_one(values[0], most_specific).tolist() == []


def test_extreme_values_of_one_feature() -> None:
    table = RelationTable(np.array([0, 0]), np.array([-32768, 32767]))
    matcher = ConfigurationMatcher(ConfigurationSet.from_relations(table, [[1], [0]]))
    values = np.array([[32767], [-32768], [0]] * 20, np.int16)
    assert matcher.active(values)[1][:2].tolist() == [0, 1]
    assert [matcher.active_one(row).tolist() for row in values[:3]] == [[0], [1], []]


def test_kernels_are_compiled_once() -> None:
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
    for module in (blocks, generalizations, lists, single, tables):
        for name, function in vars(module).items():
            if hasattr(function, "signatures") and function.__module__ == module.__name__:
                types = 3 if name == "_grown" else 1  # words of bits, nodes, configurations
                assert len(function.signatures) <= types, name


class TestErrors:
    def test_equal_configurations(self) -> None:
        table = RelationTable(np.array([0, 1]), np.array([1, 1]))
        twice = ConfigurationSet.from_relations(table, [[0], [0, 1], [0]])
        with pytest.raises(BadInputError, match="configurations 0 and 2 are equal"):
            ConfigurationMatcher(twice)

    def test_long_configuration(self) -> None:
        table = RelationTable(np.arange(70), np.ones(70))
        with pytest.raises(BadInputError, match="configuration 1 has 65 relations; 64 are the most"):
            ConfigurationMatcher(ConfigurationSet.from_relations(table, [[0], range(65)]))
        longest = ConfigurationMatcher(ConfigurationSet.from_relations(table, [[69], range(6, 70)]))
        assert longest.active_one(np.ones(70, np.int16), most_specific=True).tolist() == [1]

    def test_values(self, matcher: ConfigurationMatcher) -> None:
        values = feature_values(50, 12)
        with pytest.raises(BadInputError, match=r"expected 2 dimension\(s\) of int16, found 2 of int64"):
            matcher.active(values.astype(np.int64))  # type: ignore[arg-type]
        with pytest.raises(BadInputError, match="found 2 of int16"):
            matcher.active_one(values)
        with pytest.raises(BadInputError, match="5 features, but a relation names feature 13"):
            matcher.active(values[:, :5])
        with pytest.raises(BadInputError, match="jobs: expected at least 1, found 0"):
            matcher.active(values, jobs=0)

    def test_weights_and_phases(self, matcher: ConfigurationMatcher) -> None:
        values = feature_values(50, 13)
        weights = np.zeros((2, len(matcher)), np.float32)
        with pytest.raises(BadInputError, match="weights of shape"):
            matcher.sums(values, weights[:, 1:])
        with pytest.raises(BadInputError, match=r"phase: a value is outside of 0\.\.1"):
            matcher.sums(values, weights, phase=np.full(50, 2, np.uint8))
        with pytest.raises(BadInputError, match="phase: expected 50 integers"):
            matcher.sums(values, weights, phase=np.zeros(49, np.uint8))


@pytest.mark.shared
@pytest.mark.repeats  # real positions, in an oracle's half minute; drawn ones are above
@pytest.mark.parametrize("most_specific", [False, True])
def test_ten_thousand_real_positions(
    shared: Path, othello: Game, othello_learning: Learning, most_specific: bool
) -> None:
    (games, *_) = read_records(othello, shared / "othello" / "wthor" / "WTH_2001.wtb", chunk_games=700)
    played = replay(othello, games)
    chosen = np.random.default_rng(1).permutation(len(played.ply))[:20_000]
    positions = rows_of(played.positions, chosen)
    values = othello_learning.features.values(positions)
    squares = [othello_learning.features.index(f"{file}{rank}") for rank in (1, 2) for file in "abcdefgh"]
    closed = mine(values[10_000:], minimum_matches=600, maximum_size=6, features=squares).flatten()
    for configurations in (closed, thinned(closed, 0.5, 2)):
        matcher = ConfigurationMatcher(configurations)
        indptr, indices = matcher.active(np.asfortranarray(values[:10_000]), most_specific)
        for start in range(0, 10_000, 2500):
            rows = expected_rows(configurations, values[start : start + 2500], most_specific)
            bounds, expected = lists_of(rows)
            np.testing.assert_array_equal(indptr[start : start + 2501] - indptr[start], bounds)
            np.testing.assert_array_equal(indices[indptr[start] : indptr[start + 2500]], expected)
        for position in range(0, 10_000, 25):
            found = matcher.active_one(values[position], most_specific)
            np.testing.assert_array_equal(found, indices[indptr[position] : indptr[position + 1]])
