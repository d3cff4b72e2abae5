"""Results of PGN, ``1-0`` and so on, also as people write them: ``1/2``, ``1/2 - 1/2``, ``½-½``, ``O-1``, ``1–0``."""

from typing import Any

import numpy as np

from glem.core.compiling import characters as char

UNKNOWN_RESULT = 2
"""What stands for White's score in a game without one."""

_SCORES = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}
_USUAL_SIGNS = str.maketrans(
    {" ": "", "\u00bd": "1/2", "O": "0"} | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015", "-")
)


def usual_result(text: str) -> str:
    """Spell a result as the standard has it."""
    text = text.translate(_USUAL_SIGNS)
    return "1/2-1/2" if text == "1/2" else text


def score_of_result(text: str) -> float:
    """White's score by a result; nan for ``*`` and every other text."""
    return _SCORES.get(usual_result(text), float("nan"))


def _half_text(data: Any, at: Any) -> Any:
    """Length of a half, ``1/2`` or the one sign for it in UTF-8 or Latin-1, at an index; 0 for none."""
    if data[at] == char.DIGIT_ONE and data[at + 1] == char.SOLIDUS and data[at + 2] == char.DIGIT_TWO:
        return 3
    if data[at] == 0xC2 and data[at + 1] == 0xBD:
        return 2
    return np.int64(data[at] == 0xBD)


def _dash_text(data: Any, at: Any) -> Any:
    """Length of a dash, hyphen to em dash, with a blank before and behind it, at an index; 0 for none."""
    place = at + (data[at] == char.SPACE)
    if data[place] == char.HYPHEN:
        place += 1
    elif data[place] == 0xE2 and data[place + 1] == 0x80 and 0x90 <= data[place + 2] <= 0x95:
        place += 3
    else:
        return 0
    return place + (data[place] == char.SPACE) - at


def result_text(data: Any, at: Any) -> tuple[Any, int]:
    """Length of a result at an index (0 for none), and White's score by it; people write ``O`` for ``0`` too."""
    byte = data[at]
    if byte == char.ASTERISK:
        return 1, UNKNOWN_RESULT
    half = _half_text(data, at)
    if half > 0:
        dash = _dash_text(data, at + half)
        other = _half_text(data, at + half + dash) if dash > 0 else 0
        return (half + dash + other if other > 0 else half), 0
    behind = at + 1 + _dash_text(data, at + 1)
    if behind > at + 1:
        if byte == char.DIGIT_ONE and (data[behind] == char.DIGIT_ZERO or data[behind] == char.CAPITAL_O):
            return behind + 1 - at, 1
        if (byte == char.DIGIT_ZERO or byte == char.CAPITAL_O) and data[behind] == char.DIGIT_ONE:
            return behind + 1 - at, -1
    return 0, UNKNOWN_RESULT
