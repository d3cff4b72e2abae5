"""Gradings of arrays: baselines, groups, reliability, comparisons."""

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.grading.calibration import Prediction
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.grading import grade_predictions
from glem.core.grading.groupings import Grouping
from tests.core.grading.examples import played

COUNT = 4_000
TRUTH = np.random.default_rng(0).normal(0, 3, COUNT)
NOISE = np.random.default_rng(1).normal(0, 2, COUNT)


@pytest.fixture(scope="module")
def result() -> NDArray[np.int8]:
    return played(TRUTH, 0.5, scale=2.0)


def test_what_sees_more_clearly_grades_higher(result: NDArray[np.int8]) -> None:
    predictions = {
        "clear": Prediction(TRUTH, unit="pawns"),
        "noisy": Prediction(TRUTH + NOISE),
        "wrong": Prediction(-TRUTH),
    }
    settings = GradingSettings(resamples=2_000)
    grading = grade_predictions(result, predictions, game=np.arange(COUNT) // 2, settings=settings)
    clear, noisy, _ = grading.evaluations
    equal, frequencies = grading.baselines
    assert equal.grade.grade == pytest.approx(1 / 3)
    assert equal.grade.error == 0
    assert equal.grade.grade < frequencies.grade.grade < noisy.grade.grade < clear.grade.grade
    pairs = [(one.first, one.second) for one in grading.comparisons]
    assert pairs == [("clear", "noisy"), ("clear", "wrong"), ("noisy", "wrong")]
    comparison = grading.comparisons[0]
    assert comparison.is_significant
    assert comparison.ratio == pytest.approx(clear.grade.grade / noisy.grade.grade)
    assert clear.fit is not None
    assert clear.fit.scale == pytest.approx(2.0, rel=0.15)
    assert sum(grading.results) == COUNT


def test_frequencies_are_those_of_the_first_player() -> None:
    result = np.array([1, -1, 0, 1], np.int8)
    side = np.array([1, -1, 1, 1], np.int8)
    value = {"any": Prediction(np.array([0.5, -0.5, 0.1, -0.2]), scale=1.0, drawishness=0.5)}
    with_sides = grade_predictions(result, value, side=side).baselines[1].grade.grade
    assert with_sides == pytest.approx((0.75**3 * 0.25) ** (1 / 4))
    without = grade_predictions(result, value).baselines[1].grade.grade
    assert without == pytest.approx((0.5 * 0.25 * 0.25 * 0.5) ** (1 / 4))


def test_groups_and_reliability_cover_all_positions(result: NDArray[np.int8]) -> None:
    half = (np.arange(COUNT) >= COUNT // 2).astype(np.int8)
    groups = {
        "half": Grouping(("first", "second", "none"), half),
        "some": Grouping(("few",), np.where(np.arange(COUNT) < 3, 0, -1)),
    }
    settings = GradingSettings(bins=10, resamples=100)
    grading = grade_predictions(result, {"clear": Prediction(TRUTH)}, groupings=groups, settings=settings)
    for one in (*grading.evaluations, *grading.baselines):
        first, second, none = one.by_group["half"]
        assert none is None
        assert first is not None
        assert second is not None
        assert first.positions + second.positions == COUNT
        mean = (first.mean_log * first.positions + second.mean_log * second.positions) / COUNT
        assert mean == pytest.approx(one.grade.mean_log)
        assert one.by_group["some"][0].positions == 3  # type: ignore[union-attr]
    clear = grading.evaluations[0]
    assert clear.scores is not None
    assert clear.draws is not None
    for bins in (clear.scores, clear.draws):
        assert bins.counts.sum() == COUNT
        # Five standard errors of a share of 400.
        assert np.abs(bins.predicted - bins.observed).max() < 0.125


def test_more_evaluations_than_are_compared_at_a_time_are_refused() -> None:
    with pytest.raises(BadInputError, match="at most 12"):
        grade_predictions(np.zeros(COUNT, np.int8), {name: Prediction(TRUTH) for name in "abcdefghijklm"})
