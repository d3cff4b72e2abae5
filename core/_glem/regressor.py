"""Pattern evaluations as a regressor in the manner of scikit-learn, which need not be installed."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import value_part
from glem.core.game.equal_positions import contiguous_columns
from glem.core.game.game import load_game
from glem.core.positions.positions import Positions
from glem.functions import fit


class PatternRegressor:
    """Fits pattern weights to labels; works in scikit-learn's ``Pipeline``, ``cross_val_score`` and searches.

    ``X`` is a set of N positions, or a table of pandas, polars or Arrow, or a structured array, with their columns
    ``position_FIELD``.

    Parameters
    ----------
    game
        Name of the game; needed where ``X`` is no set of positions.
    patterns, iterations, l2, smoothing, held_out, seed, jobs
        As for :func:`glem.fit <glem.functions.fit>`. Positions that are no set are each a game of their own
        when games are held out.

    Attributes
    ----------
    evaluation_
        The fitted evaluation.
    """

    _estimator_type = "regressor"
    evaluation_: LinearEvaluation

    def __init__(
        self,
        game: str | None = None,
        *,
        patterns: str | Mapping[str, Sequence[str]] | None = None,
        iterations: int = 60,
        l2: float | None = None,
        smoothing: float = 0.25,
        held_out: float = 0.05,
        seed: int = 0,
        jobs: int = 1,
    ) -> None:
        self.game = game
        self.patterns = patterns
        self.iterations = iterations
        self.l2 = l2
        self.smoothing = smoothing
        self.held_out = held_out
        self.seed = seed
        self.jobs = jobs

    def __repr__(self) -> str:
        return f"PatternRegressor({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True), regressor_tags=RegressorTags())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set arguments by name.

        Raises
        ------
        ValueError
            There is no such argument.
        """
        if unknown := sorted(set(params) - set(self.get_params())):
            raise ValueError(f"PatternRegressor has no parameter {unknown[0]!r}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803 # scikit-learn's
        """Fit the weights to labels [N], from the side to move; ``sample_weight`` [N] counts observations."""
        positions = self._positions(X)
        weight = positions.weight if sample_weight is None else np.asarray(sample_weight, np.float32)
        options = {name: value for name, value in self.get_params().items() if name != "game"}
        found = fit(evolve(positions, label=np.asarray(y, np.float32), weight=weight), **options).evaluation
        self.evaluation_ = value_part(found)
        return self

    def predict(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """Evaluate N positions: float32 [N], in units of the labels."""
        return self.evaluation_.predict(self._positions(X).positions, jobs=self.jobs)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Coefficient of determination R² of the predictions."""
        labels = np.asarray(y, np.float64)
        weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        mean = float(weight @ labels / weight.sum())
        return float(1 - weight @ (labels - self.predict(X)) ** 2 / (weight @ (labels - mean) ** 2))

    def _positions(self, X: Any) -> Positions:  # noqa: N803
        if isinstance(X, Positions):
            if self.game not in (None, X.game.name):
                raise ValueError(f"PatternRegressor({self.game!r}) was given positions of {X.game.name}")
            return X
        if self.game is None:
            raise ValueError("PatternRegressor needs the name of the game where X is no set of positions")
        columns = contiguous_columns(load_game(self.game), X)
        return Positions.from_positions(load_game(self.game), columns, np.zeros(len(columns[0]), np.float32))
