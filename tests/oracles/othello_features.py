"""Atomic features of Othello from an 8 x 8 table of characters, square by square."""

from typing import Any

import numpy as np

from tests.oracles import othello_rules

OWN, OPPONENT, EMPTY = "X", "O", "-"
Square = tuple[int, int]
Board = dict[Square, str]

CORNERS = [(0, 0), (0, 7), (7, 0), (7, 7)]
QUADRANTS = {"a1": (0, 0), "h1": (0, 4), "a8": (4, 0), "h8": (4, 4)}
EDGES = [
    [(0, place) for place in range(8)],
    [(7, place) for place in range(8)],
    [(place, 0) for place in range(8)],
    [(place, 7) for place in range(8)],
]


def moves(board: Board, side: str) -> list[Square]:
    """Squares where a side may place a disc."""
    signs = np.array([(content == side) - (content not in (side, EMPTY)) for content in board.values()])
    return [divmod(square, 8) for square in othello_rules.placements(signs.reshape(8, 8))]


def touching(square: Square) -> list[Square]:
    row, column = square
    around = [(row + rows, column + columns) for rows, columns in othello_rules.DIRECTIONS]
    return [(r, c) for r, c in around if 0 <= r < 8 and 0 <= c < 8]


def count_touching(board: Board, content: str, neighbour: str) -> int:
    """Squares with ``content`` that have a neighbour with ``neighbour``."""
    return sum(
        1
        for square in board
        if board[square] == content and any(board[other] == neighbour for other in touching(square))
    )


def stable_edge_discs(board: Board, side: str) -> set[Square]:
    stable = set()
    for edge in EDGES:
        if all(board[square] != EMPTY for square in edge):
            stable.update(square for square in edge if board[square] == side)
        for line in (edge, edge[::-1]):
            for square in line:
                if board[square] != side:
                    break
                stable.add(square)
    return stable


def regions(board: Board) -> list[set[Square]]:
    left = {square for square in board if board[square] == EMPTY}
    found = []
    while left:
        region: set[Square] = set()
        pending = [left.pop()]
        while pending:
            square = pending.pop()
            region.add(square)
            reached = [other for other in touching(square) if other in left]
            left.difference_update(reached)
            pending.extend(reached)
        found.append(region)
    return found


def features(position: Any) -> dict[str, int]:
    """Every feature by name."""
    signs = othello_rules.board_of(int(position.own), int(position.opponent))
    board = {divmod(square, 8): (EMPTY, OWN, OPPONENT)[sign] for square, sign in enumerate(signs.ravel().tolist())}
    contents = list(board.values())
    values = {"abcdefgh"[column] + "12345678"[row]: "-XO".index(board[row, column]) for row, column in board}
    for prefix, side, other in (("", OWN, OPPONENT), ("opponent_", OPPONENT, OWN)):
        values[f"{prefix}mobility"] = len(moves(board, side))
        values[f"{prefix}potential_mobility"] = count_touching(board, EMPTY, other)
        values[f"{prefix}discs"] = contents.count(side)
        values[f"{prefix}corner_moves"] = len(set(moves(board, side)) & set(CORNERS))
        values[f"{prefix}frontier"] = count_touching(board, side, EMPTY)
        values[f"{prefix}corners"] = sum(board[corner] == side for corner in CORNERS)
        values[f"{prefix}stable_edge_discs"] = len(stable_edge_discs(board, side))
    values["disc_difference"] = contents.count(OWN) - contents.count(OPPONENT)
    values["parity"] = contents.count(EMPTY) % 2
    for name, (top, left) in QUADRANTS.items():
        quadrant = [board[top + row, left + column] for row in range(4) for column in range(4)]
        values[f"parity_{name}"] = quadrant.count(EMPTY) % 2
    values["regions"] = len(regions(board))
    values["odd_regions"] = sum(len(region) % 2 for region in regions(board))
    return values
