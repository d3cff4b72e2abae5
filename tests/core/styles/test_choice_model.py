"""The choice model against statsmodels, finite differences, and players whose weights are known."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime
from statsmodels.discrete.conditional_models import ConditionalLogit

from glem.core.errors import BadInputError
from glem.core.styles.choice_model import (
    Choices,
    chances_of,
    fit_choices,
)

TRUE = np.array([1.0, -0.5, 0.0, 2.0])
NAMES = ("mobility", "corners", "noise", "discs")


def choices_of(seed: int, games: int = 60, *, taste: float = 0.0) -> Choices:
    """Choices of a player with known weights; ``taste`` is what games differ by."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 9, size=games * 12)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    features = generator.normal(size=(starts[-1], 4))
    game = np.repeat(np.arange(games), 12)
    weights = TRUE + taste * generator.normal(size=(games, 4))[game]
    value = (features * np.repeat(weights, sizes, axis=0)).sum(axis=1) + generator.gumbel(size=starts[-1])
    chosen = np.array([begin + value[begin:end].argmax() for begin, end in pairwise(starts)])
    return Choices(features, starts, chosen, game)


def naive_log_likelihood(choices: Choices, weights: NDArray[Any]) -> float:
    total = 0.0
    for begin, end, chosen in zip(choices.starts, choices.starts[1:], choices.chosen, strict=False):
        values = [float(row @ weights) for row in choices.features[begin:end]]
        total += values[chosen - begin] - float(np.log(sum(np.exp(values))))
    return total


def test_it_is_statsmodels_conditional_logit() -> None:
    choices = choices_of(1)
    sizes = np.diff(choices.starts)
    won = np.zeros(choices.starts[-1])
    won[choices.chosen] = 1
    groups = np.repeat(np.arange(len(sizes)), sizes)
    several = np.repeat(sizes > 1, sizes)
    theirs = ConditionalLogit(won[several], choices.features[several], groups=groups[several]).fit(
        method="newton", tol=1e-12, disp=False
    )
    mine = fit_choices(choices, NAMES)
    np.testing.assert_allclose(mine.weights, theirs.params, atol=1e-7)
    np.testing.assert_allclose(mine.errors(naive=True), theirs.bse, rtol=1e-5)
    assert mine.choices == (sizes > 1).sum()
    assert mine.log_likelihood == pytest.approx(naive_log_likelihood(choices, mine.weights))
    assert mine.chance == pytest.approx(naive_log_likelihood(choices, np.zeros(4)))
    assert 0.2 < mine.explained < 0.8


def test_weights_are_where_the_slopes_of_the_naive_likelihood_vanish() -> None:
    choices = choices_of(2, games=10)
    precision = np.array([0.0, 3.0, 10.0, 0.0])
    mine = fit_choices(choices, NAMES, precision=precision)

    def penalized(weights: NDArray[Any]) -> float:
        return naive_log_likelihood(choices, weights) - float(precision @ weights**2) / 2

    slopes: Any = approx_fprime(mine.weights, penalized, 1e-6)
    assert np.abs(slopes).max() < 1e-3
    stiff = fit_choices(choices, NAMES, precision=1e9)
    np.testing.assert_allclose(stiff.weights, np.zeros(4), atol=1e-6)


def test_errors_by_game_are_the_sandwich_of_sums() -> None:
    choices = choices_of(3, taste=0.8)
    mine = fit_choices(choices, NAMES)
    odds, _ = chances_of(choices, mine.weights)
    slopes = np.array(
        [
            choices.features[chosen] - odds[begin:end] @ choices.features[begin:end]
            for begin, end, chosen in zip(choices.starts, choices.starts[1:], choices.chosen, strict=False)
        ]
    )
    sums = np.array([slopes[choices.game == game].sum(axis=0) for game in range(60)])
    share = 60 / 59 * (mine.choices - 1) / (mine.choices - 4)
    expected = mine.naive_covariance @ (sums.T @ sums * share) @ mine.naive_covariance
    np.testing.assert_allclose(mine.covariance, expected, rtol=1e-9)
    assert (mine.errors() > 1.1 * mine.errors(naive=True)).all()


def test_intervals_cover_the_truth() -> None:
    covered = np.zeros(4)
    for seed in range(100):
        model = fit_choices(choices_of(seed, games=40), NAMES)
        covered += np.abs(model.weights - TRUE) < 1.96 * model.errors()
    assert (covered >= 86).all()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"features": lambda rows: np.column_stack([rows[:, :3], rows[:, 0] + rows[:, 1]])},
            "'discs' is a linear comb",
        ),
        ({"features": lambda rows: np.column_stack([rows[:, :3], np.ones(len(rows))])}, "'discs' is constant"),
    ],
)
def test_features_that_tell_nothing_are_named(change: dict[str, Any], problem: str) -> None:
    choices = choices_of(4, games=8)
    choices = choices._replace(features=change["features"](choices.features))
    with pytest.raises(BadInputError, match=problem):
        fit_choices(choices, NAMES)
    held = fit_choices(choices, NAMES, precision=1.0)
    assert np.isfinite(held.weights).all()


def test_choices_that_have_no_maximum_are_an_error() -> None:
    choices = choices_of(5, games=5)
    features = choices.features.copy()
    features[:, 2] = 0
    features[choices.chosen, 2] = 1
    with pytest.raises(BadInputError, match="hold the weights to a prior"):
        fit_choices(choices._replace(features=features), NAMES)
    lonely = Choices(choices.features[:2], np.arange(3), np.arange(2), np.arange(2))
    with pytest.raises(BadInputError, match="no choice between two moves"):
        fit_choices(lonely, NAMES)
    with pytest.raises(BadInputError, match="precisions are finite and not negative"):
        fit_choices(choices, NAMES, precision=-1.0)
