"""A hidden layer: units that are sums of weights, clipped to 0 to 1 and squared, and what they are worth in each phase.

There are two kinds.

*Over patterns*, for any game: each content of a pattern has a weight for each unit instead of one weight for each
phase. A pattern of one feature makes it a layer over atomic features. What the sum of a linear evaluation cannot say, a
unit can: that two things matter only together.

*Over two views of a board*, where a game has :class:`~glem.core.features.learning.Views`: each side sees the board in
its own way, and a unit adds up the relations ``feature == value`` that hold there. The value is what the mover's view
and the opponent's are worth, each by weights of its own: what hangs matters more to whoever is not to move. A move
changes few relations, so that a search adds and subtracts a few rows of weights (Nasu 2018, "Efficiently updatable
neural-network-based evaluation functions for computer shogi").
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.patterns.patterns import PatternSet

NETWORK_ARRAYS = ("hidden_weights", "hidden_bias", "hidden_output")
"""Names of the arrays in files of evaluations."""

ONE_UNIT = 181
"""Integer that stands for a hidden unit of 1: the greatest whose square fits 16 bits."""

_LARGEST_OUTPUT = 2047
_LARGEST_SUM = (1 << 31) - 1
SUMS = 32
"""Sums of 32 bits that the search makes of a layer, each of every 32nd unit."""
_LARGEST_UNIT = 32767
MOST_RELATIONS = 64
"""Relations of a view at most that hold in one position."""
_FINEST = 5
_MOST_INSTANCES = 128
"""Of patterns that a layer is over."""
_MOST_HALVINGS = 8
"""An integer output stands for 2^8 at most."""


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


class Active(NamedTuple):
    """What the units of a layer add up in N positions.

    Parameters
    ----------
    rows
        uint16 [N, A]: rows of the weights, each less the offset of its column.
    offsets
        int64 [A].
    nothing
        int64: the row that ends a position with fewer than A.
    exchanged
        uint16 [R + 1]: the row that the opponent sees in place of each; empty where there is one view alone.
    """

    rows: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    nothing: np.int64
    exchanged: NDArray[np.uint16]


@kernel
def write_view(weights: Any, bias: Any, active: Any, offsets: Any, nothing: Any, units: Any) -> None:
    """Write the hidden units of a view, before they are clipped: float32 [H]."""
    for unit in range(len(units)):
        units[unit] = bias[unit]
    for place in range(len(active)):
        if active[place] == nothing:
            break
        row = offsets[place] + active[place]
        for unit in range(len(units)):
            units[unit] += weights[row, unit]


@kernel
def write_worth(units: Any, worth: Any) -> None:
    """Clip units to 0 to 1, and write their squares."""
    for unit in range(len(units)):
        units[unit] = min(max(units[unit], np.float32(0)), np.float32(1))
        worth[unit] = units[unit] * units[unit]


@kernel
def _write_values(weights: Any, bias: Any, output: Any, active: Any, phase: Any, sums: Any) -> None:
    hidden, views = len(bias), output.shape[1] // len(bias)
    units, worth = np.empty(hidden, np.float32), np.empty(views * hidden, np.float32)
    for row in range(len(sums)):
        write_view(weights, bias, active.rows[row], active.offsets, active.nothing, units)
        write_worth(units, worth[:hidden])
        if views == 2:
            other = active.exchanged[active.rows[row]]
            write_view(weights, bias, other, active.offsets, active.nothing, units)
            write_worth(units, worth[hidden:])
        total = np.float32(0)
        for unit in range(views * hidden):
            total += output[phase[row], unit] * worth[unit]
        sums[row] = total


class NetworkInPlay(NamedTuple):
    """A hidden layer as integers, for play.

    Parameters
    ----------
    weights, bias
        int16 [R, H] and [H], of which :data:`ONE_UNIT` times 2^fine make 1.
    fine
        0 over views; over patterns as large as the sums allow, since a unit adds up many small weights.
    output
        int16 [K, 2H].
    scale
        An integer output is the rounded product of the output and this power of two.
    """

    weights: NDArray[np.int16]
    bias: NDArray[np.int16]
    output: NDArray[np.int16]
    scale: float
    fine: int = 0


def _floats(array: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(array, np.float32)


@define(frozen=True, eq=False, repr=False)
class Network:
    """Weights of a hidden layer of H units.

    Parameters
    ----------
    weights
        float32 [R, H]: of the R weights of :class:`~glem.core.patterns.patterns.PatternSet`, or of the R relations of
        :class:`~glem.core.features.learning.Views`.
    bias
        float32 [H].
    output
        What each unit is worth in each phase: float32 [K, H] over patterns; [K, 2H], in the mover's view and in the
        opponent's, over two views.
    """

    weights: NDArray[np.float32] = field(converter=_floats)
    bias: NDArray[np.float32] = field(converter=_floats)
    output: NDArray[np.float32] = field(converter=_floats)

    @property
    def arrays(self) -> tuple[NDArray[np.float32], ...]:
        """Its arrays, in the order of :data:`NETWORK_ARRAYS`."""
        return self.weights, self.bias, self.output

    @property
    def has_views(self) -> bool:
        """Whether it is over two views of a board, and not over patterns."""
        return self.output.shape[-1:] == (2 * self.bias.size,)

    def check(self, learning: Learning, patterns: PatternSet | None) -> None:
        """Raise :class:`BadInputError` where there is nothing that it could be over, or shapes do not fit that."""
        views = 1 + self.has_views
        if views == 2:
            if learning.views is None:
                raise BadInputError(
                    f"{learning.game.title} does not say how its players see the board: no layer over views"
                )
            count = len(learning.views.exchanged) - 1
        else:
            check_layered(patterns)
            count = 0 if patterns is None else patterns.weight_count
        hidden = self.bias.size
        if not hidden:
            raise BadInputError("a hidden layer has at least one unit")
        for name, array, shape in (
            ("weights", self.weights, (count, hidden)),
            ("bias", self.bias, (hidden,)),
            ("output", self.output, (len(learning.phases), views * hidden)),
        ):
            if array.shape != shape or not np.isfinite(array).all():
                raise BadInputError(f"hidden {name} have shape {array.shape}, expected finite numbers {shape}")

    def in_play(self, bound: float | None = None) -> NetworkInPlay:
        """Round the weights to integers: squares of units times outputs add up to less than 2^31 in each of the sums.

        Parameters
        ----------
        bound
            The greatest absolute sum that a unit can be, over patterns.

        Raises
        ------
        BadInputError
            A unit might leave 16 bits, or an output be too large for the sums.
        """
        most = min(_LARGEST_OUTPUT, _LARGEST_SUM // (ONE_UNIT**2 * -(-self.output.shape[1] // SUMS)))
        scale = 2.0 ** math.floor(math.log2(most / (float(np.abs(self.output).max(initial=0)) or 1.0)))
        if bound is None:
            bound = MOST_RELATIONS * float(max(np.abs(array).max(initial=0) for array in (self.weights, self.bias)))
        # Half a step of each rounded weight may come on top.
        fine = 0 if self.has_views else _FINEST
        while fine and (ONE_UNIT << fine) * bound > _LARGEST_UNIT - _MOST_INSTANCES:
            fine -= 1
        if scale < 2.0**-_MOST_HALVINGS or ONE_UNIT * bound > _LARGEST_UNIT - _MOST_INSTANCES:
            raise BadInputError("weights of the hidden layer are too large for the integers of a search")
        units = [np.rint((ONE_UNIT << fine) * array) for array in (self.weights, self.bias)]
        output = np.rint(scale * self.output).astype(np.int16)
        return NetworkInPlay(units[0].astype(np.int16), units[1].astype(np.int16), output, scale, fine)

    def as_played(self, bound: float | None = None) -> Self:
        """Return the network whose weights are those of :meth:`in_play`."""
        played = self.in_play(bound)
        unit = ONE_UNIT << played.fine
        return type(self)(played.weights / unit, played.bias / unit, played.output / played.scale)

    def values(self, active: Active, phase: NDArray[Any]) -> NDArray[np.float32]:
        """Value of N positions, before the link: float32 [N]."""
        sums = np.empty(len(phase), np.float32)
        # The last row stands for nothing.
        weights = np.concatenate([self.weights, np.zeros((1, self.bias.size), np.float32)])
        _write_values(weights, self.bias, self.output, active, phase, sums)
        return sums

    def shares(self, rows: NDArray[Any], phase: int) -> tuple[float, NDArray[np.float64]]:
        """Value where nothing is active, and what each of some rows of weights adds to it in a position: float64 [A].

        On the straight way from nothing to all rows, each unit grows in proportion to its sum; a row gets what its part
        of every unit is worth on the way (integrated gradients: Sundararajan, Taly and Yan 2017, "Axiomatic attribution
        for deep networks"). All together are the value.
        """
        weights, start = self.weights[rows].astype(np.float64), self.bias.astype(np.float64)
        grown = weights.sum(axis=0)
        before, after = start.clip(0, 1) ** 2, (start + grown).clip(0, 1) ** 2
        slopes = np.divide(after - before, grown, out=np.zeros_like(grown), where=grown != 0)
        output = self.output[phase].astype(np.float64)
        return float(output @ before), weights @ (output * slopes)

    @property
    def first_slopes(self) -> NDArray[np.float32]:
        """What a row of weights adds to the value where nothing is active, to first order: float32 [K, R]."""
        slopes = np.where((self.bias > 0) & (self.bias < 1), 2 * self.bias, 0)
        return (self.output * slopes) @ self.weights.T

    def with_rows(self, more: int) -> Self:
        """Return the layer with so many further rows of weights, all 0."""
        return evolve(self, weights=np.pad(self.weights, ((0, more), (0, 0))))


def check_layered(patterns: PatternSet | None) -> None:
    """Raise :class:`BadInputError` for patterns that no layer is over: none, too many, or sparse ones."""
    if patterns is None or not len(patterns):
        raise BadInputError("a hidden layer is over patterns, and there are none")
    if patterns.hash_tables:
        name = patterns.patterns[min(patterns.hash_tables)].name
        raise BadInputError(f"a hidden layer is over patterns with whole tables, and {name!r} is too large for one")
    if not can_be_layered(patterns):
        raise BadInputError(
            f"a hidden layer is over at most {_MOST_INSTANCES} instances of patterns, got {len(patterns.instances)}"
        )


def can_be_layered(patterns: PatternSet) -> bool:
    """Whether a hidden layer can be over some patterns."""
    return bool(len(patterns)) and not patterns.hash_tables and len(patterns.instances) <= _MOST_INSTANCES


def active_rows(learning: Learning, patterns: PatternSet | None, values: NDArray[np.int16]) -> Active:
    """List what the units add up in N positions, given all their feature values int16 [N, F].

    Parameters
    ----------
    patterns
        Those that the layer is over; None for the views of the game.
    """
    if patterns is not None:
        rows = np.ascontiguousarray(patterns.indices(values).T)
        return Active(rows, patterns.column_offsets, np.int64(-1), np.zeros(0, np.uint16))
    views = learning.views
    assert views is not None
    chosen = np.ascontiguousarray(values[:, [learning.features.index(name) for name in views.features]])
    rows = np.empty((len(chosen), int(np.count_nonzero(chosen, axis=1).max(initial=0))), np.uint16)
    nothing = np.int64(len(views.exchanged) - 1)
    _list_relations(chosen, nothing, rows)
    return Active(rows, np.zeros(rows.shape[1], np.int64), nothing, views.exchanged)
