"""Tags of a PGN file: lines like ``[White "Kasparov, Garry"]``.

A value ends at the first quotation mark that a bracket follows, so that marks within a value do no harm, and ends with
its line. What is no such tag is passed over, as python-chess does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling import characters as char

__all__ = ["EVENT", "FEN", "NO_VALUE", "RESULT", "TAGS", "TAG_VALUES", "is_tag", "read_tag"]

TAGS = (
    "Event",
    "FEN",
    "Result",
    "White",
    "Black",
    "WhiteElo",
    "BlackElo",
    "Date",
    "Site",
    "ECO",
    "TimeControl",
    "Variant",
)
"""Tags whose values are kept."""

EVENT, FEN, RESULT = 0, 2, 4
"""Places of these tags' values in a row of facts."""

TAG_VALUES = 2 * len(TAGS)
"""Values that the tags take in a row of facts: of each the index of its text and the index behind it."""

NO_VALUE = -1
"""What stands for both where a game has no such tag."""

_BLANK, _NAME = 1, 2
_WORD_LENGTH = 8


def _word(name: str) -> int:
    return int.from_bytes(name[:_WORD_LENGTH].encode(), "little")


_WORDS = np.array([_word(name) for name in TAGS], np.uint64)
_LENGTHS = np.array([len(name) for name in TAGS], np.int64)


def _classes() -> NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for byte in b" \t":
        table[byte] = _BLANK
    for byte in b"0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz":
        table[byte] = _NAME
    return table


_CLASSES = _classes()


def is_tag(data: Any, at: int) -> bool:
    """Whether a whole tag stands at an index: a bracket, a name, blanks, and a value that ends on its line."""
    if data[at] != char.LEFT_BRACKET:
        return False
    at += 1
    first = at
    while _CLASSES[data[at]] == _NAME:
        at += 1
    behind = at
    while _CLASSES[data[at]] == _BLANK:
        at += 1
    if not at > behind > first or data[at] != char.QUOTATION_MARK:
        return False
    # What follows the text is zero.
    while data[at] != char.NEWLINE and data[at] != char.CARRIAGE_RETURN and data[at] != 0:
        at += 1
        if data[at] == char.QUOTATION_MARK:
            behind = at + 1
            while _CLASSES[data[behind]] == _BLANK:
                behind += 1
            if data[behind] == char.RIGHT_BRACKET:
                return True
    return False


def read_tag(data: Any, at: int, end: int, facts: Any) -> int:
    """Note where the value of a tag stands.

    Parameters
    ----------
    data
        uint8 [B] with at least 16 bytes behind ``end``.
    at
        Index of the opening bracket.
    end
        Index behind the text.
    facts
        int64 [TAG_VALUES] or longer.

    Returns
    -------
    after
        Index behind the closing bracket, or the end of the line for what is no tag. Negative, with nothing noted: it is
        ``[Event`` for the second time, so another game begins.
    """
    at += 1
    word = np.uint64(0)
    length = 0
    while _CLASSES[data[at]] == _NAME:
        if length < _WORD_LENGTH:
            word |= np.uint64(data[at]) << np.uint64(8 * length)
        length += 1
        at += 1
    while _CLASSES[data[at]] == _BLANK:
        at += 1
    begin = at + 1
    closed = False
    if data[at] == char.QUOTATION_MARK:
        at += 1
        while at < end and data[at] != char.NEWLINE and data[at] != char.CARRIAGE_RETURN and not closed:
            if data[at] == char.QUOTATION_MARK:
                behind = at + 1
                while _CLASSES[data[behind]] == _BLANK:
                    behind += 1
                closed = data[behind] == char.RIGHT_BRACKET
            if not closed:
                at += 1
    if not closed:
        while at < end and data[at] != char.NEWLINE and data[at] != char.CARRIAGE_RETURN:
            at += 1
        return at
    for tag in range(_WORDS.shape[0]):
        if word == _WORDS[tag] and length == _LENGTHS[tag]:
            if tag == 0 and facts[EVENT] >= 0:
                return -1
            facts[2 * tag] = begin
            facts[2 * tag + 1] = at
    while data[at] != char.RIGHT_BRACKET:
        at += 1
    return at + 1
