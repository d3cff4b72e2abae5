"""Scale and drawishness by maximum likelihood, and what a fit to other games makes of evaluations."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.grading.calibration import FEWEST_GAMES, Prediction, fit_scale, recalibrated
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.grading import grade_predictions
from tests.core.grading.examples import played
from tests.oracles import grading as oracle

QUICK = GradingSettings(resamples=500)


def example(count: int, scale: float, drawishness: Any, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Evaluations, and results drawn from what they predict."""
    values = np.random.default_rng(seed).normal(0, 2 * scale, count)
    return values, played(values, drawishness, scale=scale, seed=seed + 1000)


@pytest.mark.parametrize(("scale", "drawishness"), [(1.1, 0.92), (7.0, 0.1), (300.0, 0.5)])
def test_the_truth_is_found_within_its_errors(scale: float, drawishness: float) -> None:
    values, results = example(20_000, scale, drawishness)
    fit = fit_scale(values, results)
    assert fit.converged
    assert fit.drawishness is not None
    assert abs(fit.scale - scale) < 4 * fit.scale_error < 0.1 * scale
    assert abs(fit.drawishness - drawishness) < 4 * fit.drawishness_error < 0.1
    assert fit.fitted == ("scale", "drawishness")


def test_errors_are_the_spread_over_collections() -> None:
    fits = [fit_scale(*example(400, 2.0, 0.6, seed)) for seed in range(40)]
    for name, error in (("scale", "scale_error"), ("drawishness", "drawishness_error")):
        spread = np.std([getattr(fit, name) for fit in fits])
        assert np.mean([getattr(fit, error) for fit in fits]) == pytest.approx(spread, rel=0.35)


def test_the_maximum_is_that_of_the_oracle() -> None:
    values, results = example(60, 3.0, 0.4, seed=2)

    def loss(point: NDArray[np.float64]) -> float:
        drawishness = 1 / (1 + math.exp(-point[1]))
        return -oracle.mean_log_likelihood(values.tolist(), results.tolist(), math.exp(point[0]), drawishness)

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12})
    fit = fit_scale(values, results)
    assert fit.drawishness is not None
    assert fit.scale == pytest.approx(math.exp(best.x[0]), rel=1e-4)
    assert fit.drawishness == pytest.approx(1 / (1 + math.exp(-best.x[1])), rel=1e-4)


def test_either_may_be_given() -> None:
    values, results = example(5_000, 2.0, 0.6)
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
    alpha = np.random.default_rng(1).uniform(0, 1, 20_000)
    fit = fit_scale(*example(20_000, 1.5, alpha), drawishness=alpha)
    assert fit.drawishness is None
    assert abs(fit.scale - 1.5) < 4 * fit.scale_error


def test_without_draws_the_drawishness_is_exactly_0() -> None:
    values, results = example(5_000, 2.0, 0.0)
    fit = fit_scale(values, results)
    assert fit.drawishness == 0
    assert fit.converged
    assert math.isnan(fit.drawishness_error)
    assert np.isfinite(log_correctness(values, results, fit.scale, 0.0)).all()


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
    assert fit_scale(np.array([0.1, -0.2, 0.3]), np.zeros(3, np.int8)).drawishness == 1


def test_many_positions_are_no_different() -> None:
    """The same games again and again: the same optimum, and by game the same error."""
    values, results = example(30_000, 2.0, 0.6)
    once = fit_scale(values, results)
    repeated = fit_scale(np.tile(values, 4), np.tile(results, 4), game=np.tile(np.arange(30_000), 4))
    assert repeated.scale == pytest.approx(once.scale, rel=1e-6)
    assert repeated.scale_error == pytest.approx(once.scale_error, rel=1e-4)
    assert repeated.drawishness_error == pytest.approx(once.drawishness_error, rel=1e-4)


def test_infinite_evaluations_are_left_out() -> None:
    values, results = example(3_000, 2.0, 0.6)
    fit = fit_scale(values, results)
    with_certain = fit_scale(np.append(values, [np.inf, -np.inf]), np.append(results, [1, 1]).astype(np.int8))
    assert with_certain.scale == fit.scale
    with pytest.raises(BadInputError, match="no finite evaluations"):
        fit_scale(np.array([np.inf]), np.array([1]))


def sharp_and_dull(games: int = 1_000) -> tuple[Any, dict[str, Prediction]]:
    """Results, one who sees them well and is far too sure, and one who sees little and has nothing of its own."""
    generator = np.random.default_rng(1)
    value = generator.normal(0, 1.5, games)
    too_sure = Prediction(6 * value, np.full(games, 0.1) + 0.05 * generator.random(games), scale=1.0)
    return played(value, 0.7, seed=2), {"sharp": too_sure, "dull": Prediction(value + generator.normal(0, 3, games))}


