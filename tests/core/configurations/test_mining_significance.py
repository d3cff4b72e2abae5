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
def test_statistics_by_phase(configurations: ConfigurationSet, grid: str) -> None:
    values, labels = _positions(2000, 5)
    if grid == "halves":
        labels = labels / 2
    elif grid == "any":
        labels = labels + np.random.default_rng(1).normal(size=2000)
    elif grid == "equal":
        labels = np.full(2000, -3.5)
    phases = np.random.default_rng(6).integers(0, 3, 2000)
    found = label_statistics(configurations, values, labels, phases=phases, phase_count=4, jobs=2)
    indicators = active_rows(configurations, values)
    for phase in range(3):
        members = phases == phase
        matched = indicators[:, members]
        np.testing.assert_array_equal(found.match_counts[phase], matched.sum(axis=1))
        # A label that fits no grid is off by at most half a step of 1/65535 of the range.
        slack = 0 if grid != "any" else np.ptp(labels) / 65535 / 2 * matched.sum(axis=1).max()
        np.testing.assert_allclose(found.label_sums[phase], matched @ labels[members], rtol=1e-12, atol=slack)
        correlations = found.correlations()[phase]
        for place in range(0, len(configurations), 37):
            if grid == "equal" or not 0 < matched[place].sum() < members.sum():
                assert np.isnan(correlations[place])
            else:
                expected = np.corrcoef(matched[place], labels[members])[0, 1]
                assert correlations[place] == pytest.approx(expected, abs=1e-5 if grid == "any" else 1e-12)
    assert found.positions[3] == 0 and not found.match_counts[3].any() and np.isnan(found.correlations()[3]).all()
    assert np.isnan(found.means[3]).all()


def test_significance_is_a_corrected_t_test(configurations: ConfigurationSet) -> None:
    values, labels = _positions(2000, 1)
    statistics = label_statistics(configurations, values, labels)
    indicators = active_rows(configurations, values)
    plain = label_significance(statistics, correction="none", minimum_matches=15)
    expected = np.array([scipy.stats.pearsonr(row, labels)[1] for row in indicators])
    np.testing.assert_allclose(plain.adjusted[0], expected, rtol=1e-7)
    shares = label_significance(statistics, minimum_matches=15)
    np.testing.assert_allclose(shares.adjusted[0], scipy.stats.false_discovery_control(expected), rtol=1e-7)
    strict = label_significance(statistics, correction="bonferroni", minimum_matches=15)
    np.testing.assert_allclose(strict.adjusted[0], np.minimum(expected * len(expected), 1), rtol=1e-7)
    assert strict.significant.sum() <= shares.significant.sum() <= plain.significant.sum()


def test_the_planted_configuration_is_the_strongest() -> None:
    values, labels = _positions(4000, 8)
    mined = mine(values, minimum_matches=20, maximum_size=3).flatten()
    tested = label_significance(label_statistics(mined, values, labels), correction="bonferroni")
    best = int(np.nanargmax(np.abs(tested.correlations[0])))
    assert tested.significant[best]
    assert [tuple(mined.table[int(relation)]) for relation in mined.relations_of(best)] == [(2, 1), (4, 0)]


def test_labels_without_relation_pass_no_test() -> None:
    values, labels = _positions(4000, 9)
    mined = mine(values, minimum_matches=20, maximum_size=3).flatten()
    statistics = label_statistics(mined, values, np.random.default_rng(0).permutation(labels))
    assert not label_significance(statistics, correction="bonferroni", level=0.01).significant.any()
    assert label_significance(statistics, correction="none", level=0.01).significant.any()


def test_positions_of_one_game_count_once() -> None:
    values, labels = _positions(1000, 10)
    mined = mine(values, minimum_matches=20, maximum_size=2).flatten()
    once = label_significance(label_statistics(mined, values, labels), correction="none")
    repeated = label_statistics(mined, np.repeat(values, 5, axis=0), np.repeat(labels, 5))
    five = label_significance(repeated, correction="none", minimum_matches=100, positions_per_label=5)
    np.testing.assert_allclose(five.adjusted, once.adjusted, rtol=1e-9)


def test_wrong_arguments_are_named(configurations: ConfigurationSet) -> None:
    values, labels = _positions(100, 1)
    statistics = label_statistics(configurations, values, labels)
    missing, phases = np.where(labels > 0, np.nan, labels), np.full(100, 3)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: label_statistics(configurations, values, missing), "finite"),
        (lambda: label_statistics(configurations, values, labels[1:]), "finite"),
        (lambda: label_statistics(configurations, values, labels, phases=phases, phase_count=3), "phases"),
        (lambda: label_statistics(configurations, values[:, :3], labels), "feature"),
        (lambda: label_significance(statistics, level=0), "level"),
        (lambda: label_significance(statistics, correction="x"), "correction"),  # type: ignore[arg-type]
        (lambda: label_significance(statistics, positions_per_label=0), "label"),
    ]
    for call, text in cases:
        with pytest.raises(BadInputError, match=text):
            call()


def test_no_configurations() -> None:
    values, labels = _positions(100, 1)
    none = ConfigurationSet.from_relations(RelationTable(np.zeros(0), np.zeros(0)), [])
    statistics = label_statistics(none, values, labels)
    assert len(label_significance(statistics).significant) == 0
