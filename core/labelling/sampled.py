"""Positions drawn from those that a search evaluates statically (GLEM, section 3).

What a search evaluates is not what games reach: it is full of mistakes that nobody plays. An evaluation that is
fitted to a random subset of exactly these positions knows what it will be asked.

The draw needs nothing from the search. A *sampling* evaluator calls another one's functions, returns its scores, and
notes on the way some of the positions that it was asked about.
"""

from functools import cache
from typing import Any, NamedTuple

import attrs
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.borrowed import BorrowedType
from glem.core.compiling.columns import rows_of, store_position
from glem.core.compiling.kernels import mix, overload_of
from glem.core.compiling.operations import Operations, bound
from glem.core.features.evaluators import Evaluator
from glem.core.game.game import Game

_SEEN, _SEEN_EVEN, _SALT = 0, 1, 2
_COUNTERS = 3
_GOLDEN = 0x9E3779B97F4A7C15


class SampleRoom(NamedTuple):
    """Where a sampling evaluator notes positions: R rows for any, then E rows for near-even ones."""

    inner: Any
    """Data of the evaluator behind it."""
    columns: Any
    """Position of columns [R + E]."""
    ply: NDArray[np.int16]
    """Distance of each from the root [R + E]."""
    counters: NDArray[np.uint64]
    """Positions evaluated, near-even ones among them, and what the draw begins with."""
    room: np.int64
    """Room for drawn positions: R."""
    even_room: np.int64
    """Room for near-even positions: E."""
    window: np.int64
    """Greatest absolute static score of a near-even position, in steps."""


def store_sample(columns: Any, row: Any, position: Any) -> None:
    """Write a position into a position of columns, which compiled code may have borrowed."""
    store_position(columns, row, position)


@intrinsic
def _store_borrowed(_typing_context: Any, columns: Any, _row: Any, position: Any) -> Any:
    if not isinstance(columns, BorrowedType):
        return None
    arrays = columns.fields.types

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        block, row, values = arguments
        for place, (array, field) in enumerate(zip(arrays, position.types, strict=True)):
            item = context.get_data_type(array.dtype).as_pointer()
            # A block holds one pointer to the first item for every array.
            slot = builder.gep(block, [ir.Constant(ir.IntType(64), 8 * place)])
            first = builder.load(builder.bitcast(slot, item.as_pointer()), align=8)
            value = context.cast(builder, builder.extract_value(values, place), field, array.dtype)
            context.pack_value(builder, array.dtype, value, builder.gep(first, [row]))
        return context.get_dummy_value()

    return types.none(columns, types.intp, position), generate


@overload_of(store_sample)
def _overload_store_sample(columns: Any, row: Any, position: Any) -> Any:
    if isinstance(columns, BorrowedType):
        return lambda columns, row, position: _store_borrowed(columns, row, position)
    return lambda columns, row, position: store_position(columns, row, position)


_inner_start: Any = None
_inner_update: Any = None
_inner_score: Any = None
"""Stand for the functions of the evaluator behind it, in copies of those below; see :func:`_operations`."""


def _start(position: Any, data: SampleRoom, accumulators: Any, ply: int) -> None:
    _inner_start(position, data.inner, accumulators, ply)


def _update(before: Any, move: int, after: Any, data: SampleRoom, accumulators: Any, ply: int) -> None:
    _inner_update(before, move, after, data.inner, accumulators, ply)


def _row_for(data: SampleRoom, counter: np.int64, room: np.int64) -> np.int64:
    """Row for one more position, -1 for none: each has the same chance (Knuth, vol. 2, section 3.4.2, algorithm R)."""
    seen = data.counters[counter]
    data.counters[counter] = seen + np.uint64(1)
    if seen < np.uint64(room):
        return np.int64(seen)
    drawn = mix(data.counters[_SALT] + (seen << np.uint64(1)) + np.uint64(counter)) % (seen + np.uint64(1))
    return np.int64(drawn) if drawn < np.uint64(room) else np.int64(-1)


def _static_score(position: Any, data: SampleRoom, accumulators: Any, ply: int) -> Any:
    score = np.int64(_inner_score(position, data.inner, accumulators, ply))
    row = _row_for(data, np.int64(_SEEN), data.room)
    if row >= np.int64(0):
        store_sample(data.columns, row, position)
        data.ply[row] = ply
    if abs(score) <= data.window:
        row = _row_for(data, np.int64(_SEEN_EVEN), data.even_room)
        if row >= np.int64(0):
            store_sample(data.columns, data.room + row, position)
            data.ply[data.room + row] = ply
    return score


@cache
def _operations(inner: Operations) -> Operations:
    """Functions of a sampling evaluator; a copy of each for every evaluator behind it."""
    return Operations(
        f"{inner.name}-sampling",
        {
            "start": bound(_start, _inner_start=inner["start"]),
            "update": bound(_update, _inner_update=inner["update"]),
            "static_score": bound(_static_score, _inner_score=inner["static_score"]),
            "search_phase": inner["search_phase"],
        },
    )


class Samples(NamedTuple):
    """Positions drawn from a search, S of them."""

    positions: Any
    """Position of columns [S]."""
    ply: NDArray[np.int16]
    """Distance of each from the root [S]."""
    near_even: NDArray[np.bool_]
    """Whether each was drawn from the near-even positions and not from all [S]."""


class PositionSampler:
    """An evaluator that notes positions it is asked about.

    Parameters
    ----------
    evaluator
        The evaluator behind it.
    room
        Positions drawn from all that a search evaluates.
    even_room
        Positions drawn from those whose static score is at most ``window``.
    window
        In label units.
    """

    def __init__(self, game: Game, evaluator: Evaluator, room: int, *, even_room: int = 0, window: float = 0.0) -> None:
        # One more row: an array without items has no first one to point to.
        rows = room + even_room + 1
        self._room = SampleRoom(
            inner=evaluator.data,
            columns=game.empty_columns(rows),
            ply=np.zeros(rows, np.int16),
            counters=np.zeros(_COUNTERS, np.uint64),
            room=np.int64(room),
            even_room=np.int64(even_room),
            window=np.int64(window * evaluator.steps_per_unit),
        )
        self.evaluator = attrs.evolve(
            evaluator,
            name=f"{evaluator.name}, sampled",
            operations=_operations(evaluator.operations),
            data=self._room,
        )
        """The evaluator to search with."""

    def begin(self, seed: int) -> None:
        """Forget what was drawn; the next draw depends on the seed and the search alone."""
        self._room.counters[:] = 0
        self._room.counters[_SALT] = mix(np.uint64(seed % (1 << 64)) ^ np.uint64(_GOLDEN))

    def drawn(self) -> Samples:
        """Positions drawn since :meth:`begin`, finished ones among them."""
        room, even_room = int(self._room.room), int(self._room.even_room)
        seen, even = int(self._room.counters[_SEEN]), int(self._room.counters[_SEEN_EVEN])
        rows = np.concatenate([np.arange(min(seen, room)), room + np.arange(min(even, even_room))])
        columns = self._room.columns
        return Samples(rows_of(columns, rows), self._room.ply[rows], rows >= room)
