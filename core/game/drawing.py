"""Boards drawn with characters."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from attrs import define

from glem.core.errors import BadInputError
from glem.core.game.game import Game

_EMPTY = "-._"
"""Characters that texts use for empty cells."""

_RUN = re.compile(r"\d+")

_SAMPLE_PLIES = 8
"""Length of the games that tell how a game writes its positions."""


@define(frozen=True)
class Drawing:
    """A board as rows of single characters.

    Parameters
    ----------
    cells
        The characters, row by row from the top; empty for a game whose positions are no such boards.
    columns, rows
        Names of columns and rows, where the layout names the cells or moves are named after them; those of columns
        alone, where moves are columns.
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
        margin = max(map(len, self.rows), default=-1)
        header = [" " * (margin + 1) + " ".join(self.columns)] if self.columns else []
        named = [
            f"{self.rows[row]:>{margin}} {' '.join(cells)} {self.rows[row]}" if self.rows else " ".join(cells)
            for row, cells in enumerate(self.cells)
        ]
        return header + named + header


def draw_position(
    game: Game, position: Any, *, first_to_move: bool = True, marked: Collection[int] = (), mark: str = "*"
) -> Drawing | None:
    """Draw a position as its text shows it.

    A text that begins with one character a cell is a board; so is one with slashes between rows and numbers for runs of
    empty cells (as in FEN). Where the rules know only the side to move and its
    opponent, the text calls the side to move by the first player's character; this drawing does not. Which of the two
    a game does is seen in a few short games from the start: the word after the board, which says whose pieces are to
    move, changes from ply to ply, or it stays while the pieces change characters. Without such a word the pieces tell.

    Parameters
    ----------
    first_to_move
        Whether the player who begins games is to move.
    marked
        Moves to mark on empty cells; those that are not called as a cell is are left out.
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
    board, _ = _board_and_side(game, position)
    initial, _ = _board_and_side(game, game.initial_position)
    if not len(board) == len(initial) == layout.rows * layout.columns:
        return None
    convention = _convention(game)
    if not first_to_move:
        board = board.translate(convention.exchange)
    names, columns, rows = _cell_names(game)
    if marked and names:
        cells_of = {name: cell for cell, name in enumerate(names)}
        places = {cells_of.get(game.format_move(move)) for move in marked}
        board = "".join(
            mark if cell in places and character == convention.empty else character
            for cell, character in enumerate(board)
        )
    cells = tuple(board[row * layout.columns : (row + 1) * layout.columns] for row in range(layout.rows))
    return Drawing(cells, columns, rows, convention.empty, convention.players)


def _board_and_side(game: Game, position: Any) -> tuple[str, str]:
    words = game.format_position(position).split()
    board, side = (words[0] if words else ""), (words[1] if len(words) > 1 else "")
    if game.layout is not None and board.count("/") == game.layout.rows - 1 > 0:
        board = _RUN.sub(lambda run: _EMPTY[0] * int(run[0]), board).replace("/", "")
    return board, side


@define(frozen=True)
class _Convention:
    """How a game's texts name players and empty cells.

    ``exchange`` is the table for :meth:`str.translate` that gives the second player's pieces their own characters;
    empty where texts do so themselves.
    """

    players: tuple[str, str]
    exchange: dict[int, int]
    empty: str


@lru_cache(maxsize=16)
def _convention(game: Game) -> _Convention:
    games = list(_sample_texts(game))
    steps = [step for texts in games for step in pairwise(texts)]
    boards = [board for texts in games for board, _ in texts]
    seen = Counter("".join(boards))
    first = games[0][0][1]
    players, pair = ("", ""), ("", "")
    if len(first) == 1 and first in seen:
        others = {side for texts in games for _, side in texts[1::2]}
        if others == {first}:
            players = pair = (first, _partner(first, seen, steps))
        elif len(others) == 1:
            players = (first, others.pop())
    else:
        pair = _exchanged_pair(seen, steps)
    if not all(players):
        players = ("", "")
    usual = [character for character in _EMPTY if character in seen and character not in players]
    # Boards may begin full, or with more pieces of each player than empty cells.
    rest = Counter({character: seen[character] for character in seen if not all(players) or character not in players})
    empty = usual[0] if usual else rest.most_common(1)[0][0] if rest else ""
    return _Convention(players, _exchange(pair), empty)


def _sample_texts(game: Game) -> Iterator[list[tuple[str, str]]]:
    """Boards and words after them in games of always the first, the middle and the last legal move."""
    for share in (0.0, 0.5, 1.0):
        position = game.initial_position
        texts = [_board_and_side(game, position)]
        for _ in range(_SAMPLE_PLIES):
            moves = game.list_legal_moves(position)
            if not moves:
                break
            position = game.play(position, moves[int(share * (len(moves) - 1))])
            texts.append(_board_and_side(game, position))
        yield texts


def _partner(own: str, seen: Counter[str], steps: list[tuple[tuple[str, str], tuple[str, str]]]) -> str:
    """Character of the opponent in texts that call the side to move ``own``; "" where none is found."""
    others = [character for character in seen if character != own and character not in _EMPTY]
    if len(others) < 2:
        return others[0] if others else ""
    # A piece that stays where it is belongs to the side to move in every other text.
    changes = Counter(
        (after if before == own else before)
        for (earlier, _), (later, _) in steps
        for before, after in zip(earlier, later, strict=False)
        if own in {before, after} and before != after
    )
    return max(others, key=lambda character: changes[character])


def _exchanged_pair(seen: Counter[str], steps: list[tuple[tuple[str, str], tuple[str, str]]]) -> tuple[str, str]:
    """Two characters that pieces wear in turn in texts that name no side; "" twice where pieces keep theirs."""
    pieces = [character for character in seen if character not in _EMPTY]
    if len(pieces) != 2:
        return "", ""
    pairs = Counter(
        before == after
        for (earlier, _), (later, _) in steps
        for before, after in zip(earlier, later, strict=False)
        if before in pieces and after in pieces
    )
    return (pieces[0], pieces[1]) if pairs[False] > pairs[True] else ("", "")


def _exchange(pair: tuple[str, str]) -> dict[int, int]:
    one, other = pair
    if not one or not other:
        return {}
    exchange = {ord(one): ord(other), ord(other): ord(one)}
    if one.isupper() == other.isupper() and one.swapcase() != one and other.swapcase() != other:
        # Where O is the opponent's man to X, o is its king to x.
        exchange |= {ord(one.swapcase()): ord(other.swapcase()), ord(other.swapcase()): ord(one.swapcase())}
    return exchange


def _cell_names(game: Game) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names of the cells, of the columns and of the rows, as far as there are any.

    Cells are named by the layout, or by the moves if move number ``row * columns + column`` is called by a column and
    a row. Columns have names without rows where they are the moves.
    """
    assert game.layout is not None
    height, width = game.layout.rows, game.layout.columns
    if game.layout.cell_names:
        return (game.layout.cell_names, *_columns_and_rows(game.layout.cell_names, height, width))
    if game.move_count == width:
        names = tuple(game.format_move(column) for column in range(width))
        return (), (names if all(len(name) == 1 for name in names) else ()), ()
    if game.move_count < height * width:
        return (), (), ()
    try:
        names = tuple(game.format_move(cell) for cell in range(height * width))
    except (BadInputError, ValueError, IndexError):
        return (), (), ()
    columns, rows = _columns_and_rows(names, height, width)
    return (names if rows else ()), columns, rows


def _columns_and_rows(names: tuple[str, ...], height: int, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """One character for each column and one, or a number, for each row, if these make up the names of the cells."""
    columns = tuple(name[:1] for name in names[:width])
    rows = tuple(name[1:] for name in names[::width])
    fits = names == tuple(column + row for row in rows for column in columns)
    return (columns, rows) if fits and all(len(row) == 1 or row.isdecimal() for row in rows) else ((), ())
