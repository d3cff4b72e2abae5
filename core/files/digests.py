"""Digests of arrays and files: what tells the input of one piece of work from that of another."""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.files.addresses import address_state, is_address, open_binary
from glem.core.machine.large_arrays import let_go

_BYTES = 16


def arrays_digest(arrays: Iterable[NDArray[Any]], text: str = "") -> str:
    """Digest of arrays in their order: their kinds, shapes and contents.

    Parameters
    ----------
    arrays
        Arrays of any kind but objects.
    text
        What else counts.

    Returns
    -------
    str
        32 hexadecimal digits (BLAKE2b).
    """
    digest = hashlib.blake2b(text.encode(), digest_size=_BYTES)
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).data)
        let_go(array)
    return digest.hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """Digest of the bytes of a file: 32 hexadecimal digits (BLAKE2b).

    A file that has not been written to since is not read again.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    if is_address(path):
        return _file_digest(os.fspath(path), address_state(os.fspath(path)))
    found = Path(path).stat()
    return _file_digest(os.path.abspath(path), found.st_size, found.st_mtime_ns, found.st_ino)  # noqa: PTH100


@lru_cache(1 << 12)
def _file_digest(path: str, *_state: int | str) -> str:
    with open_binary(path) as file:
        readable: Any = file
        return hashlib.file_digest(readable, lambda: hashlib.blake2b(digest_size=_BYTES)).hexdigest()
