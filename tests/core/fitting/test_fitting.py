"""Fitters against dense solutions; checkpoints, early stopping, phases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy.optimize import minimize

from glem.core.errors import BadInputError
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, scaled_sigmoid
from glem.core.fitting.count_rules import CountRules
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.descent import GradientDescent
from glem.core.fitting.minimizing.minimizer import FileCheckpoint, Minimizer
from glem.core.fitting.packed.part_rows import Source
from tests.core.fitting.fitting_problems import PHASES, Small, small_design
from tests.oracles.fitting import derivative, descent, fit_design, least_squares, objective, predicted, problem_of
from tests.othello import LEARNING

FITTERS = [GradientDescent(iterations=25, checkpoint_every=4), ConjugateGradient(iterations=25, refresh_every=4)]


@pytest.fixture(scope="module")
def small() -> Small:
    return small_design(LEARNING.features)


@pytest.fixture(scope="module")
def labels(small: Small) -> Any:
    """Scores that the items explain in part."""
    generator = np.random.default_rng(1)
    truth = generator.normal(size=small.matrix.shape[1])
    return (small.matrix @ truth + generator.normal(size=len(small.matrix)) * 3).astype(np.float32)


def results(labels: Any) -> Any:
    """Labels for the logistic link."""
    return (0.5 + 0.4 * np.tanh(labels / 10)).astype(np.float32)


def penalties(small: Small, l2: float) -> Any:
    penalty = np.full(small.matrix.shape[1], l2)
    penalty[small.design.layout.linear_start :] = 0
    return penalty


def test_without_penalty_the_predictions_agree(small: Small, labels: Any) -> None:
    row_weights = np.random.default_rng(2).uniform(0.5, 2, len(labels))
    weights = fit_design(
        small.design, labels, weights=row_weights, fitter=ConjugateGradient(iterations=800, tolerance=1e-7)
    )
    found = predicted(small.design, weights)
    for phase in range(PHASES):
        rows = small.phases == phase
        solution = least_squares(small.matrix[rows], labels[rows], row_weights[rows], penalties(small, 0.0))
        np.testing.assert_allclose(found[rows], small.matrix[rows] @ solution, atol=0.02)


@pytest.mark.parametrize("link", [LOGISTIC, scaled_sigmoid(2.0)], ids=lambda link: link.name)
def test_conjugate_gradient_with_a_sigmoid_link(small: Small, labels: Any, link: Link) -> None:
    rows = small.phases == 0
    targets = results(labels) * np.float32(link.span) + np.float32(link.low)
    problem = problem_of(small.design, targets, link=link, l2=0.05, targets=[(Source(0, 1.0),)])
    fitter = ConjugateGradient(iterations=2000, tolerance=1e-5).fit(problem)
    arguments = (
        small.matrix[rows],
        targets[rows].astype(np.float64),
        np.zeros(rows.sum()),
        np.ones(rows.sum()),
        penalties(small, 0.05),
        link,
    )

    def gradient(weights: Any) -> Any:
        sums = arguments[0] @ weights
        return -2 * arguments[0].T @ (derivative(link, sums) * (arguments[1] - link(sums))) + 2 * arguments[4] * weights

    best = minimize(
        lambda weights: objective(*arguments, weights),
        np.zeros(small.matrix.shape[1]),
        jac=gradient,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-8},
    )
    assert fitter.result_.converged
    assert objective(*arguments, fitter.parameters_) == pytest.approx(best.fun, rel=1e-4)


@pytest.mark.parametrize("link", [IDENTITY, LOGISTIC], ids=lambda link: link.name)
def test_descent_is_the_papers(small: Small, labels: Any, link: Link) -> None:
    rows = small.phases == 3
    targets = labels if link == IDENTITY else results(labels)
    step_size = 0.01 if link == IDENTITY else 0.15
    problem = problem_of(small.design, targets, link=link, targets=[(Source(3, 1.0),)])
    fitter = GradientDescent(step_size=step_size, momentum=0.7, iterations=40).fit(problem)
    expected = descent(small.matrix[rows], targets[rows].astype(np.float64), link, step_size, 0.7, 40)
    np.testing.assert_allclose(fitter.result_.training_errors, expected, rtol=1e-4)
    assert expected[-1] < 0.8 * expected[0]
    assert not fitter.result_.converged


def test_default_step_size_converges(small: Small, labels: Any) -> None:
    problem = problem_of(small.design, labels)
    errors = GradientDescent(iterations=200).fit(problem).result_.training_errors
    floor = ConjugateGradient(iterations=300).fit(problem).result_.training_errors[-1]
    assert floor <= errors[-1] < floor + 0.2 * (errors[0] - floor)
    with pytest.raises(BadInputError, match="diverges with step size 3"):
        GradientDescent(step_size=3.0, iterations=2000).fit(problem)


def test_tolerance_and_start(small: Small, labels: Any) -> None:
    problem = problem_of(small.design, labels)
    descended = GradientDescent(iterations=5000, tolerance=1e-3).fit(problem)
    assert descended.result_.reason == "the training error no longer improves"
    again = ConjugateGradient(iterations=3).fit(problem, start=descended.parameters_)
    assert again.result_.training_errors[0] == pytest.approx(descended.result_.training_errors[-1], rel=1e-5)


@pytest.mark.parametrize("fitter", FITTERS, ids=lambda fitter: type(fitter).__name__)
def test_early_stopping_keeps_the_best_weights(fitter: Minimizer, small: Small, labels: Any) -> None:
    held = np.random.default_rng(3).random(len(labels)) < 0.5
    problem = problem_of(small.design, labels, held_out=held)
    fitted = evolve(fitter, iterations=400, patience=3).fit(problem)
    held_errors = fitted.result_.held_out_errors
    assert fitted.result_.reason == "the held-out error no longer improves"
    assert fitted.result_.best_iteration == int(np.argmin(held_errors)) == fitted.result_.iterations - 3
    assert problem.errors_and_gradient(fitted.parameters_)[0].held_out == pytest.approx(held_errors.min(), rel=1e-4)
    assert fitted.result_.improved


@pytest.mark.parametrize("fitter", FITTERS, ids=lambda fitter: type(fitter).__name__)
@pytest.mark.parametrize("patience", [2, None])
def test_a_start_that_no_iteration_betters_is_told(
    fitter: Minimizer, small: Small, labels: Any, patience: int | None
) -> None:
    held = np.random.default_rng(3).random(len(labels)) < 0.5
    # What is learned from one half is wrong for the other.
    opposed = np.where(held, -labels, labels)
    problem = problem_of(small.design, opposed, held_out=held)
    fitted = evolve(fitter, patience=patience).fit(problem)
    assert fitted.result_.iterations > 0
    assert fitted.result_.best_iteration == 0
    assert not fitted.parameters_.any()
    assert not fitted.result_.improved
    assert not fitted.result_.converged
    assert fitted.result_.reason == "the held-out error never improved: all weights stay as at the start"


def test_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit.npz"
    FileCheckpoint(path, "one").save({"parameters": np.arange(3)})
    assert FileCheckpoint(path, "one").load() is not None
    with pytest.raises(BadInputError, match="belongs to a fit of other positions"):
        FileCheckpoint(path, "two").load()
    path.write_bytes(b"")
    with pytest.raises(BadInputError, match=r"no glem checkpoint file.*; remove it to start anew"):
        FileCheckpoint(path, "one").load()


def test_the_fingerprint_tells_problems_apart(small: Small, labels: Any) -> None:
    problems = [
        problem_of(small.design, labels),
        problem_of(small.design, labels + 1),
        problem_of(small.design, labels, l2=1.0),
        problem_of(small.design, labels, held_out=np.arange(len(labels)) < 9),
        problem_of(small.design, labels, targets=[(Source(0, 1.0),)]),
    ]
    assert len({problem.fingerprint for problem in problems}) == len(problems)
    assert problem_of(small.design, labels, jobs=3).fingerprint == problems[0].fingerprint


def test_phases_are_fitted_with_their_neighbours(small: Small, labels: Any) -> None:
    fitter = ConjugateGradient(iterations=300, tolerance=1e-6)
    weights = fit_design(small.design, labels, fitter=fitter, l2=1.0, smoothing=0.5)
    factor = np.array([1.0, 0.5, 0.0, 0.0])
    for phase in range(PHASES):
        row_weights = factor[abs(small.phases - phase)]
        expected = least_squares(small.matrix, labels, row_weights, penalties(small, 1.0))
        layout = small.design.layout
        np.testing.assert_allclose(weights.patterns[phase], expected[: layout.patterns], atol=2e-3)
        configurations = expected[layout.configuration_start : layout.linear_start]
        np.testing.assert_allclose(weights.configurations[phase], configurations, atol=2e-3)
        linear = expected[layout.linear_start : layout.bias] / small.design.linear.scales
        np.testing.assert_allclose(weights.linear[phase], linear, atol=2e-3)
        assert weights.bias[phase] == pytest.approx(expected[layout.bias], abs=5e-3)
        result = weights.results[phase]
        assert result is not None
        assert result.reason == "the gradient vanishes"
        assert result.converged
        error = np.average((labels - small.matrix @ expected) ** 2, weights=row_weights)
        assert result.training_errors[-1] == pytest.approx(error, rel=1e-4)
        own = (small.matrix[small.phases == phase] != 0).sum(axis=0)
        np.testing.assert_array_equal(weights.match_counts[phase], own[: layout.linear_start])
    assert len(weights.results) == PHASES
    assert not hasattr(fitter, "parameters_")


@pytest.mark.parametrize("rules", [None, CountRules(own=60, few=20, linear=120)], ids=["each", "together"])
def test_a_killed_fit_of_phases_resumes_to_the_same_result(
    rules: CountRules | None, small: Small, labels: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments: dict[str, Any] = {
        "held_out": np.random.default_rng(5).random(len(labels)) < 0.2,
        "fitter": ConjugateGradient(iterations=12, refresh_every=3, patience=4, tolerance=1e-6),
        "smoothing": 0.3,
        "l2": 1.0,
        "count_rules": rules,
    }
    whole = fit_design(small.design, labels, **arguments)
    folder = tmp_path / "state"
    saved = FileCheckpoint.save
    saves = 0

    def killing(self: FileCheckpoint, state: Mapping[str, Any]) -> None:
        nonlocal saves
        saved(self, state)
        saves += 1
        if saves == (3 if rules is None else 2):
            raise KeyboardInterrupt

    monkeypatch.setattr(FileCheckpoint, "save", killing)
    with pytest.raises(KeyboardInterrupt):
        fit_design(small.design, labels, checkpoint=folder, **arguments)
    assert list(folder.iterdir())
    with pytest.raises(BadInputError, match="belongs to a fit of other"):
        fit_design(small.design, labels + 1, checkpoint=folder, **arguments)
    resumed = fit_design(small.design, labels, checkpoint=folder, jobs=2, **arguments)
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"fit"}, "whoever named the folder removes it"
    np.testing.assert_array_equal(predicted(small.design, resumed), predicted(small.design, whole))
    for one, other in zip(resumed.results, whole.results, strict=True):
        assert one is not None
        assert other is not None
        np.testing.assert_array_equal(one.held_out_errors, other.held_out_errors)


@pytest.mark.parametrize("phase", [0, 2])
def test_a_phase_without_positions_takes_a_neighbours_weights(small: Small, labels: Any, phase: int) -> None:
    fitted = fit_design(small.design, np.where(small.phases == phase, np.nan, labels))
    np.testing.assert_array_equal(fitted.patterns[phase], fitted.patterns[phase + 1])
    assert [place for place, result in enumerate(fitted.results) if result is None] == [phase]
    assert fitted.match_counts[phase].sum() == 0


def test_nothing_to_fit_and_wrong_settings_are_named(small: Small, labels: Any) -> None:
    with pytest.raises(BadInputError, match="no position to fit has a label"):
        fit_design(small.design, np.full_like(labels, np.nan))
    with pytest.raises(BadInputError, match="smoothing"):
        fit_design(small.design, labels, smoothing=2.0)
