"""Positions in columns: a named tuple of equally long arrays, one array for each field of a position."""

from typing import Any, TypeVar

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from glem.core.compiling.forwarding import compiled_as

T = TypeVar("T")


def rows_of(columns: T, rows: Any) -> T:
    """Positions of some rows: row numbers, a mask or a slice, as numpy takes them."""
    return type(columns)(*(column[rows] for column in columns))  # type: ignore[attr-defined]


def column_of_one(position: T) -> T:
    """One position as a position of columns of length 1."""
    return type(position)(*(np.array([value]) for value in position))  # type: ignore[attr-defined]


def position_at(columns: Any, row: int) -> Any:
    """One position out of a position of columns (a named tuple of equally long arrays); ``row`` counts from 0 only."""
    return type(columns)(*(column[row] for column in columns))


def store_position(columns: Any, row: int, position: Any) -> None:
    """Write one position into a position of columns; ``row`` counts from 0 only."""
    for column, value in zip(columns, position, strict=True):
        column[row] = value


def _item_pointer(context: Any, builder: Any, array: Any, column: Any, row: Any) -> Any:
    # Straight to the item: a call into numba's own indexing could fail, and LLVM vectorizes no loop around that.
    values = context.make_array(array)(context, builder, column)
    return cgutils.get_item_pointer(context, builder, array, values, [row], boundscheck=context.enable_boundscheck)


@intrinsic
def _position_at(_typing_context: Any, columns: Any, _row: Any) -> Any:
    if not isinstance(columns, types.BaseNamedTuple):
        return None
    arrays = columns.types
    result: Any = types.BaseTuple.from_types([array.dtype for array in arrays], columns.instance_class)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        values = []
        for place, array in enumerate(arrays):
            column = builder.extract_value(arguments[0], place)
            pointer = _item_pointer(context, builder, array, column, arguments[1])
            values.append(context.unpack_value(builder, array.dtype, pointer))
        return context.make_tuple(builder, result, values)

    return result(columns, types.intp), generate


@intrinsic
def _store_position(_typing_context: Any, columns: Any, _row: Any, position: Any) -> Any:
    if not isinstance(columns, types.BaseNamedTuple):
        return None
    arrays = columns.types
    fields = position.types

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        for place, (array, field) in enumerate(zip(arrays, fields, strict=True)):
            column = builder.extract_value(arguments[0], place)
            value = context.cast(builder, builder.extract_value(arguments[2], place), field, array.dtype)
            context.pack_value(
                builder, array.dtype, value, _item_pointer(context, builder, array, column, arguments[1])
            )
        return context.get_dummy_value()

    return types.none(columns, types.intp, position), generate


compiled_as(_position_at)(position_at)
compiled_as(_store_position)(store_position)
