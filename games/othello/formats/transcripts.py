"""Transcripts like ``f5d6c3``, one game a line, with or without a score; tables (CSV) of them; Logistello's book.

A line is the moves, then perhaps blanks or a comma and the score from black's view. Passes are left out, or written
``--``, ``pa`` or ``ps``. Empty lines are skipped. What the score means
(:mod:`~glem.games.othello.formats.score_conventions`) is told from the games themselves unless it is given. Other lines
are read as :mod:`~glem.games.othello.formats.free_text` has it, and games may go on from line to line.

A line of Logistello's opening book, ``logbook.gam``, is ``+d3-c3+c4...: -04 10``. Each move carries its side, ``+`` for
black and ``-`` for white; passes are left out. Behind the colon stand the plain disc difference for black at the end of
the game and a number that is 10 on every line of the published book.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling import characters as char
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.files.packed import LineBlock, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import FINISHED, ILLEGAL, Replay, replay
from glem.core.positions.text_fields import BAD, Spans, Table, TableFormat, lines_of, not_empty, skip_blanks
from glem.core.positions.validation import BadRecords, validated
from glem.games.othello.formats.free_text import FreeText, begins_with_game, parse_game, parse_result
from glem.games.othello.formats.score_conventions import Convention, likely_convention, stored_scores
from glem.games.othello.notation import format_square
from glem.games.othello.rules import PASS, Position, is_over

TABLE = TableFormat(
    {
        "moves": ("game_moves", "moves", "transcript", "game"),
        "score": ("winner", "score", "result", "black_score"),
    },
    required=("moves",),
)
_FIRST_MOVES = re.compile(rb"\s*(?:[a-hA-H][1-8]\s*){2}")
_FIRST_COLORED_MOVE = re.compile(rb"\s*[+-][a-h][1-8]")
_NO_MOVE = 255
_WRAPPED = "written over several lines"
_LONGEST = 128
_FEW, _LONG = 3, 20
_EARLY = "ended by resignation or on time, with a result that stands"


def _move_table() -> NDArray[np.uint8]:
    """Square of two bytes, ``first * 256 + second``; either case, passes too, 255 for all else."""
    table = np.full(65536, _NO_MOVE, np.uint8)
    for column, (small, large) in enumerate(zip(b"abcdefgh", b"ABCDEFGH", strict=True)):
        for row, digit in enumerate(b"12345678"):
            table[small * 256 + digit] = table[large * 256 + digit] = 8 * row + column
    for text in (b"--", b"pa", b"PA", b"Pa", b"ps", b"PS", b"Ps"):
        table[text[0] * 256 + text[1]] = PASS
    return table


_MOVES = _move_table()


@define(frozen=True, eq=False)
class MoveLines:
    """Games of L lines.

    Parameters
    ----------
    moves
        uint8 [M]: squares, 64 for a written pass.
    offsets
        int64 [L + 1].
    sides
        int8 [M]: +1 for a move written as black's, -1 for white's, 0 where the text does not say.
    score
        float32 [L]: score of the game, nan where there is none.
    bad
        bool [L]: whether something else than moves and a score stands on the line.
    rest
        Where that begins, up to the ends of the lines.
    decided
        bool [L]: whether the line says that the game was resigned or lost on time.
    number
        int32 [L]: the first number of a move, 0 where moves have none, -1 for a remark.
    first
        int64 [L]: where games go on from line to line, the first line of each; else rising from 0.
    """

    moves: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    sides: NDArray[np.int8]
    score: NDArray[np.float32]
    bad: NDArray[np.bool_]
    rest: Spans
    decided: NDArray[np.bool_]
    number: NDArray[np.int32]
    first: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        moves: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int8]],
        score: NDArray[np.float32],
        bad: NDArray[np.bool_],
        rest: Spans,
        again: Callable[[int], FreeText | None] = lambda _: None,
    ) -> "MoveLines":
        """Take what the fast reader has found, and of bad lines what is found when they are read again."""
        lines, (flat, offsets, sides) = len(bad), moves
        decided, number = np.zeros(lines, np.bool_), np.zeros(lines, np.int32)
        found = {row: text for row in np.flatnonzero(bad).tolist() if (text := again(row)) is not None}
        if found:
            pieces = np.split(flat, offsets[1:-1])
            for row, text in found.items():
                pieces[row] = np.array(text.moves, np.uint8)
                score[row], decided[row], number[row], bad[row] = *text[1:], False
            flat, offsets = np.concatenate(pieces), np.cumsum([0, *map(len, pieces)], dtype=np.int64)
            sides = np.zeros(len(flat), np.int8)
        return cls(flat, offsets, sides, score, bad, rest, decided, number, np.arange(lines))

    def line_counts(self, lines: int) -> NDArray[np.int64]:
        """Count the lines of each game, of so many in all: int64."""
        return np.diff(np.append(self.first, lines))

    def joined(self) -> "MoveLines":
        """Join the lines that go on with the game of the line before.

        Such a line begins with a square that is free in that game. An empty line or a result ends a game.
        """
        goes_on = np.zeros(len(self.bad), np.bool_)
        played: list[int] = []
        has_result = self.decided | ~np.isnan(self.score)
        for row, (first, last) in enumerate(pairwise(self.offsets.tolist())):
            moves = self.moves[first:last].tolist()
            fits = moves[0] not in played and self.number[row] != 1 if moves else has_result[row]
            goes_on[row] = 0 < len(played) < _LONGEST and fits and not self.bad[row]
            played = [*(played if goes_on[row] else ()), *moves] if moves and not has_result[row] else []
        firsts = np.flatnonzero(~goes_on)
        scored = ~np.isnan(self.score)
        score = np.full(len(firsts), np.nan, np.float32)
        score[(np.cumsum(~goes_on) - 1)[scored]] = self.score[scored]
        return MoveLines(
            self.moves,
            self.offsets[np.append(firsts, len(goes_on))],
            self.sides,
            score,
            self.bad[firsts],
            self.rest._replace(starts=self.rest.starts[firsts], ends=self.rest.ends[firsts]),
            np.logical_or.reduceat(self.decided, firsts),
            self.number[firsts],
            firsts,
        )


@kernel
def _write_moves(
    data: Any, starts: Any, ends: Any, table: Any, signs: int, moves: Any, sides: Any, offsets: Any, behind: Any
) -> None:
    count = 0
    for line in range(starts.shape[0]):
        at = starts[line]
        end = ends[line]
        place = at
        while place < end:
            move = _NO_MOVE
            if place + signs + 1 < end:
                move = table[(np.int64(data[place + signs]) << 8) | np.int64(data[place + signs + 1])]
            if move != _NO_MOVE and signs != 0:
                if data[place] != char.PLUS_SIGN and data[place] != char.HYPHEN:
                    break
                sides[count] = 1 if data[place] == char.PLUS_SIGN else -1
            if move != _NO_MOVE:
                moves[count] = move
                count += 1
                at = place = place + signs + 2
            else:
                after = skip_blanks(data, place, end)
                if after == place or (signs != 0 and at != starts[line]):
                    break
                place = after
        behind[line] = at
        offsets[line + 1] = count


def _moves_of(
    spans: Spans, *, signs: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int8], Spans]:
    """Read moves, offsets and sides as :class:`MoveLines` has them, and what stands behind each span's moves.

    With ``signs`` each move has its side's sign before it, and there are no blanks between moves.
    """
    count = len(spans.starts)
    moves = np.empty(len(spans.data) // 2 + 1, np.uint8)
    sides = np.zeros(len(moves), np.int8)
    offsets, behind = np.zeros(count + 1, np.int64), np.empty(count, np.int64)
    _write_moves(*spans, _MOVES, int(signs), moves, sides, offsets, behind)
    count = int(offsets[-1])
    return moves[:count].copy(), offsets, sides[:count].copy(), spans.behind(behind)


def move_lines(lines: Spans) -> MoveLines:
    """Read lines like ``f5d6c3 -18``: moves, blanks between them allowed, then perhaps a blank or comma and a score."""
    moves, offsets, sides, rest = _moves_of(lines)
    score, state = rest.numbers()
    touches = (np.diff(offsets) > 0) & ~rest._replace(ends=np.minimum(rest.starts + 1, rest.ends)).is_blank()
    found = moves, offsets, sides
    return MoveLines.of(found, score, touches | (state == BAD), rest, lambda row: parse_game(lines.text(row)))


def colored_lines(lines: Spans) -> MoveLines:
    """Read lines like ``+d3-c3+c4: -04 10``: moves with their side's sign, a colon, the score, a further number."""
    moves, offsets, sides, rest = _moves_of(lines, signs=True)
    has_rest = ~rest.is_blank()
    has_colon = has_rest & (rest.data[np.minimum(rest.starts, len(rest.data) - 1)] == char.COLON)
    rest = rest.behind(rest.starts + has_colon)
    # What the second number means is not known; it is 10 on every line of the published book.
    score, state = rest.numbers(most=2)
    return MoveLines.of((moves, offsets, sides), score, (has_rest & ~has_colon) | (state == BAD), rest)


