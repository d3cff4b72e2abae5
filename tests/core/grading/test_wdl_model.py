"""WDL_model's polynomials: the formulas, the fit, and what the model has in common with Ban's."""

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import expectation, result_distribution
from glem.core.evaluation.result_models import WdlModel, log_probability
from glem.core.grading.wdl_model import Bounds, WdlFit, bounds_of, fit_wdl_model, probability_slopes
from tests.oracles import wdl_model as oracle

BOUNDS = Bounds(17.0, 78.0, 58.0)
TRUE = WdlModel(*BOUNDS, (-0.3, 0.5, -0.2, 1.2), (0.2, -0.3, 0.1, 0.4))


def drawn(
    count: int, model: WdlModel = TRUE, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]:
    """Values, results that follow a model, and covariates."""
    generator = np.random.default_rng(seed)
    value, covariate = generator.normal(0, 2, count), generator.integers(10, 90, count)
    win, draw, _ = model.distribution(value, covariate)
    chance = generator.random(count)
    result = np.where(chance < win, 1, np.where(chance < win + draw, 0, -1)).astype(np.int8)
    return value, result, covariate


def test_probabilities_are_those_of_the_oracle() -> None:
    value, result, covariate = drawn(500)
    for each in (value, value / 5):
        logs = TRUE.log_correctness(each, result, covariate)
        told = oracle.grade(each.tolist(), result.tolist(), covariate.tolist(), (TRUE.win, TRUE.spread), BOUNDS)
        assert math.exp(logs.mean()) == pytest.approx(told, abs=1e-8)
    chances = TRUE.distribution(value, covariate)
    assert np.sum(chances, axis=0) == pytest.approx(np.ones(500), abs=1e-12)
    mirrored = TRUE.distribution(-value, covariate)
    assert mirrored.win == pytest.approx(chances.loss, abs=1e-12)


def test_probabilities_far_below_the_smallest_number_keep_their_logarithm() -> None:
    value = np.array([5000.0, 5000.0, -5000.0, np.inf, -np.inf, np.inf])
    result = np.array([-1, 0, 1, 1, -1, 0])
    logs = log_probability(value, result, 2.0, 1.0)
    assert logs[:3] == pytest.approx([-5002.0, -4998.0 + math.log1p(-math.exp(-4)), -5002.0])
    assert logs[3:].tolist() == [0.0, 0.0, -math.inf]


def test_slopes_are_differences() -> None:
    value, result, _ = drawn(200, seed=1)
    for a, b in ((1.3, 0.4), (0.05, 2.0), (3.0, 1.0)):
        slopes = probability_slopes(value, result, a, b)
        step = 1e-6
        by_a = log_probability(value, result, a + step, b) - log_probability(value, result, a - step, b)
        by_b = log_probability(value, result, a, b + step) - log_probability(value, result, a, b - step)
        assert slopes[0] == pytest.approx(by_a / (2 * step), abs=1e-6, rel=1e-6)
        assert slopes[1] == pytest.approx(by_b / (2 * step), abs=1e-6, rel=1e-6)


def test_the_truth_is_found_within_its_errors() -> None:
    fit = fit_wdl_model(*drawn(60_000), BOUNDS)
    assert fit.converged
    covariates = np.array([17.0, 30.0, 45.0, 58.0, 78.0])
    found = zip(fit.model.parameters(covariates), fit.errors(covariates), TRUE.parameters(covariates), strict=True)
    for estimate, error, truth in found:
        assert (np.abs(estimate - truth) < 4 * error).all()
        assert (error < 0.05).all()
    assert fit.model.pawn == pytest.approx(fit.model.parameters(58.0)[0], abs=1e-12)


def test_errors_are_the_spread_over_collections() -> None:
    def at(fit: WdlFit) -> tuple[Any, Any]:
        return np.ravel(fit.model.parameters(np.array([45.0]))), np.ravel(fit.errors(np.array([45.0])))

    fits = [at(fit_wdl_model(*drawn(1_500, seed=seed), BOUNDS)) for seed in range(40)]
    spread = np.std([found for found, _ in fits], axis=0)
    assert np.mean([error for _, error in fits], axis=0) == pytest.approx(spread, rel=0.35)
    # The same games again and again are no new ones.
    value, result, covariate = drawn(1_500)
    four = [np.tile(each, 4) for each in (value, result, covariate, np.arange(1_500))]
    once = at(fit_wdl_model(value, result, covariate, BOUNDS))
    repeated = at(fit_wdl_model(four[0], four[1], four[2], BOUNDS, game=four[3]))
    assert repeated[1] == pytest.approx(once[1], rel=0.1)


