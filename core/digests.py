"""Digests of arrays: what tells the input of one piece of work from that of another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["arrays_digest"]

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
