"""Boards as text."""

from __future__ import annotations

from glem.core.drawing import draw_position
from glem.core.game import BoardLayout, Game
from tests.core.countdown_game import COUNTDOWN, FACTS

START = """\
  a b c d e f g h
1 - - - - - - - - 1
2 - - - - - - - - 2
3 - - - * - - - - 3
4 - - * O X - - - 4
5 - - - X O * - - 5
6 - - - - * - - - 6
7 - - - - - - - - 7
8 - - - - - - - - 8
  a b c d e f g h"""


def test_a_board_with_marked_moves(othello: Game) -> None:
    marked = [othello.parse_move(name) for name in ("d3", "c4", "f5", "e6")]
    drawing = draw_position(othello, othello.initial_position, marked=marked)
    assert drawing is not None
    assert "\n".join(drawing.lines()) == START
    assert (drawing.empty, drawing.players) == ("-", ("X", "O"))


def test_players_keep_their_characters(othello: Game) -> None:
    """The rules call the side to move X; the drawing knows who that is."""
    after = othello.play(othello.initial_position, othello.parse_move("f5"))
    drawing = draw_position(othello, after, first_to_move=False)
    assert drawing is not None
    assert drawing.cells[4] == "---XXX--"
    turned = draw_position(othello, after, first_to_move=True)
    assert turned is not None
    assert turned.cells[4] == "---OOO--"


def test_marks_never_hide_pieces(othello: Game) -> None:
    drawing = draw_position(othello, othello.initial_position, marked=range(64))
    assert drawing is not None
    assert sorted(set("".join(drawing.cells))) == ["*", "O", "X"]


def test_games_without_boards_are_not_drawn() -> None:
    assert draw_position(COUNTDOWN, COUNTDOWN.initial_position) is None
    # A layout that the position's text does not fit is no help either.
    game = Game(**{**FACTS, "layout": BoardLayout(3, 3)})
    assert draw_position(game, game.initial_position) is None


def test_cells_without_names_are_drawn_bare() -> None:
    """Moves are not named after the cells, so nothing can be marked."""
    facts = {**FACTS, "layout": BoardLayout(1, 1)}
    game = Game(**{**facts, "format_position": lambda position: "x", "parse_position": lambda text: None})
    drawing = draw_position(game, game.initial_position, marked=[0])
    assert drawing is not None
    assert drawing.lines() == ["x"]
    assert drawing.players == ("", "")


def test_a_board_that_begins_with_as_many_pieces_as_empty_cells() -> None:
    """The empty cells are told by their character."""
    game = Game(**{**FACTS, "format_position": lambda position: "OOXX-- X", "layout": BoardLayout(3, 2)})
    drawing = draw_position(game, game.initial_position)
    assert drawing is not None
    assert (drawing.empty, drawing.players) == ("-", ("X", "O"))


def test_columns_that_are_moves_have_names_above_and_below() -> None:
    facts = {**FACTS, "layout": BoardLayout(1, 3), "format_move": lambda move: str(move + 1)}
    game = Game(**{**facts, "format_position": lambda position: "x--", "parse_position": lambda text: None})
    drawing = draw_position(game, game.initial_position, marked=[0, 1, 2])
    assert drawing is not None
    assert drawing.lines() == ["1 2 3", "x - -", "1 2 3"]
