"""Logistic regression, Fisher's and the quadratic discriminant beside statsmodels, scikit-learn and direct searches."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from statsmodels.api import Logit

from glem.core.errors import BadInputError
from glem.core.fitting.discriminants.models import (
    Rows,
    Sample,
    SeparationError,
    fit_fisher,
    fit_logistic,
    fit_quadratic,
    fit_with_remedies,
)

NORMAL_95 = 1.959963984540054


class Games(NamedTuple):
    """Rows whose games have something in common that no feature tells."""

    features: Any
    won: Any
    game: Any


def games_of(seed: int, games: int = 200, rows: int = 12, common: float = 1.0, draws: float = 0.0) -> Games:
    random = np.random.default_rng(seed)
    game = np.repeat(np.arange(games), rows)
    features = random.normal(size=(len(game), 4)) + 0.8 * random.normal(size=(games, 4))[game]
    features[:, 3] = np.round(2 * features[:, 3])
    odds = features @ [0.8, -0.5, 0.0, 0.2] + 0.3 + common * random.normal(size=games)[game]
    won = (random.random(len(game)) < 1 / (1 + np.exp(-odds))).astype(float)
    won[random.random(len(game)) < draws] = 0.5
    return Games(features, won, game)


def sample_of(games: Games, **more: Any) -> Sample:
    return Sample.of_arrays(games.features, games.won, game=games.game, **more)


def test_logistic_regression_is_that_of_statsmodels_with_errors_by_game() -> None:
    games = games_of(1)
    found = fit_logistic(sample_of(games))
    features = np.column_stack([games.features, np.ones(len(games.won))])
    expected = Logit(games.won, features).fit(disp=0, tol=1e-14, cov_type="cluster", cov_kwds={"groups": games.game})
    np.testing.assert_allclose(found.weights, expected.params, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.errors(), expected.bse, rtol=1e-9)
    naive = Logit(games.won, features).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(found.errors(naive=True), naive.bse, rtol=1e-9)
    np.testing.assert_allclose(found.log_likelihood, expected.llf, rtol=1e-12)
    assert (found.rows, found.games) == (2400, 200)


@pytest.mark.parametrize("priors", ["equal", "shares", (3.0, 1.0)])
def test_discriminants_are_those_of_scikit_learn(priors: Any) -> None:
    games = games_of(2)
    shares = {"equal": [0.5, 0.5], "shares": None, (3.0, 1.0): [0.75, 0.25]}[priors]
    fisher = fit_fisher(sample_of(games), priors)
    expected = LinearDiscriminantAnalysis(priors=shares).fit(games.features, games.won)
    np.testing.assert_allclose(fisher.weights[:-1], expected.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(
        fisher.scores(games.features), expected.decision_function(games.features), rtol=0, atol=1e-9
    )
    quadratic = fit_quadratic(sample_of(games), priors)
    scores = QuadraticDiscriminantAnalysis(priors=shares).fit(games.features, games.won).decision_function
    np.testing.assert_allclose(quadratic.scores(games.features), scores(games.features), rtol=0, atol=1e-9)


def test_trials_count_like_equal_rows_and_offsets_shift_the_odds() -> None:
    games = games_of(3)
    times = np.random.default_rng(3).integers(0, 3, len(games.won))
    counted = fit_logistic(sample_of(games, trials=times))
    repeated = fit_logistic(sample_of(Games(*(np.repeat(column, times, axis=0) for column in games))))
    np.testing.assert_allclose(counted.weights, repeated.weights, atol=1e-9)
    np.testing.assert_allclose(counted.naive_covariance, repeated.naive_covariance, rtol=1e-9)
    shifted = fit_logistic(sample_of(games, offset=0.5 * games.features[:, 0] - 1))
    plain = fit_logistic(sample_of(games))
    np.testing.assert_allclose(shifted.weights + np.array([0.5, 0, 0, 0, -1]), plain.weights, atol=1e-9)
    np.testing.assert_allclose(shifted.errors(), plain.errors(), rtol=1e-9)


@pytest.mark.parametrize("fit", [fit_logistic, fit_fisher])
def test_both_ways_of_treating_draws_give_equal_estimates_and_errors_by_game(fit: Any) -> None:
    games = games_of(4, draws=0.1)
    half = fit(sample_of(games))
    drawn = games.won == 0.5
    once = Games(*(column[drawn] for column in games))
    # Won and lost rows twice, a drawn one once on either side.
    both = Games(
        np.concatenate([games.features[~drawn], games.features[~drawn], once.features, once.features]),
        np.concatenate([games.won[~drawn], games.won[~drawn], np.ones(drawn.sum()), np.zeros(drawn.sum())]),
        np.concatenate([games.game[~drawn], games.game[~drawn], once.game, once.game]),
    )
    doubled = fit(sample_of(both))
    np.testing.assert_allclose(doubled.weights, half.weights, rtol=0, atol=1e-9)
    few = (len(both.won) - 1) / (len(both.won) - 5) / ((len(games.won) - 1) / (len(games.won) - 5))
    np.testing.assert_allclose(doubled.errors(), half.errors() * np.sqrt(few), rtol=1e-9)
    assert (doubled.errors(naive=True) < 0.85 * half.errors(naive=True)).all()


@pytest.mark.parametrize("fit", [fit_logistic, fit_fisher])
def test_neither_chunks_nor_the_order_of_rows_change_a_fit(fit: Any) -> None:
    games = games_of(5)
    whole = fit(sample_of(games))
    order = np.random.default_rng(5).permutation(len(games.won))
    shuffled = fit(sample_of(Games(*(column[order] for column in games))))

    def chunks() -> Iterator[Rows]:
        for rows in np.array_split(np.arange(len(games.won)), 37):
            ones = np.ones(len(rows))
            yield Rows(games.features[rows], games.won[rows], ones, games.game[rows], 0 * ones)

    streamed = fit(Sample(("x0", "x1", "x2", "x3"), chunks, 200, in_order=True))
    for other in (shuffled, streamed):
        np.testing.assert_allclose(other.weights, whole.weights, atol=1e-9)
        np.testing.assert_allclose(other.covariance, whole.covariance, rtol=1e-7, atol=1e-12)
        assert other.games == whole.games


def _truth(fit: Any) -> Any:
    """What the weights are for all games there could be: averages of large samples."""
    return np.mean([fit(sample_of(games_of(seed, games=20_000))).weights for seed in range(90_000, 90_010)], axis=0)


@pytest.mark.parametrize("fit", [fit_logistic, fit_fisher])
def test_intervals_by_game_cover_the_truth_and_naive_ones_do_not(fit: Any) -> None:
    truth, sets = _truth(fit), 1000
    covered, naively = np.zeros(5), np.zeros(5)
    for seed in range(sets):
        found = fit(sample_of(games_of(seed, games=150)))
        covered += np.abs(found.weights - truth) <= NORMAL_95 * found.errors()
        naively += np.abs(found.weights - truth) <= NORMAL_95 * found.errors(naive=True)
    assert 0.93 <= covered.mean() / sets <= 0.97
    assert (covered / sets >= 0.915).all()
    assert (naively / sets)[:3].mean() < 0.9


def test_separating_features_are_named_before_anybody_believes_their_weights() -> None:
    games = games_of(6)
    features = np.column_stack([games.features, (games.won == 1) & (games.features[:, 0] > 1.5)])
    names = ["mobility", "edges", "noise", "discs", "corner"]
    sample = Sample.of_arrays(features, games.won, game=games.game, names=names)
    with pytest.raises(BadInputError, match=r"feature 'corner' separates won from lost rows: .* Firth"):
        fit_logistic(sample)
    firth = fit_logistic(sample, firth=True)
    assert 0 < firth.weights[4] < 10
    assert np.isfinite(firth.errors()).all()
    apart = np.where(games.won == 1, 1, -1) * np.abs(games.features[:, 0]) - games.features[:, 1]
    features = np.column_stack([games.features[:, 1:], apart])
    with pytest.raises(BadInputError, match="features 'edges', 'balance' separate won from lost"):
        fit_logistic(Sample.of_arrays(features, games.won, names=["edges", "noise", "discs", "balance"]))


def test_a_rare_feature_that_separates_is_found() -> None:
    games = games_of(10, games=2000)
    rare = np.zeros(len(games.won))
    rare[np.flatnonzero(games.won == 0)[-3:]] = 1
    with pytest.raises(SeparationError, match="feature 'x4' separates"):
        fit_logistic(Sample.of_arrays(np.column_stack([games.features, rare]), games.won))


def test_many_features_are_fitted_without_those_that_say_nothing_or_all() -> None:
    generator = np.random.default_rng(4)
    features = generator.normal(size=(20_000, 80))
    won = (generator.random(20_000) < 1 / (1 + np.exp(-features[:, 0]))).astype(float)
    features[:, 5:8] = (3.0, 0.0, -1.0)
    features[:, 11] = features[:, 12] - features[:, 13]
    features[:, 20:22] = 0
    features[np.flatnonzero(won)[:5], 20] = 1
    features[np.flatnonzero(won == 0)[:7], 21] = 1
    names = [f"f{place}" for place in range(80)]
    model, kept, notes = fit_with_remedies(fit_logistic, features, won, names)
    assert sorted(set(range(80)) - set(kept)) == [5, 6, 7, 13, 20, 21]
    assert [note.split(" ")[1] for note in notes] == ["'f5'", "'f6'", "'f7'", "'f13'", "'f20',"]
    assert "features 'f20', 'f21' separate won from lost rows" in notes[-1]
    np.testing.assert_array_equal(model.weights, fit_logistic(Sample.of_arrays(features[:, kept], won)).weights)


def test_rows_that_separate_at_first_do_not_stop_a_fit() -> None:
    games = games_of(7, games=8000)
    first = np.argsort(games.won * np.sign(games.features[:, 0]), kind="stable")
    found = fit_logistic(sample_of(Games(*(column[first] for column in games))))
    np.testing.assert_allclose(found.weights, fit_logistic(sample_of(games)).weights, atol=1e-9)


def chances(model: Any, features: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(model.scores(features), -700, 700)))


@pytest.mark.parametrize("fit", [fit_logistic, fit_fisher, fit_quadratic])
@pytest.mark.parametrize(("offset", "unit"), [(1e9, 1.0), (-1e9, 1e-9), (1e7, 1e9)])
@pytest.mark.parametrize("order", ["at random", "by class"])
def test_neither_offsets_nor_units_change_a_chance(fit: Any, offset: float, unit: float, order: str) -> None:
    random = np.random.default_rng(11)
    features = random.normal(size=(300, 3)) @ random.normal(size=(3, 3))
    won = (random.random(300) < 1 / (1 + np.exp(-features[:, 0]))).astype(float)
    if order == "by class":
        won.sort()
    far = (features + np.array([offset, 0, -offset])) * unit

    def chunks() -> Iterator[Rows]:
        for rows in np.array_split(np.arange(300), 7):
            yield Rows(far[rows], won[rows], np.ones(len(rows)), rows, np.zeros(len(rows)))

    expected = chances(fit(Sample.of_arrays(features, won)), features)
    for sample in (Sample.of_arrays(far, won), Sample(("x0", "x1", "x2"), chunks, 300, in_order=True)):
        np.testing.assert_allclose(chances(fit(sample), far), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("first", [0.0, 20240101.0, 1.7e12])
def test_whole_numbers_have_one_fit_wherever_they_begin(first: float) -> None:
    model = fit_logistic(Sample.of_arrays(first + np.arange(4.0)[:, None], np.array([0, 1.0, 0, 1])))
    found = chances(model, first + np.arange(4.0)[:, None])
    np.testing.assert_allclose(found, [0.204, 0.388, 0.612, 0.796], rtol=0, atol=5e-4)


def a_set(seed: int) -> tuple[Any, Any]:
    """Make one of six kinds of small sets whose likelihood is hard to climb."""
    random = np.random.default_rng(seed)
    rows, odds = int(random.integers(5, 200)), 0.0
    kind = seed % 6
    if kind == 0:
        features = np.eye(rows)[:, :1]
    elif kind == 1:
        features = (random.random((20, 4)) < random.uniform(0.05, 0.5)).astype(float)
    elif kind == 2:
        features = random.normal(size=(rows % 20 + 4, 24))
    elif kind == 3:
        features = random.normal(size=(rows, 3))
        odds = 1e9 * (features @ random.normal(size=3))
    else:
        features = random.standard_t(3 if kind == 4 else 30, size=(rows + 20, 4))
        odds = features[:, 0] - 1
    won = (random.random(len(features)) < 1 / (1 + np.exp(-np.clip(odds, -700, 700)))).astype(float)
    won[:2] = 0, 1
    # So coarse that the offset rounds nothing.
    features = np.round(features * 2**20) / 2**20
    return (features + random.choice([0, 1e6, 1e9])) * 2.0 ** random.integers(-30, 31), won


@pytest.mark.parametrize("seed", range(72))
def test_every_set_has_the_greatest_likelihood_or_the_penalized_one(seed: int) -> None:
    features, won = a_set(seed)
    model, kept, notes = fit_with_remedies(fit_logistic, features, won, [f"x{at}" for at in range(features.shape[1])])
    for corrected in (model, fit_logistic(Sample.of_arrays(features[:, kept], won), firth=True)):
        has_penalty = corrected is not model or any("separate" in note for note in notes)
        # An own way to independent coordinates, and from there to the maximum.
        apart = features[:, kept] - features[0, kept]
        own = np.sqrt(len(won)) * np.linalg.qr(np.column_stack([np.ones(len(won)), apart - apart.mean(axis=0)]))[0]

        def less(weights: Any, own: Any = own, has_penalty: bool = has_penalty) -> float:
            odds = own @ weights
            likelihood = won @ odds - np.logaddexp(0, odds).sum()
            small = np.exp(-np.abs(odds))
            information = own.T @ (own * (small / (1 + small) ** 2)[:, None])
            return -float(likelihood + has_penalty * np.linalg.slogdet(information)[1] / 2)

        found = np.linalg.lstsq(own, corrected.scores(features[:, kept]), rcond=None)[0]
        best = minimize(less, found, method="BFGS", options={"gtol": 1e-6})
        np.testing.assert_allclose(own @ best.x, own @ found, rtol=0, atol=2e-4)
        assert less(found) <= less(minimize(less, 0 * found, method="BFGS").x) + 1e-6
        assert np.isfinite(corrected.errors(naive=True)).all()


@pytest.mark.parametrize("fit", [fit_logistic, fit_fisher, fit_quadratic])
def test_samples_that_tell_nothing_are_refused_by_name(fit: Any) -> None:
    games = games_of(9)
    double = np.column_stack([games.features, games.features[:, 0] - 2 * games.features[:, 1]])
    with pytest.raises(BadInputError, match="'x4' is a linear combination of 'x0', 'x1'"):
        fit(Sample.of_arrays(double, games.won))
    with pytest.raises(BadInputError, match="'x0' is constant"):
        fit(Sample.of_arrays(np.full((4, 1), 0.1) * 3, np.array([0, 1, 0, 1.0])))
    with pytest.raises(BadInputError, match="no row is lost"):
        fit(Sample.of_arrays(games.features, np.ones(len(games.won))))
    vast = games.features * [1, 1, 1e200, 1]
    with pytest.raises(BadInputError, match=r"'x2' reaches from -.*e\+200: divide it"):
        fit(Sample.of_arrays(vast, games.won))
    with pytest.raises(BadInputError, match="'x2' reaches from"):
        fit(sample_of(games)).scores(vast)
    with pytest.raises(BadInputError, match=r"'x1' varies by no more than .*e-200: multiply it"):
        fit(Sample.of_arrays(games.features * [1, 1e-200, 1, 1], games.won))
    with pytest.raises(BadInputError, match=r"'x0' differs by 0\.00.* near 1e\+09, where numbers are 1.2e-07 apart"):
        fit(Sample.of_arrays(games.features / [300, 1, 1, 1] + [1e9, 0, 0, 0], games.won))
    with pytest.raises(BadInputError, match="'edge' is not finite"):
        fit(Sample.of_arrays(np.array([[1.0], [np.nan]]), np.array([0, 1.0]), names=["edge"]))


def test_a_feature_that_is_constant_in_one_class_is_named_with_it() -> None:
    games = games_of(12)
    quiet = games.features * np.where(games.won == 1, 0, 1)[:, None] ** [0, 1, 0, 0]
    with pytest.raises(BadInputError, match="'x1' is constant among won rows"):
        fit_quadratic(Sample.of_arrays(quiet, games.won))
    fit_fisher(Sample.of_arrays(quiet, games.won))
    told = np.column_stack([games.features[:, 0], games.won])
    with pytest.raises(BadInputError, match="'x1' is constant within either class"):
        fit_fisher(Sample.of_arrays(told, games.won))
    with pytest.raises(SeparationError, match="'x1' separates"):
        fit_logistic(Sample.of_arrays(told, games.won))
    assert np.isfinite(fit_quadratic(Sample.of_arrays(games.features * 1e-7 ** games.won[:, None], games.won)).constant)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"won": [0, 2.0]}, "not between 0 and 1"),
        ({"won": [0.0]}, "2 rows of features and .* 'won'"),
        ({"trials": [1, -1.0]}, "trials are negative"),
        ({"names": ["a", "b"]}, "1 features and 2 names"),
    ],
)
def test_bad_columns_are_refused(more: dict[str, Any], problem: str) -> None:
    given = {"features": [[1.0], [2.0]], "won": [0.0, 1.0]} | more
    arrays = {name: np.array(column) for name, column in given.items() if name != "names"}
    with pytest.raises(BadInputError, match=problem):
        Sample.of_arrays(names=more.get("names"), **arrays)
