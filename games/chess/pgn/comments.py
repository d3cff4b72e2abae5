"""Scores that engines leave in comments: ``+0.31/14 3s``, ``[%eval 0.31]``, ``wv=0.31``, ``ev=0.31``, ``[%ce 31]``.

A score is read as it is written, in whatever unit and from whatever side. Mates are ``M12``, ``-M5``, ``#5`` or
``#-5``; a comma with a digit behind it begins a fraction, but behind ``%eval`` a depth. What stands at the beginning of
a comment, or behind a move in parentheses there (``(e7e5) -0.20/14``), counts as a plain score only with a sign, a
fraction or a mate, and with a blank, a comma, a slash or the end of the comment behind it, so that no move number is
taken for one.
"""

from typing import Any

import numpy as np

from glem.core.compiling import characters as char

NO_SCORE, PLAIN, EVAL, WV, EV, CE = 0, 1, 2, 3, 4, 5
"""How a comment gives its score."""

_MOST_DIGITS = 9
_STOP, _DIGIT, _LETTER, _BEHIND_SCORE = 1, 2, 4, 8
_MOST_MOVES = 32767.0
_BOOK, _EVAL_TAG, _CE_TAG, _EVENT = (
    np.frombuffer(text, np.uint8) for text in (b"book", b"%eval", b"%ce ", b'[Event "')
)
_MINUS, _DASH = (np.frombuffer(sign.encode(), np.uint8) for sign in "\u2212\u2013")


_CLASSES = char.classes(
    (bytes(range(33)) + b",/);", _BEHIND_SCORE),
    (char.DIGITS, _DIGIT),
    (char.LETTERS, _LETTER),
    (b"=%", _STOP),
    (b"}\n", _STOP | _BEHIND_SCORE),
)


def _stands_at(data: Any, at: int, text: Any) -> bool:
    """Whether a text, uint8 [B], stands at an index."""
    place = 0
    while place < len(text) and data[at + place] == text[place]:
        place += 1
    return place == len(text)


def _score_at(data: Any, at: int, is_tag: bool) -> tuple[int, float, Any, bool]:
    """Index behind a score (the given one where there is none), the score, moves to a mate, and whether it is marked.

    Marked are scores with a sign, a fraction or a mate. No comma begins a fraction in a tag. Data must follow the
    index, 16 bytes or more.
    """
    place = at
    while data[place] == char.SPACE:
        place += 1
    negative = False
    mate = False
    marked = False
    for _ in range(3):
        byte = data[place]
        if byte == char.PLUS_SIGN or byte == char.HYPHEN:
            negative = byte == char.HYPHEN
        elif byte == char.CAPITAL_M or byte == char.NUMBER_SIGN:
            mate = True
        elif _stands_at(data, place, _MINUS) or _stands_at(data, place, _DASH):
            negative = True
            place += 2
        else:
            break
        marked = True
        place += 1
    digits = 0
    value = 0.0
    unit = 1.0
    fraction = False
    while digits < _MOST_DIGITS:
        byte = data[place]
        if _CLASSES[byte] & _DIGIT != 0:
            value = value * 10.0 + (np.int64(byte) - char.DIGIT_ZERO)
            digits += 1
            if fraction:
                unit *= 10.0
        elif (
            (byte == char.FULL_STOP or (byte == char.COMMA and not is_tag))
            and digits > 0
            and not (fraction or mate)
            and _CLASSES[data[place + 1]] & _DIGIT
        ):
            fraction = True
            marked = True
        else:
            break
        place += 1
    if digits == 0:
        return at, np.nan, np.int64(0), False
    value /= unit
    moves = np.int64(0)
    if mate:
        moves = np.int64(min(value, _MOST_MOVES))
        value = np.inf
    return place, (-value if negative else value), moves, marked


def read_comment(data: Any, at: int, end: int) -> tuple[int, Any, float, Any, bool]:
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
        Index behind the closing brace; ``end + 1`` where the text ends before it. Negative where a line before it
        begins with ``[Event "``: minus the index of that bracket, for the brace was forgotten.
    kind
        :data:`NO_SCORE`, :data:`PLAIN` and so on. Of several scores ``wv=`` goes before ``%eval`` before the first.
    score
        As written; infinite for a mate.
    mate
        Moves to the mate, 0 where there is none.
    book
        Whether the comment is ``book``: the move was not the player's own.
    """
    while at < end and data[at] <= char.SPACE:
        at += 1
    kind, score, mate = np.int64(NO_SCORE), np.nan, np.int64(0)
    book = _stands_at(data, at, _BOOK)
    # A score that may stand at an index, and how it is given; first of all where the comment begins.
    place = at
    if data[at] == char.LEFT_PARENTHESIS:
        while data[place] != char.RIGHT_PARENTHESIS and data[place] != char.RIGHT_BRACE:
            place += 1
        place += data[place] == char.RIGHT_PARENTHESIS
    given = np.int64(PLAIN)
    while True:
        if given != NO_SCORE:
            after, value, moves, marked = _score_at(data, place, given == EVAL or given == CE)
            if after > place and (given != PLAIN or (marked and _CLASSES[data[after]] & _BEHIND_SCORE != 0)):
                kind, score, mate = given, value, moves
            given = np.int64(NO_SCORE)
        while _CLASSES[data[at]] & _STOP == 0:
            at += 1
        byte = data[at]
        if at >= end or byte == char.RIGHT_BRACE:
            break
        if byte == char.EQUALS_SIGN:
            if data[at - 1] == char.SMALL_V and _CLASSES[data[at - 3]] & _LETTER == 0:
                if data[at - 2] == char.SMALL_W:
                    given = np.int64(WV)
                elif data[at - 2] == char.SMALL_E and kind == NO_SCORE:
                    given = np.int64(EV)
                place = at + 1
        elif byte == char.PERCENT_SIGN:
            if kind != WV and _stands_at(data, at, _EVAL_TAG):
                given = np.int64(EVAL)
                place = at + 6
            elif kind == NO_SCORE and _stands_at(data, at, _CE_TAG):
                given = np.int64(CE)
                place = at + 4
        elif _stands_at(data, at + 1, _EVENT):
            return -at - 1, kind, score, mate, book
        at += 1
    return at + 1, kind, score, mate, book
