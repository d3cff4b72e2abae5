"""Normal equations against dense matrices, and against conjugate gradient."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.normal_equations import NormalEquations, added_up
from glem.core.fitting.packed.blocks import Block, Packing
from glem.core.fitting.phases import PhaseWeights
from tests.core.fitting.fitting_problems import PHASES, Small, small_design
from tests.oracles.fitting import fit_design, least_squares
from tests.othello import LEARNING

GENERATOR = np.random.default_rng(4)


def weights_of(found: PhaseWeights, small: Small) -> NDArray[np.float64]:
    linear = found.linear * np.array(small.design.linear.scales)
    return np.concatenate([found.configurations, linear, found.bias[:, None]], axis=1)


def equations_of(blocks: Iterable[Block], packing: Packing, *arrays: Any, jobs: int = 1) -> NormalEquations:
    return NormalEquations(packing, *added_up(blocks, packing, *arrays, jobs=jobs))


@pytest.mark.parametrize("configurations", [True, False])
@pytest.mark.parametrize("is_weighted", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.25])
def test_they_are_solved_as_a_dense_matrix_is(configurations: bool, is_weighted: bool, smoothing: float) -> None:
    small = small_design(LEARNING.features, 900, patterns=False, configurations=configurations, seed=3)
    matrix, phases, count = small.matrix, small.phases, len(small.phases)
    labels = (matrix[:, 0] * 3 + GENERATOR.normal(0, 1, count)).astype(np.float32)
    weights = (GENERATOR.integers(0, 3, count) / (3 if is_weighted else 1)).astype(np.float32)
    judging = GENERATOR.random(count) < 0.2
    equations_with = partial(equations_of, small.design.blocks, small.design.packing, labels, weights, judging)
    equations = equations_with()
    for judged in (True, False):
        found = (equations if judged else equations.with_judging()).solve(2.0, smoothing)
        penalties = np.zeros(matrix.shape[1])
        penalties[: small.design.layout.linear_start] = 2.0
        fitted = weights * ~judging if judged else weights
        for phase, own in enumerate(weights_of(found, small)):
            factors = np.where(phases == phase, 1, np.where(np.abs(phases - phase) == 1, smoothing, 0))
            wide, row_weights = labels.astype(np.float64), (fitted * factors).astype(np.float64)
            expected = least_squares(matrix, wide, row_weights, penalties)
            np.testing.assert_allclose(own, expected, atol=1e-6)
            result = found.results[phase]
            assert result is not None and result.improved and result.converged
            for errors, rows in (
                (result.training_errors, fitted * factors),
                (result.held_out_errors, weights * judging * (phases == phase) * judged),
            ):
                for error, sums in zip(errors, (0, matrix @ own), strict=True):
                    expected_error = rows @ (labels - sums) ** 2 / rows.sum() if rows.sum() else np.nan
                    np.testing.assert_allclose(error, expected_error, rtol=1e-6)
            matches = (fitted * (phases == phase)).astype(np.float64) @ (matrix != 0)
            np.testing.assert_allclose(found.match_counts[phase], matches[: small.design.layout.linear_start])
    for one, other in zip(equations.fitted, equations_with(jobs=3).fitted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_conjugate_gradient_comes_to_the_same() -> None:
    small = small_design(LEARNING.features, 900, patterns=False, seed=5)
    labels = (small.matrix[:, 1] * 3 + GENERATOR.normal(0, 1, len(small.phases))).astype(np.float32)
    nobody = np.zeros(len(labels), bool)
    ones = np.ones(len(labels), np.float32)
    l2 = [1.0, 2.0, 3.0, 4.0]
    exact = equations_of(small.design.blocks, small.design.packing, labels, ones, nobody).solve(l2, 0.5)
    fitter = ConjugateGradient(iterations=300, tolerance=0)
    slow = fit_design(small.design, labels, fitter=fitter, l2=l2, smoothing=0.5)
    np.testing.assert_allclose(weights_of(exact, small), weights_of(slow, small), atol=1e-4)


def test_phases_that_learn_nothing_and_phases_without_positions() -> None:
    small = small_design(LEARNING.features, 900, patterns=False, seed=6)
    labels = GENERATOR.normal(0, 1, len(small.phases)).astype(np.float32)
    labels[small.phases == 1] += 5 * small.matrix[small.phases == 1, 0]
    weights = (small.phases != 3).astype(np.float32)
    judging = np.arange(len(labels)) % 2 == 0
    found = equations_of(small.design.blocks, small.design.packing, labels, weights, judging).solve(0.01, 0.0)
    improved = [result is not None and result.improved for result in found.results]
    assert improved == [False, True, False, False]
    assert found.results[3] is None
    weights_by_phase = weights_of(found, small)
    assert len(weights_by_phase) == PHASES
    assert not weights_by_phase[[0, 2, 3]].any()
    assert weights_by_phase[1].any()


def test_without_positions_nothing_is_fitted() -> None:
    small = small_design(LEARNING.features, 30, patterns=False)
    zeros = np.zeros(30, np.float32)
    equations = equations_of(small.design.blocks, small.design.packing, zeros, zeros, zeros > 0)
    with pytest.raises(BadInputError, match="no position to fit"):
        equations.solve(1.0, 0.0)


def test_terms_that_are_equal_share_their_weight() -> None:
    small = small_design(LEARNING.features, 600, patterns=False, configurations=False, linear=("mobility", "mobility"))
    labels = small.matrix[:, 0].astype(np.float32)
    nobody = np.zeros(len(labels), bool)
    ones = np.ones(len(labels), np.float32)
    found = equations_of(small.design.blocks, small.design.packing, labels, ones, nobody).solve(0.0, 0.0)
    np.testing.assert_allclose(weights_of(found, small)[:, :2], 0.5, atol=1e-4)


def test_many_terms_are_left_to_other_fitters() -> None:
    few = small_design(LEARNING.features, 30, patterns=False).design.packing
    assert NormalEquations.fits(few)
    assert not NormalEquations.fits(small_design(LEARNING.features, 30).design.packing)
