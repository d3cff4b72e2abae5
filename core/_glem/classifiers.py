"""The three models of Buro 1995 as classifiers of scikit-learn, which must be installed."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import validation
from sklearn.utils.multiclass import check_classification_targets

from glem.core.errors import BadInputError
from glem.core.fitting.discriminants.models import (
    LinearModel,
    QuadraticModel,
    Sample,
    SeparationError,
    fit_fisher,
    fit_logistic,
    fit_quadratic,
    fit_with_remedies,
)

_checks: Any = validation
"""Without types: those that type checkers infer of it are wrong."""


class _Discriminant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the three have in common: two classes, P(W | x) = 1 / (1 + exp(-f(x))), errors by game.

    ``fit`` takes the trials of each row as ``sample_weight``, and as ``game`` what rows have in common that depend on
    each other. Labels of 0, 0.5 and 1 are lost, drawn and won rows; a draw is half a win. A feature that others
    determine gets no weight, with a warning that names it.
    """

    classes_: NDArray[Any]
    n_features_in_: int
    model_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(
        self,
        X: ArrayLike,  # noqa: N803 # scikit-learn's
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        game: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Fit to features [N, k] and labels [N] of two classes, the greater of which is a win, or 0, 0.5 and 1."""
        features, labels = _checks.validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2)
        with_draws = (
            labels.dtype.kind == "f" and bool(np.isin(labels, (0.0, 0.5, 1.0)).all()) and bool((labels == 0.5).any())
        )
        if with_draws:
            self.classes_, won = np.array([0.0, 1.0]), labels.astype(np.float64)
        else:
            check_classification_targets(labels)
            self.classes_, classes = np.unique(labels, return_inverse=True)
            if len(self.classes_) > 2:
                raise ValueError(f"Only binary classification is supported. The data has {len(self.classes_)} classes.")
            if len(self.classes_) < 2:
                raise ValueError(f"{type(self).__name__} needs samples of both classes, not of one class alone.")
            won = classes.astype(np.float64)
        trials = (
            None
            if sample_weight is None
            else _checks._check_sample_weight(sample_weight, features, ensure_non_negative=True)
        )
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(features.shape[1])])
        try:
            self.model_, kept, notes = fit_with_remedies(
                self._fit, features, won, names, trials=trials, game=game, offset=offset
            )
        except BadInputError as error:
            raise ValueError(str(error)) from error
        for note in notes:
            warnings.warn(note, stacklevel=2)
        self._kept = np.array(kept, np.int64)
        return self

    def _fit(self, sample: Sample) -> Any:
        raise NotImplementedError

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Discriminant f of rows [N, k], the log odds of a win: float64 [N]."""
        _checks.check_is_fitted(self)
        features = _checks.validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        try:
            found: NDArray[np.float64] = self.model_.scores(features[:, self._kept])
        except BadInputError as error:
            raise ValueError(str(error)) from error
        return found

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Chances of both classes: float64 [N, 2]."""
        odds = self.decision_function(X)
        return np.column_stack([expit(-odds), expit(odds)])

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the likelier class of rows [N, k]."""
        won = self.decision_function(X) > 0
        found: NDArray[Any] = self.classes_[won.astype(int)]
        return found


class _LinearDiscriminant(_Discriminant):
    model_: LinearModel

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features: float64 [1, k]."""
        found = np.zeros((1, self.n_features_in_))
        found[0, self._kept] = self.model_.weights[:-1]
        return found

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant: float64 [1]."""
        return self.model_.weights[-1:]

    @property
    def standard_errors_(self) -> NDArray[np.float64]:
        """Errors by game, float64 [k + 1], the constant's last; nan where a feature was left out."""
        found = np.full(self.n_features_in_ + 1, np.nan)
        found[[*self._kept, -1]] = self.model_.errors()
        return found


class LogisticDiscriminant(_LinearDiscriminant):
    """Logistic regression by maximum likelihood, without a penalty (Buro 1995, section 2.2).

    Parameters
    ----------
    firth
        Firth's correction: True, False, or ``separated``, where features separate the classes, with a warning. Without
        it such features are an error that names them.

    Attributes
    ----------
    model_
        The :class:`~glem.core.fitting.discriminants.models.LinearModel`, with covariances.
    """

    def __init__(self, firth: bool | str = "separated") -> None:
        self.firth = firth

    def _fit(self, sample: Sample) -> LinearModel:
        if self.firth not in (True, False, "separated"):
            raise BadInputError(f"firth is True, False or 'separated', not {self.firth!r}")
        try:
            return fit_logistic(sample, firth=self.firth != "separated" and bool(self.firth))
        except SeparationError as error:
            if self.firth == "separated":
                raise
            raise BadInputError(str(error)) from error


class FisherDiscriminant(_LinearDiscriminant):
    """Fisher's linear discriminant (Buro 1995, section 2.1).

    Parameters
    ----------
    priors
        ``equal``, ``shares`` of the sample, or two numbers: of the first class and of the second, a win.

    Attributes
    ----------
    model_
        As of :class:`LogisticDiscriminant`.
    """

    def __init__(self, priors: str | Sequence[float] = "equal") -> None:
        self.priors = priors

    def _fit(self, sample: Sample) -> LinearModel:
        return fit_fisher(sample, self.priors)


class QuadraticDiscriminant(_Discriminant):
    """The quadratic discriminant of normally distributed features (Buro 1995, section 2.1).

    Parameters
    ----------
    priors
        As of :class:`FisherDiscriminant`.

    Attributes
    ----------
    model_
        The :class:`~glem.core.fitting.discriminants.models.QuadraticModel`.
    """

    model_: QuadraticModel

    def __init__(self, priors: str | Sequence[float] = "equal") -> None:
        self.priors = priors

    def _fit(self, sample: Sample) -> QuadraticModel:
        return fit_quadratic(sample, self.priors)