def test_a_calibration_of_its_own_does_not_turn_a_verdict_round() -> None:
    result, predictions = sharp_and_dull()
    grading = grade_predictions(result, predictions, settings=QUICK)
    sharp, dull = grading.evaluations
    assert sharp.as_given is not None
    assert dull.as_given is not None
    assert sharp.as_given.grade < dull.as_given.grade < dull.grade.grade + 0.01 < sharp.grade.grade
    [comparison] = grading.comparisons
    assert comparison.is_reversed
    assert comparison.grades == pytest.approx((sharp.grade.grade, dull.grade.grade))
    assert comparison.as_given == pytest.approx((sharp.as_given.grade, dull.as_given.grade))
    assert comparison.verdict.startswith("sharp is better than dull")
    assert f"recalibrated {sharp.grade.grade:.4f} against {dull.grade.grade:.4f}" in comparison.verdict
    as_given = f"as given {sharp.as_given.grade:.4f} against {dull.as_given.grade:.4f}, in the other order"
    assert as_given in comparison.verdict
    [costs] = [note for note in grading.notes if "cost it" in note]
    assert costs.startswith("sharp: the scale and drawishness that it comes with cost it")
    assert "below dull" in costs


def test_as_given_compares_with_what_evaluations_came_with() -> None:
    result, predictions = sharp_and_dull()
    settings = GradingSettings(resamples=500, recalibrate=False)
    grading = grade_predictions(result, predictions, settings=settings)
    assert all(one.grade == one.as_given and one.calibration is None for one in grading.evaluations)
    [comparison] = grading.comparisons
    assert comparison.as_given is None
    assert comparison.verdict.startswith("dull is better than sharp")
    assert grading.notes == (
        "sharp grades below the result frequencies, "
        f"{grading.evaluations[0].grade.grade:.4f} against {grading.baselines[1].grade.grade:.4f}: its probabilities "
        "suit these results less than how often each of them occurs",
    )


def test_no_position_helps_to_predict_itself() -> None:
    """The three results that a game may have get probabilities that add up to 1; one that was fitted to gets more."""
    generator = np.random.default_rng(3)
    value = generator.normal(0, 2, 240)
    game = np.arange(240) // 2
    alpha = generator.uniform(0.2, 0.9, 240)
    result = np.repeat(played(value[::2], alpha[::2], seed=4), 2)
    for chosen in (0, 17, 101):
        rows = game == chosen
        total = np.zeros(2)
        for outcome in (1, 0, -1):
            changed = np.where(rows, outcome, result).astype(np.int8)
            found = recalibrated(Prediction(value, alpha), changed, game)
            assert found is not None
            total += np.exp(found.logs[rows])
        assert total == pytest.approx(1.0, abs=1e-5)


def test_units_and_levels_do_not_matter() -> None:
    generator = np.random.default_rng(5)
    value, odds = generator.normal(0, 2, 600), generator.normal(0.5, 1, 600)
    result = played(value, 1 / (1 + np.exp(-odds)), seed=6)
    other = 1 / (1 + np.exp(3 - 2 * odds))
    first = recalibrated(Prediction(value, 1 / (1 + np.exp(-odds))), result)
    second = recalibrated(Prediction(100 * value, other), result)
    assert first is not None
    assert second is not None
    assert first.logs == pytest.approx(second.logs, abs=1e-3)
    assert first.calibration.scale == pytest.approx(1.0, rel=0.2)
    assert first.calibration.slope == pytest.approx(1.0, abs=0.4)
    assert second.calibration.slope == pytest.approx(first.calibration.slope / 2, rel=1e-2)
    truth = log_correctness(value, result, 1.0, 1 / (1 + np.exp(-odds)))
    assert first.logs.mean() == pytest.approx(truth.mean(), abs=0.02)


def test_what_the_other_games_do_not_have_is_not_impossible() -> None:
    value = np.where(np.arange(200) % 2, 2.0, -2.0)
    result = np.sign(value).astype(np.int8)
    result[17], result[30] = 0, -result[30]
    found = recalibrated(Prediction(value), result)
    assert found is not None
    assert found.logs.min() > np.log(1e-4)


def test_infinite_values_and_evaluations_that_are_0_stay_what_they_are() -> None:
    result = played(np.zeros(300), 0.5, seed=7)
    nothing = recalibrated(Prediction(np.zeros(300)), result)
    assert nothing is not None
    assert np.exp(nothing.logs.mean()) == pytest.approx(1 / 3, abs=0.02)
    value = np.random.default_rng(8).normal(0, 1, 300)
    value[0] = -np.inf if result[0] > 0 else np.inf
    sure = recalibrated(Prediction(value), result)
    assert sure is not None
    assert sure.logs[0] == -np.inf
    assert np.isfinite(sure.logs[1:]).all()


def test_few_games_are_graded_as_given_and_that_is_told() -> None:
    result, predictions = sharp_and_dull(FEWEST_GAMES - 1)
    grading = grade_predictions(result, predictions, settings=QUICK)
    assert all(one.grade == one.as_given for one in grading.evaluations)
    assert "sharp and dull: fewer than 100 games are too few to recalibrate" in grading.notes[-1]
    assert recalibrated(predictions["dull"], result) is None


def test_an_own_calibration_that_is_right_is_not_blamed() -> None:
    generator = np.random.default_rng(9)
    value, alpha = generator.normal(0, 2, 2_000), generator.uniform(0.1, 0.9, 2_000)
    right = Prediction(value, alpha, scale=1.0)
    grading = grade_predictions(played(value, alpha, seed=10), {"right": right}, settings=QUICK)
    [one] = grading.evaluations
    assert one.as_given is not None
    assert one.grade.grade == pytest.approx(one.as_given.grade, abs=0.003)
    assert abs(one.cost) < 4 * one.cost_error
    assert grading.notes == ()
