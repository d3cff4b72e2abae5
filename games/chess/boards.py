"""Positions from boards of python-chess, and back."""

from __future__ import annotations

import chess
import numpy as np

from glem.core.game.whole_numbers import whole_number
from glem.games.chess.rules.position import Position, position_key

__all__ = ["board_of_fen", "from_board", "to_board"]

_MOST_CLOCK = 255


def board_of_fen(text: str) -> chess.Board:
    """Board of a FEN, of Chess960 too; ValueError where it is none."""
    for number in text.split()[4:6]:
        if whole_number(number) is None:
            raise ValueError(f"{number[:20]!r} is no number of moves")
    # Castling rights that only Chess960 knows show themselves; without such the flag changes nothing.
    return chess.Board(text, chess960=True)


def from_board(board: chess.Board) -> Position:
    """Position of a board; what its moves before were is lost, the number of the move too.

    Castling rights without their rook or king are dropped, and so is an en-passant square on which no capture is legal.
    """
    position = Position(
        pawns=np.uint64(board.pawns),
        knights=np.uint64(board.knights),
        bishops=np.uint64(board.bishops),
        rooks=np.uint64(board.rooks),
        queens=np.uint64(board.queens),
        kings=np.uint64(board.kings),
        white=np.uint64(board.occupied_co[chess.WHITE]),
        castling=np.uint64(board.clean_castling_rights()),
        key=np.uint64(0),
        en_passant=np.uint8(board.ep_square if board.ep_square and board.has_legal_en_passant() else 0),
        turn=np.uint8(0 if board.turn == chess.WHITE else 1),
        clock=np.uint8(min(board.halfmove_clock, _MOST_CLOCK)),
    )
    return position._replace(key=position_key(position))


def to_board(position: Position, chess960: bool = False) -> chess.Board:
    """Board of a position, as its first move; ``chess960`` is the board's own flag, which decides on how it writes."""
    board = chess.Board(None, chess960=chess960)
    for name in ("pawns", "knights", "bishops", "rooks", "queens", "kings"):
        setattr(board, name, int(getattr(position, name)))
    board.occupied = board.pawns | board.knights | board.bishops | board.rooks | board.queens | board.kings
    board.occupied_co = [board.occupied & ~int(position.white), int(position.white)]
    board.castling_rights = int(position.castling)
    board.ep_square = int(position.en_passant) or None
    board.turn = bool(position.turn == 0)
    board.halfmove_clock = int(position.clock)
    return board
