"""Games out of the bytes of a PGN file: tags, moves played on a board, comments, results, in one pass.

How the text is understood, where the standard leaves room and files differ:

- A game ends with its result, or where the next tags begin. Blank lines mean nothing, so that doubled ones do no harm.
- After the result nothing but comments may follow on the line.
- Variations are passed over unread; so are NAGs, move numbers, marks like ``!?`` and words that hold no move.
- A game that is played on after the 75-move rule has ended it is read up to the move before that end, with its result.
- A move with a foreign letter right before it (``Sf3``, ``nf3``) is none: reading ``f3`` there would be a guess.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling import characters as char
from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import trailing_zeros
from glem.games.chess.pgn.comments import NO_SCORE, read_comment
from glem.games.chess.pgn.moves import castling_squares, leaves_king_in_check, pieces_meant
from glem.games.chess.pgn.results import UNKNOWN_RESULT, result_text
from glem.games.chess.pgn.tags import FEN, NO_VALUE, RESULT, TAG_VALUES, is_tag, read_tag
from glem.games.chess.rules.generation import MOST_CLOCK
from glem.games.chess.rules.playing import play

ROOM_BEHIND = 16
"""Bytes that must follow the text, the first of them a closing brace, the others zero."""

GOOD = 0
"""What became of a game: this, or one of the faults that follow."""
UNREADABLE_START, NO_GAME, ILLEGAL, AMBIGUOUS, NOT_A_MOVE, OTHER_GAME = 1, 2, 3, 4, 5, 6
AFTER_THE_END, AFTER_THE_RESULT, OPEN_COMMENT, OPEN_VARIATION, NO_RESULT = 7, 8, 9, 10, 11

NO_MARKER = 3
"""What stands for White's score where the file ends with the moves."""

_BLANK, _LINE_END, _DIGIT, _PIECE, _FILE, _LETTER = range(1, 7)

_CLASSES = char.classes(
    (char.LETTERS + bytes(range(128, 256)), _LETTER),
    (b" \t\v\f", _BLANK),
    (b"\n\r", _LINE_END),
    (char.DIGITS, _DIGIT),
    (b"NBRQK", _PIECE),
    (b"abcdefgh", _FILE),
)
_FILES = char.places(b"abcdefgh")
_RANKS = char.places(b"12345678")
_KINDS = char.places(b"PNBRQK", b"pnbrqk")


class Facts(NamedTuple):
    """What is found of games, a row each: int64 [G], the tags int64 [G, TAG_VALUES].

    Parameters
    ----------
    last_move
        Index behind the game's last move.
    status
        What became of the game: :data:`GOOD` or one of the faults.
    at
        Index in the text of the fault, or of the beginning of a good game.
    ply
        Half-moves that were read.
    left_out
        Half-moves among them from the end by the 75-move rule on, where a game was played on after it.
    start
        Number of the position in which it begins.
    marker
        White's score by the result behind the moves, :data:`~glem.games.chess.pgn.results.UNKNOWN_RESULT` or
        :data:`NO_MARKER`.
    tags
        Of each tag the index of its value and the index behind it.
    """

    last_move: NDArray[np.int64]
    status: NDArray[np.int64]
    at: NDArray[np.int64]
    ply: NDArray[np.int64]
    left_out: NDArray[np.int64]
    start: NDArray[np.int64]
    marker: NDArray[np.int64]
    tags: NDArray[np.int64]

    @classmethod
    def empty(cls, games: int) -> Facts:
        """Make room for some games."""
        columns: list[Any] = [np.empty(games, np.int64) for _ in cls._fields[:-1]]
        return cls._make([*columns, np.empty((games, TAG_VALUES), np.int64)])


class Moves(NamedTuple):
    """Moves of all games one behind the other, [M], and what their comments say.

    Parameters
    ----------
    moves
        int16.
    comment_score, comment_mate
        float32 and int16: see :func:`~glem.games.chess.pgn.comments.read_comment`.
    comment_kind
        uint8: how the comment gives its score, :data:`~glem.games.chess.pgn.comments.NO_SCORE` and so on.
    book
        bool.
    """

    moves: NDArray[np.int16]
    comment_score: NDArray[np.float32]
    comment_mate: NDArray[np.int16]
    comment_kind: NDArray[np.uint8]
    book: NDArray[np.bool_]

    @classmethod
    def empty(cls, count: int) -> Moves:
        """Make room for some moves, without scores so far."""
        columns: list[Any] = [np.zeros(count, kind) for kind in (np.int16, np.float32, np.int16, np.uint8, np.bool_)]
        return cls(*columns)


