"""Games as boards with their moves, from the positions that went by."""

from __future__ import annotations

from collections.abc import Sequence

import chess

from glem.games.chess.boards import to_board
from glem.games.chess.rules.position import Position

__all__ = ["PositionHistory", "board_of"]


def board_of(position: Position) -> chess.Board:
    """Board of a position; it is one of Chess960 only where its castling rights need that."""
    board = to_board(position)
    board.chess960 = board.has_chess960_castling_rights()
    return board


class PositionHistory:
    """Board of a game that grows from move to move, so that its moves are looked for once."""

    def __init__(self) -> None:
        self._positions: list[Position] = []
        self._board = chess.Board()

    def board(self, position: Position, previous: Sequence[Position]) -> chess.Board:
        """Board of a position with the moves that led to it.

        Parameters
        ----------
        position
            The position.
        previous
            Those before it, oldest first. From the last two that no move joins, the moves are forgotten.
        """
        wanted = [*previous, position]
        known = len(self._positions)
        if not known or len(wanted) < known or wanted[:known] != self._positions:
            self._begin(wanted[0])
        for following in wanted[len(self._positions) :]:
            move = self._move_to(following)
            if move is None:
                self._board = board_of(following)
            else:
                self._board.push(move)
            self._positions.append(following)
        return self._board.copy()

    def _begin(self, position: Position) -> None:
        self._positions = [position]
        self._board = board_of(position)

    def _move_to(self, position: Position) -> chess.Move | None:
        board, wanted = self._board, to_board(position)
        for move in board.legal_moves:
            board.push(move)
            found = (
                chess.BaseBoard.__eq__(board, wanted)
                and board.turn == wanted.turn
                and board.clean_castling_rights() == wanted.castling_rights
            )
            board.pop()
            if found:
                return move
        return None
