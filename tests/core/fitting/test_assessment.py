"""Calibration and baselines against direct numpy computations."""

import numpy as np
import pytest

from glem.core.fitting.assessment import BaselineFit, calibration_bins
from tests.othello import LEARNING


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_calibration_bins_keep_every_position_and_the_means(generator: np.random.Generator) -> None:
    predicted = np.round(generator.normal(size=1000), 1)
    label = predicted + generator.normal(size=1000)
    bins = calibration_bins(predicted, label, bins=10)
    assert bins.counts.sum() == 1000
    assert (np.diff(bins.predicted) > 0).all()
    assert np.average(bins.observed, weights=bins.counts) == pytest.approx(label.mean())
    assert np.average(bins.predicted, weights=bins.counts) == pytest.approx(predicted.mean())


def test_calibration_of_constant_predictions_is_one_bin_and_of_nothing_none() -> None:
    bins = calibration_bins(np.zeros(5), np.arange(5))
    assert (bins.counts.tolist(), bins.observed.tolist()) == ([5], [2.0])
    assert len(calibration_bins(np.zeros(0), np.zeros(0)).counts) == 0


def test_baselines_equal_least_squares(generator: np.random.Generator) -> None:
    count = 3000
    values = generator.integers(-5, 6, (count, len(LEARNING.features))).astype(np.int16)
    phase = generator.integers(0, 3, count).astype(np.uint8)
    label = generator.normal(size=count) + 2 * values[:, 64]
    weight = generator.uniform(0.5, 2, count)
    fit = BaselineFit(LEARNING)
    for part in (slice(0, 1500), slice(1500, count)):
        fit.add(values[part], phase[part], label[part], weight[part])
    fitted = fit.solve()
    assert set(fitted) == set(LEARNING.baselines)
    for name, features in LEARNING.baselines.items():
        columns = [LEARNING.features.index(feature) for feature in features]
        predicted = fitted[name].predict(values, phase)
        for k in range(3):
            here = phase == k
            design = np.column_stack([np.ones(here.sum()), values[here][:, columns]])
            root = np.sqrt(weight[here])
            solution = np.linalg.lstsq(design * root[:, None], label[here] * root, rcond=None)[0]
            np.testing.assert_allclose(predicted[here], design @ solution, rtol=1e-6, atol=1e-8)