def _table_lines(block: Table) -> MoveLines:
    texts, scores = block.column("moves"), block.column("score") if "score" in block.columns else None
    moves, offsets, sides, rest = _moves_of(texts)
    bad, at = ~rest.is_blank(), rest.starts
    score = np.full(len(bad), np.nan, np.float32)
    if scores is not None:
        score, state = scores.numbers()
        at = np.where(bad, at, scores.starts)
        bad |= state == BAD

    def again(row: int) -> FreeText | None:
        game, result = (
            parse_game(texts.text(row)),
            (np.nan, False) if scores is None else parse_result(scores.text(row)),
        )
        if game is None or result is None or not game.moves or not np.isnan(game.score):
            return None
        return game._replace(score=result[0], is_decided=game.is_decided or result[1])

    return MoveLines.of((moves, offsets, sides), score, bad, lines_of(block.rows).behind(at), again)


def recognizes_transcripts(head: bytes) -> bool:
    """Whether the first bytes of a file look like transcripts."""
    return _FIRST_MOVES.match(head) is not None or begins_with_game(head)


def recognizes_logbook(head: bytes) -> bool:
    """Whether the first bytes of a file look like Logistello's book."""
    return _FIRST_COLORED_MOVE.match(head) is not None


def read_transcripts(
    game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int
) -> Iterator[GameRecords]:
    """Read and check transcripts, also from ``.gz`` and ``.xz``.

    A line is bad when it has anything else than moves and a score, an illegal move, or a score that a finished
    game's moves contradict.

    Parameters
    ----------
    path
        Text file, one game a line.
    skip_bad
        Leave bad lines out and count them.
    chunk_games
        Most games in one chunk.
    max_bytes
        Limit on the unpacked size.

    Yields
    ------
    GameRecords
        Columns ``number`` (of the line) and ``stored_score``.

    Raises
    ------
    BadInputError
        The file cannot be read, has no games, or has a bad line and ``skip_bad`` is false.
    """
    blocks = line_blocks(path, lines=chunk_games, max_bytes=max_bytes)
    records = _transcripts(GameChecks(game), path, blocks, skip_bad)
    return not_empty(records, path, "no games; expected lines like f5d6c3")


