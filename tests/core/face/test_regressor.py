"""The regressor alone and in scikit-learn's hands."""

import numpy as np
import pytest

import glem
from glem.core.features.learning import Learning


@pytest.fixture(scope="module")
def positions(othello_learning: Learning) -> glem.Positions:
    assert othello_learning.sample is not None
    sample: glem.Positions = othello_learning.sample()
    return sample[:6_000]


def regressor(**more: object) -> glem.PatternRegressor:
    return glem.PatternRegressor("othello", iterations=3, held_out=0.0, **more)  # type: ignore[arg-type]


def test_it_fits_what_the_function_fits(positions: glem.Positions) -> None:
    made = regressor().fit(positions, positions.label)
    fitted = glem.fit(positions, iterations=3, held_out=0.0, jobs=1)
    predicted = made.predict(positions)
    np.testing.assert_array_equal(predicted, fitted.predict(positions))
    spread = ((positions.label - positions.label.mean()) ** 2).sum()
    assert made.score(positions, positions.label) == pytest.approx(
        1 - ((predicted - positions.label) ** 2).sum() / spread, rel=1e-5
    )


def test_frames_and_structured_arrays_are_positions(positions: glem.Positions) -> None:
    made = regressor().fit(positions, positions.label)
    expected = made.predict(positions)
    columns = {name: column for name, column in positions.columns().items() if name.startswith("position_")}
    array = np.rec.fromarrays(list(columns.values()), dtype=[(name, column.dtype) for name, column in columns.items()])
    np.testing.assert_array_equal(made.predict(array), expected)
    np.testing.assert_array_equal(made.predict(positions.to_arrow()), expected)
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(made.predict(pandas.DataFrame(columns)), expected)
    with pytest.raises(ValueError, match="needs the name of the game"):
        glem.PatternRegressor().fit(array, positions.label)


def test_parameters_are_told_and_set() -> None:
    made = regressor()
    assert made.set_params(l2=3.0).get_params()["l2"] == 3.0
    assert "l2=3.0" in repr(made)
    with pytest.raises(ValueError, match="no parameter 'l3'"):
        made.set_params(l3=1)


def test_scikit_learn_validates_searches_and_chains_it(positions: glem.Positions) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    pipeline = pytest.importorskip("sklearn.pipeline")
    scores = selection.cross_val_score(
        regressor(), positions, positions.label, groups=positions.game_key, cv=selection.GroupKFold(3)
    )
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    chain = pipeline.Pipeline([("positions", "passthrough"), ("patterns", regressor())])
    chain.fit(positions, positions.label)
    assert chain.predict(positions).shape == positions.shape
    search = selection.GridSearchCV(chain, {"patterns__l2": [1.0, 1000.0]}, cv=2).fit(
        positions.to_pandas(), positions.label
    )
    assert search.best_params_["patterns__l2"] in (1.0, 1000.0)
