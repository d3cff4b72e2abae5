"""Likelihood fits of value, drawishness and scale together, against a naive loop and numerical slopes."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimize

from glem.core.errors import BadInputError, NotEnoughMemoryError
from glem.core.evaluation.result_distribution import log_correctness, result_distribution
from glem.core.fitting.likelihood_problem import LikelihoodProblem, PartWeights, phase_basis
from glem.core.fitting.minimizing.minimizer import FileCheckpoint
from glem.core.fitting.minimizing.quasi_newton import minimize
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.likelihood_errors import likelihood_errors
from glem.core.fitting.packed.likelihood_passes import information_rows, slopes_of
from glem.core.fitting.packed.result_rows import LikelihoodChunk, LikelihoodRows
from tests.core.grading.examples import played
from tests.oracles import likelihood as oracle

PHASES, FEATURES = 3, 6
VALUE = Packing(PHASES, linear=LinearTerms((0, 1, 2, 3)), by_phase=False)
DRAW = Packing(PHASES, linear=LinearTerms((4, 5)), by_phase=False)


def slopes(units: float, result: int, odds: float) -> tuple[float, float, float]:
    log, by_units, by_odds = (np.empty(1) for _ in range(3))
    slopes_of(np.array([units]), np.array([result], np.int8), np.array([odds]), log, by_units, by_odds)
    return float(log[0]), float(by_units[0]), float(by_odds[0])


@pytest.mark.parametrize("result", [1, 0, -1])
def test_slopes_are_those_of_the_log_correctness(result: int) -> None:
    generator = np.random.default_rng(result + 1)
    for units, odds in zip(generator.normal(0, 3, 200), generator.normal(0, 3, 200), strict=True):

        def of(x: float, z: float) -> float:
            return float(log_correctness(np.array([x]), np.array([result]), 1.0, 1 / (1 + math.exp(-z)))[0])

        log, by_units, by_odds = slopes(units, result, odds)
        step = 1e-6
        assert log == pytest.approx(of(units, odds), abs=1e-12)
        if abs(units) > step:
            numerical = (of(units + step, odds) - of(units - step, odds)) / (2 * step)
            assert by_units == pytest.approx(numerical, rel=1e-4, abs=1e-7)
        numerical = (of(units, odds + step) - of(units, odds - step)) / (2 * step)
        assert by_odds == pytest.approx(numerical, rel=1e-4, abs=1e-7)


def test_where_the_favoured_side_changes_the_probabilities_are_continuous_and_the_slope_is_the_mean_of_both() -> None:
    for odds in (-2.0, 0.0, 2.5):
        for result in (1, 0, -1):
            before, here, after = (slopes(units, result, odds) for units in (-1e-9, 0.0, 1e-9))
            assert before[0] == pytest.approx(after[0], abs=1e-7)
            assert here[0] == pytest.approx(after[0], abs=1e-7)
            assert here[1] == pytest.approx((before[1] + after[1]) / 2, abs=1e-6)
            assert here[2] == pytest.approx(after[2], abs=1e-6)
        # Neither player is preferred: a draw says nothing there, and a win what a loss says of the other side.
        assert slopes(0.0, 0, odds)[1] == 0
        assert slopes(0.0, 1, odds)[1] == pytest.approx(-slopes(0.0, -1, odds)[1])
        # The jump itself: 1/2 on the one side, 1 / (2 (1 - alpha)) on the other.
        alpha = 1 / (1 + math.exp(-odds))
        assert slopes(-1e-12, 1, odds)[1] == pytest.approx(0.5)
        assert slopes(1e-12, 1, odds)[1] == pytest.approx(0.5 / (1 - alpha))


@pytest.mark.parametrize(("units", "odds"), [(800.0, 0.0), (-800.0, 3.0), (0.0, 800.0), (3.0, -800.0), (1e-300, 50.0)])
def test_extreme_evaluations_have_finite_slopes(units: float, odds: float) -> None:
    for result in (1, 0, -1):
        assert np.isfinite(slopes(units, result, odds)).all()


def test_information_is_the_variance_of_the_slopes() -> None:
    units, odds = np.array([-2.0, -0.3, 0.7, 3.0]), np.array([0.5, 2.0, -1.0, 0.0])
    information = np.empty((4, 3))
    information_rows(units, odds, information)
    chances = result_distribution(units, 1.0, 1 / (1 + np.exp(-odds)))
    for row in range(4):
        seen = {result: slopes(units[row], result, odds[row]) for result in (1, 0, -1)}
        both = [
            sum(float(chances[1 - result][row]) * seen[result][a] * seen[result][b] for result in (1, 0, -1))
            for a, b in ((1, 1), (1, 2), (2, 2))
        ]
        assert information[row] == pytest.approx(both)


def example(seed: int = 0, games: int = 40, *, held_out: bool = True, folder: Path | None = None) -> LikelihoodRows:
    """Positions of games with small feature values, whose results follow some weights."""
    generator = np.random.default_rng(seed)
    count = 5 * games
    values = generator.integers(-2, 3, (count, FEATURES)).astype(np.int16)
    game = generator.integers(0, games, count)
    value = (values[:, :4] @ np.array([0.8, -0.5, 0.3, 0.0])) + 0.1
    draw = values[:, 4:] @ np.array([0.7, -0.4]) + 0.5
    result = played(value, 1 / (1 + np.exp(-draw)), seed=seed)
    chunks = [
        LikelihoodChunk(
            values[rows],
            generator.integers(0, PHASES, len(values[rows])),
            result[rows],
            game[rows],
            (game[rows] % 4 == 0) & held_out,
        )
        for rows in (slice(0, count // 3), slice(count // 3, count))
    ]
    return LikelihoodRows.build(chunks, value=VALUE, draw=DRAW, folder=folder)


def parts(rows: LikelihoodRows, kind: str, seed: int = 5, size: float = 0.3) -> tuple[PartWeights, PartWeights]:
    generator = np.random.default_rng(seed)
    value = generator.normal(0, size, (PHASES, rows.value.layout.item_count))
    draw = generator.normal(0, size, (PHASES, rows.draw.layout.item_count))
    free = np.array([True, True, False, True, True])
    basis = phase_basis(kind, PHASES)
    return PartWeights(value, basis, free), PartWeights(draw, basis, np.ones(3, bool))


def naive_rows(rows: LikelihoodRows, *, held_out: bool) -> list[oracle.Row]:
    found = []
    for block in rows.blocks:
        for row in range(len(block)):
            terms = []
            for items in (block.value.rows, block.draw.rows):
                own = slice(int(items.row_starts[row]), int(items.row_starts[row + 1]))
                terms.append(
                    {int(item): float(value) for item, value in zip(items.ids[own], items.values[own], strict=True)}
                )
            weight = 1 / int(rows.positions_per_game[block.game[row]])
            if bool(block.held_out[row]) == held_out:
                found.append(
                    oracle.Row(int(block.value.rows.phase[row]), terms[0], terms[1], int(block.result[row]), weight)
                )
    return found


@pytest.mark.parametrize("kind", ["each", "linear", "one"])
def test_value_and_gradient_are_those_of_the_naive_loop(kind: str) -> None:
    rows = example()
    problem = LikelihoodProblem(rows, *parts(rows, kind), scale=1.3, l2=2.0)
    naive, held = naive_rows(rows, held_out=False), naive_rows(rows, held_out=True)
    assert problem.total_weight == pytest.approx(sum(row.weight for row in naive))
    generator = np.random.default_rng(1)
    parameters = generator.normal(0, 0.3, problem.parameter_count)

    def value_at(point: NDArray[np.float64], which: list[oracle.Row]) -> float:
        weights = problem.weights_of(point)
        return oracle.log_likelihood(which, weights.value.tolist(), weights.draw.tolist(), weights.scale)

    def objective(point: NDArray[np.float64]) -> float:
        penalty = sum(factor * one * one / 2 for factor, one in zip(problem.penalties, point, strict=True))
        return (penalty - value_at(point, naive)) / problem.total_weight

    found = problem.at(parameters)
    assert found.value == pytest.approx(objective(parameters))
    assert found.errors.training == pytest.approx(-value_at(parameters, naive) / problem.total_weight)
    assert found.errors.held_out == pytest.approx(-value_at(parameters, held) / problem.held_weight)
    for place in range(problem.parameter_count):
        step = np.zeros(problem.parameter_count)
        step[place] = 1e-6
        numerical = (problem.at(parameters + step).value - problem.at(parameters - step).value) / 2e-6
        assert found.gradient[place] == pytest.approx(numerical, rel=1e-4, abs=1e-8)


def fitted(problem: LikelihoodProblem, **options: object) -> NDArray[np.float64]:
    found = minimize(
        problem.at_steps,
        np.zeros(problem.parameter_count),
        first_step=problem.total_weight,
        tolerance=1e-12,
        iterations=400,
        **options,  # type: ignore[arg-type]
    )
    return found.parameters * problem.units


def test_the_optimum_is_that_of_scipy() -> None:
    rows = example(3, 400, held_out=False)
    problem = LikelihoodProblem(rows, *parts(rows, "linear"), scale=1.3, l2=2.0)
    mine = problem.at(fitted(problem)).value

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        found = problem.at_steps(point)
        return found.value, found.gradient

    start = np.zeros(problem.parameter_count)
    theirs = min(
        float(scipy_minimize(loss, start, jac=True, method=method, options={"maxiter": 2000}).fun)
        for method in ("L-BFGS-B", "BFGS")
    )
    # The slope jumps at every row whose value is 0, so that there are many optima close together.
    assert mine <= theirs + 3e-5


def constant(*weights: float) -> PartWeights:
    """Free weights that are the same in all phases."""
    return PartWeights(
        np.tile(np.array(weights, float), (PHASES, 1)), phase_basis("one", PHASES), np.ones(len(weights), bool)
    )


def test_known_weights_are_found_again_within_their_errors() -> None:
    rows = example(8, 8000, held_out=False)
    problem = LikelihoodProblem(rows, constant(0, 0, 0, 0, 0), constant(0, 0, 0), l2=0.0, fit_scale=False)
    parameters = fitted(problem)
    weights = problem.weights_of(parameters)
    errors = likelihood_errors(problem, parameters)
    assert errors is not None
    truth, draw_truth = np.array([0.8, -0.5, 0.3, 0.0, 0.1]), np.array([0.7, -0.4, 0.5])
    assert (np.abs(weights.value[0] - truth) < 4 * errors.value[0]).all()
    assert (np.abs(weights.draw[0] - draw_truth) < 4 * errors.draw[0]).all()
    assert ((errors.value[0] > 0.002) & (errors.value[0] < 0.05)).all()
    assert (errors.draw[0] < 0.1).all()


def test_a_scale_takes_up_what_the_prior_promises_too_much() -> None:
    rows = example(8, 4000, held_out=False)
    problem = LikelihoodProblem(rows, constant(2.4, -1.5, 0.9, 0.0, 0.3), constant(0, 0, 0), l2=1000.0)
    parameters = fitted(problem)
    assert problem.weights_of(parameters).scale == pytest.approx(3.0, rel=0.1)
    errors = likelihood_errors(problem, parameters)
    assert errors is not None
    assert 0 < errors.scale < 0.2


def test_threads_change_nothing_and_fixed_weights_stay() -> None:
    rows = example(4, 300)
    one = LikelihoodProblem(rows, *parts(rows, "each"), l2=1.0, jobs=1)
    two = LikelihoodProblem(rows, *parts(rows, "each"), l2=1.0, jobs=2)
    first, second = fitted(one, patience=5), fitted(two, patience=5)
    assert (first == second).all()
    weights = one.weights_of(first)
    assert (weights.value[:, 2] == one.value.prior[:, 2]).all()
    assert (weights.value[:, 0] != one.value.prior[:, 0]).any()


def test_an_interrupted_fit_continues_with_the_same_result(tmp_path: Path) -> None:
    rows = example(4, 300)
    problem = LikelihoodProblem(rows, *parts(rows, "each"), l2=1.0)
    whole = fitted(problem)
    keeper = FileCheckpoint(tmp_path / "state.npz", problem.fingerprint)
    calls = 0

    def interrupted(steps: NDArray[np.float64]) -> object:
        nonlocal calls
        calls += 1
        if calls > 12:
            raise KeyboardInterrupt
        return problem.at_steps(steps)

    options = {"first_step": problem.total_weight, "tolerance": 1e-12, "iterations": 400, "save_every": 3}
    with pytest.raises(KeyboardInterrupt):
        minimize(interrupted, np.zeros(problem.parameter_count), checkpoint=keeper, **options)  # type: ignore[arg-type]
    assert keeper.path.exists()
    again = minimize(problem.at_steps, np.zeros(problem.parameter_count), checkpoint=keeper, **options)  # type: ignore[arg-type]
    assert (again.parameters * problem.units == whole).all()
    other = LikelihoodProblem(rows, *parts(rows, "each"), l2=1.5)
    with pytest.raises(BadInputError, match="other positions or settings"):
        FileCheckpoint(keeper.path, other.fingerprint).load()


def test_rows_on_disk_are_those_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = example(folder=tmp_path / "none")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("glem.core.machine.large_arrays._LARGEST_ITEMS", memory.blocks[0].value.size)
    kept = example(folder=tmp_path / "rows")
    assert kept.fingerprint == memory.fingerprint
    # All but the first, for the value and for drawishness.
    assert len(list((tmp_path / "rows").iterdir())) == 2 * len(kept.blocks) - 2


def test_rows_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.machine.memory.memory_left", lambda: 100)
    with pytest.raises(NotEnoughMemoryError, match="do not fit into memory"):
        example()


def test_bad_rows_are_refused() -> None:
    numbers, values = np.zeros(2, np.int64), np.zeros((2, FEATURES), np.int16)
    chunk = LikelihoodChunk(values, numbers, numbers.astype(np.int8), np.arange(2), np.ones(2, bool))
    with pytest.raises(BadInputError, match="belongs to a game"):
        LikelihoodRows.build([chunk._replace(game=np.array([-1, 0]))], value=VALUE, draw=DRAW)
    with pytest.raises(BadInputError, match="no positions"):
        LikelihoodRows.build([], value=VALUE, draw=DRAW)
    rows = LikelihoodRows.build([chunk], value=VALUE, draw=DRAW)
    with pytest.raises(BadInputError, match="held out"):
        LikelihoodProblem(rows, *parts(rows, "one"))
