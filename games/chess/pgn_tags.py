r"""Tags of a PGN file: lines like ``[White "Kasparov, Garry"]``.

A value ends at the first quotation mark that a bracket follows, so that marks within a value do no harm, and ends with
its line. What is no such tag is passed over, as python-chess does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.kernels import inlined

__all__ = [
    "BLACK",
    "BLACK_RATING",
    "DATE",
    "ECO",
    "EVENT",
    "FACTS",
    "FEN",
    "NO_VALUE",
    "RESULT",
    "SITE",
    "TIME_CONTROL",
    "UNKNOWN_RESULT",
    "VARIANT",
    "WHITE",
    "WHITE_RATING",
    "clear_facts",
    "is_tag",
    "read_tag",
]

NO_VALUE = -1
UNKNOWN_RESULT = 2

# Places of what the tags say in a row of facts; a text takes two, its first byte and the one behind its last.
RESULT, WHITE_RATING, BLACK_RATING, DATE = 0, 1, 2, 3
EVENT, SITE, WHITE, BLACK, ECO, TIME_CONTROL, VARIANT, FEN = 4, 6, 8, 10, 12, 14, 16, 18
FACTS = 20

_QUOTE, _BACKSLASH, _OPEN, _CLOSE, _NEWLINE, _RETURN, _BLANK, _TAB = 34, 92, 91, 93, 10, 13, 32, 9


def _word(name: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(name[:8], "little") + (len(name) << 56 if len(name) < 8 else 0))


_EVENT, _SITE, _WHITE, _BLACK = _word(b"Event"), _word(b"Site"), _word(b"White"), _word(b"Black")
_ECO, _VARIANT, _FEN, _DATE = _word(b"ECO"), _word(b"Variant"), _word(b"FEN"), _word(b"Date")
_RESULT, _WHITE_ELO, _BLACK_ELO = _word(b"Result"), _word(b"WhiteElo"), _word(b"BlackElo")
_TIME_CONTROL = _word(b"TimeControl")
_TIME_CONTROL_LENGTH = 11
_WORD_LENGTH = 8


@inlined
def _is_blank(byte: int) -> bool:
    return bool(byte in (_BLANK, _TAB))


@inlined
def _is_name(byte: int) -> bool:
    return bool(48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95)


def is_tag(data: Any, at: int) -> bool:
    """Whether a tag begins at an index: a bracket, a name, a blank and a quotation mark."""
    if data[at] != _OPEN:
        return False
    at += 1
    while _is_blank(data[at]):
        at += 1
    first = at
    while _is_name(data[at]):
        at += 1
    if at == first or not _is_blank(data[at]):
        return False
    while _is_blank(data[at]):
        at += 1
    return bool(data[at] == _QUOTE)


def _number(data: Any, at: int, end: int) -> Any:
    """Whole number that begins a text; -1 where there is none or one of more than four digits."""
    value: Any = 0
    first = at
    while at < end and 48 <= data[at] <= 57 and at - first < 5:
        value = value * 10 + np.int64(data[at]) - 48
        at += 1
    return value if 0 < at - first < 5 else NO_VALUE


def _date(data: Any, at: int, end: int) -> Any:
    """Date like ``1976.08.27`` as 19760827, unknown parts 0; -1 where the year is unknown."""
    year = _number(data, at, end)
    if year < 0 or end - at < 4:
        return NO_VALUE
    month, day = 0, 0
    if end - at >= 7:
        month = max(_number(data, at + 5, min(at + 7, end)), 0)
    if end - at >= 10 and month > 0:
        day = max(_number(data, at + 8, min(at + 10, end)), 0)
    return year * 10000 + month * 100 + day


def _result(data: Any, at: int, end: int) -> int:
    """1 for ``1-0``, -1 for ``0-1``, 0 for ``1/2-1/2``; :data:`UNKNOWN_RESULT` for all else."""
    if end - at >= 3 and data[at] == 49 and data[at + 1] == 45 and data[at + 2] == 48:
        return 1
    if end - at >= 3 and data[at] == 48 and data[at + 1] == 45 and data[at + 2] == 49:
        return -1
    if end - at >= 3 and data[at] == 49 and data[at + 1] == 47 and data[at + 2] == 50:
        return 0
    return UNKNOWN_RESULT


def clear_facts(facts: Any) -> None:
    """Make a row of facts that of a game without tags."""
    facts[:] = NO_VALUE
    facts[RESULT] = UNKNOWN_RESULT


@inlined
def _span_of(word: np.uint64) -> int:
    """Place of a text among the facts; -1 for a name that none goes by."""
    place = -1
    if word == _EVENT:
        place = EVENT
    elif word == _SITE:
        place = SITE
    elif word == _WHITE:
        place = WHITE
    elif word == _BLACK:
        place = BLACK
    elif word == _ECO:
        place = ECO
    elif word == _VARIANT:
        place = VARIANT
    elif word == _FEN:
        place = FEN
    return place


def read_tag(data: Any, at: int, end: int, facts: Any) -> int:
    """Read one tag into a row of facts.

    Parameters
    ----------
    data
        uint8 [B] with at least 16 bytes behind ``end``.
    at
        Index of the opening bracket.
    end
        Index behind the text.
    facts
        int64 [FACTS].

    Returns
    -------
    after
        Index behind the closing bracket, or the end of the line for what is no tag. Negative, with nothing read: it is
        ``[Event``, for the second time, so another game begins.
    """
    at += 1
    while at < end and _is_blank(data[at]):
        at += 1
    word = np.uint64(0)
    length = 0
    while at < end and _is_name(data[at]):
        if length < _WORD_LENGTH:
            word |= np.uint64(data[at]) << np.uint64(8 * length)
        length += 1
        at += 1
    if length < _WORD_LENGTH:
        word |= np.uint64(length) << np.uint64(56)
    while at < end and _is_blank(data[at]):
        at += 1
    begin = at + 1
    closed = False
    if at < end and data[at] == _QUOTE:
        at += 1
        while at < end and data[at] != _NEWLINE and data[at] != _RETURN:
            if data[at] == _QUOTE:
                behind = at + 1
                while behind < end and _is_blank(data[behind]):
                    behind += 1
                if behind < end and data[behind] == _CLOSE:
                    closed = True
                    break
            at += 1
    if not closed:
        while at < end and data[at] != _NEWLINE and data[at] != _RETURN:
            at += 1
        return at
    stop = at
    while data[at] != _CLOSE:
        at += 1
    if length <= _WORD_LENGTH:
        place = _span_of(word)
        if place >= 0:
            if place == EVENT and facts[EVENT] >= 0:
                return -1
            facts[place] = begin
            facts[place + 1] = stop
        elif word == _RESULT:
            facts[RESULT] = _result(data, begin, stop)
        elif word == _WHITE_ELO:
            facts[WHITE_RATING] = _number(data, begin, stop)
        elif word == _BLACK_ELO:
            facts[BLACK_RATING] = _number(data, begin, stop)
        elif word == _DATE:
            facts[DATE] = _date(data, begin, stop)
    elif length == _TIME_CONTROL_LENGTH and word == _TIME_CONTROL:
        facts[TIME_CONTROL] = begin
        facts[TIME_CONTROL + 1] = stop
    return at + 1
