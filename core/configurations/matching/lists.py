"""Kernels from bits to lists of indices, and sums over them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, popcount, trailing_zeros
from glem.core.configurations.matching.lanes import write_byte_indices


def _bit_places() -> NDArray[np.uint8]:
    places = np.zeros((256, 8), np.uint8)
    for byte in range(256):
        found = [bit for bit in range(8) if byte >> bit & 1]
        places[byte, : len(found)] = found
    return places


BIT_PLACES = _bit_places()
"""uint8 [256, 8]: the places of the set bits of each byte, ascending, then zeros."""


@kernel
def write_word(word: Any, base: Any, bit_places: Any, indices: Any, cursor: Any, end: Any) -> Any:
    """Write ``base`` plus the places of the set bits from ``cursor`` on, nothing from ``end`` on; the new cursor.

    Parameters
    ----------
    word
        uint64.
    base
        int64.
    bit_places
        :data:`BIT_PLACES`, given as an argument so that it is no constant of the machine code.
    indices
        int32 array.
    cursor, end
        int64.
    """
    # A branch on every bit would be guessed wrong about once a word.
    if cursor + np.int64(64) <= end:
        for step in range(8):
            byte = np.int64((word >> np.uint64(8 * step)) & np.uint64(255))
            write_byte_indices(indices, cursor, np.int32(base + 8 * step), bit_places, byte)
            cursor += np.int64(popcount(np.uint64(byte)))
        return cursor
    while word != np.uint64(0):
        indices[cursor] = np.int32(base + trailing_zeros(word))
        cursor += np.int64(1)
        word &= word - np.uint64(1)
    return cursor


@kernel
def sum_listed(weights: Any, indices: Any, count: Any) -> Any:
    """Sum in float64 the ``weights`` (float32) at the first ``count`` (int64) of the ``indices`` (int32)."""
    # Four sums side by side: an addition need not wait for the one before it.
    one, two, three, four = np.float64(0.0), np.float64(0.0), np.float64(0.0), np.float64(0.0)
    place = np.int64(0)
    while place + np.int64(4) <= count:
        one += np.float64(weights[indices[place]])
        two += np.float64(weights[indices[place + 1]])
        three += np.float64(weights[indices[place + 2]])
        four += np.float64(weights[indices[place + 3]])
        place += np.int64(4)
    while place < count:
        one += np.float64(weights[indices[place]])
        place += np.int64(1)
    return (one + two) + (three + four)
