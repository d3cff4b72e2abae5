"""Calibration against direct numpy computations."""

import numpy as np
import pytest

from glem.core.measures.calibration_bins import calibration_bins


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
