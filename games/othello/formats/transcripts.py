"""Transcripts like ``f5d6c3``, one game a line, with or without a score, and tables (CSV) that have such a column.

A line is the moves, then perhaps blanks or a comma and the score from black's view. Passes are left out, or written
``--``, ``pa`` or ``ps``. Empty lines are skipped. What the score means
(:mod:`~glem.games.othello.formats.score_conventions`) is told from the games themselves unless it is given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.packed import MAX_BYTES, LineBlock, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import CHUNK_SIZE, GameRecords
from glem.core.positions.replay import FINISHED, replay
from glem.core.positions.validation import BadRecords, validated
from glem.games.othello.formats.move_text import BLANK, GOOD, NO_MOVES, NOT_A_MOVE, REST, MoveLines, move_lines
from glem.games.othello.formats.score_conventions import Convention, likely_convention, stored_scores
from glem.games.othello.formats.text_fields import (
    BAD,
    TableBlock,
    excerpt,
    is_table,
    not_empty,
    numbers,
    only_blanks,
    table_blocks,
)
from glem.games.othello.notation import format_square

__all__ = [
    "check_starts",
    "checked_lines",
    "read_table",
    "read_transcripts",
    "recognizes_table",
    "recognizes_transcripts",
    "validated_games",
    "write_transcripts",
]

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "moves": ("game_moves", "moves", "transcript", "game"),
    "score": ("winner", "score", "result", "black_score"),
}
_FIRST_MOVE = re.compile(rb"\s*(?:[a-hA-H][1-8]\s*){2}")


def recognizes_transcripts(head: bytes) -> bool:
    """Whether the first bytes of a file look like transcripts."""
    return _FIRST_MOVE.match(head) is not None


def recognizes_table(head: bytes) -> bool:
    """Whether the first bytes of a file look like a table with a column of moves."""
    return is_table(head, _COLUMNS, ("moves",))


def read_transcripts(
    game: Game,
    path: str | os.PathLike[str],
    *,
    score: Convention | None = None,
    skip_bad: bool = False,
    chunk_games: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[GameRecords]:
    """Read and check transcripts, also from ``.gz`` and ``.xz``.

    A line is bad when it has anything else than moves and a score, an illegal move, or a score that a finished
    game's moves contradict.

    Parameters
    ----------
    game
        Othello.
    path
        Text file, one game a line.
    score
        What the scores mean; by default what most games of the first chunk agree with.
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
    lines = ((block, move_lines(block.data, block.starts, block.ends)) for block in blocks)
    records = checked_lines(game, path, lines, convention=score, skip_bad=skip_bad)
    return not_empty(records, path, "no games; expected lines like f5d6c3")


