"""ASCII characters by their Unicode names, and tables of bytes, for kernels that look at the bytes of a text."""

import string

import numpy as np
from numpy.typing import NDArray

TAB, NEWLINE, CARRIAGE_RETURN, SPACE = b"\t\n\r "
COMMA, FULL_STOP, COLON, SEMICOLON, QUOTATION_MARK = b',.:;"'
PLUS_SIGN, HYPHEN, ASTERISK, SOLIDUS, EQUALS_SIGN = b"+-*/="
NUMBER_SIGN, DOLLAR_SIGN, PERCENT_SIGN, COMMERCIAL_AT = b"#$%@"
LEFT_PARENTHESIS, RIGHT_PARENTHESIS = b"()"
LEFT_BRACKET, RIGHT_BRACKET, LEFT_BRACE, RIGHT_BRACE = b"[]{}"
DIGIT_ZERO, DIGIT_ONE, DIGIT_TWO, DIGIT_EIGHT, DIGIT_NINE = b"01289"
CAPITAL_M, CAPITAL_O, CAPITAL_Z = b"MOZ"
SMALL_A, SMALL_B, SMALL_E, SMALL_H, SMALL_K, SMALL_Q, SMALL_V, SMALL_W, SMALL_X = b"abehkqvwx"

DIGITS = string.digits.encode()
LETTERS = string.ascii_letters.encode()


def classes(*kinds: tuple[bytes, int], other: int = 0) -> NDArray[np.uint8]:
    """Class of each byte, uint8 [256]: the last that is given for it."""
    table = np.full(256, other, np.uint8)
    for members, kind in kinds:
        table[list(members)] = kind
    return table


def places(*texts: bytes) -> NDArray[np.int8]:
    """Place of each byte in one of some texts, int8 [256], from 0; -1 for all others."""
    table = np.full(256, -1, np.int8)
    for text in texts:
        table[list(text)] = range(len(text))
    return table
