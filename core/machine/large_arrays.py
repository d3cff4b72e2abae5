"""Arrays that need not fit into memory: large ones lie in files, of which the system keeps in memory what it can."""

import mmap
import os
import sys
import tempfile
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import GlemError
from glem.core.machine.descriptors import reserve
from glem.core.machine.memory import memory_left

_SHARE = 1 / 16
"""Of the memory that is left: a larger array lies in a file."""
_LEAST = 1 << 22
"""Bytes that never do."""

_ON_DISK = "/var/tmp"  # noqa: S108 # what is made there has no name, or one that nobody guesses

_LARGEST_ITEMS = 1 << 30

PIECE = 1 << 20
"""Rows that are worked on at a time where arrays may lie in files."""


def scratch_folder() -> Path:
    """Folder for large files that go when the process ends: where the user says (``TMPDIR``), or on a disk."""
    is_named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    # Many systems keep /tmp in memory.
    is_better = sys.platform != "win32" and not is_named and os.access(_ON_DISK, os.W_OK)
    return Path(_ON_DISK if is_better else tempfile.gettempdir())


def is_large(size: float) -> bool:
    """Whether so many bytes are much of the memory that is left."""
    return size > _LEAST and size > memory_left() * _SHARE


def are_many_items(size: float) -> bool:
    """Whether so many bytes of packed items, which are read again and again, are better kept in files."""
    return size > min(_LARGEST_ITEMS, memory_left() / 4)


def new_array(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Make an array of any content; a large one lies in a file without a name, which goes with it.

    Raises
    ------
    GlemError
        There is no room on the disk.
    """
    sizes = (shape,) if isinstance(shape, int) else shape
    size = prod(sizes) * np.dtype(dtype).itemsize
    if not is_large(size):
        return np.empty(shape, dtype)
    folder = scratch_folder()
    try:
        with tempfile.TemporaryFile(dir=folder, prefix="glem-") as file:
            # A map of a file without room on the disk would end the process when the disk is full.
            reserve(file.fileno(), size)
            # Kernels know one type of array.
            return np.memmap(file, dtype, "r+", shape=sizes).view(np.ndarray)
    except OSError as error:
        raise GlemError(f"{folder}: no room for {size / 1e9:.1f} GB ({error}); TMPDIR names another folder") from error


def is_in_file(array: NDArray[Any]) -> bool:
    """Whether an array lies in a file."""
    return _map_of(array) is not None


def let_go(*arrays: NDArray[Any]) -> None:
    """Take from memory what lies in files; it is read again when it is needed. Windows does so when it has to."""
    for array in arrays:
        if hasattr(mmap, "MADV_DONTNEED") and (owner := _map_of(array)) is not None:
            owner.madvise(mmap.MADV_DONTNEED)


def _map_of(array: Any) -> Any:
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


def pieces(count: int, *arrays: NDArray[Any]) -> Iterator[slice]:
    """Go through rows piece by piece; after each, arrays that lie in files leave memory."""
    for start in range(0, count, PIECE):
        yield slice(start, min(start + PIECE, count))
        let_go(*arrays)


def taken(array: NDArray[Any], rows: slice | NDArray[Any]) -> NDArray[Any]:
    """Take a slice, the rows of a mask, or row numbers, as ``array[rows]`` does; a large result lies in a file."""
    if isinstance(rows, slice):
        return array[rows]
    rows = np.asarray(rows)
    is_mask = rows.dtype == np.bool_
    count = int(np.count_nonzero(rows)) if is_mask else len(rows)
    if not is_large(count * array.itemsize):
        found: NDArray[Any] = array[rows]
        let_go(array)
        return found
    found = new_array(count, array.dtype)
    done = 0
    for piece in pieces(len(rows), array, found):
        part = array[piece][rows[piece]] if is_mask else array[rows[piece]]
        found[done : done + len(part)] = part
        done += len(part)
    return found
