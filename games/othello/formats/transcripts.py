"""Transcripts like ``f5d6c3``, one game a line, with or without a score; tables (CSV) of them; Logistello's book.

A line is the moves, then perhaps blanks or a comma and the score from black's view. Passes are left out, or written
``--``, ``pa`` or ``ps``. Empty lines are skipped. What the score means
(:mod:`~glem.games.othello.formats.score_conventions`) is told from the games themselves unless it is given.

A line of Logistello's opening book, ``logbook.gam``, is ``+d3-c3+c4...: -04 10``. Each move carries its side, ``+`` for
black and ``-`` for white; passes are left out. Behind the colon stand the plain disc difference for black at the end of
the game and a number that is 10 on every line of the published book.
"""

import re
from collections.abc import Iterator
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
    """

    moves: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    sides: NDArray[np.int8]
    score: NDArray[np.float32]
    bad: NDArray[np.bool_]
    rest: Spans


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
    joined = (np.diff(offsets) > 0) & ~rest._replace(ends=np.minimum(rest.starts + 1, rest.ends)).is_blank()
    return MoveLines(moves, offsets, sides, score, joined | (state == BAD), rest)


def colored_lines(lines: Spans) -> MoveLines:
    """Read lines like ``+d3-c3+c4: -04 10``: moves with their side's sign, a colon, the score, a further number."""
    moves, offsets, sides, rest = _moves_of(lines, signs=True)
    has_rest = ~rest.is_blank()
    has_colon = has_rest & (rest.data[np.minimum(rest.starts, len(rest.data) - 1)] == char.COLON)
    rest = rest.behind(rest.starts + has_colon)
    # What the second number means is not known; it is 10 on every line of the published book.
    score, state = rest.numbers(most=2)
    return MoveLines(moves, offsets, sides, score, (has_rest & ~has_colon) | (state == BAD), rest)


def _table_lines(block: Table) -> MoveLines:
    moves, offsets, sides, rest = _moves_of(block.column("moves"))
    bad, at = ~rest.is_blank(), rest.starts
    score = np.full(len(bad), np.nan, np.float32)
    if "score" in block.columns:
        scores = block.column("score")
        score, state = scores.numbers()
        at = np.where(bad, at, scores.starts)
        bad |= state == BAD
    return MoveLines(moves, offsets, sides, score, bad, lines_of(block.rows).behind(at))


def recognizes_transcripts(head: bytes) -> bool:
    """Whether the first bytes of a file look like transcripts."""
    return _FIRST_MOVES.match(head) is not None


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
    checks = GameChecks(game)
    records = (_checked(checks, path, block, move_lines(lines_of(block)), skip_bad) for block in blocks)
    return not_empty(records, path, "no games; expected lines like f5d6c3")


def read_table(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    """Read and check a table with a header line and one game a line, also from ``.gz`` and ``.xz``.

    The column of moves is called ``game_moves``, ``moves``, ``transcript`` or ``game``, that of the score, which may
    be missing, ``winner``, ``score``, ``result`` or ``black_score``; other columns are not looked at. All else as in
    :func:`read_transcripts`.
    """
    blocks = TABLE.blocks(path, lines=chunk_games, max_bytes=max_bytes)
    checks = GameChecks(game)
    yield from (_checked(checks, path, block.rows, _table_lines(block), skip_bad) for block in blocks)


def read_logbook(
    game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int
) -> Iterator[GameRecords]:
    """Read and check games in the format of Logistello's book, also from ``.gz`` and ``.xz``.

    A line is bad when it is not of this form, has an illegal move or one of the wrong side, or a score that a
    finished game's moves contradict. Arguments, columns and errors are those of :func:`read_transcripts`.
    """
    blocks = line_blocks(path, lines=chunk_games, max_bytes=max_bytes)
    checks = GameChecks(game, "raw")
    records = (_checked(checks, path, block, colored_lines(lines_of(block)), skip_bad) for block in blocks)
    return not_empty(records, path, "no games; expected lines like +d3-c3+c4: -04 10")


def _checked(checks: "GameChecks", path: Path, block: LineBlock, lines: MoveLines, skip_bad: bool) -> GameRecords:
    """Check the games of a block of lines."""
    kept = np.flatnonzero(~lines_of(block).is_blank())
    numbers = np.arange(block.first_number, block.first_number + len(lines.bad), dtype=np.int64)
    records = GameRecords.from_moves(
        lines.moves, lines.offsets, lines.score, extra={"number": numbers}, source=path.name
    )
    if len(kept) < len(records):
        records = records.select(kept)
    rest = lines.rest
    bad = BadRecords(len(kept), lambda index: f"{path}:{numbers[kept[index]]}", skip_bad)
    bad.mark(lines.bad[kept], lambda index: f"{rest.excerpt(kept[index])} is neither a move (a1 to h8) nor the score")
    bad.mark(records.lengths == 0, lambda _: "the line has no moves")
    # Blank lines have no moves, so the flat columns agree.
    return checks.validated(records, lines.sides, bad)


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
            records = evolve(records, moves=records.moves[~late], offsets=kept[records.offsets])
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
        if decided is not None:
            stored = np.where(decided, records.score, stored)
            low, high = self.game.score_bounds
            bad.mark(
                decided & ((records.score < low) | (records.score > high)),
                lambda index: f"the score is given as {records.score[index]:+g}, not between {low} and {high}",
            )
        judged = validated(self.game, records, reached, stored, bad)
        if decided is None:
            return judged
        early = np.isnan(judged.score) & decided[~bad.mask] & ~np.isnan(judged.extra["stored_score"])
        score = np.where(early, judged.extra["stored_score"], judged.score)
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
