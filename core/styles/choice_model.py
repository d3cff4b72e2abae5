"""The choice model: how likely a player is to make each legal move, a softmax over the values of the moves.

This is McFadden's conditional logit (1974): P(j) = exp(w x_j) / sum_i exp(w x_i) over the alternatives of a choice,
where x_j are the features of the position after move j from the player's view. The likelihood of the moves that
somebody made is concave in w. Errors are by game (:mod:`~glem.core.fitting.sandwich`).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.fitting.discriminants.models import Pass, climb, whitening_of
from glem.core.fitting.sandwich import GameSums

Vector = NDArray[np.float64]


class Choices(NamedTuple):
    """Some choices with all their alternatives.

    Parameters
    ----------
    features
        Numbers [n, k] of the n alternatives, choice by choice.
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

    def cautious_errors(self) -> Vector:
        """Return the greater of both standard errors of each weight, float64 [k].

        The games say nothing of what they hardly have, and a weight that a precision holds would seem exact by game. As
        if choices were independent, its error is then about what the precision allows.
        """
        return np.maximum(self.errors(), self.errors(naive=True))


@kernel
def _write_chances(features: Any, starts: Any, weights: Any, odds: Any) -> None:
    """Write how likely each alternative is; the logarithm of the sum of powers is taken off, so that none overflows."""
    width = len(weights)
    for choice in range(len(starts) - 1):
        begin, end = starts[choice], starts[choice + 1]
        greatest = -np.inf
        for row in range(begin, end):
            value = 0.0
            for place in range(width):
                value += weights[place] * features[row, place]
            odds[row] = value
            greatest = max(greatest, value)
        total = 0.0
        for row in range(begin, end):
            total += math.exp(odds[row] - greatest)
        for row in range(begin, end):
            odds[row] -= greatest + math.log(total)


def chances_of(choices: Choices, weights: Vector) -> tuple[Vector, Vector]:
    """Tell how likely each alternative is, float64 [n], and the logarithm of that of each chosen one, float64 [m]."""
    logarithms = np.empty(len(choices.features))
    rows = np.ascontiguousarray(choices.features)
    _write_chances(rows, choices.starts, np.ascontiguousarray(weights, np.float64), logarithms)
    return np.exp(logarithms), logarithms[choices.chosen]


@kernel
def _add_spread(features: Any, starts: Any, chosen: Any, odds: Any, changes: Any, spread: Any) -> None:
    """Write what each chosen alternative has above the mean, and add up the covariances within choices.

    Alternatives differ in few features. So each is told by where it differs from a common base, the median of three
    of them, and products are taken of these alone.
    """
    width = features.shape[1]
    base, mean = np.empty(width), np.zeros(width)
    places, apart = np.empty(width, np.int64), np.empty(width)
    touched, is_touched = np.empty(width, np.int64), np.zeros(width, np.bool_)
    for choice in range(len(starts) - 1):
        begin, end = starts[choice], starts[choice + 1]
        middle = (begin + end) // 2
        for place in range(width):
            one, two, three = features[begin, place], features[middle, place], features[end - 1, place]
            base[place] = max(min(one, two), min(max(one, two), three))
            changes[choice, place] = 0.0
        count = 0
        for row in range(begin, end):
            length = 0
            for place in range(width):
                change = features[row, place] - base[place]
                if change != 0.0:
                    places[length], apart[length] = place, change
                    length += 1
            for first in range(length):
                place = places[first]
                product = odds[row] * apart[first]
                mean[place] += product
                if row == chosen[choice]:
                    changes[choice, place] = apart[first]
                if not is_touched[place]:
                    is_touched[place] = True
                    touched[count] = place
                    count += 1
                for second in range(first + 1):
                    spread[place, places[second]] += product * apart[second]
        for first in range(count):
            place = touched[first]
            changes[choice, place] -= mean[place]
            is_touched[place] = False
            for second in range(count):
                if touched[second] <= place:
                    spread[place, touched[second]] -= mean[place] * mean[touched[second]]
        for first in range(count):
            mean[touched[first]] = 0.0


