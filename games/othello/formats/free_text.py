"""Games as people and other programs write them, where the fast readers of whole files do not know a line.

Numbered moves, moves between hyphens, letters and digits of full width, remarks behind ``#`` or ``%``, tags like those
of PGN, results as discs (``37-27``), as ``1-0`` or in words, resignations and lost clocks.
"""

import math
import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from glem.games.othello.notation import parse_square
from glem.games.othello.rules import INITIAL_POSITION, listed_moves, play

_REMARK = re.compile(r"(?:^|\s)[#%].*|^\s*\[\w+\s+\".*\"\]\s*$", re.DOTALL)
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_MOVE = re.compile(
    r"[\s,;]*(?:[-/|>](?!-)[\s,;]*)?(?:(\d{1,3})(?:\s*[.):]+|\s)\s*(?:-(?!-)\s*)?)?([a-h][1-8]|--|pass|pa|ps)",
    re.IGNORECASE | re.ASCII,
)
_AROUND = " \t\r\n,;:()[]\"'"
_BEFORE_RESULT = " \t\r,;("
_ENDING = re.compile(
    r"(?:\b(black|white|[bwxo])\b[\s:]*(?:has\s+)?)?"
    r"\b(?:resign(?:s|ed|ation)?|timed?[\s-]?out|(?:(?:lost|loses)\s+)?on\s+time|forfeit(?:s|ed)?)\b",
    re.IGNORECASE | re.ASCII,
)
_SCORE = re.compile(r"([+-]?\d{1,9}(?:\.\d{0,9})?)(:[a-z])?", re.IGNORECASE | re.ASCII)
_DISCS = re.compile(r"(\d{1,2})\s*[-:]\s*(\d{1,2})", re.ASCII)
_LEAST_DISCS = 4
_SQUARES = 64
_RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0, "1/2": 0, "black": 1, "white": -1, "draw": 0, "tie": 0}
_WHITE = ("white", "w", "o")
_WINS = re.compile(r"\s+w[io]ns?$")


class FreeText(NamedTuple):
    """A game, or a part of one.

    ``score`` is black's, nan where there is none; ``is_decided`` says that the game was resigned or lost on time, and
    ``number`` is the first number of a move, 0 where moves have none, and -1 for a line without anything.
    """

    moves: list[int]
    score: float = math.nan
    is_decided: bool = False
    number: int = 0


def parse_game(text: str) -> FreeText | None:
    """Read a line of a game, which is empty for a remark; None where it is something else.

    Numbers of moves must rise by one.
    """
    text = _REMARK.sub("", _plain(text))
    moves: list[int] = []
    numbers: list[int] = []
    at = 0
    while (found := _MOVE.match(text, at)) is not None:
        moves.append(parse_square(found[2]))
        if found[1]:
            numbers.append(int(found[1]))
        at = found.end()
    rest = text[at:]
    result = parse_result(rest) if not moves or not rest or rest[0] in _BEFORE_RESULT else None
    if result is None or any(second != first + 1 for first, second in pairwise(numbers)):
        return None
    is_remark = not moves and not result[1] and math.isnan(result[0])
    return FreeText(moves, *result, -1 if is_remark else numbers[0] if numbers else 0)


def _plain(text: str) -> str:
    """Replace characters of full width, and dashes of all lengths."""
    return unicodedata.normalize("NFKC", text).translate(_DASHES)


def begins_with_game(head: bytes) -> bool:
    """Whether the first line of a text that is no remark is a game of Othello, or a part of one."""
    for line in head.decode("utf-8", "ignore").splitlines():
        found = parse_game(line)
        if found is None:
            return False
        if found.number >= 0:
            position = INITIAL_POSITION
            for move in found.moves:
                if move not in listed_moves(position):
                    return False
                position = play(position, move)
            return len(found.moves) + found.number > 1
    return False


def parse_result(text: str) -> tuple[float, bool] | None:
    """Read black's score, nan where there is none, and whether the game was resigned or lost on time.

    None where the text is something else.
    """
    text = _plain(text)
    ending = _ENDING.search(text)
    if ending is not None:
        text = f"{text[: ending.start()]} {text[ending.end() :]}"
    text = _WINS.sub("", text.strip(_AROUND).lower())
    score, discs = _SCORE.fullmatch(text), _DISCS.fullmatch(text)
    is_decided = ending is not None or (score is not None and score[2] is not None)
    if not text:
        loser = "" if ending is None or ending[1] is None else ending[1].lower()
        return (_SQUARES if loser in _WHITE else -_SQUARES) if loser else math.nan, is_decided
    if text in _RESULTS:
        return _RESULTS[text], is_decided
    if score is not None:
        return float(score[1]), is_decided
    if discs is not None and _LEAST_DISCS <= int(discs[1]) + int(discs[2]) <= _SQUARES:
        return int(discs[1]) - int(discs[2]), is_decided
    return None
