"""Endgames solved by the book: minimax over the naive rules, nothing left out."""

import functools

import numpy as np

from tests.oracles import othello_rules
from tests.oracles.othello_rules import legal_moves, play


def final_score(board: np.ndarray, convention: str) -> int:
    """Score of a finished game for the side to move."""
    if convention == "standard":
        return othello_rules.final_score(board)
    margin = int(board.sum())
    return (margin > 0) - (margin < 0) if convention == "sign" else margin


def solve(board: np.ndarray, convention: str = "standard") -> int:
    """Final score with best play by both sides, for the side to move."""
    return _solved(board.astype(np.int8).tobytes(), convention)


@functools.cache
def _solved(squares: bytes, convention: str) -> int:
    board = np.frombuffer(squares, np.int8).reshape(8, 8)
    moves = legal_moves(board)
    if not moves:
        return final_score(board, convention)
    return max(-solve(play(board, move), convention) for move in moves)


def score_of_play(board: np.ndarray, moves: tuple[int, ...], convention: str = "standard") -> int:
    """Final score for the side to move after a sequence of moves that ends the game."""
    sign = 1
    for move in moves:
        assert move in legal_moves(board), f"{move} is not legal"
        board, sign = play(board, move), -sign
    assert not legal_moves(board), "the game is not over"
    return sign * final_score(board, convention)
