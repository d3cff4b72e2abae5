"""Coefficients of an engine's terms in positions: from a function of its author's, or from a table."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError, reading
from glem.core.files.archives import read_arrays
from glem.core.game.equal_positions import scatter
from glem.core.game.whole_numbers import whole_number
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tuning.terms import Terms

_BLOCK = 1 << 14
"""Positions whose coefficients are there as they came, one column a term."""
_MOST_TERMS = 1 << 16
_LARGEST_TABLE = 1 << 36
_RESULT, _PHASE, _GAME = "result", "phase", "game"
_RESULTS: dict[Any, float] = {"1-0": 1.0, "1/2-1/2": 0.0, "0-1": -1.0}


class Block(NamedTuple):
    """What is not zero of the coefficients of N positions, row after row.

    Parameters
    ----------
    offsets
        int32 [N + 1]: row ``i`` has the entries from ``offsets[i]`` to ``offsets[i + 1]``.
    columns
        uint16: number of the coefficient of each entry.
    values
        int8 or float32: the coefficient.
    phase
        float32 [N]: 1 at the beginning of the game, 0 at its end; 1 everywhere where nothing is tapered.
    result
        int8 [N]: 1, 0 or -1 for the side that the coefficients are for.
    game
        int64 [N]: number of the game.
    held_out
        bool [N].
    """

    offsets: NDArray[np.int32]
    columns: NDArray[np.uint16]
    values: NDArray[Any]
    phase: NDArray[np.float32]
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    held_out: NDArray[np.bool_]


@kernel
def _take_entries(dense: Any, offsets: Any, columns: Any, values: Any) -> None:
    place = 0
    for row in range(dense.shape[0]):
        offsets[row] = place
        for column in range(dense.shape[1]):
            if dense[row, column] != 0:
                columns[place] = column
                values[place] = dense[row, column]
                place += 1
    offsets[dense.shape[0]] = place


def block_of(dense: NDArray[Any], phase: NDArray[Any] | None, *more: Any) -> Block:
    """Take the coefficients [N, K] of a block that are not zero; ``more`` are its columns behind the phase."""
    count = int(np.count_nonzero(dense))
    kind: Any = np.float32
    if dense.dtype == np.int8 or (np.abs(dense).max(initial=0) <= np.iinfo(np.int8).max and not (dense % 1).any()):
        kind = np.int8
    offsets, columns, values = np.empty(len(dense) + 1, np.int32), np.empty(count, np.uint16), np.empty(count, kind)
    _take_entries(np.ascontiguousarray(dense), offsets, columns, values)
    share = np.ones(len(dense), np.float32) if phase is None else np.ascontiguousarray(phase, np.float32)
    return Block(offsets, columns, values, share, *more)


def blocks_of_positions(
    function: Callable[[Any], Any], parts: Iterable[Positions], *, name: str, held_out: float, seed: int
) -> Iterator[tuple[Terms, Block]]:
    """Ask a function for the coefficients of positions.

    Parameters
    ----------
    function
        Is called with a position of columns [N] and returns a mapping from the name of each term to its coefficients,
        [N] or [N, ...], from the side to move; or a pair of that and the phase [N], from 1 at the beginning of the game
        to 0 at its end, where terms are tapered.
    parts
        Positions with results.
    name
        What the function is called, for messages.
    held_out, seed
        Share of the games that is held out, and what chooses them.

    Yields
    ------
    Terms, Block
        The terms are the same each time.

    Raises
    ------
    BadInputError
        The function fails, or gives something else.
    """
    known: Terms | None = None
    for part in parts:
        outside = part.held_out_mask(held_out, seed)
        for start in range(0, len(part), _BLOCK):
            rows = slice(start, start + _BLOCK)
            some = part.select(rows)
            try:
                found = function(some.positions)
            except Exception as error:
                raise BadInputError(f"{name}: failed on {counted(len(some), 'position')}: {error!r}") from error
            terms, dense, phase = _checked(found, len(some), name)
            if known is not None and terms != known:
                raise BadInputError(f"{name}: gives other terms for some positions than for others")
            known = terms
            yield terms, block_of(dense, phase, some.result, some.record.astype(np.int64), outside[rows])


def _checked(found: Any, count: int, name: str) -> tuple[Terms, NDArray[Any], NDArray[Any] | None]:
    phase = None
    if isinstance(found, tuple) and len(found) == 2:
        found, phase = found
        phase = np.asarray(phase, np.float64)
        if phase.shape != (count,) or not ((phase >= 0) & (phase <= 1)).all():
            raise BadInputError(f"{name}: the phase must be {count:,} numbers from 0 to 1")
    if not isinstance(found, Mapping) or not found:
        raise BadInputError(f"{name}: must return a mapping from terms to coefficients, or a pair of it and the phase")
    arrays = {str(term): np.asarray(column) for term, column in found.items()}
    for term, column in arrays.items():
        if column.ndim < 1 or len(column) != count or column.dtype.kind not in "biuf":
            raise BadInputError(
                f"{name}: {term} must be numbers for {counted(count, 'position')}, it is "
                f"{column.dtype} of shape {column.shape}"
            )
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise BadInputError(f"{name}: {term} is not finite everywhere")
    terms = Terms({term: column.shape[1:] for term, column in arrays.items()}, phase is not None)
    if terms.count > _MOST_TERMS:
        raise BadInputError(f"{name}: {terms.count:,} coefficients are more than {_MOST_TERMS:,}")
    return terms, np.concatenate([column.reshape(count, -1) for column in arrays.values()], axis=1), phase


def blocks_of_table(path: str | os.PathLike[str], *, held_out: float, seed: int) -> Iterator[tuple[Terms, Block]]:
    """Read coefficients from a table: CSV, Parquet, or an archive of numpy.

    Columns ``result`` (1-0, 1/2-1/2, 0-1, or numbers from 0, or from -1, to 1), perhaps ``phase`` (1 to 0) and ``game``
    (whole numbers); every other column is a term, all for the side that the result is for. An archive has the arrays
    ``result`` [N], ``phase``, ``game``, and ``coefficients`` [N, K] with ``names`` [K], or any others [N] or [N, ...],
    each a term.

    Parameters
    ----------
    held_out, seed
        Share of the games that is held out, and what chooses them.

    Raises
    ------
    BadInputError
        The table cannot be read or has no results.
    """
    known: Terms | None = None
    first = 0
    least: float | None = None
    with reading(path, "table of coefficients"):
        for arrays in _arrays_of(Path(path)):
            if _RESULT not in arrays:
                raise BadInputError(f"{os.fspath(path)}: has no column {_RESULT!r}")
            cells = arrays.pop(_RESULT)
            results = np.array([_RESULTS.get(cell, _number_of(cell)) for cell in cells.tolist()], np.float64)
            if least is None:
                # Results in words count from -1.
                least = -1.0 if (results < 0).any() or not _RESULTS.keys().isdisjoint(cells.tolist()) else 0.0
            result = results if least < 0 else 2 * results - 1
            right = "1-0, 1/2-1/2, 0-1, or a number from 0 or -1 to 1"
            _check_rows(np.isin(result, (-1, 0, 1)), cells, first, path, "the result", right)
            count = len(result)
            game = arrays.pop(_GAME, np.arange(first, first + count))
            if game.dtype.kind not in "iu":
                numbers = [_number_of(cell) for cell in game.tolist()]
                right = "a whole number of at most 18 digits"
                _check_rows([*map(_is_whole, numbers)], game, first, path, "the game", right)
                game = np.array([*map(int, numbers)])
            game = game.astype(np.int64)
            phase = arrays.pop(_PHASE, None)
            terms, dense, share = _checked(arrays if phase is None else (arrays, phase), count, os.fspath(path))
            if known is not None and terms != known:
                raise BadInputError(f"{os.fspath(path)}: the columns change from row {first + 1} on")
            known = terms
            outside = scatter(game.astype(np.uint64), seed) < np.uint64(min(int(held_out * 2.0**64), (1 << 64) - 1))
            first += count
            yield terms, block_of(dense, share, result.astype(np.int8), game, outside)


def _number_of(cell: Any) -> int | float:
    """Read a cell; nan where it holds no number."""
    if not isinstance(cell, str):
        return math.nan if cell is None else cell
    number = whole_number(cell, -(10**18))
    with contextlib.suppress(ValueError):
        return float(cell) if number is None else number
    return math.nan


def _is_whole(number: float) -> bool:
    # Of floats from there on, several whole numbers are one.
    return isinstance(number, int) or (abs(number) < 1 << 53 and number % 1 == 0)


def _check_rows(
    good: Any, cells: NDArray[Any], first: int, path: str | os.PathLike[str], what: str, right: str
) -> None:
    """Refuse the first row that is not good."""
    for row in np.flatnonzero(~np.asarray(good))[:1].tolist():
        found = f"row {first + row + 1} has {what} {str(cells[row])!r}"
        raise BadInputError(f"{os.fspath(path)}: {found}; expected {right}")


def _arrays_of(path: Path) -> Iterator[dict[str, NDArray[Any]]]:
    suffix = path.suffix.lower()
    if suffix == ".npz":
        arrays = read_arrays(path, "table of coefficients", largest=_LARGEST_TABLE)
        names = arrays.pop("names", None) if "coefficients" in arrays else None
        for name, column in arrays.items():
            expected = arrays.get(_RESULT, column).shape
            if column.shape[:1] != expected or (name == _GAME and column.ndim > 1):
                raise BadInputError(f"{path}: {name} has the shape {column.shape}, but {_RESULT} {expected}")
        if "coefficients" in arrays:
            dense = arrays.pop("coefficients")
            if names is None:
                arrays["coefficient"] = dense
            elif dense.shape[1:] == names.shape:
                arrays |= {str(name): dense[:, place] for place, name in enumerate(names)}
            else:
                raise BadInputError(f"{path}: coefficients have the shape {dense.shape}, names {names.shape}")
        for start in range(0, len(arrays.get(_RESULT, ())), _BLOCK):
            yield {name: column[start : start + _BLOCK] for name, column in arrays.items()}
        return
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        batches: Iterable[Any] = pq.ParquetFile(path).iter_batches(_BLOCK)
    else:
        import pyarrow as pa
        import pyarrow.csv as pc

        # The kind that the first rows have is none for all: later ones may be fractions, or bad and to be named.
        kinds = {field.name: pa.float64() for field in pc.open_csv(path).schema if pa.types.is_integer(field.type)}
        texts = {_RESULT: pa.string(), _GAME: pa.string()}
        batches = pc.open_csv(path, convert_options=pc.ConvertOptions(column_types={**kinds, **texts}))
    for batch in batches:
        yield {
            name: column.to_numpy(zero_copy_only=False)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