def read_table(
    game: Game,
    path: str | os.PathLike[str],
    *,
    score: Convention | None = None,
    skip_bad: bool = False,
    chunk_games: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[GameRecords]:
    """Read and check a table with a header line and one game a line, also from ``.gz`` and ``.xz``.

    The column of moves is called ``game_moves``, ``moves``, ``transcript`` or ``game``, that of the score, which may
    be missing, ``winner``, ``score``, ``result`` or ``black_score``; other columns are not looked at. All else as in
    :func:`read_transcripts`.
    """
    blocks = table_blocks(Path(path), _COLUMNS, ("moves",), lines=chunk_games, max_bytes=max_bytes)
    lines = ((block.rows, _table_lines(block)) for block in blocks)
    return checked_lines(game, path, lines, convention=score, skip_bad=skip_bad)


def _table_lines(block: TableBlock) -> MoveLines:
    rows = block.rows
    starts, ends = block.spans("moves")
    lines = move_lines(rows.data, starts, ends)
    state, at, score = lines.state.copy(), lines.at.copy(), lines.score.copy()
    state[(state == BLANK) & ~only_blanks(rows.data, rows.starts, rows.ends)] = NO_MOVES
    # A number inside the column of moves is no score of this format.
    number = (state == GOOD) & ~np.isnan(score)
    state[number], at[number] = REST, starts[number]
    score[:] = np.nan
    if "score" in block.columns:
        starts, ends = block.spans("score")
        score, score_state = numbers(rows.data, starts, ends)
        wrong = (state == GOOD) & (score_state == BAD)
        state[wrong], at[wrong] = REST, starts[wrong]
    return attrs.evolve(lines, state=state, at=at, score=score)


def checked_lines(
    game: Game,
    path: str | os.PathLike[str],
    blocks: Iterable[tuple[LineBlock, MoveLines]],
    *,
    convention: Convention | None,
    skip_bad: bool,
) -> Iterator[GameRecords]:
    """Check the games of a file by replay, a block of lines at a time.

    Parameters
    ----------
    game
        Othello.
    path
        The file, for messages.
    blocks
        The lines as text, and what was read from them.
    convention
        What the scores mean; if None, what most games agree with in the first block with known scores.
    skip_bad
        Leave bad lines out and count them instead of raising.

    Raises
    ------
    BadInputError
        A line is bad and ``skip_bad`` is false.
    """
    for block, lines in blocks:
        records, convention = _checked(game, Path(path), block, lines, convention, skip_bad)
        yield records


def _checked(
    game: Game, path: Path, block: LineBlock, lines: MoveLines, convention: Convention | None, skip_bad: bool
) -> tuple[GameRecords, Convention | None]:
    kept = np.flatnonzero(lines.state != BLANK)
    numbers_in_file = block.first_number + kept
    records = GameRecords.from_moves(
        lines.moves,
        lines.offsets,
        lines.score,
        extra={"number": block.first_number + np.arange(len(lines.state), dtype=np.int64)},
        source=path.name,
    )
    if len(kept) < len(records):
        records = records.select(kept)
    state, at = lines.state[kept], lines.at[kept]

    def rest(index: int) -> str:
        return excerpt(block.data, int(at[index]), int(block.ends[kept[index]]))

    bad = BadRecords(len(kept), lambda index: f"{path}:{numbers_in_file[index]}")
    bad.mark(state == NOT_A_MOVE, lambda index: f"{rest(index)} is neither a move (a1 to h8) nor a score")
    bad.mark(state == REST, lambda index: f"{rest(index)} is unexpected where the line should end or hold a score")
    bad.mark(state == NO_MOVES, lambda _: "the line has no moves")
    # Blank lines have no moves, so the flat columns agree.
    return validated_games(game, records, lines.sides, convention, bad, skip_bad=skip_bad)


def validated_games(
    game: Game,
    records: GameRecords,
    sides: NDArray[np.int8],
    convention: Convention | None,
    bad: BadRecords,
    *,
    skip_bad: bool,
) -> tuple[GameRecords, Convention | None]:
    """Check games by replay, the sides that their moves are written as and their scores included.

    Parameters
    ----------
    game
        Othello.
    records
        The games.
    sides
        int8 [M]: +1 for a move written as black's, -1 for white's, 0 where the text does not say.
    convention
        What the scores mean; None as long as no finished game has one.
    bad
        What is wrong with the games so far.
    skip_bad
        Leave bad games out and count them instead of raising.

    Returns
    -------
    records, convention
        The good games, and what their scores mean by most of them.
    """
    reached = replay(game, records)
    wrong = (sides != 0) & (reached.move_side != 0) & (sides != reached.move_side)
    count_before = np.concatenate([[0], np.cumsum(wrong)])

    def wrong_side(index: int) -> str:
        first = int(records.offsets[index])
        at = first + int(np.argmax(wrong[first:]))
        written, turn = ("black", "white") if sides[at] > 0 else ("white", "black")
        name = format_square(int(records.moves[at]))
        return f"move {at - first + 1}, {name}, is written as {written}'s, but {turn} is to move"

    bad.mark(np.diff(count_before[records.offsets]) > 0, wrong_side)
    if convention is None and np.any((reached.status == FINISHED) & ~np.isnan(records.score)):
        convention = likely_convention(reached, records.score)
    stored = stored_scores(reached, convention or "raw")
    return validated(game, records, reached, stored, bad, skip_bad=skip_bad), convention


def write_transcripts(game: Game, records: GameRecords, /, *, score: Convention | None = "standard") -> Iterator[bytes]:
    """Yield a line per game: the moves without passes and, where it is known, a blank and the score for black.

    Of an unfinished game that is the exact score of the position that the moves lead to.

    Parameters
    ----------
    game
        Othello.
    records
        The games; see :class:`~glem.core.game.game.WriteRecords`.
    score
        What the scores of finished games should mean; None leaves all out.

    Raises
    ------
    BadInputError
        A game has an illegal move or does not begin at the start, or the convention is unknown.
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
    known = np.full(len(records), np.nan)
    if score is not None:
        exact = np.where(records.theoretical_ply == records.lengths, records.theoretical_score, np.nan)
        known = np.where(reached.status == FINISHED, stored_scores(reached, score), exact)
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
