"""Kernels that take Othello moves out of many lines of text at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling import characters as char
from glem.core.compiling.kernels import kernel
from glem.games.othello.formats.text_fields import number_at, skip_blanks
from glem.games.othello.rules import PASS

__all__ = ["BLANK", "GOOD", "NOT_A_MOVE", "NO_MOVES", "REST", "MoveLines", "colored_lines", "move_lines"]

GOOD, BLANK, NO_MOVES, NOT_A_MOVE, REST = 0, 1, 2, 3, 4
"""What a line is: a game, an empty line, a score alone, or bad in one of three ways."""

_NO_MOVE = 255


def _move_table() -> NDArray[np.uint8]:
    """Square of two bytes, ``first * 256 + second``; either case, passes too, 255 for all else."""
    table = np.full(65536, _NO_MOVE, np.uint8)
    for column, (small, large) in enumerate(zip(b"abcdefgh", b"ABCDEFGH", strict=True)):
        for row, digit in enumerate(b"12345678"):
            table[small * 256 + digit] = table[large * 256 + digit] = 8 * row + column
    for text in (b"--", b"pa", b"PA", b"Pa", b"ps", b"PS", b"Ps"):
        table[text[0] * 256 + text[1]] = PASS
    return table


_TABLE = _move_table()


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
        float32 [L]: score written behind the moves, nan where there is none.
    state
        uint8 [L]: :data:`GOOD`, :data:`BLANK`, ...
    at
        int64 [L]: where a bad line goes wrong.
    """

    moves: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    sides: NDArray[np.int8]
    score: NDArray[np.float32]
    state: NDArray[np.uint8]
    at: NDArray[np.int64]


@kernel
def _move_lines(
    data: Any, starts: Any, ends: Any, table: Any, moves: Any, offsets: Any, score: Any, state: Any, stopped: Any
) -> None:
    count = 0
    for line in range(starts.shape[0]):
        end = ends[line]
        first = count
        at = starts[line]
        separated = True
        while True:
            after = skip_blanks(data, at, end)
            separated = separated or after > at
            at = after
            run = count
            while at + 1 < end:
                move = table[(np.int64(data[at]) << 8) | np.int64(data[at + 1])]
                if move == _NO_MOVE:
                    break
                moves[count] = move
                count += 1
                at += 2
            if count == run:
                break
            separated = False
        score[line] = np.nan
        state[line] = GOOD
        if at < end:
            value, after = number_at(data, at, end)
            if after == at or not separated:
                state[line] = NOT_A_MOVE
            else:
                score[line] = value
                at = skip_blanks(data, after, end)
                if at < end:
                    state[line] = REST
                elif count == first:
                    state[line] = NO_MOVES
        elif count == first:
            state[line] = BLANK
        stopped[line] = at
        offsets[line + 1] = count


def _empty_lines(data: NDArray[np.uint8], lines: int) -> MoveLines:
    most = len(data) // 2 + 1
    return MoveLines(
        moves=np.empty(most, np.uint8),
        offsets=np.zeros(lines + 1, np.int64),
        sides=np.zeros(most, np.int8),
        score=np.empty(lines, np.float32),
        state=np.empty(lines, np.uint8),
        at=np.empty(lines, np.int64),
    )


def _trimmed(lines: MoveLines) -> MoveLines:
    count = int(lines.offsets[-1])
    return MoveLines(
        lines.moves[:count].copy(), lines.offsets, lines.sides[:count].copy(), lines.score, lines.state, lines.at
    )


def move_lines(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> MoveLines:
    """Read lines like ``f5d6c3 -18``: moves, blanks between them allowed, then perhaps a blank or comma and a score.

    Parameters
    ----------
    data
        uint8 [B].
    starts, ends
        int64 [L]: the lines.
    """
    lines = _empty_lines(data, len(starts))
    _move_lines(data, starts, ends, _TABLE, lines.moves, lines.offsets, lines.score, lines.state, lines.at)
    return _trimmed(lines)


@kernel
def _colored_lines(
    data: Any,
    starts: Any,
    ends: Any,
    table: Any,
    moves: Any,
    offsets: Any,
    sides: Any,
    score: Any,
    state: Any,
    stopped: Any,
) -> None:
    count = 0
    for line in range(starts.shape[0]):
        end = ends[line]
        first = count
        at = skip_blanks(data, starts[line], end)
        state[line] = GOOD
        score[line] = np.nan
        if at == end:
            state[line] = BLANK
        while at < end and data[at] != char.COLON:
            if at + 2 >= end:
                state[line] = NOT_A_MOVE
                break
            move = table[(np.int64(data[at + 1]) << 8) | np.int64(data[at + 2])]
            if move == _NO_MOVE or (data[at] != char.PLUS_SIGN and data[at] != char.HYPHEN):
                state[line] = NOT_A_MOVE
                break
            moves[count] = move
            sides[count] = 1 if data[at] == char.PLUS_SIGN else -1
            count += 1
            at += 3
        if state[line] == GOOD and at < end:
            at = skip_blanks(data, at + 1, end)
            value, after = number_at(data, at, end)
            if after > at:
                score[line] = value
                at = skip_blanks(data, after, end)
                # What the second number means is not known; it is 10 on every line of the published book.
                value, after = number_at(data, at, end)
                at = skip_blanks(data, after, end)
            if at < end:
                state[line] = REST
        if state[line] == GOOD and count == first:
            state[line] = NO_MOVES
        stopped[line] = at
        offsets[line + 1] = count


def colored_lines(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> MoveLines:
    """Read lines like ``+d3-c3+c4: -04 10``: moves with their side's sign, a colon, the score, a further number."""
    lines = _empty_lines(data, len(starts))
    _colored_lines(
        data, starts, ends, _TABLE, lines.moves, lines.offsets, lines.sides, lines.score, lines.state, lines.at
    )
    return _trimmed(lines)
