"""Scores that engines leave in the comments of PGN files: ``+0.31/14 3s``, ``[%eval 0.31]``, ``wv=0.31``, ``ev=0.31``.

A score is read as it is written, in whatever unit and from whatever side. Mates are ``M12``, ``-M5``, ``#5`` or
``#-5``. What stands at the beginning of a comment counts as a plain score only with a sign, a fraction or a mate, and
with a blank, a comma, a slash or the end of the comment behind it, so that no move number is taken for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.kernels import inlined

__all__ = ["EV", "EVAL", "NO_SCORE", "PLAIN", "UNCLOSED", "WV", "read_comment"]

NO_SCORE, PLAIN, EVAL, WV, EV = 0, 1, 2, 3, 4
"""How a comment gives its score."""

UNCLOSED = -1
"""What stands for the end of a comment that has none."""

_MOST_DIGITS = 9


def _stops() -> NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for byte in b"}=%\n":
        table[byte] = 1
    return table


_STOPS = _stops()


@inlined
def _is_digit(byte: int) -> bool:
    return bool(48 <= byte <= 57)


@inlined
def _is_letter(byte: int) -> bool:
    return bool(97 <= (byte | 32) <= 122)


def _score_at(data: Any, at: int) -> tuple[int, float, Any, bool]:
    """Index behind a score (the given one where there is none), the score, moves to a mate, and whether it is marked.

    Marked are scores with a sign, a fraction or a mate. The index lies within the data, which have 16 further bytes.
    """
    place = at
    negative = False
    mate = False
    marked = False
    for _ in range(2):
        if data[place] == 43 or data[place] == 45:
            negative = data[place] == 45
            marked = True
            place += 1
        if not mate and (data[place] == 77 or data[place] == 35):
            mate = True
            marked = True
            place += 1
    digits = 0
    value = 0.0
    while _is_digit(data[place]) and digits < _MOST_DIGITS:
        value = value * 10.0 + (np.int64(data[place]) - 48)
        digits += 1
        place += 1
    if mate:
        if digits == 0:
            return at, np.nan, 0, False
        return place, (-np.inf if negative else np.inf), np.int64(min(value, 32767.0)), True
    if data[place] == 46 and _is_digit(data[place + 1]):
        marked = True
        place += 1
        unit = 1.0
        while _is_digit(data[place]) and digits < _MOST_DIGITS:
            value = value * 10.0 + (np.int64(data[place]) - 48)
            unit *= 10.0
            digits += 1
            place += 1
        value /= unit
    if digits == 0:
        return at, np.nan, 0, False
    return place, (-value if negative else value), 0, marked


@inlined
def _ends_score(byte: int) -> bool:
    """Whether a byte is a blank, a line end, or one of ``,/});``."""
    return bool(byte <= 32 or byte == 44 or byte == 47 or byte == 125 or byte == 41 or byte == 59)


def _begins_event(data: Any, at: int) -> bool:
    r"""Whether ``[Event "`` stands at an index."""
    return bool(
        data[at] == 91
        and data[at + 1] == 69
        and data[at + 2] == 118
        and data[at + 3] == 101
        and data[at + 4] == 110
        and data[at + 5] == 116
        and data[at + 6] == 32
        and data[at + 7] == 34
    )


def read_comment(data: Any, at: int, end: int) -> tuple[int, int, float, int, bool]:
    """Read a comment in braces.

    Parameters
    ----------
    data
        uint8 [B]; ``data[end]`` is a closing brace, and at least 16 bytes follow it.
    at
        Index behind the opening brace.
    end
        Index behind the text.

    Returns
    -------
    after
        Index behind the closing brace; ``end + 1`` where the text ends before it, :data:`UNCLOSED` where a game begins
        before it.
    kind
        :data:`NO_SCORE`, :data:`PLAIN` and so on. Of several scores ``wv=`` goes before ``%eval`` before the first.
    score
        As written; infinite for a mate.
    mate
        Moves to the mate, 0 where there is none.
    book
        Whether the comment is ``book``: the move was not the player's own.
    """
    while at < end and data[at] <= 32:
        at += 1
    kind, score, mate = NO_SCORE, np.nan, 0
    book = data[at] == 98 and data[at + 1] == 111 and data[at + 2] == 111 and data[at + 3] == 107
    if not book and not 97 <= data[at] <= 122:
        after, value, moves, marked = _score_at(data, at)
        if marked and _ends_score(data[after]):
            kind, score, mate = PLAIN, value, moves
    while True:
        while _STOPS[data[at]] == 0:
            at += 1
        byte = data[at]
        if at >= end or byte == 125:
            break
        if byte == 61:
            if data[at - 1] == 118 and not _is_letter(data[at - 3]):
                first = data[at - 2]
                if first == 119 or (first == 101 and kind == NO_SCORE):
                    after, value, moves, _ = _score_at(data, at + 1)
                    if after > at + 1:
                        kind, score, mate = (WV if first == 119 else EV), value, moves
        elif byte == 37:
            if (
                kind != WV
                and data[at + 1] == 101
                and data[at + 2] == 118
                and data[at + 3] == 97
                and data[at + 4] == 108
                and data[at + 5] == 32
            ):
                after, value, moves, _ = _score_at(data, at + 6)
                if after > at + 6:
                    kind, score, mate = EVAL, value, moves
        elif _begins_event(data, at + 1):
            return UNCLOSED, kind, score, mate, book
        at += 1
    return at + 1, kind, score, mate, book
