"""Gradings of arrays: baselines, groups, reliability, comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import result_distribution
from glem.core.grading.grading import (
    GradedPositions,
    GradingSettings,
    Grouping,
    Prediction,
    grade_predictions,
)

COUNT = 4_000


def example(seed: int = 0) -> tuple[GradedPositions, dict[str, Prediction]]:
    """Positions of known chances, seen clearly and through noise."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(0, 3, COUNT)
    win, draw, _ = result_distribution(truth, 2.0, 0.5)
    chance = generator.random(COUNT)
    result = np.where(chance < win, 1, np.where(chance < win + draw, 0, -1)).astype(np.int8)
    parity = np.where(np.arange(COUNT) % 2 == 0, 1, -1).astype(np.int8)
    groups = {"half": Grouping(("first", "second", "none"), (np.arange(COUNT) >= COUNT // 2).astype(np.int8))}
    noisy = truth + generator.normal(0, 2, COUNT)
    return (
        GradedPositions(result, np.arange(COUNT) // 2, parity, groups),
        {"clear": Prediction(truth, unit="pawns"), "noisy": Prediction(noisy)},
    )


def test_what_sees_more_clearly_grades_higher() -> None:
    positions, predictions = example()
    grading = grade_predictions(positions, predictions, GradingSettings(resamples=2_000))
    clear, noisy = grading.evaluations
    equal, frequencies = grading.baselines
    assert equal.grade.grade == pytest.approx(1 / 3)
    assert equal.grade.error == 0
    assert equal.grade.grade < frequencies.grade.grade < noisy.grade.grade < clear.grade.grade
    [comparison] = grading.comparisons
    assert (comparison.first, comparison.second) == ("clear", "noisy")
    assert comparison.is_significant
    assert comparison.ratio == pytest.approx(clear.grade.grade / noisy.grade.grade)
    assert clear.fit is not None
    assert clear.fit.scale == pytest.approx(2.0, rel=0.15)
    assert sum(grading.results) == COUNT


def test_frequencies_are_those_of_the_first_player() -> None:
    result = np.array([1, -1, 0, 1], np.int8)
    side = np.array([1, -1, 1, 1], np.int8)
    value = {"any": Prediction(np.array([0.5, -0.5, 0.1, -0.2]), scale=1.0, drawishness=0.5)}
    with_sides = grade_predictions(GradedPositions(result, side=side), value).baselines[1].grade.grade
    assert with_sides == pytest.approx((0.75**3 * 0.25) ** (1 / 4))
    without = grade_predictions(GradedPositions(result), value).baselines[1].grade.grade
    assert without == pytest.approx((0.5 * 0.25 * 0.25 * 0.5) ** (1 / 4))


def test_groups_and_reliability_cover_all_positions() -> None:
    positions, predictions = example()
    grading = grade_predictions(positions, predictions, GradingSettings(bins=10, resamples=100))
    for one in (*grading.evaluations, *grading.baselines):
        first, second, none = one.by_group["half"]
        assert none is None
        assert first is not None
        assert second is not None
        assert first.positions + second.positions == COUNT
        mean = (first.mean_log * first.positions + second.mean_log * second.positions) / COUNT
        assert mean == pytest.approx(one.grade.mean_log)
    clear = grading.evaluations[0]
    assert clear.scores is not None
    assert clear.draws is not None
    for bins in (clear.scores, clear.draws):
        assert bins.counts.sum() == COUNT
        # Five standard errors of a share of 400.
        assert np.abs(bins.predicted - bins.observed).max() < 0.125


def test_given_scale_and_drawishness_are_used() -> None:
    positions, predictions = example()
    given = {"given": Prediction(predictions["clear"].value, 0.25, 4.0)}
    [one] = grade_predictions(positions, given).evaluations
    assert one.fit is not None
    assert (one.fit.scale, one.fit.drawishness, one.fit.fitted) == (4.0, 0.25, ())


def test_drawishness_of_its_own_grades_higher_than_a_constant() -> None:
    generator = np.random.default_rng(3)
    alpha = np.where(generator.random(COUNT) < 0.5, 0.05, 0.95)
    value = generator.normal(0, 2, COUNT)
    win, draw, _ = result_distribution(value, 1.0, alpha)
    chance = generator.random(COUNT)
    result = np.where(chance < win, 1, np.where(chance < win + draw, 0, -1)).astype(np.int8)
    predictions = {"own": Prediction(value, alpha), "constant": Prediction(value)}
    [comparison] = grade_predictions(GradedPositions(result), predictions).comparisons
    assert comparison.is_significant
    assert comparison.difference > 0


def test_every_pair_is_compared() -> None:
    positions, predictions = example()
    three = {**predictions, "third": Prediction(-predictions["noisy"].value)}
    grading = grade_predictions(positions, three, GradingSettings(resamples=100))
    pairs = [(one.first, one.second) for one in grading.comparisons]
    assert pairs == [("clear", "noisy"), ("clear", "third"), ("noisy", "third")]


def test_wrong_arguments_are_named() -> None:
    positions, predictions = example()
    with pytest.raises(BadInputError, match="clear has 2 values"):
        grade_predictions(positions, {"clear": Prediction(np.zeros(2))})
    with pytest.raises(BadInputError, match="sides"):
        GradedPositions(np.zeros(3, np.int8), side=np.ones(2, np.int8))
    with pytest.raises(BadInputError, match="no positions"):
        GradedPositions(np.zeros(0, np.int8))
    with pytest.raises(BadInputError, match="at least one bin"):
        GradingSettings(bins=0)
    with pytest.raises(BadInputError, match="at most 12"):
        grade_predictions(positions, {str(number): predictions["clear"] for number in range(13)})
