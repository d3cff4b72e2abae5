"""The discriminants as classifiers of scikit-learn."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import glem
from glem.core.fitting.discriminants.models import Sample, fit_logistic

ALL = [glem.LogisticDiscriminant(), glem.FisherDiscriminant(), glem.QuadraticDiscriminant()]


@pytest.mark.filterwarnings("ignore:features? ")
@parametrize_with_checks(ALL)  # type: ignore[untyped-decorator]
def test_they_are_what_scikit_learn_expects(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", ALL)
def test_they_take_draws_games_and_trials(estimator: Any) -> None:
    random = np.random.default_rng(1)
    game = np.repeat(np.arange(300), 10)
    features = random.normal(size=(3000, 3))
    won = (random.random(3000) < 1 / (1 + np.exp(-features[:, 0] - random.normal(size=300)[game]))).astype(float)
    won[::7] = 0.5
    trials = random.integers(1, 3, 3000)
    estimator.fit(features, won, sample_weight=trials, game=game)
    assert estimator.classes_.tolist() == [0.0, 1.0]
    chances = estimator.predict_proba(features)
    assert ((chances[:, 1] > 0.5) == (estimator.predict(features) == 1)).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    if isinstance(estimator, glem.LogisticDiscriminant):
        expected = fit_logistic(Sample.of_arrays(features, won, trials=trials, game=game))
        np.testing.assert_allclose(estimator.coef_[0], expected.weights[:-1], rtol=1e-12)
        np.testing.assert_allclose(estimator.standard_errors_, expected.errors(), rtol=1e-12)
    decided = won != 0.5
    scores = cross_val_score(estimator, features[decided], won[decided], groups=game[decided], cv=GroupKFold(5))
    assert scores.mean() > 0.6


def test_separation_is_corrected_with_a_warning_or_refused() -> None:
    features, won = np.array([[-2.0], [-1], [1], [2]]), [0, 0, 1, 1]
    with pytest.warns(UserWarning, match="feature 'x0' separates won from lost rows.* fitted with Firth"):
        model = glem.LogisticDiscriminant().fit(features, won)
    assert 0 < model.coef_[0, 0] < 3
    with pytest.raises(ValueError, match="separates"):
        glem.LogisticDiscriminant(firth=False).fit(features, won)
