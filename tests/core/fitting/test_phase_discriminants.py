"""Logistic regression and Fisher's discriminant on positions: each phase beside a fit of its arrays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning, load_learning
from glem.core.fitting.discriminants import Sample
from glem.core.fitting.phase_discriminants import METHODS, PhaseDiscriminants, fit_phases_by_result
from glem.core.positions.positions import Positions
from glem.functions import fit

NAMES = ("mobility", "opponent_mobility", "corners")


@pytest.fixture(scope="module")
def learning() -> Learning:
    return load_learning("othello")


@pytest.fixture(scope="module")
def positions(learning: Learning) -> Positions:
    assert learning.sample is not None
    sample: Positions = learning.sample()
    return sample.select(np.arange(40_000))


@pytest.mark.parametrize("method", METHODS)
def test_a_phase_is_fitted_to_its_positions_and_those_of_its_neighbours(
    learning: Learning, positions: Positions, method: str
) -> None:
    found = fit_phases_by_result(positions, learning, NAMES, method)
    phase = learning.phases.of(positions.positions).astype(int)
    near = positions.select(np.abs(phase - 7) <= 1)
    items = [learning.features.index(name) for name in NAMES]
    features = learning.features.values(near.positions)[:, items].astype(float)
    won = np.where(near.label > 0, 1.0, np.where(near.label < 0, 0.0, 0.5))
    expected = METHODS[method](Sample.of_arrays(features, won, trials=near.weight, game=near.game_key))
    np.testing.assert_allclose(found.evaluation.weights[7], expected.weights, rtol=1e-5)
    np.testing.assert_allclose(found.errors[7], expected.errors(), rtol=1e-6)
    odds = found.evaluation.sums(near.positions)
    np.testing.assert_allclose(found.evaluation.predict(near.positions), 1 / (1 + np.exp(-odds)), rtol=1e-5)
    assert found.evaluation.weights[8, 2] > 5 * found.errors[8, 2]  # a corner wins games


def test_features_that_say_nothing_in_a_phase_are_named(learning: Learning, positions: Positions) -> None:
    corners = learning.features.values(positions.positions)[:, learning.features.index("corners")]
    early = learning.phases.of(positions.positions) <= 1
    found = fit_phases_by_result(positions.select(~early | (corners == 0)), learning, NAMES)
    assert found.warnings[0] == "4-16: feature 'corners' is constant; fitted without it"
    assert found.evaluation.weights[0, 2] == 0
    assert np.isnan(found.errors[0, 2])


def test_phases_without_games_of_both_kinds_take_the_nearest_weights(learning: Learning, positions: Positions) -> None:
    phase = learning.phases.of(positions.positions)
    found = fit_phases_by_result(positions.select((phase >= 5) & (phase <= 8)), learning, NAMES)
    assert [model is None for model in found.models] == [phase < 4 or phase > 9 for phase in range(13)]
    np.testing.assert_array_equal(found.evaluation.weights[0], found.evaluation.weights[4])
    assert "61-64 takes the weights of the nearest phase: " in found.warnings[-1]
    lost = evolve(positions, label=np.full(len(positions), -1, np.float32))
    with pytest.raises(BadInputError, match=r"no phase could be fitted; 4-16 .* no row is won"):
        fit_phases_by_result(lost, learning, NAMES)


def test_the_function_of_the_command_fits_and_saves(positions: Positions, tmp_path: Path) -> None:
    told: list[object] = []
    path = tmp_path / "chances.npz"
    fitted = fit(positions, method="logistic", baseline="mobility", output=path, observe=told.append)
    (observed,) = told
    assert isinstance(observed, PhaseDiscriminants)
    loaded = LinearEvaluation.load(path)
    np.testing.assert_array_equal(loaded.predict(positions.positions), fitted.predict(positions.positions))
    assert loaded.provenance["fitter"] == "logistic"


def test_merged_positions_get_a_warning(learning: Learning, positions: Positions) -> None:
    merged = evolve(positions, weight=np.full(len(positions), 2, np.float32))
    found = fit_phases_by_result(merged, learning, NAMES)
    assert found.warnings[0].startswith("merged positions have mean results")
    assert "merged" not in "".join(fit_phases_by_result(positions, learning, NAMES).warnings)


@pytest.mark.parametrize(
    "more", [{"patterns": "logistello"}, {"prior": "default"}, {"link": "sigmoid"}, {"linear": False}]
)
def test_it_fits_nothing_but_linear_features(positions: Positions, more: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match="--method fisher fits linear features alone"):
        fit(positions, method="fisher", **more)
