"""Boards drawn with characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from attrs import define

from glem.core.errors import BadInputError
from glem.core.game import Game

__all__ = ["Drawing", "draw_position"]

_EMPTY = "-._"
"""Characters that texts use for empty cells."""


@define(frozen=True)
class Drawing:
    """A board as rows of single characters.

    Parameters
    ----------
    cells
        The characters, row by row from the top; empty for a game whose positions are no such boards.
    columns, rows
        Names of columns and rows, where moves are named after cells or, without those of rows, after columns.
    empty
        The character of an empty cell.
    players
        The characters of the first and of the second player; "" where they are not known.
    """

    cells: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    empty: str
    players: tuple[str, str]

    def lines(self) -> list[str]:
        """Return the rows as text, with the names of columns and rows around them."""
        header = [("  " if self.rows else "") + " ".join(self.columns)] if self.columns else []
        named = [
            f"{self.rows[row]} {' '.join(cells)} {self.rows[row]}" if self.rows else " ".join(cells)
            for row, cells in enumerate(self.cells)
        ]
        return header + named + header


def draw_position(
    game: Game, position: Any, *, first_to_move: bool = True, marked: Collection[int] = (), mark: str = "*"
) -> Drawing | None:
    """Draw a position as its text shows it.

    A text that begins with one character a cell is a board. Where the rules know only the side to move and its
    opponent, the text calls the side to move by the first player's character; this drawing does not.

    Parameters
    ----------
    game
        The game.
    position
        The position.
    first_to_move
        Whether the player who begins games is to move.
    marked
        Moves to mark on empty cells, where moves are cells.
    mark
        The character that marks them.

    Returns
    -------
    drawing
        None if the game has no layout, or its texts are no boards.
    """
    layout = game.layout
    if layout is None:
        return None
    size = layout.rows * layout.columns
    board, side = _board_and_side(game, position)
    initial, first_side = _board_and_side(game, game.initial_position)
    if len(board) != size or len(initial) != size:
        return None
    # Games may begin with as many pieces of each player as there are empty cells, or more.
    usual = [character for character in _EMPTY if character in initial]
    empty = usual[0] if usual else Counter(initial).most_common(1)[0][0]
    others = sorted((set(board) | set(initial)) - {first_side, empty})
    players = (first_side, others[0]) if len(first_side) == 1 and len(others) == 1 else ("", "")
    if not first_to_move and side == first_side and all(players):
        board = board.translate(str.maketrans("".join(players), "".join(reversed(players))))
    columns, rows = _cell_names(game)
    if rows:
        board = "".join(
            mark if cell in marked and character == empty else character for cell, character in enumerate(board)
        )
    cells = tuple(board[row * layout.columns : (row + 1) * layout.columns] for row in range(layout.rows))
    return Drawing(cells, columns, rows, empty, players)


def _board_and_side(game: Game, position: Any) -> tuple[str, str]:
    words = game.format_position(position).split()
    return (words[0] if words else ""), (words[1] if len(words) > 1 else "")


def _cell_names(game: Game) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of columns and rows, if move number ``row * columns + column`` is called by both of them.

    Only those of columns where these are the moves; none where moves are called otherwise.
    """
    assert game.layout is not None
    height, width = game.layout
    if game.move_count == width:
        names = [game.format_move(column) for column in range(width)]
        return (tuple(names), ()) if all(len(name) == 1 for name in names) else ((), ())
    if game.move_count < height * width:
        return (), ()
    try:
        names = [game.format_move(cell) for cell in range(height * width)]
    except (BadInputError, ValueError, IndexError):
        return (), ()
    columns = tuple(name[:1] for name in names[:width])
    rows = tuple(name[1:] for name in names[::width])
    fits = all(
        names[row * width + column] == columns[column] + rows[row] for row in range(height) for column in range(width)
    )
    return (columns, rows) if fits and all(len(name) == 1 for name in rows) else ((), ())