@kernel
def _add_squares(features: Any, starts: Any, squares: Any, counts: Any) -> None:
    for choice in range(len(starts) - 1):
        begin, end = starts[choice], starts[choice + 1]
        for row in range(begin, end):
            for place in range(features.shape[1]):
                change = float(features[row, place]) - float(features[(begin + end) // 2, place])
                if change != 0.0:
                    squares[place] += change * change
                    counts[place] += 1


def typical_changes(choices: Choices) -> Vector:
    """Tell by how much alternatives differ in each feature where they do, float64 [k]: root mean square, 1 for never.

    Its square is a precision that allows every feature an effect of about one log odd, however rare it is.
    """
    rows = np.ascontiguousarray(choices.features)
    squares, counts = np.zeros(rows.shape[1]), np.zeros(rows.shape[1], np.int64)
    _add_squares(rows, choices.starts, squares, counts)
    return np.sqrt(np.where(counts > 0, squares / np.maximum(counts, 1), 1.0))


def _spread_within(part: Choices, odds: Vector) -> tuple[Vector, Vector]:
    """Give what each chosen alternative has above the mean, [m, k], and the sum of covariances, [k, k]."""
    rows = np.ascontiguousarray(part.features)
    width = rows.shape[1]
    changes, spread = np.empty((len(part.chosen), width)), np.zeros((width, width))
    _add_spread(rows, part.starts, part.chosen, odds, changes, spread)
    return changes, spread + np.tril(spread, -1).T


def fit_choices(choices: Choices, names: tuple[str, ...], *, precision: float | Vector = 0.0) -> ChoiceModel:
    """Fit the weights of a choice model by Newton's method.

    Parameters
    ----------
    choices
        Those of a game follow one another.
    names
        Of the k features.
    precision
        How strongly the weights are held to zero: that of a normal distribution about it, of all weights or of each,
        float64 [k]. With 0 the likelihood alone counts.

    Raises
    ------
    BadInputError
        There are no choices between alternatives, features are the same for all alternatives of a choice or linear
        combinations of others, by name, or no maximum was found: with a feature that always, or never, has its
        greatest value at the chosen move it has none without a precision.
    """
    width, sizes = len(names), np.diff(choices.starts)
    stiff = np.broadcast_to(np.asarray(precision, np.float64), (width,))
    if not (np.isfinite(stiff).all() and (stiff >= 0).all()):
        raise BadInputError("precisions are finite and not negative")
    is_choice = sizes > 1
    if not is_choice.any():
        raise BadInputError("there is no choice between two moves or more")
    within = _spread_within(choices, 1 / np.repeat(sizes, sizes))[1] / is_choice.sum()
    if not stiff.all():
        whitening_of(within, names, np.diag(within) == 0)

    def pass_at(weights: Vector) -> Pass:
        odds, own = chances_of(choices, weights)
        changes, spread = _spread_within(choices, odds)
        likelihood = float(own.sum()) - float(stiff @ weights**2) / 2
        return Pass(likelihood, changes.sum(axis=0) - stiff * weights, spread + np.diag(stiff))

    found = climb(pass_at, np.zeros(width), np.sqrt(np.diag(within)))
    if found is None:
        raise BadInputError("no maximum of the likelihood was found: hold the weights to a prior by a precision")
    weights, last, _ = found
    inverse = np.asarray(np.linalg.inv(last.information), np.float64)
    odds, own = chances_of(choices, weights)
    sums = GameSums(int(choices.game.max()) + 1, in_order=True)
    sums.add(_spread_within(choices, odds)[0][is_choice], choices.game[is_choice])
    covariance = sums.covariance(inverse, width - float(stiff @ np.diag(inverse)))
    return ChoiceModel(
        names,
        weights,
        covariance,
        inverse,
        choices=int(is_choice.sum()),
        games=sums.games,
        log_likelihood=float(own.sum()),
        chance=-float(np.log(sizes).sum()),
    )
