"""Games in Portable Game Notation, read by a compiled pass over the bytes of the file.

S. J. Edwards, "Standard: Portable Game Notation Specification and Implementation Guide", 1994. The module
:mod:`~glem.games.chess.pgn.games` says how the text is understood; positions in ``FEN`` tags are read by python-chess,
each different one once, and so are games with moves that are spelt otherwise than the standard has it
(:mod:`~glem.games.chess.pgn.fallback`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import compiled
from glem.core.errors import BadInputError
from glem.core.files.packed import BoundedFile, open_bounded
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.validation import BadRecords
from glem.games.chess.boards import board_of_fen, from_board, problems_of
from glem.games.chess.pgn import games as pgn_games
from glem.games.chess.pgn.comments import NO_SCORE
from glem.games.chess.pgn.games import NO_MARKER, ROOM_BEHIND, Facts, Moves, read_games
from glem.games.chess.pgn.results import UNKNOWN_RESULT, score_of_result
from glem.games.chess.pgn.tags import FEN, TAGS, decoded
from glem.games.chess.rules.position import INITIAL_POSITION, Position

_BLOCK = 1 << 23
_LONGEST_GAME = 1 << 24
_MOST_GAMES_AT_ONCE = 1 << 15
_SHORTEST_GAME = 4
_NEXT_GAME = re.compile(rb"[\r\n]\[Event ")
_FEN = re.compile(rb"\[[ \t]*FEN[ \t]+\"")
_BEGINNING = re.compile(rb"\[\s*\w+\s+\"|1\s*\.\s*(?:[a-h][1-4]|[NBRQK][a-h1-8x]|O-O)")
_NULL_MOVE = re.compile(rb"--|Z0|0000|@@@@")
_NESTING = " (behind a brace within braces: a comment ends at the first closing one)"
_PAGE = 1000
_TOKEN = re.compile(rb"[^\s{}();]{1,16}")
_FISCHER_RANDOM = frozenset(
    ("chess960", "960", "fischerandom", "fischerrandom", "fischerrandomchess", "frc", "wild/fr")
)
_VARIANTS = _FISCHER_RANDOM | {"", "chess", "standard", "normal", "classical", "illegal", "fromposition"}
"""Names of variants that are read, in lower case and without blanks."""
_MAY_BE_SPELT_OTHERWISE = (pgn_games.ILLEGAL, pgn_games.AMBIGUOUS, pgn_games.NOT_A_MOVE)
_ODD_CASTLING = (b"o-o", b"O\xe2\x80", b"0\xe2\x80")
"""What the compiled reader passes over, as it does over other words, although it may stand for a move."""
_READ_AGAIN = "read by python-chess"
_PLAYED_ON = "played on after 75 moves of both sides without a capture or a pawn move, and read up to there"
_UNMARKED = "ended by the end of the file, with their result in a tag alone"

_NAMES = {
    "event": "Event",
    "site": "Site",
    "white": "White",
    "black": "Black",
    "eco": "ECO",
    "time_control": "TimeControl",
}
_RATINGS = {"white_rating": "WhiteElo", "black_rating": "BlackElo"}
_RATING = re.compile(r"[0-9]{1,4}")
_DATE = re.compile(r"(\d{4})(?:[.\-/](\d\d)(?:[.\-/](\d\d))?)?", re.ASCII)

_REASONS = {
    pgn_games.ILLEGAL: "half-move {ply}, {token}, is illegal",
    pgn_games.AMBIGUOUS: "half-move {ply}, {token}, is ambiguous",
    pgn_games.NOT_A_MOVE: "{before} is no move; expected one like Nf3",
    pgn_games.OTHER_GAME: "{token} is no move of chess",
    pgn_games.AFTER_THE_END: "half-move {ply}, {token}, comes after the end of the game by the 75-move rule",
    pgn_games.AFTER_THE_RESULT: "{token} stands behind the result",
    pgn_games.OPEN_COMMENT: "a comment begins that has no end before that of the file or the next game",
    pgn_games.OPEN_VARIATION: "a variation has no end before that of the game",
    pgn_games.NO_RESULT: (
        "the file ends within the game; expected 1-0, 0-1, 1/2-1/2 or * behind its moves, or a result in its tags"
    ),
    pgn_games.NO_GAME: "there are no moves, and no result or no tags",
}
# What the rules cannot play from; odd numbers of pieces are no harm, as in games with odds.
_UNPLAYABLE = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_EMPTY
)


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like PGN: a tag, or a first move, at the beginning of a line."""
    first = next(
        (line.strip() for line in head.splitlines() if line.strip() and not line.startswith((b"%", b";"))), b""
    )
    return _BEGINNING.match(first) is not None


