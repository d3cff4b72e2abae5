"""Errors, calibration and baselines against direct numpy computations."""

from __future__ import annotations

import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.fitting.assessment import BaselineFit, ErrorSums, calibration_bins, phase_errors


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_phase_errors_equal_a_loop(generator: np.random.Generator) -> None:
    predicted, label = generator.normal(size=(2, 500))
    phase = generator.integers(0, 4, 500)
    weight = generator.uniform(0.5, 2, 500)
    errors = phase_errors(predicted, label, phase, 6, weight)
    for k in range(4):
        here = phase == k
        expected = np.sqrt(np.average((predicted[here] - label[here]) ** 2, weights=weight[here]))
        assert errors[k] == pytest.approx(expected)
    assert np.isnan(errors[4])
    assert np.isnan(errors[5])
    assert errors[6] == pytest.approx(np.sqrt(np.average((predicted - label) ** 2, weights=weight)))


def test_errors_add_up_chunk_by_chunk(generator: np.random.Generator) -> None:
    predicted, label = generator.normal(size=(2, 500))
    group = np.sort(generator.integers(0, 9, 500)).astype(np.uint8)
    weight = generator.uniform(0.5, 2, 500)
    sums = ErrorSums(3)
    for rows in (slice(0, 70), slice(70, 300), slice(300, 500)):
        sums.add(predicted[rows], label[rows], group[rows], weight[rows])
    for k in range(9):
        here = group == k
        distance = np.abs(predicted[here] - label[here])
        assert sums.mean_absolute[k] == pytest.approx(np.average(distance, weights=weight[here]))
        assert sums.counts[k] == here.sum()
    assert sums.counts[-1] == 500
    assert sums.weights[-1] == pytest.approx(weight.sum())
    np.testing.assert_allclose(sums.root_mean_square, phase_errors(predicted, label, group, 9, weight))
    assert sums.mean_absolute[-1] == pytest.approx(np.average(np.abs(predicted - label), weights=weight))


def test_calibration_bins_keep_every_position_and_the_means(generator: np.random.Generator) -> None:
    predicted = np.round(generator.normal(size=1000), 1)
    label = predicted + generator.normal(size=1000)
    bins = calibration_bins(predicted, label, bins=10)
    assert bins.counts.sum() == 1000
    assert (np.diff(bins.predicted) > 0).all()
    assert np.average(bins.observed, weights=bins.counts) == pytest.approx(label.mean())
    assert np.average(bins.predicted, weights=bins.counts) == pytest.approx(predicted.mean())


def test_calibration_of_constant_predictions_is_one_bin() -> None:
    bins = calibration_bins(np.zeros(5), np.arange(5))
    assert bins.counts.tolist() == [5]
    assert bins.observed.tolist() == [2.0]


def test_calibration_of_nothing_is_empty() -> None:
    assert len(calibration_bins(np.zeros(0), np.zeros(0)).counts) == 0


def test_baselines_equal_least_squares(othello_learning: Learning, generator: np.random.Generator) -> None:
    count = 3000
    values = generator.integers(-5, 6, (count, len(othello_learning.features))).astype(np.int16)
    phase = generator.integers(0, 3, count).astype(np.uint8)
    label = generator.normal(size=count) + 2 * values[:, 64]
    weight = generator.uniform(0.5, 2, count)
    fit = BaselineFit(othello_learning)
    fit.add(values, phase, label, weight)
    fitted = fit.solve()
    assert set(fitted) == set(othello_learning.baselines)
    for name, features in othello_learning.baselines.items():
        columns = [othello_learning.features.index(feature) for feature in features]
        predicted = fitted[name].predict(values, phase)
        for k in range(3):
            here = phase == k
            design = np.column_stack([np.ones(here.sum()), values[here][:, columns]])
            root = np.sqrt(weight[here])
            solution = np.linalg.lstsq(design * root[:, None], label[here] * root, rcond=None)[0]
            np.testing.assert_allclose(predicted[here], design @ solution, rtol=1e-6, atol=1e-8)


def test_baselines_in_chunks_equal_baselines_at_once(
    othello_learning: Learning, generator: np.random.Generator
) -> None:
    values = generator.integers(0, 9, (400, len(othello_learning.features))).astype(np.int16)
    phase = np.zeros(400, np.uint8)
    label = generator.normal(size=400)
    ones = np.ones(400)
    fit = BaselineFit(othello_learning)
    for part in (slice(0, 150), slice(150, 400)):
        fit.add(values[part], phase[part], label[part], ones[part])
    at_once = BaselineFit(othello_learning)
    at_once.add(values, phase, label, ones)
    whole = at_once.solve()
    for name, baseline in fit.solve().items():
        np.testing.assert_allclose(baseline.coefficients, whole[name].coefficients, rtol=1e-9, atol=1e-12)