def test_the_maximum_is_that_of_the_oracle() -> None:
    value, result, covariate = drawn(400, seed=2)
    # A fit also sees these three.
    typical = float(np.sqrt(np.mean(value**2)))
    values, results = [*value.tolist(), typical, typical, typical], [*result.tolist(), 1, 0, -1]

    def loss(point: NDArray[np.float64]) -> float:
        told = oracle.grade(values, results, [0.0] * len(values), ([point[0]], [point[1]]), (0.0, 0.0, 1.0))
        return -math.log(told)

    best = minimize(loss, [1.0, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    alone = fit_wdl_model(value, result, covariate, BOUNDS, degree=0)
    assert alone.model.win == pytest.approx((0, 0, 0, best.x[0]), abs=1e-5)
    assert alone.model.spread == pytest.approx((0, 0, 0, best.x[1]), abs=1e-5)
    whole = fit_wdl_model(value, result, covariate, BOUNDS)
    middle = float(np.sort(np.clip(covariate, 17, 78))[200])
    everything = (values, results, [*covariate.tolist(), middle, middle, middle])
    reached = oracle.grade(*everything, (whole.model.win, whole.model.spread), BOUNDS)
    assert reached > math.exp(-best.fun)
    # Nowhere near is anything better.
    generator = np.random.default_rng(3)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            win, spread = np.array([whole.model.win, whole.model.spread]) + size * generator.normal(size=(2, 4))
            with contextlib.suppress(ValueError):
                assert oracle.grade(*everything, (win.tolist(), spread.tolist()), BOUNDS) < reached + 1e-9


def test_units_do_not_matter() -> None:
    value, result, covariate = drawn(3_000, seed=4)
    one, other = (fit_wdl_model(factor * value, result, covariate, BOUNDS) for factor in (1.0, 100.0))
    assert np.array(other.model.win) / 100 == pytest.approx(np.array(one.model.win), rel=1e-3, abs=1e-3)
    assert other.errors(np.array([50.0]))[0] / 100 == pytest.approx(one.errors(np.array([50.0]))[0], rel=1e-3)


@pytest.mark.parametrize("count", [1, 2, 12, 40, 150])
def test_few_positions_make_a_model_all_the_same(count: int) -> None:
    fit = fit_wdl_model(*drawn(count, seed=5), BOUNDS)
    a, b = fit.model.parameters(np.arange(200))
    assert (a > 0).all()
    assert (b > 0).all()


def test_thin_ends_are_left_to_their_borders() -> None:
    covariate = np.concatenate([[1.0, 400.0], np.random.default_rng(6).integers(20, 60, 2_000)])
    assert bounds_of(covariate, 1.0, 120.0, 32.0) == Bounds(20.0, 59.0, 32.0)
    assert bounds_of(covariate, 30.0, 50.0, 32.0) == Bounds(30.0, 50.0, 32.0)
    # What stands for 1 is a covariate that the model knows.
    assert bounds_of(covariate, 1.0, 120.0, 100.0) == Bounds(20.0, 59.0, 59.0)
    model = WdlModel(*BOUNDS, TRUE.win, TRUE.spread)
    assert np.array(model.parameters(np.array([3.0, 17.0, 500.0])))[:, 0] == pytest.approx(
        np.array(model.parameters(np.array([3.0, 17.0, 500.0])))[:, 1]
    )


def test_games_of_one_kind_have_models() -> None:
    value, result, covariate = drawn(300, seed=7)
    for kept in (result != 0, result == 0, result > 0):
        fit = fit_wdl_model(value[kept], result[kept], covariate[kept], BOUNDS)
        win, draw, loss = fit.model.distribution(np.array([0.5]), 50)
        assert min(win[0], draw[0], loss[0]) > 0


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(BadInputError, match="b\\(m\\) must be positive"):
        WdlModel(*BOUNDS, (1.0,), (1.0, -1.0))
    with pytest.raises(BadInputError, match="finite coefficients"):
        WdlModel(*BOUNDS, (math.nan,), (1.0,))
    with pytest.raises(BadInputError, match="3 values go with 2 results"):
        fit_wdl_model(np.zeros(3), np.zeros(2), np.zeros(3), BOUNDS)
    for nothing in (np.zeros(3), np.full(3, np.inf)):
        with pytest.raises(BadInputError, match="nothing to fit a model to"):
            fit_wdl_model(nothing, np.array([1, 0, -1]), np.zeros(3), BOUNDS)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 3.0])
def test_what_the_documentation_says_of_the_two_models(ratio: float) -> None:
    """Draws among what is not won: Ban's the same everywhere, WDL_model's growing with the advantage to a limit."""
    model = WdlModel(0, 0, 1, (ratio,), (1.0,))
    value = np.linspace(0, 12, 200)
    win, draw, loss = model.distribution(value, 0)
    limit = 1 - math.exp(-2 * ratio)
    assert draw / (1 - win) == pytest.approx(limit * (1 - loss), abs=1e-9)
    assert (draw / (1 - win))[-1] == pytest.approx(limit, abs=1e-4)
    assert draw[0] == pytest.approx(math.tanh(ratio / 2), abs=1e-12)
    # The expected score is the mean of two logistic functions.
    scores = (expectation(value - ratio, 1.0) + expectation(value + ratio, 1.0)) / 2
    assert win + draw / 2 == pytest.approx(scores, abs=1e-12)
    ban = result_distribution(value, 1.0, limit)
    assert ban.draw / (1 - ban.win) == pytest.approx(np.full(200, limit))
    assert ban.draw[0] == pytest.approx(math.tanh(ratio), abs=1e-12)


def test_without_draws_both_models_are_the_same() -> None:
    value = np.linspace(-5, 5, 50)
    model = WdlModel(0, 0, 1, (0.0,), (1.5,)).distribution(value, 0)
    for one, other in zip(model, result_distribution(value, 1.5, 0.0), strict=True):
        assert one == pytest.approx(other, abs=1e-12)
