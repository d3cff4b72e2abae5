"""Games and positions as people and other programs write them, where the fast readers do not know a line.

Numbered moves, moves between hyphens, letters and digits of full width, remarks behind ``#`` or ``%``, tags like those
of PGN, results as discs (``37-27``), as ``1-0`` or in words, resignations and lost clocks. Boards of ``●`` and ``○``,
of 0, 1 and 2, in eight rows, or as two hexadecimal numbers, with a score or with those of their moves.
"""

import math
import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.games.othello.notation import parse_position, parse_square
from glem.games.othello.rules import INITIAL_POSITION, PASS, Position, listed_moves, play

_REMARK = re.compile(r"(?:^|\s)[#%].*|^\s*\[\w+\s+\".*\"\]\s*$", re.DOTALL)
_BEHIND_REMARK = re.compile(r"\s[#%].*", re.DOTALL)
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_MOVE = re.compile(
    r"[\s,;\"'[\]]*(?:[-/|>](?!-)[\s,;]*)?(?:(\d{1,3})(?:\s*[.):]+|\s)\s*(?:-(?!-)\s*)?)?([a-h][1-8]|--|pass|pa|ps)",
    re.IGNORECASE | re.ASCII,
)
_NUMBER_ALONE = re.compile(r"\s*(\d{1,3})\s*[.):]+\s*", re.ASCII)
_AROUND = " \t\r\n,;:()[]\"'"
_BEFORE_RESULT = " \t\r,;("
_ENDING = re.compile(
    r"(?:\b(black|white|[bwxo])\b[\s:]*(?:has\s+)?)?"
    r"\b(?:resign(?:s|ed|ation)?|timed?[\s-]?out|(?:(?:lost|loses)\s+)?on\s+time|forfeit(?:s|ed)?)\b|\b([bw])\+[rt]\b",
    re.IGNORECASE | re.ASCII,
)
_SCORE = re.compile(r"([+-]?\d{1,9}(?:\.\d{0,9})?)(:[a-z])?", re.IGNORECASE | re.ASCII)
_DISCS = re.compile(r"(\d{1,2})\s*[-:]\s*(\d{1,2})", re.ASCII)
_LEAST_DISCS = 4
_SQUARES = 64
_RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0, "1/2": 0, "black": 1, "white": -1, "draw": 0, "tie": 0}
_WHITE = ("white", "w", "o")
_CHARACTERS = str.maketrans("\u26ab\u2b24\u25cf@\u26aa\u25ef\u3007\u25cb\u30fb\u00b7\u25a1", "XXXXOOOO---")
_CONTENTS = "-._+XxOo*BbWw#012"
_SQUARE = f"[{_CONTENTS}]"
_BOARD = re.compile(rf"{_SQUARE}{{64}}")
_ROWS = re.compile(rf"(?:{_SQUARE}{{8}}[\s/|,]+){{7}}{_SQUARE}{{8}}")
_LABEL = re.compile(rf"^#?\d{{1,4}}[.):]*\s+(?={_SQUARE}{{64}})")
_BITS = r"(?:0x|(?=[0-9a-f]{16}\b))([0-9a-f]{1,16})\b"
_HEXADECIMAL = re.compile(rf"{_BITS}[\s,;:/|]+{_BITS}", re.IGNORECASE | re.ASCII)
_HEXADECIMAL_REMARK = "hexadecimal boards: the discs of the side to move, then the other's, a1 the lowest bit"
_NAME = r"(black|white|[xobw*]|#(?=\s*;))(?![\w:])(?:\s+to\s+(?:move|play)\b)?"
_SIDE = re.compile(rf"[\s,;]*(?:\(\s*{_NAME}\s*\)|{_NAME})", re.IGNORECASE | re.ASCII)
_DIGIT_SIDE = re.compile(r"[\s,;]*([12])(?=[\s,;]+\S|[\s,;]*$)", re.ASCII)
_SCORE_AND_MOVE = re.compile(
    r"(?:([a-h][1-8])[\s,;=]+)?([+-]?\d{1,9}(?:\.\d{0,9})?)(?:[\s,;]+([a-h][1-8]))?", re.IGNORECASE | re.ASCII
)
_MOVE_SCORE = re.compile(r"\s*([a-h][1-8]|--|pass)\s*:\s*([+-]?\d{1,4}(?:\.\d{1,4})?)\s*", re.IGNORECASE | re.ASCII)
_SHOWN = 20
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
    rest = text[at:].lstrip("\"']")
    if numbers and (follows := _NUMBER_ALONE.fullmatch(rest)) and int(follows[1]) == numbers[-1] + 1:
        # Its move is on the next line.
        rest = ""
    result = parse_result(rest) if not moves or not rest or rest[0] in _BEFORE_RESULT else None
    if result is None or any(second != first + 1 for first, second in pairwise(numbers)):
        return None
    is_remark = not moves and not result[1] and math.isnan(result[0])
    return FreeText(moves, *result, -1 if is_remark else numbers[0] if numbers else 0)


