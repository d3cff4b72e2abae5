"""Scale and drawishness by maximum likelihood."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import favoured_outcomes, log_correctness, result_distribution
from glem.core.grading.scale import correctness_slopes, fit_scale
from tests.oracles import grading as oracle


def played(count: int, scale: float, drawishness: float, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Evaluations, and results drawn from what they predict."""
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 2 * scale, count)
    win, draw, _ = result_distribution(values, scale, drawishness)
    chance = generator.random(count)
    return values, np.where(chance < win, 1, np.where(chance < win + draw, 0, -1)).astype(np.int8)


@pytest.mark.parametrize(("scale", "drawishness"), [(1.1, 0.92), (7.0, 0.1), (300.0, 0.5)])
def test_the_truth_is_found_within_its_errors(scale: float, drawishness: float) -> None:
    values, results = played(20_000, scale, drawishness)
    fit = fit_scale(values, results)
    assert fit.converged
    assert fit.drawishness is not None
    assert abs(fit.scale - scale) < 4 * fit.scale_error < 0.1 * scale
    assert abs(fit.drawishness - drawishness) < 4 * fit.drawishness_error < 0.1
    assert fit.fitted == ("scale", "drawishness")


def test_errors_are_the_spread_over_collections() -> None:
    fits = [fit_scale(*played(400, 2.0, 0.6, seed)) for seed in range(40)]
    for name, error in (("scale", "scale_error"), ("drawishness", "drawishness_error")):
        spread = np.std([getattr(fit, name) for fit in fits])
        assert np.mean([getattr(fit, error) for fit in fits]) == pytest.approx(spread, rel=0.35)


def test_the_maximum_is_that_of_the_oracle() -> None:
    values, results = played(60, 3.0, 0.4, seed=2)

    def loss(point: NDArray[np.float64]) -> float:
        drawishness = 1 / (1 + math.exp(-point[1]))
        return -oracle.mean_log_likelihood(values.tolist(), results.tolist(), math.exp(point[0]), drawishness)

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12})
    fit = fit_scale(values, results)
    assert fit.drawishness is not None
    assert fit.scale == pytest.approx(math.exp(best.x[0]), rel=1e-4)
    assert fit.drawishness == pytest.approx(1 / (1 + math.exp(-best.x[1])), rel=1e-4)


def test_slopes_are_the_derivatives() -> None:
    values, results = played(200, 2.0, 0.5, seed=3)
    step = 1e-5
    alpha = 1 / (1 + np.exp(-np.array([0.3 - step, 0.3, 0.3 + step])))
    by_scale, by_odds = correctness_slopes(favoured_outcomes(values, results), 2.5, alpha[1])
    ahead, behind = (log_correctness(values, results, 2.5 * math.exp(sign * step), alpha[1]) for sign in (1, -1))
    np.testing.assert_allclose(by_scale, (ahead - behind) / (2 * step), atol=1e-7)
    ahead, behind = (log_correctness(values, results, 2.5, one) for one in (alpha[2], alpha[0]))
    np.testing.assert_allclose(by_odds, (ahead - behind) / (2 * step), atol=1e-7)


def test_either_may_be_given() -> None:
    values, results = played(5_000, 2.0, 0.6)
    given_scale = fit_scale(values, results, scale=5.0)
    assert (given_scale.scale, given_scale.fitted) == (5.0, ("drawishness",))
    assert math.isnan(given_scale.scale_error)
    given_drawishness = fit_scale(values, results, drawishness=0.2)
    assert (given_drawishness.drawishness, given_drawishness.fitted) == (0.2, ("scale",))
    both = fit_scale(values, results, scale=5.0, drawishness=0.2)
    assert (both.scale, both.drawishness, both.fitted, both.iterations) == (5.0, 0.2, (), 0)
    # What is free is best where the other is.
    for name, fit in (("drawishness", given_scale), ("scale", given_drawishness)):
        best = log_correctness(values, results, fit.scale, fit.drawishness).mean()
        for factor in (0.99, 1.01):
            moved = {"scale": fit.scale, "drawishness": fit.drawishness}
            moved[name] = factor * float(moved[name] or 0)
            assert log_correctness(values, results, **moved).mean() < best


def test_a_drawishness_of_its_own_leaves_the_scale() -> None:
    generator = np.random.default_rng(1)
    alpha = generator.uniform(0, 1, 20_000)
    values = generator.normal(0, 3, 20_000)
    win, draw, _ = result_distribution(values, 1.5, alpha)
    chance = generator.random(20_000)
    results = np.where(chance < win, 1, np.where(chance < win + draw, 0, -1))
    fit = fit_scale(values, results, drawishness=alpha)
    assert fit.drawishness is None
    assert abs(fit.scale - 1.5) < 4 * fit.scale_error


def test_without_draws_the_drawishness_is_exactly_0() -> None:
    values, results = played(5_000, 2.0, 0.0)
    fit = fit_scale(values, results)
    assert fit.drawishness == 0
    assert fit.converged
    assert math.isnan(fit.drawishness_error)
    assert np.isfinite(log_correctness(values, results, fit.scale, 0.0)).all()


def test_draws_alone_give_a_drawishness_of_1() -> None:
    fit = fit_scale(np.array([0.1, -0.2, 0.3]), np.zeros(3, np.int8))
    assert fit.drawishness == 1


def test_extremes_are_told_not_hidden() -> None:
    values = np.array([1.0, 2.0, -1.0, -3.0] * 10)
    perfect = fit_scale(values, np.sign(values).astype(np.int8))
    assert not perfect.converged
    assert "separates" in perfect.message
    upside_down = fit_scale(values, -np.sign(values).astype(np.int8))
    assert not upside_down.converged
    assert "tells nothing" in upside_down.message
    silent = fit_scale(np.zeros(4), np.array([1, 0, -1, 1]))
    assert "0 everywhere" in silent.message


def test_scale_follows_the_unit() -> None:
    values, results = played(3_000, 2.0, 0.6)
    fit, hundredths = fit_scale(values, results), fit_scale(100 * values, results)
    assert hundredths.scale == pytest.approx(100 * fit.scale, rel=1e-5)
    assert hundredths.drawishness == pytest.approx(fit.drawishness, rel=1e-5)


def test_many_positions_are_no_different() -> None:
    """The same games again and again: the same optimum, and by game the same error."""
    values, results = played(30_000, 2.0, 0.6)
    once = fit_scale(values, results)
    repeated = fit_scale(np.tile(values, 4), np.tile(results, 4), game=np.tile(np.arange(30_000), 4))
    assert repeated.scale == pytest.approx(once.scale, rel=1e-6)
    assert repeated.scale_error == pytest.approx(once.scale_error, rel=1e-4)
    assert repeated.drawishness_error == pytest.approx(once.drawishness_error, rel=1e-4)


def test_infinite_evaluations_are_left_out() -> None:
    values, results = played(3_000, 2.0, 0.6)
    fit = fit_scale(values, results)
    with_certain = fit_scale(np.append(values, [np.inf, -np.inf]), np.append(results, [1, 1]).astype(np.int8))
    assert with_certain.scale == fit.scale
    with pytest.raises(BadInputError, match="no finite evaluations"):
        fit_scale(np.array([np.inf]), np.array([1]))