def _move_text(data: Any, at: int) -> tuple[int, Any, Any, Any, Any, Any]:
    """Index behind a move (the given one where there is none), kind, file, rank, target and promotion."""
    place = at
    kind = np.int64(0)
    if _CLASSES[data[at]] == _PIECE:
        kind = np.int64(_KINDS[data[at]])
        place += 1
    # Up to three coordinates may stand before the target; which they are shows only behind them.
    file, rank = np.int64(_FILES[data[place]]), np.int64(-1)
    behind = place
    if file >= 0:
        behind += 1
        rank = np.int64(_RANKS[data[behind]])
        if rank >= 0:
            behind += 1
    elif kind != 0:
        rank = np.int64(_RANKS[data[behind]])
        if rank >= 0:
            behind += 1
    if data[behind] == char.SMALL_X or data[behind] == char.HYPHEN:
        behind += 1
    if _FILES[data[behind]] >= 0 and _RANKS[data[behind + 1]] >= 0 and (behind > place or kind != 0):
        place = behind
    elif file >= 0 and rank >= 0:
        file, rank = np.int64(-1), np.int64(-1)
    else:
        return at, kind, file, rank, np.int64(0), np.int64(0)
    target = np.int64(_FILES[data[place]]) + 8 * np.int64(_RANKS[data[place + 1]])
    place += 2
    promotion = np.int64(0)
    if data[place] == char.EQUALS_SIGN and _KINDS[data[place + 1]] > 0:
        promotion = np.int64(_KINDS[data[place + 1]])
        place += 2
    elif kind == 0 and (target < 8 or target >= 56) and _KINDS[data[place]] > 0:
        promotion = np.int64(_KINDS[data[place]])
        place += 1
    return place, kind, file, rank, target, promotion


def _tells_result(data: Any, tags: Any) -> bool:
    """Whether the tag of the result tells it."""
    begin = tags[RESULT]
    if begin < 0:
        return False
    length, result = result_text(data, begin)
    return bool(length > 0 and begin + length == tags[RESULT + 1] and result != UNKNOWN_RESULT)


def _skip_space(data: Any, at: int, end: int) -> int:
    """Index of the next byte behind blanks, line ends, and lines that are escaped (``%``) or comments (``;``)."""
    while at < end:
        byte = data[at]
        if byte == char.PERCENT_SIGN or byte == char.SEMICOLON:
            while at < end and _CLASSES[data[at]] != _LINE_END:
                at += 1
        elif byte <= char.SPACE or byte == 0xEF or byte == 0xBB or byte == 0xBF:
            # Byte order marks stand in the middle of a file that was put together of several.
            at += 1
        else:
            break
    return at