def _plain(text: str) -> str:
    """Replace characters of full width, and dashes of all lengths."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_DASHES)


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
        loser, winner = ("", "") if ending is None else ((name or "").lower() for name in ending.groups())
        black_wins = loser in _WHITE or winner == "b"
        return (_SQUARES if black_wins else -_SQUARES) if loser or winner else math.nan, is_decided
    if text in _RESULTS:
        return _RESULTS[text], is_decided
    if score is not None:
        return float(score[1]), is_decided
    if discs is not None and _LEAST_DISCS <= int(discs[1]) + int(discs[2]) <= _SQUARES:
        return int(discs[1]) - int(discs[2]), is_decided
    return None


class FreePosition(NamedTuple):
    """A position, and the score for the side to move: its own, the best of its moves', or nan.

    ``is_obf`` says that the line is one of OBF, with scores of moves, or a semicolon and nothing behind it; ``remark``
    says how the board was understood.
    """

    position: Position
    score: float
    is_obf: bool
    remark: str


def parse_scored_position(text: str) -> FreePosition | None:
    """Read a position with its score or those of its moves; None for a remark or an empty line.

    Raises
    ------
    BadInputError
        It is no position, or one of several meanings.
    """
    text = _plain(text).strip(" \t\r\n,")
    if "@" in text or not text.isascii():
        text = text.translate(_CHARACTERS)
    text = _LABEL.sub("", text)
    bits = _HEXADECIMAL.match(text)
    found = bits or _BOARD.match(text) or _ROWS.match(text)
    if found is None and text[:1] in ("", "%", "#"):
        return None
    if found is None:
        squares = len(text) - len(text.lstrip(_CONTENTS))
        raise BadInputError(
            f"{text[:_SHOWN]!a} begins with {counted(squares, 'square')}; a board has 64, of X, O and -"
        )
    board, remark = ("", _HEXADECIMAL_REMARK) if bits else _canonical(re.sub(r"[\s/|,]", "", found[0]))
    behind = _SIDE.match(text, found.end()) or (_DIGIT_SIDE.match(text, found.end()) if remark and not bits else None)
    side, rest = (
        ("x", text[found.end() :]) if behind is None else (behind[behind.lastindex or 1].lower(), text[behind.end() :])
    )
    rest = _BEHIND_REMARK.sub("", rest).strip(" \t\r,;")
    if side.isdigit() and not rest:
        raise BadInputError(f"whether {side} is the side to move or a score is not clear; write X or O for the side")
    is_white = side in ("white", "w", "o", "2")
    if bits:
        position = _of_bits(*(int(bits[place], 16) for place in (1, 2)), is_white=is_white)
    else:
        position = parse_position(f"{board} {'O' if is_white else 'X'}")
    if ":" in rest:
        return FreePosition(position, _best_score(position, rest.split(";")), True, remark)
    told = _SCORE_AND_MOVE.fullmatch(rest)
    if rest and (told is None or abs(float(told[2])) > _SQUARES):
        raise BadInputError(f"{rest[:_SHOWN]!a} is no score from -64 to 64, and no moves with theirs, like E1:+4")
    for move in filter(None, (told[1], told[3]) if told else ()):
        if parse_square(move) not in listed_moves(position):
            raise BadInputError(f"{move} is no legal move there")
    return FreePosition(position, float(told[2]) if told else math.nan, not rest and ";" in text, remark)


def first_position(head: bytes) -> FreePosition | None:
    """Read the first position of a text, behind remarks; None where something else stands there."""
    for line in head.decode("utf-8", "replace").splitlines():
        try:
            found = parse_scored_position(line)
        except BadInputError:
            # What is wrong with a board is told where it is read.
            return FreePosition(INITIAL_POSITION, math.nan, ":" in line, "") if _BOARD.match(line.strip()) else None
        if found is not None:
            return found
    return None


def _of_bits(first: int, second: int, *, is_white: bool) -> Position:
    if first & second:
        raise BadInputError("the two boards share squares; expected the discs of the side to move, then the other's")
    if is_white:
        raise BadInputError("whose discs come first is not clear; write those of the side to move first, and no side")
    return Position(np.uint64(first), np.uint64(second))


def _canonical(board: str) -> tuple[str, str]:
    """Squares as X, O and -, and how digits were understood."""
    kinds = set(board)
    if kinds <= set("012"):
        return board.translate(str.maketrans("012", "-XO")), "boards of 0, 1 and 2: empty, black, white"
    if kinds & set("12"):
        digits = "".join(sorted(kinds & set("012")))
        raise BadInputError(
            f"whose discs the digits {', '.join(digits)} are is not clear; `tr {digits} XO` makes the first black's, "
            f"`tr {digits} OX` white's"
        )
    return board.replace("+", "-"), ""


def _best_score(position: Position, entries: Iterable[str]) -> float:
    """Give the best of the scores of moves, like ``E1:+4``; nan where there is none.

    Raises
    ------
    BadInputError
        A text is no legal move with its score, or a move has two.
    """
    legal = listed_moves(position)
    scores: dict[int, float] = {}
    for entry in filter(str.strip, entries):
        match = _MOVE_SCORE.fullmatch(entry)
        if match is None:
            raise BadInputError(f"{entry.strip()[:_SHOWN]!a} is no move with its score, like E1:+4")
        move, score = parse_square(match[1]), float(match[2])
        if move == PASS and PASS not in legal:
            continue
        if move not in legal:
            raise BadInputError(f"{match[1]} is no legal move there")
        if move in scores:
            raise BadInputError(f"{match[1]} has two scores")
        if abs(score) > _SQUARES:
            raise BadInputError(f"the score {match[2]} of {match[1]} is not between {-_SQUARES} and {_SQUARES}")
        scores[move] = score
    return max(scores.values(), default=math.nan)
