"""Othello on an 8x8 array of +1 (side to move), -1 (opponent) and 0, written from the rule book for clarity."""

import numpy as np

from glem.games.othello.rules import Position

PASS = 64
DIRECTIONS = [(rows, columns) for rows in (-1, 0, 1) for columns in (-1, 0, 1) if (rows, columns) != (0, 0)]


def board_of(own: int, opponent: int) -> np.ndarray:
    return np.array([(own >> square & 1) - (opponent >> square & 1) for square in range(64)]).reshape(8, 8)


def position_of(board: np.ndarray) -> Position:
    own, opponent = (sum(1 << square for square in np.flatnonzero(board == side).tolist()) for side in (1, -1))
    return Position(np.uint64(own), np.uint64(opponent))


def turned_discs(board: np.ndarray, square: int) -> list[tuple[int, int]]:
    """Discs that a disc of the side to move on ``square`` turns over."""
    row, column = divmod(square, 8)
    if board[row, column] != 0:
        return []
    turned = []
    for down, right in DIRECTIONS:
        run = []
        r, c = row + down, column + right
        while 0 <= r < 8 and 0 <= c < 8 and board[r, c] == -1:
            run.append((r, c))
            r, c = r + down, c + right
        if 0 <= r < 8 and 0 <= c < 8 and board[r, c] == 1:
            turned += run
    return turned


def placements(board: np.ndarray) -> list[int]:
    return [square for square in range(64) if turned_discs(board, square)]


def legal_moves(board: np.ndarray) -> list[int]:
    moves = placements(board)
    if not moves and placements(-board):
        return [PASS]
    return moves


def play(board: np.ndarray, move: int) -> np.ndarray:
    following = board.copy()
    if move != PASS:
        for row, column in turned_discs(board, move):
            following[row, column] = 1
        following[divmod(move, 8)] = 1
    return -following


def final_score(board: np.ndarray) -> int:
    own, opponent = int((board == 1).sum()), int((board == -1).sum())
    empty = 64 - own - opponent
    if own > opponent:
        return own + empty - opponent
    if own < opponent:
        return own - opponent - empty
    return 0