def _movetext(data: Any, at: int, end: int, position: Any, facts: Facts, game: int, moves: Moves) -> tuple[int, bool]:
    """Read moves up to the end of a game.

    Returns
    -------
    after
        Index behind the game.
    ended
        Whether it ended: with its result and line, or at another game's tags, not merely at the end of the text.
    """
    first = facts.last_move[game]
    count = first
    status = facts.status[game]
    depth = 0
    left_out = 0
    letter_end: Any = np.int64(-1)
    has_result = False
    ended = False
    comment_is_open = False
    while at < end:
        byte = data[at]
        kind = _CLASSES[byte]
        if kind == _BLANK:
            at += 1
            continue
        if kind == _LINE_END:
            lines = 0
            while at < end and (_CLASSES[data[at]] == _LINE_END or _CLASSES[data[at]] == _BLANK):
                lines += data[at] == char.NEWLINE
                at += 1
            at = _skip_space(data, at, end)
            if at < end:
                is_first = data[at] == char.DIGIT_ONE and data[at + 1] == char.FULL_STOP
                ended = data[at] == char.LEFT_BRACKET and is_tag(data, at, end)
                ended = ended or (has_result and (lines > 1 or data[at] == char.LEFT_BRACE or is_first))
                if ended:
                    break
            continue
        if byte == char.LEFT_BRACE:
            after, given, score, mate, book = read_comment(data, at + 1, end)
            if after < 0 or after > end:
                comment_is_open = True
                if status == GOOD:
                    status = OPEN_COMMENT
                    facts.at[game] = at
                ended = after < 0
                at = -after if ended else end
                break
            if depth == 0 and count > first and status == GOOD and not (has_result or left_out):
                place = count - 1
                if given != NO_SCORE and moves.comment_kind[place] == NO_SCORE:
                    moves.comment_kind[place] = given
                    moves.comment_score[place] = score
                    moves.comment_mate[place] = mate
                if book:
                    moves.book[place] = True
            at = after
            continue
        if byte == char.SEMICOLON:
            while at < end and _CLASSES[data[at]] != _LINE_END:
                at += 1
            continue
        if byte == char.LEFT_PARENTHESIS:
            depth += 1
            at += 1
            continue
        if depth > 0:
            if byte == char.RIGHT_PARENTHESIS:
                depth -= 1
            at += 1
            continue
        if byte == char.DOLLAR_SIGN:
            at += 1
            while _CLASSES[data[at]] == _DIGIT:
                at += 1
            continue
        if has_result and byte == char.LEFT_BRACKET and is_tag(data, at, end):
            ended = True
            break
        # Move numbers are many, so the first look is a short one. A half of one sign may be the end of a letter.
        may_be_result = byte == char.ASTERISK or byte == char.CAPITAL_O
        if kind == _DIGIT:
            may_be_result = data[at + 1] != char.FULL_STOP and _CLASSES[data[at + 1]] != _DIGIT
        elif byte == 0xC2 or byte == 0xBD:
            may_be_result = letter_end != at
        if may_be_result:
            length, result = result_text(data, at)
            if length > 0:
                if not has_result:
                    facts.marker[game] = result
                has_result = True
                at += length
                continue
        is_zero = byte == char.DIGIT_ZERO
        if kind == _DIGIT and not (is_zero and data[at + 1] == char.HYPHEN and data[at + 2] == char.DIGIT_ZERO):
            # 0000 is a move that is none, as UCI has it.
            is_null = is_zero and data[at + 1] == data[at + 2] == data[at + 3] == char.DIGIT_ZERO
            if is_null and status == GOOD:
                status = OTHER_GAME
                facts.at[game] = at
            while _CLASSES[data[at]] == _DIGIT:
                at += 1
            continue

        # What is left may be a move.
        wrong = GOOD
        after = at
        is_castling = False
        piece, file, rank = np.int64(0), np.int64(-1), np.int64(-1)
        target, promotion = np.int64(0), np.int64(0)
        if kind == _PIECE or kind == _FILE:
            after, piece, file, rank, target, promotion = _move_text(data, at)
        elif byte == char.CAPITAL_O or kind == _DIGIT:
            if data[at + 1] == char.HYPHEN and data[at + 2] == byte:
                is_castling = True
                after = at + 5 if data[at + 3] == char.HYPHEN and data[at + 4] == byte else at + 3
        elif (
            (byte == char.HYPHEN and data[at + 1] == char.HYPHEN and data[at + 2] != char.HYPHEN)
            or (byte == char.CAPITAL_Z and data[at + 1] == char.DIGIT_ZERO)
            or (
                byte == char.COMMERCIAL_AT
                and (data[at + 1] == char.COMMERCIAL_AT or (_FILES[data[at + 1]] >= 0 and _RANKS[data[at + 2]] >= 0))
            )
        ):
            wrong = OTHER_GAME
        if after == at and wrong == GOOD:
            at += 1
            if kind == _LETTER or kind == _PIECE or kind == _FILE:
                letter_end = at
            continue
        if status == GOOD:
            if has_result:
                wrong = AFTER_THE_RESULT
            elif letter_end == at:
                wrong = NOT_A_MOVE
            elif position.clock >= MOST_CLOCK and not left_out:
                if count == first:
                    wrong = AFTER_THE_END
                else:
                    # Without the move that ended it, as a draw, the game has the result that it was played for.
                    count -= 1
                    left_out = 1
                    moves.comment_kind[count] = NO_SCORE
                    moves.book[count] = False
            if wrong == GOOD:
                if is_castling:
                    candidates, target = castling_squares(position, after - at == 3)
                else:
                    candidates = pieces_meant(position, piece, file, rank, target, promotion)
                following = position
                chosen: Any = np.int64(-1)
                while candidates != np.uint64(0):
                    move: Any = np.int64(trailing_zeros(candidates)) | (target << 6) | (promotion << 12)
                    candidates &= candidates - np.uint64(1)
                    made = play(position, move)
                    if not leaves_king_in_check(made):
                        if chosen >= 0:
                            wrong = AMBIGUOUS
                        chosen = move
                        following = made
                if chosen < 0:
                    wrong = ILLEGAL
                elif wrong == GOOD:
                    if left_out:
                        left_out += 1
                    else:
                        moves.moves[count] = chosen
                        count += 1
                    position = following
            if wrong != GOOD:
                status = wrong
                facts.at[game] = at
        at = max(after, at + 1)
    facts.ply[game] = count - first + left_out
    facts.left_out[game] = left_out
    if status == GOOD and not comment_is_open:
        if depth > 0:
            status = OPEN_VARIATION
        elif not has_result and not ended:
            # Whole but for its result, or cut off: the tag tells who won, and people are told of it.
            facts.marker[game] = NO_MARKER
            if count == first or not _tells_result(data, facts.tags[game]):
                status = NO_RESULT
        elif count == first and (facts.start[game] == NO_VALUE or not has_result):
            status = NO_GAME
        if status == OPEN_VARIATION or status == NO_RESULT:
            facts.at[game] = at
    facts.status[game] = status
    if status == GOOD:
        facts.last_move[game] = count
    else:
        for place in range(first, count):
            moves.comment_kind[place] = NO_SCORE
            moves.book[place] = False
    return at, ended


