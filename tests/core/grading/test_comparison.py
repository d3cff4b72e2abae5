"""Paired comparisons."""

import numpy as np
import pytest

from glem.core.grading.comparison import bootstrap_means, compare, sign_flip_sums
from glem.core.grading.correctness import GradingSettings
from tests.oracles import grading as oracle


@pytest.mark.parametrize("seed", range(4))
def test_sign_flips_meet_the_exact_p_value(seed: int) -> None:
    generator = np.random.default_rng(seed)
    differences = generator.normal(0.3, 0.5, 24)
    games = np.repeat(np.arange(12), 2)
    found = compare(differences - 1.0, np.full(24, -1.0), games, settings=GradingSettings(resamples=50_000))
    exact = oracle.exact_sign_flip_p_value(np.bincount(games, differences).tolist())
    assert found.p_value == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 50_000) ** 0.5 + 1e-4)
    assert found.difference == pytest.approx(differences.mean())
    assert found.error == pytest.approx(oracle.clustered_error(differences.tolist(), games.tolist()))


def test_bootstrap_spreads_as_the_error_says() -> None:
    generator = np.random.default_rng(1)
    sums, counts = generator.normal(0.1, 1.0, 400), generator.integers(1, 4, 400)
    means = bootstrap_means(sums, counts, 20_000, 3)
    deviations = sums - sums.sum() / counts.sum() * counts
    assert means.mean() == pytest.approx(sums.sum() / counts.sum(), abs=0.002)
    assert means.std() == pytest.approx(np.sqrt((deviations**2).sum()) / counts.sum(), rel=0.05)


def test_bootstrap_draws_every_game_equally_often() -> None:
    sums = np.zeros(50)
    sums[17] = 1.0
    drawn = bootstrap_means(sums, np.ones(50, np.int64), 20_000, 0) * 50
    assert drawn.mean() == pytest.approx(1.0, abs=0.03)
    assert (drawn == np.rint(drawn)).all() or np.allclose(drawn, np.rint(drawn))
    assert drawn.var() == pytest.approx(1 - 1 / 50, abs=0.05)


def test_signs_are_independent_and_fair() -> None:
    places = np.exp2(np.arange(40, dtype=np.float64))
    signs = (sign_flip_sums(places, 4_000, 1) + places.sum()) / 2
    bits = (signs[:, None].astype(np.int64) >> np.arange(40)) & 1
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.04
    assert np.abs(np.corrcoef(bits.T) - np.eye(40)).max() < 0.08
    later = sign_flip_sums(np.concatenate([np.zeros(64), [1.0]]), 4_000, 1)
    assert abs(later.mean()) < 0.08


def test_no_difference_is_significant_as_often_as_it_says() -> None:
    generator = np.random.default_rng(2)
    found = [
        compare(
            generator.normal(-1, 1, 80),
            generator.normal(-1, 1, 80),
            np.repeat(np.arange(40), 2),
            settings=GradingSettings(resamples=400),
        )
        for _ in range(400)
    ]
    assert 0.02 < np.mean([one.p_value < 0.05 for one in found]) < 0.09
    assert np.mean([one.is_significant for one in found]) < 0.08


def test_a_clear_difference_is_found_and_worded() -> None:
    generator = np.random.default_rng(3)
    common = generator.normal(-1, 0.8, 500)
    found = compare(common + 0.02 + generator.normal(0, 0.05, 500), common, names=("new", "old"))
    assert found.is_significant
    assert found.low < 0.02 < found.high
    assert found.p_value == pytest.approx(1 / 10_001)
    assert found.verdict.startswith("new is better than old: it grades 2.")
    reverse = compare(common, common + 0.02 + generator.normal(0, 0.05, 500), names=("old", "new"))
    assert reverse.difference < 0
    assert reverse.verdict.startswith("new is better than old")


def test_an_unclear_difference_says_how_many_games_it_takes() -> None:
    generator = np.random.default_rng(4)
    first, second = generator.normal(-1, 0.5, 200), generator.normal(-1, 0.5, 200)
    found = compare(first, second, names=("a", "b"))
    assert not found.is_significant
    assert "no significant difference" in found.verdict
    assert "games would tell" in found.verdict


def test_alike_and_too_few() -> None:
    logs = np.array([-1.0, -2.0, -0.5])
    alike = compare(logs, logs, names=("a", "b"))
    assert (alike.difference, alike.p_value, alike.is_significant) == (0, 1, False)
    assert alike.verdict == "a and b grade alike in every game"
    few = compare(logs, logs - 0.5)
    assert few.verdict.startswith("3 games cannot tell")


def test_equal_seeds_give_equal_results() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.normal(-1, 1, 90), generator.normal(-1, 1, 90)
    found, again, other = (compare(first, second, settings=GradingSettings(seed=seed)) for seed in (3, 3, 4))
    assert found == again
    assert found.p_value != other.p_value


def test_impossible_results_compare_at_the_floor() -> None:
    found = compare(np.array([-np.inf, -1.0]), np.array([-1.0, -1.0]), settings=GradingSettings(floor=1e-3))
    assert found.difference == pytest.approx((np.log(1e-3) + 1) / 2)


def test_better_scaled_is_not_called_better_ordered() -> None:
    generator = np.random.default_rng(11)
    shared, own = generator.normal(-1, 0.5, 2_000), generator.normal(0, 0.1, 2_000)
    settings = GradingSettings(resamples=500)

    def verdict(by_order: float, by_scale: float) -> str:
        recalibrated, given = (shared + by_order + own, shared), (shared + by_scale + own, shared)
        return compare(*recalibrated, names=("new", "old"), as_given=given, settings=settings).verdict

    assert verdict(0.1, -0.1).endswith("in the other order: old is better scaled, not better ordered")
    assert verdict(0.1, 0.1).startswith("new is better than old")
    assert "scaled" not in verdict(0.1, 0.1)
    unclear = verdict(float(-own.mean()) + 1e-6, 0.1)
    assert unclear.startswith("no significant difference")
    assert unclear.endswith(": new may be better scaled, it is not known to be better ordered")
