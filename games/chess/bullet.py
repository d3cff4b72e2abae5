"""Positions with results in the records of bullet's trainer (``ChessBoard`` of ``bulletformat``).

A record has 32 bytes, little-endian; a file has no header::

    occupied    uint64: squares with a piece, a1 is bit 0
    pieces      uint8 [16]: four bits for each of them, the lower half of a byte first: 8 for the opponent's, and 0 to 5
                for a pawn, knight, bishop, rook, queen, king
    score       int16: centipawns
    result      uint8: 0, 1 or 2 for a game that was lost, drawn or won
    kings       uint8 [2]: squares of the own king, and of the other one as its owner sees it
    unused      uint8 [3]

All of it is as the side to move sees it, the board included. White is therefore to move in every position that is read;
a record does not say which colour it was, nor castling rights, en passant or the clock.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from glem.core.compiling.columns import store_position
from glem.core.compiling.kernels import ONE, ZERO, compiled, popcount
from glem.core.errors import BadInputError
from glem.core.files.packed import open_bounded
from glem.core.game.game import Game
from glem.core.game.records import ScoredPositions
from glem.core.positions.validation import BadRecords
from glem.games.chess.fen import is_possible
from glem.games.chess.notation import MAX_MOVES
from glem.games.chess.rules.generation import count_moves_on_board
from glem.games.chess.rules.position import Position, with_key

_BYTES = 32
_RESULT, _KING_SQUARES = 26, slice(27, 29)
_KINDS, _WHITE = 6, 6
_GOOD, _NO_PIECES, _NO_RESULT, _IMPOSSIBLE = range(4)
_REASONS = {
    _NO_PIECES: "its pieces are not those of a board: up to 32 of six kinds",
    _NO_RESULT: "its result is none of 0, 1 and 2",
    _IMPOSSIBLE: "no game of chess leads to this position",
}


def _read_records(records: Any, columns: Any, labels: Any, states: Any) -> None:
    """Read records uint8 [n, 32] into columns, results -1, 0 or 1 into ``labels``, and what is wrong."""
    boards = np.zeros(7, np.uint64)
    for row in range(records.shape[0]):
        record = records[row]
        occupied = ZERO
        for byte in range(8):
            occupied |= np.uint64(record[byte]) << np.uint64(8 * byte)
        boards[:] = ZERO
        left, number, states[row] = occupied, 0, _GOOD
        while left != ZERO and popcount(occupied) <= 32:
            square = left & (~left + ONE)
            left ^= square
            piece = (record[8 + (number >> 1)] >> np.uint8(4 * (number & 1))) & np.uint8(15)
            number += 1
            if piece & 7 >= _KINDS:
                break
            boards[piece & 7] |= square
            if piece < 8:
                boards[_WHITE] |= square
        pawns, knights, bishops, rooks, queens, kings, white = boards
        state = np.uint8(0), np.uint8(0), np.uint8(0)
        position = Position(pawns, knights, bishops, rooks, queens, kings, white, ZERO, ZERO, *state)
        labels[row] = np.float32(record[_RESULT]) - np.float32(1)
        if left != ZERO or pawns | knights | bishops | rooks | queens | kings != occupied:
            states[row] = _NO_PIECES
        elif record[_RESULT] > 2:
            states[row] = _NO_RESULT
        elif not is_possible(position) or count_moves_on_board(position) > MAX_MOVES:
            states[row] = _IMPOSSIBLE
        else:
            store_position(columns, row, with_key(position))


def read_bullet(
    game: Game, path: Path, /, *, skip_bad: bool, chunk_positions: int, max_bytes: int
) -> Iterator[ScoredPositions]:
    """Read positions with the results of their games; arguments and errors are those of :data:`.ReadPositions`."""
    first = 1
    with open_bounded(path, max_bytes=max_bytes) as file:
        while content := file.read(_BYTES * chunk_positions):
            count, more = divmod(len(content), _BYTES)
            if more:
                whole = first - 1 + count
                raise BadInputError(f"{path}: ends within a record of {_BYTES} bytes, after {whole:,} whole ones")
            columns, labels, states = game.empty_columns(count), np.empty(count, np.float32), np.empty(count, np.uint8)
            records = np.frombuffer(content, np.uint8).reshape(count, _BYTES)
            compiled(_read_records)(records.copy(), columns, labels, states)
            bad = BadRecords(count, partial(_place_of, path, first), skip_bad)
            for state, reason in _REASONS.items():
                bad.mark(states == state, partial(_reason, reason))
            problems, good = bad.problems(limit=count), ~bad.mask
            first += count
            yield ScoredPositions(type(columns)(*(column[good] for column in columns)), labels[good], problems)


def _place_of(path: Path, first: int, row: int) -> str:
    return f"{path}, record {first + row}"


def _reason(text: str, _row: int) -> str:
    return text


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like such records."""
    count = len(head) // _BYTES
    records = np.frombuffer(head[: count * _BYTES], np.uint8).reshape(count, _BYTES)
    occupied = np.bitwise_count(records[:, :8]).sum(axis=1)
    # Two kings and another piece at least.
    fits = (
        (occupied >= 3) & (occupied <= 32) & (records[:, _RESULT] <= 2) & (records[:, _KING_SQUARES] < 64).all(axis=1)
    )
    return bool(count) and bool(fits.all())
