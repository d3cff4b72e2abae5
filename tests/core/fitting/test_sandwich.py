"""Errors by game: one formula for all fitters, beside that of statsmodels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.api import Logit

from glem.core.fitting.discriminants.models import Sample, fit_logistic
from glem.core.fitting.likelihood_problem import LikelihoodProblem, PartWeights, phase_basis
from glem.core.fitting.minimizing.quasi_newton import minimize
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.likelihood_errors import likelihood_errors
from glem.core.fitting.packed.result_rows import LikelihoodChunk, LikelihoodRows
from glem.core.fitting.sandwich import sandwich
from glem.core.grading.calibration import fit_scale
from glem.core.styles.choice_model import Choices, fit_choices
from glem.core.tuning.coefficients import block_of
from glem.core.tuning.fitting import LOGISTIC, TermSettings, fit_terms
from glem.core.tuning.terms import Terms

Floats = NDArray[np.float64]


def by_discriminant(features: Floats, won: Floats, game: NDArray[np.int64]) -> Floats:
    """Errors of features, and last of a constant."""
    return fit_logistic(Sample.of_arrays(features, won, game=game)).errors()


def by_terms(features: Floats, won: Floats, game: NDArray[np.int64]) -> Floats:
    result = (2 * won - 1).astype(np.int8)
    block = block_of(features, np.ones(len(won)), result, game, np.zeros(len(won), bool))
    settings = TermSettings(loss=LOGISTIC, l2=0.0, scale=1.0, tolerance=1e-15, iterations=2000)
    errors = fit_terms(Terms({"some": (3,)}, is_tapered=False), [block], settings=settings).errors
    assert errors is not None
    return errors[:, 0]


def by_choices(features: Floats, won: Floats, game: NDArray[np.int64]) -> Floats:
    count = len(won)
    rows = np.stack([features, np.zeros_like(features)], axis=1).reshape(2 * count, -1)
    starts = 2 * np.arange(count + 1)
    choices = Choices(rows, starts, starts[:-1] + (won == 0), game)
    return fit_choices(choices, ("x", "y", "z")).errors()


def by_likelihood(features: Floats, won: Floats, game: NDArray[np.int64]) -> Floats:
    packings: dict[str, Any] = {
        "value": Packing(1, linear=LinearTerms((0, 1, 2)), by_phase=False),
        "draw": Packing(1, by_phase=False),
    }
    chunk = LikelihoodChunk(
        features.astype(np.int16),
        np.zeros(len(won), np.int64),
        (2 * won - 1).astype(np.int8),
        game,
        np.zeros(200, bool),
    )
    basis = phase_basis("one", 1)
    # Draws are next to impossible.
    value, draw = np.zeros((1, 4)), np.full((1, 1), -40.0)
    problem = LikelihoodProblem(
        LikelihoodRows.build([chunk], **packings),
        PartWeights(value, basis, np.ones(4, bool)),
        PartWeights(draw, basis, np.zeros(1, bool)),
        l2=0.0,
        fit_scale=False,
    )
    found = minimize(problem.at_steps, np.zeros(4), first_step=problem.total_weight, tolerance=1e-15, iterations=2000)
    errors = likelihood_errors(problem, found.parameters * problem.units)
    assert errors is not None
    return errors.value[0]


def by_scale(features: Floats, won: Floats, game: NDArray[np.int64]) -> Floats:
    found = fit_scale(features[:, 0], 2 * won - 1, drawishness=0.0, game=game)
    # The error of 1 / b, the weight of the only feature.
    return np.array([found.scale_error / found.scale**2])


@pytest.mark.parametrize(
    ("errors_of", "used"),
    [
        (by_discriminant, [0, 1, 2, 3]),
        (by_terms, [0, 1, 2]),
        (by_choices, [0, 1, 2]),
        (by_likelihood, [0, 1, 2, 3]),
        (by_scale, [0]),
    ],
)
@pytest.mark.parametrize("games", [8, 20])
def test_errors_by_game_are_those_of_statsmodels(errors_of: Callable[..., Any], used: list[int], games: int) -> None:
    random = np.random.default_rng(games)
    game = np.repeat(np.arange(games), 200 // games)
    features = random.integers(-3, 4, (200, 3)).astype(np.float64)
    odds = features @ [0.5, -0.3, 0.2] + random.normal(size=games)[game]
    won = (random.random(200) < 1 / (1 + np.exp(-odds))).astype(np.float64)
    own = np.column_stack([features, np.ones(200)])[:, used]
    theirs = Logit(won, own).fit(disp=0, tol=1e-14, cov_type="cluster", cov_kwds={"groups": game})
    np.testing.assert_allclose(errors_of(features, won, game), theirs.bse, rtol=1e-5)


def test_too_few_games_or_rows_have_no_errors() -> None:
    for few in ({"games": 1, "rows": 9}, {"games": 3, "rows": 2}):
        assert np.isnan(sandwich(np.eye(2), np.eye(2), parameters=2, **few)).all()
