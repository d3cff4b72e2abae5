"""Label statistics and significance against plain numpy and scipy."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.mining import label_significance, label_statistics, mine
from glem.core.errors import BadInputError
from tests.oracles.matching import active_rows


def _positions(count: int, seed: int) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    values = generator.integers(-1, 2, (count, 7)).astype(np.int16)
    labels = generator.integers(-32, 33, count) * 2.0 + 9 * ((values[:, 2] == 1) & (values[:, 4] == 0))
    return values, labels


@pytest.fixture(scope="module")
def configurations() -> ConfigurationSet:
    """Mined ones in a disturbed order, all sizes."""
    mined = mine(_positions(2000, 1)[0], minimum_matches=15).flatten()
    return mined.select(np.random.default_rng(3).permutation(len(mined))[:900])


@pytest.mark.parametrize("grid", ["integers", "halves", "any", "equal"])
def test_statistics(configurations: ConfigurationSet, grid: str) -> None:
    values, labels = _positions(2000, 5)
    if grid == "halves":
        labels = labels / 2
    elif grid == "any":
        labels = labels + np.random.default_rng(1).normal(size=2000)
    elif grid == "equal":
        labels = np.full(2000, -3.5)
    found = label_statistics(configurations, values, labels, jobs=2)
    matched = active_rows(configurations, values)
    np.testing.assert_array_equal(found.match_counts, matched.sum(axis=1))
    # A label that fits no grid is off by at most half a step of 1/65535 of the range.
    slack = 0 if grid != "any" else np.ptp(labels) / 65535 / 2 * matched.sum(axis=1).max()
    np.testing.assert_allclose(found.label_sums, matched @ labels, rtol=1e-12, atol=slack)
    correlations = found.correlations()
    for place in range(0, len(configurations), 37):
        if grid == "equal" or not 0 < matched[place].sum() < len(labels):
            assert np.isnan(correlations[place])
        else:
            expected = np.corrcoef(matched[place], labels)[0, 1]
            assert correlations[place] == pytest.approx(expected, abs=1e-5 if grid == "any" else 1e-12)
    nowhere = label_statistics(configurations, values[:0], labels[:0])
    assert nowhere.positions == 0 and not nowhere.match_counts.any()
    assert np.isnan(nowhere.correlations()).all() and np.isnan(nowhere.means).all()


def test_significance_is_a_corrected_t_test(configurations: ConfigurationSet) -> None:
    values, labels = _positions(2000, 1)
    statistics = label_statistics(configurations, values, labels)
    indicators = active_rows(configurations, values)
    expected = scipy.stats.false_discovery_control([scipy.stats.pearsonr(row, labels)[1] for row in indicators])
    found = label_significance(statistics, minimum_matches=15)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_the_planted_configuration_is_the_strongest() -> None:
    values, labels = _positions(4000, 8)
    mined = mine(values, minimum_matches=20, maximum_size=3).flatten()
    statistics = label_statistics(mined, values, labels)
    best = int(np.nanargmax(np.abs(statistics.correlations())))
    assert label_significance(statistics)[best] <= 0.01
    assert [tuple(mined.table[int(relation)]) for relation in mined.relations_of(best)] == [(2, 1), (4, 0)]


def test_labels_without_relation_pass_no_test() -> None:
    values, labels = _positions(4000, 9)
    mined = mine(values, minimum_matches=20, maximum_size=3).flatten()
    shuffled = np.random.default_rng(0).permutation(labels)
    assert (label_significance(label_statistics(mined, values, shuffled)) > 0.01).all()


def test_positions_of_one_game_count_once() -> None:
    values, labels = _positions(1000, 10)
    mined = mine(values, minimum_matches=20, maximum_size=2).flatten()
    once = label_significance(label_statistics(mined, values, labels))
    repeated = label_statistics(mined, np.repeat(values, 5, axis=0), np.repeat(labels, 5))
    five = label_significance(repeated, minimum_matches=100, positions_per_label=5)
    np.testing.assert_allclose(five, once, rtol=1e-9)


def test_wrong_arguments_are_named(configurations: ConfigurationSet) -> None:
    values, labels = _positions(100, 1)
    statistics, missing = label_statistics(configurations, values, labels), np.where(labels > 0, np.nan, labels)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: label_statistics(configurations, values, missing), "finite"),
        (lambda: label_statistics(configurations, values, labels[1:]), "finite"),
        (lambda: label_statistics(configurations, values[:, :3], labels), "feature"),
        (lambda: label_significance(statistics, positions_per_label=0), "label"),
    ]
    for call, text in cases:
        with pytest.raises(BadInputError, match=text):
            call()


def test_no_configurations() -> None:
    values, labels = _positions(100, 1)
    none = ConfigurationSet.from_relations(RelationTable(np.zeros(0), np.zeros(0)), [])
    statistics = label_statistics(none, values, labels)
    assert len(label_significance(statistics)) == 0
