"""Tables of bytes for the kernels that read PGN."""

import string

import numpy as np
from numpy.typing import NDArray

DIGITS = string.digits.encode()
LETTERS = string.ascii_letters.encode()


def classes(*kinds: tuple[bytes, int]) -> NDArray[np.uint8]:
    """Class of each byte, uint8 [256]: the last that is given for it, 0 for none."""
    table = np.zeros(256, np.uint8)
    for members, kind in kinds:
        table[list(members)] = kind
    return table


def places(*texts: bytes) -> NDArray[np.int8]:
    """Place of each byte in one of some texts, int8 [256], from 0; -1 for all others."""
    table = np.full(256, -1, np.int8)
    for text in texts:
        table[list(text)] = range(len(text))
    return table
