"""Temporal differences: weights under which a player's winning probability foresees itself two plies later.

The learner of Levene and Fenner (2009, sections 2 and 2.1), with the constants that its text leaves out as arguments.
It never sees who won. Values are w f in hundredths of a pawn, or of whatever the weight that is held fixed is worth.
"""

import math
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError

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


@kernel
def _learn(
    features: Any,
    starts: Any,
    weights: Any,
    free: Any,
    numbers: Any,
    positive: Any,
    rates: Any,
    smooth: Any,
    before: Any,
    errors: Any,
) -> Any:
    scale, least, most, up, down, momentum, trace, batch = numbers
    width = len(weights)
    traces, slopes = np.zeros(width), np.zeros(width)
    steps, pending = 0, 0
    for game in range(len(starts) - 1):
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
            pending += 1
            if pending < batch:
                continue
            pending = 0
            steps += 1
            for place in range(width):
                slope = slopes[place]
                slopes[place] = 0.0
                if not free[place]:
                    continue
                if steps > 1:
                    factor = up if slope * before[place] >= 0.0 else down
                    rates[place] = min(max(rates[place] * factor, least), most)
                before[place] = slope
                smooth[place] = (1.0 - momentum) * slope + momentum * smooth[place]
                weights[place] += rates[place] * smooth[place]
                if positive and weights[place] < 0.0:
                    weights[place] = 0.0
    return steps


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
    how
        The constants.

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
    rates, errors = np.full(width, how.least_rate), np.full(count, np.nan)
    numbers = (
        *(how.scale, how.least_rate, how.most_rate, how.up, how.down, how.momentum, how.trace),
        float(how.batch),
    )
    steps = _learn(
        rows, np.ascontiguousarray(starts, np.int64), learned, ~np.asarray(fixed, np.bool_), numbers, how.positive,
        rates, np.zeros(width), np.zeros(width), errors,
    )  # fmt: skip
    return Course(learned, rates, int(steps), errors)
