"""Tags of a PGN file: lines like ``[White "Kasparov, Garry"]``.

A value ends at the first quotation mark that a bracket follows, so that marks within a value do no harm, and ends with
its line. What is no such tag is passed over, as python-chess does.
"""

from typing import Any

import numpy as np

from glem.core.compiling import characters as char

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

_BLANK, _NAME, _LINE_END = 1, 2, 3
_WORD_LENGTH = 8


_WORDS = np.array([int.from_bytes(name[:_WORD_LENGTH].encode(), "little") for name in TAGS], np.uint64)
_LENGTHS = np.array([len(name) for name in TAGS], np.int64)
_CLASSES = char.classes((b" \t", _BLANK), (char.DIGITS + char.LETTERS + b"_", _NAME), (b"\n\r", _LINE_END))


def _parts(data: Any, at: int, end: int) -> tuple[int, int, int]:
    """Find the end of a tag's name, its value's opening quotation mark and the closing one.

    The last is -1 where no value ends on the line. ``at`` is the index of the opening bracket, ``end`` that behind the
    text.
    """
    at += 1
    while _CLASSES[data[at]] == _NAME:
        at += 1
    name_end = at
    while _CLASSES[data[at]] == _BLANK:
        at += 1
    begin = at
    while data[begin] == char.QUOTATION_MARK and at < end and _CLASSES[data[at]] != _LINE_END:
        at += 1
        if data[at] == char.QUOTATION_MARK:
            behind = at + 1
            while _CLASSES[data[behind]] == _BLANK:
                behind += 1
            if data[behind] == char.RIGHT_BRACKET:
                return name_end, begin, at
    return name_end, begin, -1


def is_tag(data: Any, at: int, end: int) -> bool:
    """Whether a whole tag stands at an index: a bracket, a name, blanks, and a value that ends on its line."""
    if data[at] != char.LEFT_BRACKET:
        return False
    name_end, begin, close = _parts(data, at, end)
    return begin > name_end > at + 1 and close >= 0


def read_tag(data: Any, at: int, end: int, values: Any) -> int:
    """Note where the value of a tag stands.

    Parameters
    ----------
    data
        uint8 [B] with at least 16 bytes behind ``end``.
    at
        Index of the opening bracket.
    end
        Index behind the text.
    values
        int64 [TAG_VALUES]: row for the indices of the values.

    Returns
    -------
    after
        Index behind the closing bracket, or the end of the line for what is no tag. Negative, with nothing noted: it is
        ``[Event`` for the second time, so another game begins.
    """
    name_end, begin, close = _parts(data, at, end)
    if close < 0:
        at = name_end
        while at < end and _CLASSES[data[at]] != _LINE_END:
            at += 1
        return at
    word = np.uint64(0)
    length = name_end - at - 1
    for place in range(min(length, _WORD_LENGTH)):
        word |= np.uint64(data[at + 1 + place]) << np.uint64(8 * place)
    for tag in range(_WORDS.shape[0]):
        if word == _WORDS[tag] and length == _LENGTHS[tag]:
            if tag == 0 and values[EVENT] >= 0:
                return -1
            values[2 * tag] = begin + 1
            values[2 * tag + 1] = close
    at = close + 1
    while data[at] != char.RIGHT_BRACKET:
        at += 1
    return at + 1


def decoded(text: bytes) -> str:
    """Text in UTF-8, or else in Latin-1."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
