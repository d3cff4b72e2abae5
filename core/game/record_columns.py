"""Joining the columns, and the remarks, of several game records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError

__all__ = ["added_remarks", "columns_or_missing", "united_names", "united_starts"]


def added_remarks(*parts: Mapping[str, int]) -> Mapping[str, int]:
    """Return the remarks of all parts with the sums of their counts."""
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update(part)
    return dict(sums)


def columns_or_missing(
    parts: Sequence[Mapping[str, NDArray[Any]]], lengths: Sequence[int], column: str
) -> list[NDArray[Any]]:
    """Return one column of all parts, with values that say "missing" for those parts that lack it."""
    dtype = next(part[column].dtype for part in parts if column in part)
    missing: Any
    if dtype.kind == "f":
        missing = dtype.type(np.nan)
    elif dtype.kind == "b":
        missing = np.False_
    else:
        # -1 needs a sign: an unsigned column becomes the next wider signed one.
        missing = np.promote_types(dtype, np.int8).type(-1)
    return [
        part[column] if column in part else np.full(length, missing, missing.dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]


def united_starts(
    parts: Sequence[tuple[Any, NDArray[np.int8] | None]], lengths: Sequence[int], initial_position: Any
) -> tuple[Any, NDArray[np.int8] | None]:
    """Return positions in which games begin, and the sides to move there, of all parts; None where no part has any."""
    some = next((starts for starts, _ in parts if starts is not None), None)
    if some is None:
        return None, None
    columns, sides = [], []
    for (starts, side), length in zip(parts, lengths, strict=True):
        if starts is None or side is None:
            if initial_position is None and length:
                raise BadInputError(
                    "some of these game records begin elsewhere than others: tell in which position the others begin"
                )
            position = initial_position or (0,) * len(some)
            starts = [np.full(length, value, column.dtype) for value, column in zip(position, some, strict=True)]
            side = np.ones(length, np.int8)
        columns.append(starts)
        sides.append(side)
    return type(some)(*(np.concatenate(column) for column in zip(*columns, strict=True))), np.concatenate(sides)


def united_names(
    values: list[NDArray[Any]], known: Sequence[tuple[str, ...] | None]
) -> tuple[list[NDArray[Any]], tuple[str, ...]]:
    """Renumber columns of indices so that all of them index one tuple of names."""
    distinct = list(dict.fromkeys(names for names in known if names))
    union = dict.fromkeys(distinct[0])
    renumbered = list(values)
    if len(distinct) > 1:
        for further in distinct[1:]:
            union.update(dict.fromkeys(further))
        place = {name: index for index, name in enumerate(union)}
        for part, names in enumerate(known):
            if names:
                table = np.array([*(place[name] for name in names), -1], np.int32)
                renumbered[part] = table[values[part]]
        return renumbered, tuple(union)
    return renumbered, distinct[0]
