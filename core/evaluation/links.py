"""Link functions g: increasing and differentiable, from the sum of active weights to a label (GLEM, section 5.1)."""

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError


@define(frozen=True)
class Link:
    """A link function ``g(x) = span / (1 + exp(-x)) + low``, or the identity.

    Parameters
    ----------
    name
        ``identity``, ``logistic`` or ``sigmoid``.
    span, low
        Height and lower bound of the sigmoid; 0 for the identity.
    """

    name: str
    span: float = 0.0
    low: float = 0.0

    @property
    def largest_slope(self) -> float:
        """Greatest derivative; every link has it at 0."""
        return self.span / 4 if self.span else 1.0

    def __call__(self, sums: NDArray[np.floating]) -> NDArray[np.float64]:
        """Value g(x) of each sum of weights, in float64."""
        x = np.asarray(sums, np.float64)
        if not self.span:
            return x
        # 1 / (1 + exp(-x)) written so that no exponential overflows.
        return self.span * 0.5 * (1 + np.tanh(x / 2)) + self.low

    def sums_of(self, labels: NDArray[np.floating]) -> NDArray[np.float64]:
        """Sum of weights whose value is a label, in float64; labels at a sigmoid's bounds count a hundredth inside."""
        values = np.asarray(labels, np.float64)
        if not self.span:
            return values
        share = np.clip((values - self.low) / self.span, 0.01, 0.99)
        return np.asarray(np.log(share / (1 - share)), np.float64)


IDENTITY = Link("identity")
"""g(x) = x: the label is a score."""

LOGISTIC = Link("logistic", span=1.0)
"""g(x) = 1 / (1 + exp(-x)): the label is a winning chance."""


def scaled_sigmoid(bound: float) -> Link:
    """g(x) = 2 C / (1 + exp(-x)) - C: the label is a score between -C and C, the positive ``bound``."""
    if not bound > 0:
        raise BadInputError(f"the bound of a sigmoid link is {bound}, it must be positive")
    return Link("sigmoid", span=2.0 * bound, low=-float(bound))


LINKS = ("identity", "logistic", "sigmoid")
"""Names that :func:`link_of` knows."""


def link_of(name: str, bound: float | None = None) -> Link:
    """Link of that name; ``sigmoid`` needs the bound C of the labels."""
    if name == "identity":
        return IDENTITY
    if name == "logistic":
        return LOGISTIC
    if name == "sigmoid":
        if bound is None:
            raise BadInputError("the sigmoid link needs the bound C of the labels")
        return scaled_sigmoid(bound)
    raise BadInputError(f"there is no link {name!r}; there are: {', '.join(LINKS)}")


def result_labels(scores: NDArray[np.floating], bounds: tuple[float, float], most: float = 0.9) -> NDArray[np.float32]:
    """Labels for the logistic link: 0.9 for a won position, 0.5 for a draw, 0.1 for a lost one (GLEM, section 5.1).

    With 1 and 0 an optimal weight vector need not exist: a weight that only ever wins would grow without end. Where
    only results count, a score between them is an expected one, and its winning chance the label, no more than `most`.

    Parameters
    ----------
    scores
        From the side to move's view; nan stays nan.
    bounds
        Least and greatest final score of the game.
    most
        Label of a won position; 1 for what is not fitted to an optimum, as hidden layers are not.
    """
    results = scores if max(map(abs, bounds)) <= 1 else np.sign(scores)
    return np.asarray(np.clip(0.5 + 0.5 * results, 1 - most, most), np.float32)
