"""The choice model: how likely a player is to make each legal move, a softmax over the values of the moves.

This is McFadden's conditional logit (1974): P(j) = exp(w x_j) / sum_i exp(w x_i) over the alternatives of a choice,
where x_j are the features of the position after move j from the player's view. The likelihood of the moves that
somebody made is concave in w. Errors are by game, as in :mod:`~glem.core.fitting.discriminants`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.fitting.discriminants import GameSums, Pass, check_collinear, climb

Vector = NDArray[np.float64]


class Choices(NamedTuple):
    """Some choices with all their alternatives.

    Parameters
    ----------
    features
        float32 or float64 [n, k] of the n alternatives, choice by choice.
    starts
        int64 [m + 1]: the alternatives of choice ``c`` are the rows ``starts[c]`` to before ``starts[c + 1]``.
    chosen
        int64 [m]: rows of those that were chosen.
    game
        int64 [m]: what choices have in common that depend on each other.
    """

    features: NDArray[Any]
    starts: NDArray[np.int64]
    chosen: NDArray[np.int64]
    game: NDArray[np.int64]


@define(frozen=True, eq=False)
class ChoiceSample:
    """Choices to fit to, in memory or read anew on every pass.

    Parameters
    ----------
    names
        Of the k features.
    parts
        Called on every pass: the choices, in parts of any size; those of a game follow one another.
    games
        Number of games.
    """

    names: tuple[str, ...]
    parts: Callable[[], Iterable[Choices]] = field(repr=False)
    games: int


@define(frozen=True, eq=False)
class ChoiceModel:
    """Weights under which the choices of somebody are most likely.

    Parameters
    ----------
    names
        Of the k features.
    weights
        float64 [k]; a temperature is in them: half of it doubles them.
    covariance, naive_covariance
        float64 [k, k]: by game, and as if all choices were independent.
    choices, games
        Numbers of choices with two alternatives or more, and of games.
    log_likelihood
        Natural logarithm of the likelihood of all choices, without the prior.
    chance
        The same where all alternatives are equally likely.
    """

    names: tuple[str, ...]
    weights: Vector
    covariance: Vector = field(repr=False)
    naive_covariance: Vector = field(repr=False)
    choices: int
    games: int
    log_likelihood: float
    chance: float

    @property
    def explained(self) -> float:
        """Share of the logarithm of chance that the model explains (McFadden's pseudo R squared)."""
        return 1 - self.log_likelihood / self.chance

    def errors(self, *, naive: bool = False) -> Vector:
        """Return the standard errors of the weights, float64 [k]: by game, or ``naive``."""
        return np.sqrt(np.diag(self.naive_covariance if naive else self.covariance))


def chances_of(choices: Choices, weights: Vector) -> tuple[Vector, Vector]:
    """Tell how likely each alternative is, float64 [n], and the logarithm of that of each chosen one, float64 [m]."""
    value = np.asarray(choices.features @ weights, np.float64)
    begin, sizes = choices.starts[:-1], np.diff(choices.starts)
    value -= np.repeat(np.maximum.reduceat(value, begin), sizes)
    powers = np.exp(value)
    sums = np.add.reduceat(powers, begin)
    return powers / np.repeat(sums, sizes), value[choices.chosen] - np.log(sums)


def fit_choices(sample: ChoiceSample, *, prior: Vector | None = None, precision: float | Vector = 0.0) -> ChoiceModel:
    """Fit the weights of a choice model by Newton's method.

    Parameters
    ----------
    sample
        The choices.
    prior
        float64 [k]: weights that others have; 0 if not given.
    precision
        How strongly the weights are held to the prior: that of a normal distribution about it, of all weights or of
        each, float64 [k]. With 0 the likelihood alone counts.

    Raises
    ------
    BadInputError
        There are no choices between alternatives, features are the same for all alternatives of a choice or linear
        combinations of others, by name, or no maximum was found: with a feature that always, or never, has its
        greatest value at the chosen move it has none without a precision.
    """
    width = len(sample.names)
    held = np.zeros(width) if prior is None else np.asarray(prior, np.float64)
    stiff = np.broadcast_to(np.asarray(precision, np.float64), (width,))
    if held.shape != (width,) or not np.isfinite(held).all() or not (np.isfinite(stiff).all() and (stiff >= 0).all()):
        raise BadInputError(f"a prior has {width} finite weights, and precisions are finite and not negative")
    choices, chance, within = 0, 0.0, np.zeros((width, width))
    for part in sample.parts():
        sizes = np.diff(part.starts)
        choices += int((sizes > 1).sum())
        chance -= float(np.log(sizes).sum())
        within += _spread_within(part, 1 / np.repeat(sizes, sizes), part.features)[1]
    if not choices:
        raise BadInputError("there is no choice between two moves or more")
    if not stiff.all():
        check_collinear(within / choices, sample.names, np.full(width, 1e-12))

    def pass_at(weights: Vector) -> Pass:
        apart = weights - held
        likelihood = -float(stiff @ apart**2) / 2
        slopes, information = -stiff * apart, np.diag(stiff).copy()
        for part in sample.parts():
            odds, own = chances_of(part, weights)
            likelihood += float(own.sum())
            change, spread = _spread_within(part, odds, part.features)
            slopes += change.sum(axis=0)
            information += spread
        return Pass(likelihood, slopes, information)

    spread = np.sqrt(np.maximum(np.diag(within) / choices, 1e-12))
    found = climb(pass_at, held.copy(), spread)
    if found is None:
        raise BadInputError("no maximum of the likelihood was found: hold the weights to a prior by a precision")
    weights, inverse, _ = found
    sums, likelihood = GameSums(sample.games, in_order=True), 0.0
    for part in sample.parts():
        odds, own = chances_of(part, weights)
        likelihood += float(own.sum())
        kept = np.diff(part.starts) > 1
        sums.add(_spread_within(part, odds, part.features)[0][kept], part.game[kept])
    covariance = inverse @ sums.filling(width) @ inverse
    return ChoiceModel(sample.names, weights, covariance, inverse, choices, sums.games, likelihood, chance)


def _spread_within(part: Choices, odds: Vector, features: NDArray[Any]) -> tuple[Vector, Vector]:
    """Give what each chosen alternative has above the mean, [m, k], and the sum of covariances, [k, k]."""
    begin, sizes = part.starts[:-1], np.diff(part.starts)
    values = np.asarray(features, np.float64)
    means = np.add.reduceat(values * odds[:, None], begin, axis=0)
    apart = values - np.repeat(means, sizes, axis=0)
    return apart[part.chosen], apart.T @ (apart * odds[:, None])
