"""Grades apart from calibration: what a fit to other games makes of values, and what verdicts say then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glem.core.evaluation.result_distribution import log_correctness, result_distribution
from glem.core.grading.grading import GradedPositions, Grading, GradingSettings, Prediction, grade_predictions
from glem.core.grading.recalibration import FEWEST_GAMES, recalibrated

QUICK = GradingSettings(resamples=500)


def played(value: Any, alpha: Any, seed: int) -> Any:
    """Results that the equations give values at b = 1."""
    win, draw, _ = result_distribution(value, 1.0, alpha)
    chance = np.random.default_rng(seed).random(len(value))
    return np.where(chance < win, 1, np.where(chance < win + draw, 0, -1)).astype(np.int8)


def sharp_and_dull(games: int = 1_000) -> tuple[Any, dict[str, Prediction]]:
    """Results, one who sees them well and is far too sure, and one who sees little and has nothing of its own."""
    generator = np.random.default_rng(1)
    value = generator.normal(0, 1.5, games)
    too_sure = Prediction(6 * value, np.full(games, 0.1) + 0.05 * generator.random(games), scale=1.0)
    return played(value, 0.7, 2), {"sharp": too_sure, "dull": Prediction(value + generator.normal(0, 3, games))}


def test_a_calibration_of_its_own_does_not_turn_a_verdict_round() -> None:
    result, predictions = sharp_and_dull()
    grading = grade_predictions(GradedPositions(result), predictions, QUICK)
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
    grading = grade_predictions(GradedPositions(result), predictions, settings)
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
    result = np.repeat(played(value[::2], alpha[::2], 4), 2)
    for chosen in (0, 17, 101):
        rows = game == chosen
        total = np.zeros(2)
        for outcome in (1, 0, -1):
            changed = np.where(rows, outcome, result).astype(np.int8)
            found = recalibrated(value, changed, game, alpha)
            assert found is not None
            total += np.exp(found.logs[rows])
        assert total == pytest.approx(1.0, abs=1e-5)


def test_units_and_levels_do_not_matter() -> None:
    generator = np.random.default_rng(5)
    value, odds = generator.normal(0, 2, 600), generator.normal(0.5, 1, 600)
    result = played(value, 1 / (1 + np.exp(-odds)), 6)
    other = 1 / (1 + np.exp(3 - 2 * odds))
    first = recalibrated(value, result, np.arange(600), 1 / (1 + np.exp(-odds)))
    second = recalibrated(100 * value, result, np.arange(600), other)
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
    found = recalibrated(value, result, np.arange(200))
    assert found is not None
    assert found.logs.min() > np.log(1e-4)


def test_infinite_values_and_evaluations_that_are_0_stay_what_they_are() -> None:
    result = played(np.zeros(300), 0.5, 7)
    nothing = recalibrated(np.zeros(300), result, np.arange(300))
    assert nothing is not None
    assert np.exp(nothing.logs.mean()) == pytest.approx(1 / 3, abs=0.02)
    value = np.random.default_rng(8).normal(0, 1, 300)
    value[0] = -np.inf if result[0] > 0 else np.inf
    sure = recalibrated(value, result, np.arange(300))
    assert sure is not None
    assert sure.logs[0] == -np.inf
    assert np.isfinite(sure.logs[1:]).all()


def test_few_games_are_graded_as_given_and_that_is_told() -> None:
    result, predictions = sharp_and_dull(FEWEST_GAMES - 1)
    grading: Grading = grade_predictions(GradedPositions(result), predictions, QUICK)
    assert all(one.grade == one.as_given for one in grading.evaluations)
    assert "sharp and dull: fewer than 100 games are too few to recalibrate" in grading.notes[-1]
    assert recalibrated(predictions["dull"].value, result, np.arange(FEWEST_GAMES - 1)) is None


def test_an_own_calibration_that_is_right_is_not_blamed() -> None:
    generator = np.random.default_rng(9)
    value, alpha = generator.normal(0, 2, 2_000), generator.uniform(0.1, 0.9, 2_000)
    right = Prediction(value, alpha, scale=1.0)
    grading = grade_predictions(GradedPositions(played(value, alpha, 10)), {"right": right}, QUICK)
    [one] = grading.evaluations
    assert one.as_given is not None
    assert one.grade.grade == pytest.approx(one.as_given.grade, abs=0.003)
    assert abs(one.cost) < 4 * one.cost_error
    assert grading.notes == ()
