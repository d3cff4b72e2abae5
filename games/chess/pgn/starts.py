"""Positions in which games of a PGN file begin, each read by python-chess once."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.games.chess.boards import board_of_fen, from_board

__all__ = ["StartingPositions"]

_MOST_KNOWN = 1 << 16
_FIRST_ROOM = 64

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


class StartingPositions:
    """Starting positions by their text.

    Parameters
    ----------
    initial_position
        Number 0: where games without such a text begin.
    """

    def __init__(self, initial_position: Any) -> None:
        self._initial_position = initial_position
        self._forget()

    def _forget(self) -> None:
        self._known: dict[bytes, int] = {}
        self._count = 1
        position = self._initial_position
        self.columns: Any = type(position)(*(np.full(_FIRST_ROOM, value) for value in position))

    def index(self, fen: bytes) -> int:
        """Return the number of a position, -1 for a text that is none."""
        number = self._known.get(fen)
        if number is None:
            try:
                position = _position(fen)
            except BadInputError:
                number = -1
            else:
                number = self._count
                self._add(position)
            self._known[fen] = number
        return number

    def _add(self, position: Any) -> None:
        if self._count == len(self.columns[0]):
            self.columns = type(self.columns)(*(np.concatenate([column, column]) for column in self.columns))
        for column, value in zip(self.columns, position, strict=True):
            column[self._count] = value
        self._count += 1

    def forget_many(self) -> None:
        """Begin anew where very many are known, so that memory has a bound; numbers given before are void."""
        if len(self._known) > _MOST_KNOWN:
            self._forget()

    def problem(self, fen: bytes) -> str:
        """Tell what is wrong with a text that is no position."""
        try:
            _position(fen)
        except BadInputError as error:
            return str(error)
        return f"the position {_text(fen)!r} cannot be read where it stands"

    def of(self, numbers: NDArray[np.int64]) -> tuple[Any, NDArray[np.int8]]:
        """Position of columns [G] of some numbers [G], bad ones as the initial position, and the sides to move."""
        chosen = np.maximum(numbers, 0)
        starts = rows_of(self.columns, chosen)
        return starts, np.where(starts.turn == 0, 1, -1).astype(np.int8)


def _text(fen: bytes) -> str:
    return fen.decode("ascii", "replace")[:100]


def _position(fen: bytes) -> Any:
    try:
        board = board_of_fen(_text(fen).strip())
    except ValueError as error:
        raise BadInputError(f"the game begins in no position: {error}") from None
    status = board.status() & _UNPLAYABLE
    if status:
        names = ", ".join(flag.name.lower().replace("_", " ") for flag in chess.Status if flag & status and flag.name)
        raise BadInputError(f"the game begins in {_text(fen)!r}, which cannot be played: {names}")
    return from_board(board)
