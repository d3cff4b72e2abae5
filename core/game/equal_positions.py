"""Positions as columns, and those that are equal modulo the symmetries of the board: smallest images, keys, groups."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled, mix
from glem.core.errors import BadInputError, described
from glem.core.game.game import Game, hash_key, transform


def _write_smallest_images(rules: Any, columns: Any, count: np.int64, symmetry_count: np.int64, images: Any) -> None:
    for row in range(count):
        position = position_at(columns, row)
        smallest = position
        for symmetry in range(1, symmetry_count):
            image = transform(rules, position, symmetry)
            if image < smallest:
                smallest = image
        store_position(images, row, smallest)


def _write_keys(rules: Any, columns: Any, count: np.int64, keys: Any) -> None:
    for row in range(count):
        keys[row] = hash_key(rules, position_at(columns, row))


def _write_groups(columns: Any, keys: Any, table: Any, first: Any, group: Any) -> np.int64:
    """Open addressing with linear probing; ``table`` holds group numbers, -1 where free. Return their number."""
    last_slot = np.int64(len(table) - 1)
    groups = np.int64(0)
    for row in range(len(keys)):
        position = position_at(columns, row)
        slot = np.int64(keys[row] & np.uint64(last_slot))
        while table[slot] >= 0:
            other = first[table[slot]]
            if keys[other] == keys[row] and position_at(columns, other) == position:
                break
            slot = (slot + 1) & last_slot
        if table[slot] < 0:
            table[slot] = groups
            first[groups] = row
            groups += 1
        group[row] = table[slot]
    return groups


def _write_scattered(keys: Any, salt: Any, scattered: Any) -> None:
    for row in range(len(keys)):
        scattered[row] = mix(keys[row] ^ salt)


def canonical_positions(game: Game, positions: Any) -> Any:
    """Smallest image of each position under the symmetries of the board.

    Parameters
    ----------
    game
        A game; without ``transform`` every position is its own smallest image.
    positions
        Position of columns [N].

    Returns
    -------
    positions
        Position of columns [N], new arrays. Images are compared field by field in the position type's order.
    """
    columns = contiguous_columns(game, positions)
    if game.transform is None or game.symmetry_count == 1:
        return game.position_type(*(column.copy() for column in columns))
    images = game.empty_columns(len(columns[0]))
    compiled(_write_smallest_images)(
        game.rules, columns, np.int64(len(columns[0])), np.int64(game.symmetry_count), images
    )
    return images


def position_keys(game: Game, positions: Any, *, symmetries: bool = True) -> NDArray[np.uint64]:
    """64-bit hash key of each of N positions, of its smallest image with ``symmetries``: uint64 array [N]."""
    columns = canonical_positions(game, positions) if symmetries else contiguous_columns(game, positions)
    keys = np.empty(len(columns[0]), np.uint64)
    compiled(_write_keys)(game.rules, columns, np.int64(len(keys)), keys)
    return keys


class Groups(NamedTuple):
    """Equal positions found in N rows: U groups, numbered by their first rows."""

    first: NDArray[np.int64]
    """First row of each group [U], ascending."""
    group: NDArray[np.int32]
    """Group of each row [N]."""


def group_equal(game: Game, positions: Any, *, symmetries: bool = True) -> Groups:
    """Find equal positions.

    Positions are compared in full, their hash keys only choose where to look.

    Parameters
    ----------
    game
        Whose positions they are.
    positions
        Position of columns [N], N below 2**30.
    symmetries
        Images under the symmetries of the board count as equal.

    Raises
    ------
    BadInputError
        Too many positions for one table.
    """
    columns = canonical_positions(game, positions) if symmetries else contiguous_columns(game, positions)
    count = len(columns[0])
    if count >= 1 << 30:
        raise BadInputError(f"{count} positions are too many to compare at once; at most {(1 << 30) - 1}")
    keys = np.empty(count, np.uint64)
    compiled(_write_keys)(game.rules, columns, np.int64(count), keys)
    # At most half full: an unsuccessful search then probes 2.5 slots on average (Knuth, vol. 3, section 6.4).
    table = np.full(1 << max(4, (2 * count - 1).bit_length()), -1, np.int32)
    first = np.empty(count, np.int64)
    group = np.empty(count, np.int32)
    groups = compiled(_write_groups)(columns, keys, table, first, group)
    return Groups(first[:groups].copy(), group)


def scatter(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Hash 64-bit keys with a seed: the same key and seed give the same number everywhere; uint64 array [N]."""
    salt = mix(np.uint64(seed % (1 << 64)) ^ np.uint64(0x9E3779B97F4A7C15))
    scattered = np.empty(len(keys), np.uint64)
    compiled(_write_scattered)(np.ascontiguousarray(keys, np.uint64), salt, scattered)
    return scattered


