"""Positions with scores from outside, one a line: ``<64 squares> X -6``, or a table (CSV) with such a column.

Squares are a1, b1, ... h8: ``X x * B b #`` black, ``O o W w 0`` white, ``- . _`` empty. Behind them the side to move,
``X`` or ``O`` (also ``B``, ``W``), perhaps a semicolon, and the score from the side to move's view. Where the side is
missing, ``X`` is to move. Other lines are read as :mod:`~glem.games.othello.formats.free_text` has it.

Among these are lines of OBF, the format of Edax and of the FFO endgame suite, ``<64 squares> X; E1:+0; F8:-2;``, with
the score of each move, the empty squares counted for the winner. ``--`` is the pass; where the pass is not legal it is
a filler that some programs write, and skipped. Lines that begin with ``%`` are comments.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from glem.core.compiling import characters as char
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.files.packed import LineBlock, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import ScoredPositions
from glem.core.positions.text_fields import ABSENT, BAD, Spans, TableFormat, lines_of, not_empty, skip_blanks
from glem.core.positions.validation import BadRecords
from glem.games.othello.formats.free_text import first_position, parse_scored_position

_GOOD, _BLANK, _NO_BOARD, _NO_SIDE = 0, 1, 2, 3
_EMPTY, _BLACK, _WHITE, _OTHER = 0, 1, 2, 255
TABLE = TableFormat(
    {"position": ("obf", "position", "board"), "score": ("score", "value", "label")}, required=("position", "score")
)


_CONTENT = char.classes((b"Xx*Bb#", _BLACK), (b"OoWw0", _WHITE), (b"-._", _EMPTY), other=_OTHER)
# A zero behind the board is a score, no side to move.
_SIDE = char.classes((b"Xx*Bb", _BLACK), (b"OoWw", _WHITE), other=_OTHER)


_Unscored: TypeAlias = Literal["bad", "left out", "kept"]
"""What becomes of positions without a score."""


def recognizes_lines(head: bytes) -> bool:
    """Whether the first bytes of a file look like lines of positions."""
    first = first_position(head)
    return first is not None and not first.is_obf


def recognizes_obf(head: bytes) -> bool:
    """Whether the first bytes of a file look like OBF."""
    first = first_position(head)
    return first is not None and first.is_obf


@kernel
def _board_lines(
    data: Any, starts: Any, ends: Any, contents: Any, sides: Any, own: Any, opponent: Any, behind: Any, state: Any
) -> None:
    for line in range(starts.shape[0]):
        end = ends[line]
        at = skip_blanks(data, starts[line], end)
        state[line] = _GOOD
        black = np.uint64(0)
        white = np.uint64(0)
        if at == end:
            state[line] = _BLANK
        else:
            for square in range(64):
                content = contents[data[at]] if at < end else np.uint8(_OTHER)
                if content == _OTHER:
                    state[line] = _NO_BOARD
                    break
                disc = np.uint64(1) << np.uint64(square)
                if content == _BLACK:
                    black |= disc
                elif content == _WHITE:
                    white |= disc
                at += 1
        side = np.uint8(_BLACK)
        if state[line] == _GOOD:
            place = skip_blanks(data, at, end)
            if place < end and sides[data[place]] != _OTHER:
                side = sides[data[place]]
                at = place + 1
            if at < end and skip_blanks(data, at, end) == at:
                state[line] = _NO_SIDE
        own[line] = white if side == _WHITE else black
        opponent[line] = black if side == _WHITE else white
        behind[line] = at


def _check_lines(
    game: Game,
    path: Path,
    block: LineBlock,
    boards: Spans,
    scores: Spans | None,
    skip_bad: bool,
    unscored: _Unscored = "bad",
) -> ScoredPositions:
    """Read positions from spans of the lines; the score is in spans of its own or behind the position."""
    count = len(block.starts)
    own, opponent = np.empty(count, np.uint64), np.empty(count, np.uint64)
    behind, state = np.empty(count, np.int64), np.empty(count, np.uint8)
    _board_lines(*boards, _CONTENT, _SIDE, own, opponent, behind, state)
    rest = boards.behind(behind)
    if scores is None:
        scores = rest
    else:
        state[(state == _GOOD) & ~rest.is_blank()] = _NO_SIDE
    score, score_state = scores.numbers()
    low, high = game.score_bounds
    blank = lines_of(block).is_blank()
    problems, remark = dict[int, str](), ""
    for row in np.flatnonzero((state > _BLANK) | ((score_state == BAD) & (scores is rest))).tolist():
        try:
            one = parse_scored_position(boards.text(row))
        except BadInputError as error:
            problems[row] = str(error)
            continue
        if scores is rest and one is None:
            blank[row] = True
        elif one is None or (scores is not rest and not np.isnan(one.score)):
            problems[row] = f"{boards.excerpt(row)} is no position without a score"
        else:
            own[row], opponent[row] = one.position
            remark = one.remark or remark
            if scores is rest:
                score[row], score_state[row] = one.score, ABSENT if np.isnan(one.score) else _GOOD
    bad = BadRecords(count, lambda index: f"{path}:{block.first_number + index}", skip_bad)
    bad.mark((state == _BLANK) & ~blank, lambda _: "there is no position")
    bad.mark(np.isin(np.arange(count), [*problems]), problems.__getitem__)
    if unscored == "bad":
        bad.mark((score_state == ABSENT) & ~blank, lambda _: "there is no score")
    bad.mark((score_state == BAD) & ~blank, lambda index: f"{scores.excerpt(index)} is no score")
    bad.mark(
        (score < low) | (score > high), lambda index: f"the score {score[index]:g} is not between {low} and {high}"
    )
    told = bad.problems(limit=count)
    good = ~bad.mask & ~blank & ((score_state != ABSENT) | (unscored != "left out"))
    return ScoredPositions(game.position_type(own[good], opponent[good]), score[good], told, remark)


def read_position_lines(
    game: Game, path: Path, /, *, skip_bad: bool, unscored: _Unscored = "bad", chunk_positions: int, max_bytes: int
) -> Iterator[ScoredPositions]:
    """Read lines of a position and its score, also from ``.gz`` and ``.xz``.

    Parameters
    ----------
    path
        Text file, one position a line; empty lines are skipped.
    skip_bad
        Leave bad lines out and tell them in ``problems``.
    unscored
        What becomes of lines without a score; where they are kept, their label is nan.
    chunk_positions
        Most positions in one chunk.
    max_bytes
        Limit on the unpacked size.

    Raises
    ------
    BadInputError
        The file cannot be read, has no positions, or has a bad line and ``skip_bad`` is false: it is not of this form,
        scores an illegal move or one move twice, or a score is out of range.
    """
    chunks = (
        _check_lines(game, path, block, lines_of(block), None, skip_bad, unscored)
        for block in line_blocks(path, lines=chunk_positions, max_bytes=max_bytes)
    )
    return not_empty(
        chunks, path, "no positions; expected lines of 64 squares, the side to move and a score, or those of moves"
    )


def read_position_table(
    game: Game, path: Path, /, *, skip_bad: bool, chunk_positions: int, max_bytes: int
) -> Iterator[ScoredPositions]:
    """Read a table with a header line, a column of positions and one of scores.

    The position's column is called ``obf``, ``position`` or ``board``, that of the score ``score``, ``value`` or
    ``label``; other columns are not looked at. All else as in :func:`read_position_lines`.
    """
    for block in TABLE.blocks(path, lines=chunk_positions, max_bytes=max_bytes):
        yield _check_lines(game, path, block.rows, block.column("position"), block.column("score"), skip_bad)
