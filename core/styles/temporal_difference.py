"""Temporal differences: weights under which a player's winning probability foresees itself two plies later.

The learner of Levene and Fenner (2009, sections 2 and 2.1), with the constants that its text leaves out as arguments.
It never sees who won. Values are w f in hundredths of a pawn, or of whatever the weight that is held fixed is worth.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from attrs import astuple, define
from numpy.typing import NDArray
from scipy.special import expit

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.features.learning import Learning
from glem.core.search.quiet import LeafSearch, leaf_signs
from glem.core.tasks.progress import SILENT, Progress

_LARGEST_WEIGHT = 32767

Vector = NDArray[np.float64]


@define(frozen=True)
class TemporalDifference:
    """How to learn.

    Parameters
    ----------
    scale
        c in p = 1 / (1 + exp(-c w f)); by default that of Elo ratings, ln 10 / 400.
    least_rate, most_rate
        Bounds of the learning rate of each weight, which begins at the least.
    up, down
        What a rate is multiplied with where a slope has the sign of the one before, and where it has not.
    momentum
        Share of the smoothed slopes before in those after.
    trace
        lambda of TD(lambda): what is left of earlier slopes of a game in its next step; 0 in the paper.
    batch
        Steps whose slopes are averaged before weights change; 1 in the paper.
    positive
        Whether weights stay at 0 or above.

    Raises
    ------
    BadInputError
        A number is outside its range.
    """

    scale: float = math.log(10) / 400
    least_rate: float = 1.0
    most_rate: float = 100.0
    up: float = 1.1
    down: float = 0.5
    momentum: float = 0.7
    trace: float = 0.0
    batch: int = 1
    positive: bool = True

    def __attrs_post_init__(self) -> None:
        bounds = {
            "scale": (self.scale, 0, math.inf),
            "least rate": (self.least_rate, 0, self.most_rate),
            "most rate": (self.most_rate, 0, math.inf),
            "up": (self.up, 1, math.inf),
            "down": (self.down, 0, 1),
            "momentum": (self.momentum, 0, 1),
            "trace": (self.trace, 0, 1),
            "batch": (self.batch, 1, math.inf),
        }
        for name, (value, low, high) in bounds.items():
            if not (low <= value <= high and math.isfinite(value)):
                raise BadInputError(f"{name} of temporal differences must be from {low:g} to {high:g}, got {value:g}")

    @property
    def numbers(self) -> tuple[float, ...]:
        """All of them, for kernels."""
        return tuple(map(float, astuple(self)))


class _State(NamedTuple):
    """Weights on their way, those that are free, and all that a step carries to the next."""

    weights: Any
    free: Any
    rates: Any
    smooth: Any
    before: Any
    traces: Any
    slopes: Any
    counts: Any

    @classmethod
    def at_first(cls, weights: Vector, fixed: NDArray[np.bool_], how: TemporalDifference) -> "_State":
        begin = np.array(weights, np.float64)
        rates, counts = np.full(len(begin), how.least_rate, np.float64), np.zeros(2, np.int64)
        smooth, before, traces, slopes = np.zeros((4, len(begin)))
        return cls(begin, ~np.asarray(fixed, np.bool_), rates, smooth, before, traces, slopes, counts)

    def course(self, errors: Vector) -> "Course":
        return Course(self.weights, self.rates, int(self.counts[0]), errors)


@kernel
def _learn(features: Any, starts: Any, state: Any, numbers: Any, errors: Any) -> None:
    """Go through games, the first of which goes on."""
    weights, free, rates, smooth, before, traces, slopes, counts = state
    scale, least, most, up, down, momentum, trace, batch, positive = numbers
    width = len(weights)
    for game in range(len(starts) - 1):
        if game > 0:
            traces[:] = 0.0
        for row in range(starts[game], starts[game + 1] - 1):
            value, later = 0.0, 0.0
            for place in range(width):
                value += weights[place] * features[row, place]
                later += weights[place] * features[row + 1, place]
            chance = 1.0 / (1.0 + math.exp(-scale * value))
            apart = 1.0 / (1.0 + math.exp(-scale * later)) - chance
            errors[row] = apart
            for place in range(width):
                traces[place] = trace * traces[place] + chance * (1.0 - chance) * features[row, place]
                slopes[place] += apart * traces[place] / batch
            counts[1] += 1
            if counts[1] < batch:
                continue
            counts[0] += 1
            counts[1] = 0
            for place in range(width):
                slope = slopes[place]
                slopes[place] = 0.0
                if not free[place]:
                    continue
                if counts[0] > 1:
                    factor = up if slope * before[place] >= 0.0 else down
                    rates[place] = min(max(rates[place] * factor, least), most)
                before[place] = slope
                smooth[place] = (1.0 - momentum) * slope + momentum * smooth[place]
                weights[place] += rates[place] * smooth[place]
                if positive > 0.0 and weights[place] < 0.0:
                    weights[place] = 0.0


@define(frozen=True, eq=False)
class Course:
    """What has been learned, and how it went.

    Parameters
    ----------
    weights, rates
        float64 [k] at the end.
    steps
        Changes of the weights.
    errors
        float64 [N]: temporal difference p(s') - p(s) at each position when it was come to; nan in the last of a game.
    """

    weights: Vector
    rates: Vector
    steps: int
    errors: Vector


def learn_differences(
    features: NDArray[Any],
    starts: NDArray[np.int64],
    weights: Vector,
    fixed: NDArray[np.bool_],
    how: TemporalDifference | None = None,
) -> Course:
    """Learn weights from positions with the player to move, in the order of the games.

    Parameters
    ----------
    features
        [N, k], from the player's view, of each position in which it is the player's turn.
    starts
        int64 [G + 1]: the positions of game ``g`` are the rows ``starts[g]`` to before ``starts[g + 1]``.
    weights
        float64 [k] at the beginning; equal ones in the paper.
    fixed
        bool [k]: weights that stay, as that of the material balance does in the paper.

    Raises
    ------
    BadInputError
        Shapes do not fit or a number is not finite.
    """
    how = TemporalDifference() if how is None else how
    rows = np.ascontiguousarray(features, np.float64)
    count, width = rows.shape
    learned = np.array(weights, np.float64)
    if learned.shape != (width,) or np.shape(fixed) != (width,):
        raise BadInputError(f"{width} features, {learned.size} weights and {np.size(fixed)} marks of fixed ones")
    if not (np.isfinite(rows).all() and np.isfinite(learned).all()):
        raise BadInputError("features or weights are not finite")
    if len(starts) < 1 or starts[0] != 0 or starts[-1] != count or (np.diff(starts) < 0).any():
        raise BadInputError(f"games must divide the {count} positions")
    errors, state = np.full(count, np.nan), _State.at_first(learned, fixed, how)
    _learn(rows, np.ascontiguousarray(starts, np.int64), state, how.numbers, errors)
    return state.course(errors)


class SearchedValues:
    """Features of the principal leaf of a search that goes by weights which change.

    Parameters
    ----------
    names
        The k features that count.
    scale
        c, by which values become log odds.
    depth, quiescence
        See :class:`~glem.core.search.quiet.LeafSearch`.
    """

    def __init__(
        self, learning: Learning, names: tuple[str, ...], scale: float, depth: int = 3, quiescence: str = ""
    ) -> None:
        self._learning, self._scale = learning, scale
        self._items = [learning.features.index(name) for name in names]
        phases = len(learning.phases)
        blank = np.zeros((phases, len(names)), np.float32)
        evaluation = LinearEvaluation(learning, blank[:, 0], LOGISTIC, linear=tuple(self._items), linear_weights=blank)
        # Weights are put into the tables in place; so it must be the form that has them.
        self._search = LeafSearch(evaluation, depth, quiescence, recomputing_evaluator(evaluation))
        self._table = self._search.searcher.evaluator.data.linear_weights.reshape(phases, len(names))

    def features(self, positions: Any, weights: Vector) -> Vector:
        """Features from the view of whoever is to move in N positions, given as columns: float64 [N, k].

        Leaves are found with weights rounded to steps of 1/1024 log odds, at most 32 log odds for each unit of a
        feature. Where the principal variation ends in a proven result, the position is its own leaf.
        """
        steps = self._scale * self._search.searcher.evaluator.steps_per_unit
        self._table[:] = np.clip(np.rint(weights * steps), -_LARGEST_WEIGHT, _LARGEST_WEIGHT)
        leaves, plies, _ = self._search.leaves(positions)
        signs = leaf_signs(plies)[:, None]
        return np.asarray(signs * self._learning.features.values(leaves)[:, self._items], np.float64)


def learn_by_search(
    values: SearchedValues,
    positions: Any,
    starts: NDArray[np.int64],
    weights: Vector,
    fixed: NDArray[np.bool_],
    how: TemporalDifference,
    progress: Progress = SILENT,
) -> Course:
    """Learn weights as :func:`learn_differences` does, from leaves of searches that go by the weights of the moment.

    Each position is searched once, when it has been come to, with the weights before the step from the position before
    it; the step from it takes the same leaf with the weights after.

    Parameters
    ----------
    positions
        N positions in which it is the player's turn, given as a position of columns.
    values, starts, weights, fixed, how
        The search, and as of :func:`learn_differences`.
    """
    errors, state = np.full(len(positions[0]), np.nan), _State.at_first(weights, fixed, how)
    pair, ends = np.empty((2, len(state.weights))), np.array([0, 2])
    with progress("Learning", len(starts) - 1) as task:
        for first, last in pairwise(starts.tolist()):
            state.traces[:] = 0.0
            for row in range(first, last):
                pair[1] = values.features(rows_of(positions, slice(row, row + 1)), state.weights)[0]
                if row > first:
                    _learn(pair, ends, state, how.numbers, errors[row - 1 : row + 1])
                pair[0] = pair[1]
            task.advance()
    errors[starts[1:][np.diff(starts) > 0] - 1] = np.nan
    return state.course(errors)


def differences_of(features: NDArray[Any], starts: NDArray[np.int64], weights: Vector, scale: float) -> Vector:
    """Absolute errors of fixed weights (section 3.2, equation 3), float64 [N]; nan in a game's last position."""
    chances = expit(scale * (features @ weights))
    errors = np.full(len(chances), np.nan)
    errors[:-1] = np.abs(np.diff(chances))
    errors[starts[1:][np.diff(starts) > 0] - 1] = np.nan
    return errors