def read_pgn(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    """Read and check the games of a PGN file, also from ``.gz``, ``.xz`` and ``.zst``.

    A game is bad when one of its moves is illegal, ambiguous or no move, when it begins in no legal position or is of
    another variant than chess and Chess960, when moves stand behind its result, when a comment or variation does not
    end, and when the file ends before its result. The tag ``Result`` goes before the result behind the moves, unless
    it tells none. That result may be missing where another game's tags follow at once, and at the end of the file where
    the tag tells it. Games that are played on after the 75-move rule are read up to the move before it ended them, with
    their result. Games with moves that are spelt otherwise than the standard has it are read by python-chess, some
    hundred a second. Such games are counted in ``remarks``.

    Parameters
    ----------
    path
        The file; names in UTF-8 or Latin-1.
    skip_bad
        Leave bad games out and count them.
    chunk_games
        Most games in one chunk; of large files fewer come at once.
    max_bytes
        Limit on the unpacked size.

    Yields
    ------
    GameRecords
        ``score`` is White's by the result (1, 0, -1; nan for ``*``), also for games that were resigned or agreed
        drawn. Columns: ``number`` int64, ``white_rating`` and ``black_rating`` int16 (-1 unknown), ``date`` int32 (as
        19760827, unknown parts 0; -1 unknown), ``event``, ``site``, ``white``, ``black``, ``eco`` and ``time_control``
        int32 into names. Columns of moves: ``comment_score`` float32 as written (nan for none, infinite for mates),
        ``comment_mate`` int16 (moves to it, else 0), ``comment_kind`` uint8 (see :mod:`~glem.games.chess.pgn.comments`)
        and ``book`` bool.

    Raises
    ------
    BadInputError
        The file cannot be read, has no games, or has a bad game and ``skip_bad`` is false.
    """
    reader = _Reader(path, skip_bad, min(chunk_games, _MOST_GAMES_AT_ONCE))
    with open_bounded(path, max_bytes=max_bytes) as file:
        yield from reader.read(file)
    if reader.number == 0:
        raise BadInputError(f'{path}: no games; expected PGN, tags like [White "..."] and moves like 1. e4 e5 1-0')


@define(eq=False)
class _Reader:
    """A file on the way: what was read of it, and the text that waits for the rest of its game."""

    path: Path
    skip_bad: bool
    most_games: int
    number: int = 0
    """Games so far, bad ones included."""
    _lines: int = 0
    _is_skipping: bool = False

    def read(self, file: BoundedFile) -> Iterator[GameRecords]:
        pending = b""
        ended = False
        while not ended:
            damage: BadInputError | None = None
            piece = b""
            try:
                piece = file.read(_BLOCK)
                if len(piece) < _BLOCK:
                    # A short piece is the last one, unless the file is damaged behind it: then this raises.
                    ended = not file.read(1)
            except BadInputError as error:
                damage = error
            pending += piece
            if self._is_skipping:
                pending = self._behind_long_game(pending)
            if not self._is_skipping:
                block = _Block(pending, ended)
                while not block.is_read:
                    records = self._records(block)
                    if len(records) or records.skipped:
                        yield records
                self._lines += pending.count(b"\n", 0, block.at)
                pending = pending[block.at :]
            if damage is not None:
                raise damage
            if len(pending) > _LONGEST_GAME and not ended:
                yield self._too_long()

    def _too_long(self) -> GameRecords:
        self.number += 1
        self._is_skipping = True
        problem = (
            f"{self.path}:{self._lines + 1}: game {self.number}: it does not end within {_LONGEST_GAME:,} bytes; "
            "is this a PGN file?"
        )
        if not self.skip_bad:
            raise BadInputError(problem)
        return GameRecords.empty(source=self.path.name, problems=(problem,), skipped=1)

    def _behind_long_game(self, pending: bytes) -> bytes:
        found = _NEXT_GAME.search(pending)
        # The mark may be cut by the end of what was read.
        cut = max(len(pending) - 8, 0) if found is None else found.start()
        self._is_skipping = found is None
        self._lines += pending.count(b"\n", 0, cut)
        return pending[cut:]

    def _records(self, block: _Block) -> GameRecords:
        begin = block.at
        facts, moves = block.read(self.most_games)
        count = len(facts.status)
        first, self.number = self.number + 1, self.number + count

        def place(index: int) -> str:
            line = self._lines + block.text.count(b"\n", 0, int(facts.at[index])) + 1
            return f"{self.path}:{line}: game {first + index}"

        bad = BadRecords(count, place, self.skip_bad)
        variant, variants = _interned(block.texts(facts, "Variant"))
        plain = [name.lower().replace(" ", "") for name in variants]
        unknown = np.array([*(name not in _VARIANTS for name in plain), False])[variant]
        odd = np.flatnonzero(block.is_odd(begin, facts) & ~unknown)
        read_again = 0
        if len(odd):
            is_fischer = np.array([*(name in _FISCHER_RANDOM for name in plain), False])[variant]
            moves, read_again = block.read_again(begin, facts, moves, odd, is_fischer)
        status = facts.status
        bad.mark(unknown, lambda index: f"{variants[variant[index]]!r} is another game than chess and Chess960")
        bad.mark(
            status == pgn_games.UNREADABLE_START,
            lambda index: _start_problem(block.text[slice(*facts.tags[index, FEN : FEN + 2])]),
        )
        bad.mark(status != pgn_games.GOOD, lambda index: _reason(block.text, facts, index))
        problems = bad.problems()
        extra: dict[str, NDArray[Any]] = {"number": np.arange(first, first + count, dtype=np.int64)}
        for name, tag in _RATINGS.items():
            extra[name] = _of_texts(block.texts(facts, tag), _rating, -1, np.int16)
        extra["date"] = _of_texts(block.texts(facts, "Date"), _date, -1, np.int32)
        score = _of_texts(block.texts(facts, "Result"), score_of_result, np.nan, np.float32)
        marker = np.where(facts.marker >= UNKNOWN_RESULT, np.nan, facts.marker).astype(np.float32)
        unmarked = int(((facts.marker == NO_MARKER) & ~bad.mask).sum())
        played_on = int(((facts.left_out > 0) & ~bad.mask).sum())
        remarks = {_READ_AGAIN: read_again, _UNMARKED: unmarked, _PLAYED_ON: played_on}
        names = {}
        for name, tag in _NAMES.items():
            extra[name], names[name] = _interned(block.texts(facts, tag))
        starts = start_side = None
        if facts.start.any():
            starts = rows_of(block.starts, facts.start)
            start_side = np.where(starts.turn == 0, 1, -1).astype(np.int8)
        records = GameRecords.from_moves(
            moves.moves,
            np.concatenate([[0], facts.last_move]),
            np.where(np.isnan(score), marker, score),
            extra=extra,
            names=names,
            starts=starts,
            start_side=start_side,
            move_columns=dict(zip(Moves._fields[1:], moves[1:], strict=True)),
            source=self.path.name,
            problems=problems,
            skipped=int(bad.mask.sum()),
            remarks={text: count for text, count in remarks.items() if count},
        )
        return records.select(~bad.mask) if bad.mask.any() else records


class _Block:
    """Some text of the file, read game by game; ``at`` is the index behind what was read."""

    def __init__(self, text: bytes, final: bool) -> None:
        self.text = text
        self.at = 0
        self.is_read = not text
        self._final = final
        self._data = np.frombuffer(text + b"}" + bytes(ROOM_BEHIND - 1), np.uint8)
        begins = [found.end() for found in _FEN.finditer(text)] if b"FEN" in text else []
        ends = (text.find(b'"', begin, begin + 200) for begin in begins)
        self.starts, numbers = _starting_positions([text[begin:end] for begin, end in zip(begins, ends, strict=True)])
        self._fens, self._fen_starts = np.array(begins, np.int64), np.array(numbers, np.int64)

    def read(self, most_games: int) -> tuple[Facts, Moves]:
        """Read the next games and their moves."""
        room = min(most_games, (len(self.text) - self.at) // _SHORTEST_GAME + 1)
        self.at, facts, moves = self._read(self.at, room)
        self.is_read = len(facts.status) < room
        return facts, moves

    def _read(self, begin: int, room: int) -> tuple[int, Facts, Moves]:
        """Index behind the games that begin at an index, as many as there is room for; the games and their moves."""
        end = len(self.text)
        facts, moves = Facts.empty(room), Moves.empty((end - begin) // 2 + 1)
        behind, count = compiled(read_games)(
            self._data,
            np.int64(begin),
            np.int64(end),
            np.bool_(self._final),
            self.starts,
            self._fens,
            self._fen_starts,
            facts,
            moves,
        )
        # Numbers of rows: copies, so that the room is given back.
        facts = rows_of(facts, np.arange(count))
        moves = rows_of(moves, np.arange(facts.last_move[-1] if count else 0))
        absent = moves.comment_kind == NO_SCORE
        moves.comment_score[absent] = np.nan
        moves.comment_mate[absent] = 0
        return behind, facts, moves

    def is_odd(self, begin: int, facts: Facts) -> NDArray[np.bool_]:
        """Which games may be spelt otherwise than the standard has it: bool [G]."""
        odd = np.isin(facts.status, _MAY_BE_SPELT_OTHERWISE)
        for castling in _ODD_CASTLING:
            place = self.text.find(castling, begin, self.at)
            if place < 0:
                continue
            good = np.flatnonzero(facts.status == pgn_games.GOOD)
            while place >= 0 and len(good):
                odd[good[max(int(np.searchsorted(facts.at[good], place, "right")) - 1, 0)]] = True
                place = self.text.find(castling, place + 1, self.at)
        return odd

    def read_again(
        self, begin: int, facts: Facts, moves: Moves, odd: NDArray[np.int64], is_fischer: NDArray[np.bool_]
    ) -> tuple[Moves, int]:
        """Have python-chess read some of the games that :meth:`read` has found.

        Parameters
        ----------
        begin
            Where the first of the games begins.
        facts, moves
            What was found; ``facts`` is brought up to date.
        odd
            int64 [R]: which games to read, rising.
        is_fischer
            bool [G]: whether a game's tags say that it is Chess960.

        Returns
        -------
        moves
            The same, with the moves of the games that could be read.
        count
            How many of these were bad or other before.
        """
        # Imported late, as are all that bring python-chess's own reader along: few games need it.
        from glem.games.chess.pgn.fallback import plain_text

        ends = facts.last_move.copy()
        lengths = np.diff(ends, prepend=0)
        pieces: list[Moves] = []
        kept = following = 0
        fens = self.texts(facts, "FEN")
        for row in odd.tolist():
            if row > following:
                begin = self._read(begin, row - following)[0]
            end = self._read(begin, 1)[0]
            plain = plain_text(self.text[begin:end], fen=fens[row], is_chess960=bool(is_fischer[row]))
            begin, following = end, row + 1
            # Only at another game's tags may a result be missing.
            if plain is None or not (plain.has_result or end < len(self.text)):
                continue
            _, fact, found = _Block(plain.text, True)._read(0, 1)
            played = plain.moves[: len(plain.moves) - int(fact.left_out[0])]
            if fact.status[0] != pgn_games.GOOD or not np.array_equal(found.moves, played):
                continue
            place = ends[row] - lengths[row]
            if facts.status[row] == pgn_games.GOOD and np.array_equal(moves.moves[place : ends[row]], played):
                continue
            facts.status[row], facts.marker[row] = fact.status[0], fact.marker[0]
            facts.left_out[row] = fact.left_out[0]
            pieces += [rows_of(moves, slice(kept, place)), found]
            kept = ends[row]
            lengths[row] = len(played)
        count = len(pieces) // 2
        pieces.append(rows_of(moves, slice(kept, None)))
        facts.last_move[:] = np.cumsum(lengths)
        return Moves(*map(np.concatenate, zip(*pieces, strict=True))), count

    def texts(self, facts: Facts, tag: str) -> list[bytes | None]:
        """Values of a tag, None for games without it."""
        text = self.text
        place = 2 * TAGS.index(tag)
        begins, ends = facts.tags[:, place : place + 2].T.tolist()
        return [text[begin:end] if begin >= 0 else None for begin, end in zip(begins, ends, strict=True)]


def _interned(texts: Sequence[bytes | None]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Give each text its number among the different ones, -1 for none, and return these too."""
    known: dict[bytes | None, int] = {None: -1, b"": -1, b"?": -1}
    numbers = [known.setdefault(text, len(known) - 3) for text in texts]
    return np.array(numbers, np.int32), tuple(_unescaped(text) for text in list(known)[3:] if text is not None)


def _of_texts(texts: Sequence[bytes | None], value: Callable[[str], Any], absent: Any, dtype: Any) -> NDArray[Any]:
    """Return the value of each text, each different one read once."""
    numbers, names = _interned(texts)
    return np.array([*(value(name) for name in names), absent], dtype)[numbers]


def _rating(text: str) -> int:
    found = _RATING.fullmatch(text)
    return int(text) if found else -1


def _date(text: str) -> int:
    """Date like ``1976.08.27`` as 19760827, unknown parts 0; -1 where the year is unknown."""
    found = _DATE.match(text)
    if found is None:
        return -1
    year, month, day = (int(part or 0) for part in found.groups())
    return year * 10_000 + month * 100 + day


def _unescaped(text: bytes) -> str:
    return re.sub(r"\\([\"\\])", r"\1", decoded(text)).strip()


def _reason(text: bytes, facts: Facts, index: int) -> str:
    at = int(facts.at[index])
    token = _TOKEN.match(text, at)
    before = at
    while before > 0 and at - before < 16 and (text[before - 1 : before].isalpha() or text[before - 1] >= 128):
        before -= 1
    around = _TOKEN.match(text, before)
    reason = _REASONS[int(facts.status[index])].format(
        ply=int(facts.ply[index]) + 1, token=_shown(token), before=_shown(around)
    )
    if token is not None and _NULL_MOVE.match(token.group()):
        reason += " but a null move"
    return reason + (_NESTING if _nests(text, at) else "")


def _nests(text: bytes, at: int) -> bool:
    """Whether the last comment before an index has an opening brace in it, on the same page."""
    closing = text.rfind(b"}", max(at - _PAGE, 0), at)
    opening = text.find(b"{", text.rfind(b"}", 0, max(closing, 0)) + 1, max(closing, 0))
    return 0 <= opening < closing and text.find(b"{", opening + 1, closing) >= 0


def _shown(found: re.Match[bytes] | None) -> str:
    return "nothing" if found is None else repr(_unescaped(found.group()))


@lru_cache(1 << 13)
def _start(fen: bytes) -> Position | str:
    """Position of a text, or what is wrong with it."""
    text = _start_text(fen)
    try:
        board = board_of_fen(text.strip())
    except ValueError as error:
        return f"the game begins in no position: {error}"
    if problems := problems_of(board, _UNPLAYABLE):
        return f"the game begins in {text!r}, which cannot be played: {problems}"
    return from_board(board)


def _start_text(fen: bytes) -> str:
    return fen.decode("ascii", "replace")[:100]


def _starting_positions(fens: Sequence[bytes]) -> tuple[Position, list[int]]:
    """Read the values of ``FEN`` tags, each different one once.

    Returns
    -------
    positions
        Position of columns [S]: the initial position, then the others.
    numbers
        Which of them each text names; -1 for one that is none.
    """
    found = {fen: _start(fen) for fen in fens}
    good = {fen: position for fen, position in found.items() if not isinstance(position, str)}
    numbers = {fen: number for number, fen in enumerate(good, 1)}
    columns: list[Any] = [np.array(column) for column in zip(INITIAL_POSITION, *good.values(), strict=True)]
    return Position(*columns), [numbers.get(fen, -1) for fen in fens]


def _start_problem(fen: bytes) -> str:
    """Tell what is wrong with a text that is no position."""
    problem = _start(fen)
    return problem if isinstance(problem, str) else f"the position {_start_text(fen)!r} cannot be read where it stands"
