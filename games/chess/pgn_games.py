"""Games out of the bytes of a PGN file: tags, moves played on a board, comments, results, in one pass.

How the text is understood, where the standard leaves room and files differ:

- A game ends with its result, or where the next tags begin. Blank lines mean nothing, so that doubled ones do no harm.
- After the result nothing but comments may follow on the line.
- Variations are passed over unread; so are NAGs, move numbers, marks like ``!?`` and words that hold no move.
- A move with a foreign letter right before it (``Sf3``, ``nf3``) is none: reading ``f3`` there would be a guess.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.kernels import inlined
from glem.core.operations import position_at
from glem.games.chess.generation import MOST_CLOCK
from glem.games.chess.pgn_comments import NO_SCORE, UNCLOSED, read_comment
from glem.games.chess.pgn_moves import ILLEGAL_MOVE, castling_move, leaves_king_in_check, meant_move
from glem.games.chess.pgn_tags import FACTS, FEN, RESULT, UNKNOWN_RESULT, clear_facts, is_tag, read_tag
from glem.games.chess.playing import play

__all__ = [
    "AT",
    "BEGIN",
    "COLUMNS",
    "END",
    "LAST_MOVE",
    "PLY",
    "ROOM_BEHIND",
    "START",
    "STATUS",
    "Status",
    "read_games",
]

ROOM_BEHIND = 16
"""Bytes that must follow the text, the first of them a closing brace, the others zero."""

# Places in a row of facts, behind those of the tags.
BEGIN, END, LAST_MOVE, STATUS, AT, PLY, START = FACTS, FACTS + 1, FACTS + 2, FACTS + 3, FACTS + 4, FACTS + 5, FACTS + 6
COLUMNS = FACTS + 7
"""Values in a row of facts."""


class Status:
    """What became of a game."""

    GOOD = 0
    UNREADABLE_START = 1
    NO_GAME = 2
    ILLEGAL = 3
    AMBIGUOUS = 4
    NOT_A_MOVE = 5
    NULL_MOVE = 6
    AFTER_THE_END = 7
    AFTER_THE_RESULT = 8
    OPEN_COMMENT = 9
    OPEN_VARIATION = 10
    NO_RESULT = 11


_GOOD = 0
_UNREADABLE_START = Status.UNREADABLE_START
_NO_GAME = Status.NO_GAME
_ILLEGAL = Status.ILLEGAL
_AMBIGUOUS = Status.AMBIGUOUS
_NOT_A_MOVE = Status.NOT_A_MOVE
_NULL_MOVE = Status.NULL_MOVE
_AFTER_THE_END = Status.AFTER_THE_END
_AFTER_THE_RESULT = Status.AFTER_THE_RESULT
_OPEN_COMMENT = Status.OPEN_COMMENT
_OPEN_VARIATION = Status.OPEN_VARIATION
_NO_RESULT = Status.NO_RESULT

_OTHER, _BLANK, _LINE_END, _DIGIT, _PIECE, _FILE, _CASTLING, _OPEN, _CLOSE, _BRACE, _REST, _NAG, _STAR = range(13)
_LETTER, _DASH, _AT_SIGN, _BRACKET = 13, 14, 15, 16


def _classes() -> NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    table[128:] = _LETTER
    for first, last in (("A", "Z"), ("a", "z")):
        table[ord(first) : ord(last) + 1] = _LETTER
    for text, kind in (
        (" \t\v\f", _BLANK),
        ("\n\r", _LINE_END),
        ("0123456789", _DIGIT),
        ("NBRQK", _PIECE),
        ("abcdefgh", _FILE),
        ("O", _CASTLING),
        ("(", _OPEN),
        (")", _CLOSE),
        ("{", _BRACE),
        (";", _REST),
        ("$", _NAG),
        ("*", _STAR),
        ("-", _DASH),
        ("@", _AT_SIGN),
        ("[", _BRACKET),
    ):
        for letter in text:
            table[ord(letter)] = kind
    return table


def _kinds() -> NDArray[np.int8]:
    """Kind of piece by its letter, upper case or lower: 1 for a knight to 5 for a king."""
    table = np.zeros(256, np.int8)
    for kind, letter in enumerate("NBRQK", 1):
        table[ord(letter)] = table[ord(letter.lower())] = kind
    return table


_CLASSES = _classes()
_KINDS = _kinds()


@inlined
def _is_file(byte: int) -> bool:
    return bool(97 <= byte <= 104)


@inlined
def _is_rank(byte: int) -> bool:
    return bool(49 <= byte <= 56)


@inlined
def _is_separator(byte: int) -> bool:
    return bool(byte == 120 or byte == 45)


def _move_text(data: Any, at: int) -> tuple[int, Any, Any, Any, Any, Any]:
    """Index behind a move (the given one where there is none), kind, file, rank, target and promotion."""
    place = at
    kind = np.int64(0)
    if _CLASSES[data[at]] == _PIECE:
        kind = np.int64(_KINDS[data[at]])
        place += 1
    file, rank = np.int64(-1), np.int64(-1)
    if _is_file(data[place]) and _is_rank(data[place + 1]):
        further = place + 2
        if _is_separator(data[further]):
            further += 1
        if _is_file(data[further]) and _is_rank(data[further + 1]):
            file, rank = np.int64(data[place]) - 97, np.int64(data[place + 1]) - 49
            place = further
    elif _is_file(data[place]):
        file = np.int64(data[place]) - 97
        place += 1
        if _is_separator(data[place]):
            place += 1
    elif kind != 0:
        if _is_rank(data[place]):
            rank = np.int64(data[place]) - 49
            place += 1
        if _is_separator(data[place]):
            place += 1
    if not (_is_file(data[place]) and _is_rank(data[place + 1])):
        return at, kind, file, rank, np.int64(0), np.int64(0)
    target = np.int64(data[place]) - 97 + 8 * (np.int64(data[place + 1]) - 49)
    place += 2
    promotion = np.int64(0)
    if data[place] == 61:
        promotion = np.int64(_KINDS[data[place + 1]])
        if promotion != 0:
            place += 2
    elif kind == 0 and (target < 8 or target >= 56) and _KINDS[data[place]] != 0:
        promotion = np.int64(_KINDS[data[place]])
        place += 1
    return place, kind, file, rank, target, promotion


@inlined
def _castling_length(data: Any, at: int) -> int:
    """Bytes of ``O-O`` (3) or ``O-O-O`` (5), written with letters or zeros, at an index; 0 for all else."""
    letter = data[at]
    if data[at + 1] != 45 or data[at + 2] != letter:
        return 0
    return 5 if data[at + 3] == 45 and data[at + 4] == letter else 3


def _skip_line(data: Any, at: int, end: int) -> int:
    while at < end and _CLASSES[data[at]] != _LINE_END:
        at += 1
    return at


def _next_tag(data: Any, at: int, end: int) -> int:
    """Index of the next tag at the beginning of a line, or ``end``."""
    while at < end:
        if (data[at] == 10 or data[at] == 13) and is_tag(data, at + 1):
            return at + 1
        at += 1
    return end


def _skip_to_game(data: Any, at: int, end: int) -> int:
    """Index of the first byte of a game; ``end`` where there is none; negative where a comment has no end."""
    fresh = True
    while at < end:
        byte = data[at]
        if byte == 10 or byte == 13:
            fresh = True
            at += 1
        elif byte <= 32 or byte == 0xEF or byte == 0xBB or byte == 0xBF:
            # Also byte order marks, which stand in the middle of a file that was put together of several.
            at += 1
        elif (byte == 37 and fresh) or byte == 59:
            at = _skip_line(data, at, end)
        elif byte == 123:
            after = read_comment(data, at + 1, end)[0]
            if after > end:
                return -1
            at = _next_tag(data, at, end) if after == UNCLOSED else after
            fresh = False
        else:
            return at
    return end


def _skip_to_tag(data: Any, at: int, end: int) -> int:
    """Index of the next byte behind blanks, line ends and escaped lines."""
    fresh = False
    while at < end:
        byte = data[at]
        if byte == 10 or byte == 13:
            fresh = True
        elif (byte == 37 or byte == 59) and fresh:
            at = _skip_line(data, at, end)
            continue
        elif byte > 32:
            break
        at += 1
    return at


@inlined
def _result_at(data: Any, at: int) -> tuple[int, int]:
    """Return the result and its length at a digit or a star; length 0 where there is none."""
    if data[at] == 42:
        return UNKNOWN_RESULT, 1
    if data[at] == 49 and data[at + 1] == 45 and data[at + 2] == 48:
        return 1, 3
    if data[at] == 48 and data[at + 1] == 45 and data[at + 2] == 49:
        return -1, 3
    if (
        data[at] == 49
        and data[at + 1] == 47
        and data[at + 2] == 50
        and data[at + 3] == 45
        and data[at + 4] == 49
        and data[at + 5] == 47
        and data[at + 6] == 50
    ):
        return 0, 7
    return UNKNOWN_RESULT, 0


def _line_begin(data: Any, at: int, end: int) -> tuple[int, bool]:
    """Index of the first byte of a line that counts, and whether a tag begins there."""
    while at < end and data[at] == 37:
        at = _skip_line(data, at, end)
        while at < end and _CLASSES[data[at]] == _LINE_END:
            at += 1
    place = at
    while place < end and _CLASSES[data[place]] == _BLANK:
        place += 1
    return at, place < end and data[place] == 91 and is_tag(data, place)


def _movetext(
    data: Any, at: int, end: int, position: Any, facts: Any, moves: Any, scores: Any, mates: Any, kinds: Any, books: Any
) -> tuple[int, bool]:
    """Read moves up to the end of a game.

    Returns
    -------
    after
        Index behind the game.
    ended
        Whether it ended: with its result and line, or at another game's tags, not merely at the end of the text.
    """
    first = facts[LAST_MOVE]
    count = first
    status = facts[STATUS]
    depth = 0
    letter_end: Any = np.int64(-1)
    has_result = False
    ended = False
    while at < end:
        byte = data[at]
        kind = _CLASSES[byte]
        if kind == _BLANK:
            at += 1
            continue
        if kind == _LINE_END:
            if has_result:
                ended = True
                break
            at += 1
            at, ended = _line_begin(data, at, end)
            if ended:
                break
            continue
        if kind == _BRACE:
            after, scored, score, mate, book = read_comment(data, at + 1, end)
            if after > end:
                facts[AT] = at
                at = end
                facts[STATUS] = _OPEN_COMMENT
                facts[LAST_MOVE] = first
                break
            if after == UNCLOSED:
                if status == _GOOD:
                    status = _OPEN_COMMENT
                    facts[AT] = at
                # The line of the next tag ends the game.
                at = _next_tag(data, at, end)
                ended = True
                break
            if depth == 0 and count > first and status == _GOOD and not has_result:
                place = count - 1
                if scored != NO_SCORE and kinds[place] == NO_SCORE:
                    kinds[place] = scored
                    scores[place] = score
                    mates[place] = mate
                if book:
                    books[place] = True
            at = after
            continue
        if kind == _REST:
            at = _skip_line(data, at, end)
            continue
        if kind == _OPEN:
            depth += 1
            at += 1
            continue
        if depth > 0:
            if kind == _CLOSE:
                depth -= 1
            at += 1
            continue
        if kind == _NAG:
            at += 1
            while _CLASSES[data[at]] == _DIGIT:
                at += 1
            continue
        if has_result and kind == _BRACKET and is_tag(data, at):
            ended = True
            break
        if kind in (_DIGIT, _STAR):
            result, length = _result_at(data, at)
            if length > 0:
                has_result = True
                if facts[RESULT] == UNKNOWN_RESULT:
                    facts[RESULT] = result
                at += length
                continue
            if byte != 48 or data[at + 1] != 45 or data[at + 2] != 48:
                if byte == 48 and data[at + 1] == 48 and data[at + 2] == 48 and data[at + 3] == 48 and status == _GOOD:
                    status = _NULL_MOVE
                    facts[AT] = at
                while _CLASSES[data[at]] == _DIGIT:
                    at += 1
                continue

        # What is left may be a move.
        wrong = _GOOD
        after = at
        move: Any = np.int64(ILLEGAL_MOVE)
        is_move = False
        if kind in (_PIECE, _FILE):
            after, piece, file, rank, target, promotion = _move_text(data, at)
            is_move = after > at
            if is_move and status == _GOOD and not has_result and letter_end != at:
                move = meant_move(position, piece, file, rank, target, promotion)
        elif kind in (_CASTLING, _DIGIT):
            length = _castling_length(data, at)
            is_move = length > 0
            after = at + length
            if is_move and status == _GOOD and not has_result and letter_end != at:
                move = castling_move(position, length == 3)
        elif (
            (kind == _DASH and data[at + 1] == 45 and data[at + 2] != 45)
            or (byte == 90 and data[at + 1] == 48)
            or (kind == _AT_SIGN and (data[at + 1] == 64 or (_is_file(data[at + 1]) and _is_rank(data[at + 2]))))
        ):
            wrong = _NULL_MOVE
        if not is_move and wrong == _GOOD:
            at += 1
            if kind in (_LETTER, _PIECE, _FILE, _CASTLING):
                letter_end = at
            continue
        if status == _GOOD:
            if has_result:
                wrong = _AFTER_THE_RESULT
            elif wrong == _GOOD and letter_end == at:
                wrong = _NOT_A_MOVE
            elif wrong == _GOOD and move < 0:
                wrong = _ILLEGAL if move == ILLEGAL_MOVE else _AMBIGUOUS
            elif wrong == _GOOD and position.clock >= MOST_CLOCK:
                wrong = _AFTER_THE_END
            elif wrong == _GOOD:
                following = play(position, move)
                if leaves_king_in_check(following):
                    wrong = _ILLEGAL
                else:
                    position = following
                    moves[count] = move
                    count += 1
            if wrong != _GOOD:
                status = wrong
                facts[AT] = at
        at = max(after, at + 1)
    facts[PLY] = count - first
    if facts[STATUS] == _OPEN_COMMENT:
        status = _OPEN_COMMENT
    elif at >= end and not has_result and status == _GOOD:
        status = _OPEN_VARIATION if depth > 0 else _NO_RESULT
        facts[AT] = end
    elif depth > 0 and status == _GOOD:
        status = _OPEN_VARIATION
        facts[AT] = at
    if status == _GOOD and count == first and facts[BEGIN] < 0:
        status = _NO_GAME
        facts[AT] = at
    facts[STATUS] = status
    if status == _GOOD:
        facts[LAST_MOVE] = count
    else:
        kinds[first:count] = NO_SCORE
        books[first:count] = False
    return at, ended


def _start_of(fen: int, fens: Any, fen_starts: Any) -> Any:
    """Index of the starting position that a tag at an index of the text names; -1 for none."""
    low, high = 0, fens.shape[0]
    while low < high:
        middle = (low + high) // 2
        if fens[middle] < fen:
            low = middle + 1
        else:
            high = middle
    return np.int64(fen_starts[low]) if low < fens.shape[0] and fens[low] == fen else np.int64(-1)


def read_games(
    data: Any,
    begin: Any,
    end: Any,
    final: Any,
    starts: Any,
    fens: Any,
    fen_starts: Any,
    facts: Any,
    moves: Any,
    scores: Any,
    mates: Any,
    kinds: Any,
    books: Any,
) -> tuple[int, int]:
    """Read the games of a text one after the other, up to the last that is whole.

    Parameters
    ----------
    data
        uint8 [end + ROOM_BEHIND]: the text, a closing brace and zeros.
    begin, end
        Where the text begins, between games, and ends.
    final
        Whether the file ends there, so that the last game is whole.
    starts
        Position of columns [S]: the initial position, then what the tags ``FEN`` name.
    fens, fen_starts
        int64 [F]: where the values of those tags begin in the text, rising, and which of the starts they name; -1 for
        one that is no position.
    facts
        int64 [G, COLUMNS]: room for a row a game.
    moves, scores, mates, kinds, books
        Room for the moves, half a move a byte, and for what their comments say; the last two all zero.

    Returns
    -------
    after
        Index behind the last game that was read.
    games
        Their number, bad ones included; these have no moves.
    """
    at = begin
    count = 0
    made = np.int64(0)
    while count < facts.shape[0]:
        place = _skip_to_game(data, at, end)
        if place < 0:
            # A comment between games has no end yet.
            if not final:
                break
            place = end
        if place >= end:
            at = end
            break
        game = facts[count]
        clear_facts(game[:FACTS])
        game[BEGIN] = -1
        game[LAST_MOVE] = made
        game[STATUS] = _GOOD
        game[AT] = place
        game[START] = 0
        origin = place
        ended = False
        while place < end and data[place] == 91:
            after = read_tag(data, place, end, game[:FACTS])
            if after < 0:
                ended = True
                break
            if after > place + 2:
                game[BEGIN] = origin
            place = _skip_to_tag(data, after, end)
        if game[FEN] >= 0:
            game[START] = _start_of(game[FEN], fens, fen_starts)
            if game[START] < 0:
                game[STATUS] = _UNREADABLE_START
                game[AT] = game[FEN]
        if not ended:
            position = position_at(starts, max(game[START], 0))
            place, ended = _movetext(data, place, end, position, game, moves, scores, mates, kinds, books)
        else:
            game[PLY] = 0
        if not ended and not final and place >= end:
            break
        game[BEGIN] = origin
        game[END] = place
        made = game[LAST_MOVE]
        at = place
        count += 1
    return at, count
