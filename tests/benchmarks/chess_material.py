"""A light evaluation of chess for measuring the search: material and squares, kept from move to move.

The numbers follow from a formula: they make a search behave as with a real evaluation, no more is asked of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import inlined, trailing_zeros
from glem.core.compiling.operations import Operations
from glem.core.features.evaluators import Evaluator
from glem.games.chess.rules.position import Position

__all__ = ["MATERIAL_AND_SQUARES"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_WIDTH = 4
_LIMIT = 20_000
_MIDDLE, _END, _PIECES = 0, 1, 2
_MOST_PIECES = 24


class Weights(NamedTuple):
    """Hundredths of a pawn, White's positive: int16 [2 colours * 6 kinds * 64], and what a piece counts for a phase."""

    middle: NDArray[np.int16]
    end: NDArray[np.int16]
    pieces: NDArray[np.int16]


def _weights() -> Weights:
    worth = (100, 320, 330, 500, 950, 0)
    centre_middle, centre_end = (2, 5, 4, 1, 1, -8), (0, 4, 4, 1, 3, 6)
    middle, end = np.zeros((2, 6, 64), np.int16), np.zeros((2, 6, 64), np.int16)
    for kind in range(6):
        for square in range(64):
            rank, file = square // 8, square % 8
            centre = 6 - abs(2 * rank - 7) // 2 - abs(2 * file - 7) // 2
            steps = rank if kind == 0 else 0
            middle[0, kind, square] = worth[kind] + centre_middle[kind] * centre + 2 * steps
            end[0, kind, square] = worth[kind] + centre_end[kind] * centre + 9 * steps
    for table in (middle, end):
        table[1] = -table[0].reshape(6, 8, 8)[:, ::-1].reshape(6, 64)
    pieces = np.zeros((2, 6, 64), np.int16)
    for kind, share in enumerate((0, 1, 1, 2, 4, 0)):
        pieces[:, kind] = share
    return Weights(middle.ravel(), end.ravel(), pieces.ravel())


@inlined
def _kind_on(position: Position, square: np.uint64) -> np.uint64:
    """Kind of the piece on an occupied square."""
    return (
        ((position.knights >> square) & _ONE)
        + (((position.bishops >> square) & _ONE) << _ONE)
        + ((position.rooks >> square) & _ONE) * np.uint64(3)
        + (((position.queens >> square) & _ONE) << np.uint64(2))
        + ((position.kings >> square) & _ONE) * np.uint64(5)
    )


def start(position: Position, data: Weights, accumulators: Any, ply: int) -> None:
    """Sum over all pieces."""
    boards = (position.pawns, position.knights, position.bishops, position.rooks, position.queens, position.kings)
    middle, end, pieces = np.int64(0), np.int64(0), np.int64(0)
    for kind in range(6):
        board = boards[kind]
        while board != _ZERO:
            square = np.uint64(trailing_zeros(board))
            black = (~position.white >> square) & _ONE
            place = np.int64((black * np.uint64(6) + np.uint64(kind)) << np.uint64(6) | square)
            middle += np.int64(data.middle[place])
            end += np.int64(data.end[place])
            pieces += np.int64(data.pieces[place])
            board &= board - _ONE
    first = ply * _WIDTH
    accumulators[first + _MIDDLE] = np.uint16(middle & np.int64(0xFFFF))
    accumulators[first + _END] = np.uint16(end & np.int64(0xFFFF))
    accumulators[first + _PIECES] = np.uint16(pieces)


def update(before: Position, move: int, after: Position, data: Weights, accumulators: Any, ply: int) -> None:
    """Take the moved and the captured piece off and put the moved one down; castling and en passant sum anew."""
    word = np.uint64(move)
    origin = word & np.uint64(63)
    target = (word >> np.uint64(6)) & np.uint64(63)
    below = ply + 1
    black = np.uint64(before.turn)
    occupied = before.pawns | before.knights | before.bishops | before.rooks | before.queens | before.kings
    own = occupied & ~before.white if black != _ZERO else before.white
    castles = (own >> target) & _ONE != _ZERO
    en_passant = before.en_passant != np.uint8(0) and target == np.uint64(before.en_passant)
    if castles or en_passant:
        start(after, data, accumulators, below)
        return
    first = ply * _WIDTH
    left = np.int64((black * np.uint64(6) + _kind_on(before, origin)) << np.uint64(6) | origin)
    arrived = np.int64((black * np.uint64(6) + _kind_on(after, target)) << np.uint64(6) | target)
    middle = np.int64(accumulators[first + _MIDDLE]) + np.int64(data.middle[arrived]) - np.int64(data.middle[left])
    end = np.int64(accumulators[first + _END]) + np.int64(data.end[arrived]) - np.int64(data.end[left])
    pieces = np.int64(accumulators[first + _PIECES]) + np.int64(data.pieces[arrived]) - np.int64(data.pieces[left])
    if (occupied >> target) & _ONE != _ZERO:
        taken = np.int64(((_ONE - black) * np.uint64(6) + _kind_on(before, target)) << np.uint64(6) | target)
        middle -= np.int64(data.middle[taken])
        end -= np.int64(data.end[taken])
        pieces -= np.int64(data.pieces[taken])
    place = below * _WIDTH
    accumulators[place + _MIDDLE] = np.uint16(middle & np.int64(0xFFFF))
    accumulators[place + _END] = np.uint16(end & np.int64(0xFFFF))
    accumulators[place + _PIECES] = np.uint16(pieces)


def static_score(position: Position, data: Weights, accumulators: Any, ply: int) -> int:
    """Mix both sums by the pieces left."""
    first = ply * _WIDTH
    middle = np.int64(np.int16(accumulators[first + _MIDDLE]))
    end = np.int64(np.int16(accumulators[first + _END]))
    pieces = min(np.int64(accumulators[first + _PIECES]), np.int64(_MOST_PIECES))
    score = (middle * pieces + end * (np.int64(_MOST_PIECES) - pieces)) // np.int64(_MOST_PIECES)
    return int(-score if position.turn != np.uint8(0) else score)


def search_phase(position: Position) -> int:
    """One phase."""
    return 0


MATERIAL_AND_SQUARES = Evaluator(
    name="material and squares",
    operations=Operations(
        "chess-material",
        {"start": start, "update": update, "static_score": static_score, "search_phase": search_phase},
    ),
    data=_weights(),
    width=_WIDTH,
    phase_count=1,
    steps_per_unit=100.0,
    limit=_LIMIT,
    unit="pawns",
    result_only=True,
)
"""In hundredths of a pawn."""