def _transcripts(
    checks: "GameChecks", path: Path, blocks: Iterator[LineBlock], skip_bad: bool
) -> Iterator[GameRecords]:
    """Check lines of games; where fewer of them fail so, games go on from line to line."""
    held: LineBlock | None = None
    is_joined = False
    for following in chain(blocks, [None]):
        block = following if held is None else held if following is None else held.joined(following)
        if block is None:
            return
        lines, held = move_lines(lines_of(block)), None
        records = _records(checks.game, path, block, lines)
        failed = _failed(records, lines)
        if is_joined or failed.any():
            joined = lines.joined()
            again = _records(checks.game, path, block, joined)
            counts = joined.line_counts(len(failed))
            # Where few lines fail they are mistakes, and short games without numbers stand on one line.
            is_joined = is_joined or bool(
                np.count_nonzero(records.lengths) <= _FEW * failed.sum()
                and counts[_failed(again, joined)].sum() < failed.sum()
                and (np.any(lines.number > 1) or np.any((counts > 2) | ((counts > 1) & (again.lengths >= _LONG))))
            )
            lines, records = (joined, again) if is_joined else (lines, records)
        most = len(records)
        if is_joined and following is not None:
            # The next block may begin with more of the last game.
            most, held = most - 1, block.since(int(lines.first[-1]))
        yield _checked(checks, path, block, lines, records, skip_bad, most)