def read_games(
    data: Any, begin: Any, end: Any, final: Any, starts: Any, fens: Any, fen_starts: Any, facts: Facts, moves: Moves
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
        Room for the games.
    moves
        Room for their moves, half a move a byte; all zero.

    Returns
    -------
    after
        Index behind the last game that was read.
    games
        Their number, bad ones included; these have no moves.
    """
    at = begin
    game = 0
    made = np.int64(0)
    next_fen = 0
    while game < facts.status.shape[0]:
        place = at
        broken = False
        while not broken:
            place = _skip_space(data, place, end)
            if place >= end or data[place] != char.LEFT_BRACE:
                break
            # A comment between games.
            after = read_comment(data, place + 1, end)[0]
            broken = after > end
            place = -after if after < 0 else min(after, end)
        if broken and not final:
            break
        if place >= end:
            at = end
            break
        tags = facts.tags[game]
        tags[:] = NO_VALUE
        facts.last_move[game] = made
        facts.status[game] = GOOD
        facts.at[game] = place
        facts.start[game] = NO_VALUE
        facts.marker[game] = UNKNOWN_RESULT
        facts.ply[game] = 0
        facts.left_out[game] = 0
        is_other = False
        ended = False
        is_torn = True
        # A line among the tags that is none tears them apart: what follows such a line still belongs to the game.
        while is_torn:
            while data[place] == char.LEFT_BRACKET and place < end and not is_other:
                # As long as there is no tag, NO_VALUE says so.
                facts.start[game] = 0
                after = read_tag(data, place, end, tags)
                is_other = after < 0
                if not is_other:
                    place = _skip_space(data, after, end)
            ended = is_other
            if is_other:
                facts.status[game] = NO_GAME
                break
            if tags[FEN] >= 0:
                while next_fen < fens.shape[0] and fens[next_fen] < tags[FEN]:
                    next_fen += 1
                facts.start[game] = NO_VALUE
                if next_fen < fens.shape[0] and fens[next_fen] == tags[FEN]:
                    facts.start[game] = fen_starts[next_fen]
                if facts.start[game] < 0:
                    facts.status[game] = UNREADABLE_START
                    facts.at[game] = tags[FEN]
            position = position_at(starts, max(facts.start[game], 0))
            place, ended = _movetext(data, place, end, position, facts, game, moves)
            is_torn = (
                ended and facts.status[game] == NO_GAME and facts.start[game] >= 0 and data[place] == char.LEFT_BRACKET
            )
            if is_torn:
                facts.status[game] = GOOD
        if not ended and not final and place >= end:
            break
        facts.start[game] = max(facts.start[game], 0)
        made = facts.last_move[game]
        at = place
        game += 1
    return at, game