def contiguous_columns(game: Game, positions: Any) -> Any:
    """Positions, however they are given, as a position of columns; contiguous arrays of the right type are kept.

    Parameters
    ----------
    game
        The game.
    positions
        A position of columns [N], a set of positions (:class:`~glem.core.positions.positions.Positions`), a sequence of
        N positions, or what has columns ``position_FIELD``: a table of pandas, polars or Arrow, a structured array, a
        mapping.

    Returns
    -------
    positions
        Position of columns [N] with the game's own dtypes, each column contiguous.

    Raises
    ------
    BadInputError
        Something else, positions of another game, or a column is missing or does not fit.
    """
    kind = game.position_type
    if not _is_position(game, positions):
        if isinstance(owner := getattr(positions, "game", None), Game):
            if owner.name != game.name:
                raise BadInputError(f"positions of {owner.name}, where those of {game.name} are needed")
            positions = positions.positions
        elif isinstance(positions, list | tuple) and all(_is_position(game, one) for one in positions):
            positions = game.columns_of(positions)
        else:
            positions = _columns_of_table(game, positions)
    return kind(
        *(
            np.ascontiguousarray(column, np.asarray(value).dtype)
            for column, value in zip(positions, game.initial_position, strict=True)
        )
    )


def one_position(game: Game, given: Any) -> Any:
    """Return what was given if it is a single position of a game.

    Raises
    ------
    BadInputError
        It is something else.
    """
    if _is_position(game, given) and not any(map(np.ndim, given)):
        return given
    raise BadInputError(f"one position of {game.name} is needed, got {described(given)}")


def _is_position(game: Game, given: Any) -> bool:
    """Whether something has the fields of a position: a single one, or columns."""
    return isinstance(given, tuple) and getattr(given, "_fields", None) == game.position_type._fields


def _columns_of_table(game: Game, table: Any) -> list[NDArray[Any]]:
    """Columns ``position_FIELD`` of whatever has named columns; none of them loses anything by its type."""
    dtypes = {f"position_{name}": np.asarray(value).dtype for name, value in game.initial_position._asdict().items()}
    named: Any = table if isinstance(table, Mapping) else getattr(getattr(table, "dtype", None), "names", None)
    for attribute in ("columns", "column_names"):  # Arrow's columns have no names
        named = getattr(table, attribute, named)
    names, needed = list(() if named is None else named), ", ".join(dtypes)
    if not names:
        raise BadInputError(
            f"positions of {game.name} are needed, as Positions or as a table (pandas, polars, Arrow) with the columns "
            f"{needed}; got {described(table)}"
        )
    if not set(dtypes) <= set(map(str, names)):
        shown = ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "")
        raise BadInputError(f"positions of {game.name} need the columns {needed}; the table has {shown}")
    columns = [_fitting(name, np.asarray(table[name]), dtype) for name, dtype in dtypes.items()]
    if len({len(column) for column in columns}) > 1:
        raise BadInputError(f"the table has columns of different lengths: {[len(column) for column in columns]}")
    return columns


def _fitting(name: str, values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Turn the values of a column into a type that holds each of them."""
    if values.dtype == dtype:
        return values
    if values.ndim != 1 or values.dtype.kind not in "biufO":
        raise BadInputError(f"column {name!r} has values of the type {values.dtype}, expected {dtype}")
    fits: NDArray[np.bool_]
    if values.dtype.kind == "O":
        fits = np.array([_is_held(value, dtype) for value in values.tolist()], np.bool_)
    else:
        with np.errstate(invalid="ignore"):
            fits = values.astype(dtype) == values
        if values.dtype.kind == "f" and dtype.kind in "iu":
            # Missing values have made floats of whole numbers, and greater ones have lost their last digits.
            fits &= np.abs(values) <= 2.0**53
    if not fits.all():
        row = int(np.flatnonzero(~fits)[0])
        raise BadInputError(f"column {name!r}, row {row}: {values[row]} is no {dtype}")
    return values.astype(dtype)


def _is_held(value: Any, dtype: np.dtype[Any]) -> bool:
    try:
        return bool(dtype.type(value) == value)
    except (TypeError, ValueError, OverflowError):
        return False
