"""A hidden layer over what stands where: two views of a board, weighed against each other.

Each side sees the board in its own way. A view is a row of hidden units, each the sum of the weights of the relations
``feature == value`` that hold there, clipped to 0 to 1 and squared. The value is what the mover's view and the
opponent's are worth, each by weights of its own for the phase: what hangs matters more to who is not to move. A move
changes few relations, so that a search adds and subtracts a few rows of weights (Nasu 2018, "Efficiently updatable
neural-network-based evaluation functions for computer shogi").
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning

NETWORK_ARRAYS = ("hidden_weights", "hidden_bias", "hidden_output")
"""Names of the arrays in files of evaluations."""

ONE_UNIT = 181
"""Integer that stands for a hidden unit of 1: the greatest whose square fits 16 bits."""

_LARGEST_OUTPUT = 2047
_LARGEST_SUM = (1 << 31) - 1
SUMS = 32
"""Sums of 32 bits that the search makes of a layer, each of every 32nd unit."""
_LARGEST_UNIT = 32767
_MOST_RELATIONS = 64


@kernel
def _list_relations(values: Any, nothing: Any, active: Any) -> None:
    places = values.shape[1]
    for row in range(len(values)):
        count = 0
        for place in range(places):
            value = values[row, place]
            if value > 0:
                active[row, count] = (value - 1) * places + place
                count += 1
        active[row, count:] = nothing


@kernel
def write_view(weights: Any, bias: Any, active: Any, units: Any) -> None:
    """Write the hidden units of a view, before they are clipped: float32 [H]."""
    nothing = len(weights) - 1
    for unit in range(len(units)):
        units[unit] = bias[unit]
    for place in range(len(active)):
        relation = active[place]
        if relation == nothing:
            break
        for unit in range(len(units)):
            units[unit] += weights[relation, unit]


@kernel
def _write_values(weights: Any, bias: Any, output: Any, exchanged: Any, active: Any, phase: Any, sums: Any) -> None:
    hidden = len(bias)
    own, other = np.empty(hidden, np.float32), np.empty(hidden, np.float32)
    for row in range(len(active)):
        write_view(weights, bias, active[row], own)
        write_view(weights, bias, exchanged[active[row]], other)
        total = np.float32(0)
        for unit in range(hidden):
            mine = min(max(own[unit], np.float32(0)), np.float32(1))
            theirs = min(max(other[unit], np.float32(0)), np.float32(1))
            total += output[phase[row], unit] * (mine * mine) + output[phase[row], hidden + unit] * (theirs * theirs)
        sums[row] = total


class NetworkInPlay(NamedTuple):
    """A hidden layer as integers, for play.

    Parameters
    ----------
    weights, bias
        int16 [R, H] and [H], of which :data:`ONE_UNIT` make 1.
    output
        int16 [K, 2H].
    scale
        An integer output is the rounded product of the output and this power of two.
    """

    weights: NDArray[np.int16]
    bias: NDArray[np.int16]
    output: NDArray[np.int16]
    scale: float


def _floats(array: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(array, np.float32)


@define(frozen=True, eq=False, repr=False)
class Network:
    """Weights of a hidden layer of H units.

    Parameters
    ----------
    weights
        float32 [R, H]: of the relations of :class:`~glem.core.features.learning.Views`.
    bias
        float32 [H].
    output
        float32 [K, 2H]: what each unit of the mover's view is worth in each phase, and of the opponent's view; given as
        [K, H], the opponent's are the negatives of the mover's.
    """

    weights: NDArray[np.float32] = field(converter=_floats)
    bias: NDArray[np.float32] = field(converter=_floats)
    output: NDArray[np.float32] = field(converter=_floats)

    def __attrs_post_init__(self) -> None:
        if self.output.shape[-1:] == self.bias.shape:
            object.__setattr__(self, "output", np.concatenate([self.output, -self.output], axis=-1))

    @property
    def arrays(self) -> tuple[NDArray[np.float32], ...]:
        """Its arrays, in the order of :data:`NETWORK_ARRAYS`."""
        return self.weights, self.bias, self.output

    def check(self, learning: Learning) -> None:
        """Raise :class:`BadInputError` where the game does not tell what its players see, or shapes do not fit that."""
        if learning.views is None:
            raise BadInputError(f"{learning.game.title} does not tell how its players see the board: no hidden layer")
        relations, hidden = len(learning.views.exchanged) - 1, self.bias.size
        for name, array, shape in (
            ("weights", self.weights, (relations, hidden)),
            ("bias", self.bias, (hidden,)),
            ("output", self.output, (len(learning.phases), 2 * hidden)),
        ):
            if array.shape != shape or not np.isfinite(array).all():
                raise BadInputError(f"hidden {name} have shape {array.shape}, expected finite numbers {shape}")

    def in_play(self) -> NetworkInPlay:
        """Round the weights to integers: squares of units times outputs add up to less than 2^31 in each of the sums.

        Raises
        ------
        BadInputError
            A unit might leave 16 bits, or an output be too large for the sums.
        """
        units = [np.rint(ONE_UNIT * array) for array in (self.weights, self.bias)]
        largest = float(np.abs(self.output).max(initial=0)) or 1.0
        most = min(_LARGEST_OUTPUT, _LARGEST_SUM // (ONE_UNIT**2 * -(-2 * self.bias.size // SUMS)))
        scale = 2.0 ** math.floor(math.log2(most / largest))
        if scale < 1 or max(np.abs(array).max(initial=0) for array in units) * _MOST_RELATIONS > _LARGEST_UNIT:
            raise BadInputError("weights of the hidden layer are too large for the integers of a search")
        output = np.rint(scale * self.output).astype(np.int16)
        return NetworkInPlay(units[0].astype(np.int16), units[1].astype(np.int16), output, scale)

    def as_played(self) -> Self:
        """Return the network whose weights are those of :meth:`in_play`."""
        played = self.in_play()
        return type(self)(played.weights / ONE_UNIT, played.bias / ONE_UNIT, played.output / played.scale)

    def values(self, learning: Learning, values: NDArray[np.int16], phase: NDArray[Any]) -> NDArray[np.float32]:
        """Value of N positions, before the link, given all their feature values int16 [N, F]: float32 [N]."""
        assert learning.views is not None
        sums = np.empty(len(phase), np.float32)
        weights = np.concatenate([self.weights, np.zeros((1, self.bias.size), np.float32)])
        active = relations_of(learning, values)
        _write_values(weights, self.bias, self.output, learning.views.exchanged, active, phase, sums)
        return sums


def relations_of(learning: Learning, values: NDArray[np.int16]) -> NDArray[np.uint16]:
    """List the relations that a mover sees in N positions, given all their feature values: uint16 [N, most of one].

    In a position with fewer the number of relations stands behind them.
    """
    assert learning.views is not None
    chosen = np.ascontiguousarray(values[:, [learning.features.index(name) for name in learning.views.features]])
    active = np.empty((len(chosen), int(np.count_nonzero(chosen, axis=1).max(initial=0))), np.uint16)
    _list_relations(chosen, len(learning.views.exchanged) - 1, active)
    return active
