"""Digests of arrays and files: what tells the input of one piece of work from that of another."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    return digest.hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """Digest of the bytes of a file: 32 hexadecimal digits (BLAKE2b).

    Raises
    ------
    OSError
        The file cannot be read.
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_BYTES)).hexdigest()
