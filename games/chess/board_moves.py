"""Moves of python-chess as glem's numbers, and back."""

from __future__ import annotations

import chess

__all__ = ["move_number", "numbered_move"]

_SQUARE_BITS = 6
_SQUARE_MASK = (1 << _SQUARE_BITS) - 1


def move_number(board: chess.Board, move: chess.Move) -> int:
    """Give the number of a legal move; castling is the king taking its own rook, however the board writes it."""
    promotion = 0 if move.promotion is None else move.promotion - chess.KNIGHT + 1
    return move.from_square | _target(board, move) << _SQUARE_BITS | promotion << 2 * _SQUARE_BITS


def _target(board: chess.Board, move: chess.Move) -> int:
    if not board.is_castling(move) or board.occupied_co[board.turn] & chess.BB_SQUARES[move.to_square]:
        return move.to_square
    rooks = board.clean_castling_rights() & (chess.BB_RANK_1 if board.turn == chess.WHITE else chess.BB_RANK_8)
    return chess.msb(rooks) if move.to_square > move.from_square else chess.lsb(rooks)


def numbered_move(number: int) -> chess.Move:
    """Move of a number, castling as the king's capture of its own rook; boards take it whatever way they write it."""
    promotion = number >> 2 * _SQUARE_BITS
    return chess.Move(
        number & _SQUARE_MASK,
        number >> _SQUARE_BITS & _SQUARE_MASK,
        promotion + chess.KNIGHT - 1 if promotion else None,
    )
