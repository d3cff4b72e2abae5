"""Logistic regression and Fisher's discriminant on positions: each phase beside a fit of its arrays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.learning import Learning, load_learning
from glem.core.fitting.discriminants import by_phase
from glem.core.fitting.discriminants.by_phase import (
    METHODS,
    TABLE_SHARE,
    estimate_tables,
    fit_rows,
    parts_of,
    rows_to_fit,
    terms_to_combine,
)
from glem.core.fitting.discriminants.models import LinearModel, QuadraticModel, Sample
from glem.core.fitting.fitters.fitter import Fit
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import write_positions
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


def fitted(
    positions: Positions,
    learning: Learning,
    names: tuple[str, ...] = NAMES,
    method: str = "logistic",
    patterns: PatternSet | None = None,
    seed: int = 0,
) -> tuple[LinearEvaluation, Fit]:
    found = fit_rows(rows_to_fit(parts_of(positions), learning, names, patterns, seed=seed), method)
    return value_part(found.evaluation), found


def errors_of(evaluation: LinearEvaluation) -> Any:
    assert evaluation.coefficients is not None
    return evaluation.coefficients[1]


@pytest.mark.parametrize("method", ["logistic", "fisher"])
def test_a_phase_is_fitted_to_its_positions_and_those_of_its_neighbours(
    learning: Learning, positions: Positions, method: str
) -> None:
    found, _ = fitted(positions, learning, method=method)
    phase = learning.phases.of(positions.positions).astype(int)
    near = positions.select(np.abs(phase - 7) <= 1)
    items = [learning.features.index(name) for name in NAMES]
    features = learning.features.values(near.positions)[:, items].astype(float)
    won = np.where(near.label > 0, 1.0, np.where(near.label < 0, 0.0, 0.5))
    expected = METHODS[method](Sample.of_arrays(features, won, trials=near.weight, game=near.game_key))
    assert isinstance(expected, LinearModel)
    np.testing.assert_allclose(found.weights[7], expected.weights, rtol=1e-5)
    np.testing.assert_allclose(errors_of(found)[7], expected.errors(), rtol=1e-6)
    odds = found.sums(near.positions)
    np.testing.assert_allclose(found.predict(near.positions), 1 / (1 + np.exp(-odds)), rtol=1e-5)
    assert found.weights[8, 2] > 5 * errors_of(found)[8, 2]  # a corner wins games


def test_features_that_say_nothing_in_a_phase_are_named(learning: Learning, positions: Positions) -> None:
    corners = learning.features.values(positions.positions)[:, learning.features.index("corners")]
    early = learning.phases.of(positions.positions) <= 1
    evaluation, found = fitted(positions.select(~early | (corners == 0)), learning)
    assert found.warnings[0] == "4-16: feature 'corners' is constant; fitted without it"
    assert evaluation.weights[0, 2] == 0
    assert np.isnan(errors_of(evaluation)[0, 2])


def test_phases_without_games_of_both_kinds_take_the_nearest_weights(learning: Learning, positions: Positions) -> None:
    phase = learning.phases.of(positions.positions)
    evaluation, found = fitted(positions.select((phase >= 5) & (phase <= 8)), learning)
    assert [figures is None for figures in found.course] == [phase < 4 or phase > 9 for phase in range(13)]
    np.testing.assert_array_equal(evaluation.weights[0], evaluation.weights[4])
    assert "61-64 takes the weights of the nearest phase: " in found.warnings[-1]
    lost = evolve(positions, label=np.full(len(positions), -1, np.float32))
    with pytest.raises(BadInputError, match=r"no phase could be fitted; 4-16 .* no row is won"):
        fitted(lost, learning)


def test_the_function_of_the_command_fits_and_saves(positions: Positions, tmp_path: Path) -> None:
    path = tmp_path / "chances.npz"
    fitted = fit(positions, "logistic", baseline="mobility", output=path).evaluation
    assert isinstance(fitted, LinearEvaluation)
    loaded = LinearEvaluation.load(path)
    np.testing.assert_array_equal(loaded.predict(positions.positions), fitted.predict(positions.positions))
    assert loaded.provenance["fitter"] == "logistic"
    np.testing.assert_array_equal(loaded.coefficients, fitted.coefficients)


@pytest.mark.parametrize("on_disk", [False, True])
def test_files_of_positions_give_what_positions_in_memory_give(
    positions: Positions, tmp_path: Path, on_disk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if on_disk:
        monkeypatch.setattr(by_phase, "_IN_MEMORY", 0)
    files = [tmp_path / "one.parquet", tmp_path / "other.parquet"]
    half = np.arange(len(positions)) < 17_000
    for file, chosen in zip(files, (half, ~half), strict=True):
        write_positions(file, positions.select(chosen))
    how: dict[str, Any] = {"fitter": "quadratic", "baseline": "mobility", "patterns": "logistello-1995"}
    streamed, whole = (value_part(fit(given, **how).evaluation) for given in (files, positions))
    for one, other in zip(streamed.parts()[1].values(), whole.parts()[1].values(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert streamed.provenance["positions"].startswith("40,000 from ")
    more: dict[str, Any] = {"held_out": 0, "iterations": 2, "patterns": "none"}
    found, other = (value_part(fit(given, **more).evaluation) for given in (files, positions))
    np.testing.assert_allclose(found.weights, other.weights)


def test_merged_positions_get_a_warning(learning: Learning, positions: Positions) -> None:
    merged = evolve(positions, weight=np.full(len(positions), 2, np.float32))
    _, found = fitted(merged, learning)
    assert found.warnings[0].startswith("merged positions have mean results")
    assert "merged" not in "".join(fitted(positions, learning)[1].warnings)


@pytest.mark.parametrize(
    "more", [{"l2": 1.0}, {"prior": "default"}, {"link": "sigmoid"}, {"held_out": 0.5}, {"iterations": 3}]
)
def test_it_refuses_what_it_does_without(positions: Positions, more: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match=f"Fisher has no setting '{next(iter(more))}'"):
        fit(positions, "fisher", **more)
    with pytest.raises(BadInputError, match="there are none"):
        fit(positions, "fisher", linear=False)


def test_tables_are_the_shares_of_wins_of_phase_and_neighbours(learning: Learning, positions: Positions) -> None:
    patterns = PatternSet.from_names(learning.features, {"corner": ("a1", "b1", "b2")})
    tables = estimate_tables(parts_of(positions), learning, patterns)
    phase = learning.phases.of(positions.positions).astype(int)
    indices = patterns.indices(learning.features.values(positions.positions))
    for number in (0, 6, 12):
        near = np.abs(phase - number) <= 1
        for weight in range(patterns.weight_count):
            # A position counts once for each instance with this content.
            times = (indices[:, near] == weight).sum(axis=0) * positions.weight[near]
            won = times @ ((positions.result[near] + 1) / 2)
            expected = (won + 10) / (times.sum() + 20) - 0.5
            assert tables[number, weight] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_patterns_by_tables_of_other_games(learning: Learning, positions: Positions, method: str) -> None:
    patterns = PatternSet.named(learning, "logistello-1995")
    assert len(patterns) == 11
    names = ("mobility", "opponent_mobility")
    found, _ = fitted(positions, learning, names, method, patterns, seed=3)
    mine, others = positions.split_by_game(TABLE_SHARE, 3 ^ 0x7AB1E5)
    terms = terms_to_combine(parts_of(others), learning, names, patterns)
    phase = learning.phases.of(mine.positions).astype(int)
    rows = np.abs(phase - 9) <= 1
    values = learning.features.values(mine.positions)
    columns = terms.terms_of_values(values, phase).T
    won = (mine.result + 1) / 2
    sample = Sample.of_arrays(columns[rows], won[rows], trials=mine.weight[rows], game=mine.game_key[rows])
    expected = METHODS[method](sample)
    own = phase == 9
    odds = expected.scores(columns[own])
    found_odds = found.sums(mine.select(own).positions)
    np.testing.assert_allclose(found_odds, odds, rtol=1e-3, atol=1e-3)
    assert np.corrcoef(odds, won[own])[0, 1] > 0.3
    assert found.terms == terms.terms == (*patterns.names, *names)
    if isinstance(expected, QuadraticModel):
        assert found.coefficients is None
    else:
        assert found.coefficients is not None
        np.testing.assert_allclose(found.coefficients[0, 9], expected.weights, rtol=1e-4)
        np.testing.assert_allclose(errors_of(found)[9], expected.errors(), rtol=1e-4)