def _failed(records: GameRecords, lines: MoveLines) -> NDArray[np.bool_]:
    """Find what is no game: bool [G]; an illegal move, a first number above 1, or a result without any move."""
    has_result = lines.decided | ~np.isnan(lines.score)
    failed: NDArray[np.bool_] = records.played.status == ILLEGAL
    return np.asarray(failed | (lines.number > 1) | (has_result & (records.lengths == 0)))


def read_table(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    """Read and check a table with a header line and one game a line, also from ``.gz`` and ``.xz``.

    The column of moves is called ``game_moves``, ``moves``, ``transcript`` or ``game``, that of the score, which may
    be missing, ``winner``, ``score``, ``result`` or ``black_score``; other columns are not looked at. All else as in
    :func:`read_transcripts`.
    """
    blocks = TABLE.blocks(path, lines=chunk_games, max_bytes=max_bytes)
    checks = GameChecks(game)
    for block in blocks:
        lines = _table_lines(block)
        yield _checked(checks, path, block.rows, lines, _records(game, path, block.rows, lines), skip_bad)


def read_logbook(
    game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int
) -> Iterator[GameRecords]:
    """Read and check games in the format of Logistello's book, also from ``.gz`` and ``.xz``.

    A line is bad when it is not of this form, has an illegal move or one of the wrong side, or a score that a
    finished game's moves contradict. Arguments, columns and errors are those of :func:`read_transcripts`.
    """
    blocks = line_blocks(path, lines=chunk_games, max_bytes=max_bytes)
    checks = GameChecks(game, "raw")

    def records() -> Iterator[GameRecords]:
        for block in blocks:
            lines = colored_lines(lines_of(block))
            yield _checked(checks, path, block, lines, _records(game, path, block, lines), skip_bad)

    return not_empty(records(), path, "no games; expected lines like +d3-c3+c4: -04 10")


def _records(game: Game, path: Path, block: LineBlock, lines: MoveLines) -> GameRecords:
    """Give the games of a block of lines, empty ones for lines without any, with their replay."""
    numbers = block.first_number + lines.first
    records = GameRecords.from_moves(
        lines.moves, lines.offsets, lines.score, extra={"number": numbers}, source=path.name
    )
    return evolve(records, played=replay(game, records))


def _checked(
    checks: "GameChecks",
    path: Path,
    block: LineBlock,
    lines: MoveLines,
    records: GameRecords,
    skip_bad: bool,
    most: int | None = None,
) -> GameRecords:
    """Check the first of the games of a block of lines; all by default."""
    kept = np.flatnonzero(~lines_of(block).is_blank()[lines.first[:most]] & (lines.number[:most] >= 0))
    if len(kept) < len(records):
        records = records.select(kept)
    numbers, rest = records.extra["number"], lines.rest
    bad = BadRecords(len(kept), lambda index: f"{path}:{numbers[index]}", skip_bad)
    bad.mark(lines.bad[kept], lambda index: f"{rest.excerpt(kept[index])} is neither a move (a1 to h8) nor the score")
    bad.mark(records.lengths == 0, lambda _: "the line has no moves")
    bad.mark(lines.number[kept] > 1, lambda index: f"its first number of a move is {lines.number[kept[index]]}, not 1")
    judged = checks.validated(records, lines.sides[: len(records.moves)], bad, lines.decided[kept])
    several = int((lines.line_counts(len(block.starts))[kept] > 1).sum())
    return evolve(judged, remarks={**judged.remarks, _WRAPPED: several}) if several else judged


@define(eq=False)
class GameChecks:
    """Checks the games of a file by replay, the sides that their moves are written as and their scores included.

    Parameters
    ----------
    convention
        What the scores mean; None until finished games have some: then what most of the first of these agree with.
    """

    game: Game
    convention: Convention | None = None

    def validated(
        self,
        records: GameRecords,
        sides: NDArray[np.int8],
        bad: BadRecords,
        decided: NDArray[np.bool_] | None = None,
    ) -> GameRecords:
        """Give the good ones of some games.

        Parameters
        ----------
        records
            The games.
        sides
            int8 [M]: +1 for a move written as black's, -1 for white's, 0 where the text does not say.
        bad
            What is wrong with the games so far.
        decided
            bool [G]: whose score stands where moves are left, as they were resigned or lost on time; none by default.

        Raises
        ------
        BadInputError
            A game is bad and bad ones are not to be skipped.
        """
        reached = replay(self.game, records)
        if np.any(late := _closing_passes(records, reached)):
            kept = np.concatenate([[0], np.cumsum(~late)])
            records = evolve(records, moves=records.moves[~late], offsets=kept[records.offsets], played=None)
            sides, reached = sides[~late], replay(self.game, records)
        wrong = (sides != 0) & (reached.move_side != 0) & (sides != reached.move_side)
        count_before = np.concatenate([[0], np.cumsum(wrong)])

        def wrong_side(index: int) -> str:
            first = int(records.offsets[index])
            at = first + int(np.argmax(wrong[first:]))
            written, turn = ("black", "white") if sides[at] > 0 else ("white", "black")
            name = format_square(int(records.moves[at]))
            return f"move {at - first + 1}, {name}, is written as {written}'s, but {turn} is to move"

        bad.mark(np.diff(count_before[records.offsets]) > 0, wrong_side)
        if self.convention is None and np.any((reached.status == FINISHED) & ~np.isnan(records.score)):
            self.convention = likely_convention(reached, records.score)
        stored = stored_scores(reached, self.convention or "raw")
        low, high = self.game.score_bounds
        if decided is not None:
            stored = np.where(decided, records.score, stored)
            bad.mark(
                decided & ((records.score < low) | (records.score > high)),
                lambda index: f"the score is given as {records.score[index]:+g}, not between {low} and {high}",
            )
        judged = validated(self.game, records, reached, stored, bad)
        if decided is None:
            return judged
        early = np.isnan(judged.score) & decided[~bad.mask] & ~np.isnan(judged.extra["stored_score"])
        written = judged.extra["stored_score"] * (high if self.convention == "sign" else 1)
        score = np.where(early, written, judged.score)
        return evolve(judged, score=score, remarks={_EARLY: int(early.sum())} if early.any() else {})


def _closing_passes(records: GameRecords, reached: Replay) -> NDArray[np.bool_]:
    """Find the passes that are written behind the ends of games: bool [M]."""
    late = np.zeros(len(records.moves), np.bool_)
    for index in np.flatnonzero(reached.status == ILLEGAL).tolist():
        rest = slice(int(records.offsets[index] + reached.illegal_at[index]), int(records.offsets[index + 1]))
        own, opponent = (column[reached.last[index]] for column in reached.positions)
        late[rest] = np.all(records.moves[rest] == PASS) and is_over(Position(own, opponent))
    return late


def write_transcripts(game: Game, records: GameRecords, /) -> Iterator[bytes]:
    """Yield a line per game: the moves without passes and, where it is known, a blank and the score for black.

    Of an unfinished game that is the exact score of the position that the moves lead to.

    Raises
    ------
    BadInputError
        A game has an illegal move or does not begin at the start.
    """
    check_starts(game, records, "transcripts")
    reached = replay(game, records)
    illegal = np.flatnonzero(reached.illegal_at >= 0)
    if len(illegal):
        raise BadInputError(
            f"game {illegal[0] + 1} of {len(records)}: move {reached.illegal_at[illegal[0]] + 1} is illegal"
        )
    names = np.array([list(format_square(square).encode()) for square in range(game.move_count)], np.uint8)
    is_disc = records.moves != game.pass_move
    places = np.concatenate([[0], np.cumsum(is_disc)])[records.offsets]
    text = names[records.moves[is_disc]].tobytes()
    exact = np.where(records.theoretical_ply == records.lengths, records.theoretical_score, np.nan)
    known = np.where(reached.status == FINISHED, reached.final_score, exact)
    for first, last, value in zip(places[:-1].tolist(), places[1:].tolist(), known.tolist(), strict=True):
        ending = b"" if np.isnan(value) else b" %d" % int(value)
        yield text[2 * first : 2 * last] + ending + b"\n"


def check_starts(game: Game, records: GameRecords, format_name: str) -> None:
    """Raise :class:`BadInputError` where a game does not begin at the start: a format has no room for its position."""
    if records.starts is None:
        return
    elsewhere = [
        index for index in range(len(records)) if tuple(records.start_of(index)) != tuple(game.initial_position)
    ]
    if elsewhere:
        raise BadInputError(
            f"game {elsewhere[0] + 1} of {len(records)} does not begin at the start, and {format_name} have no room "
            "for its first position; name a file .ggf"
        )
