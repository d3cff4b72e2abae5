"""Boards as text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from glem.core.game.drawing import Drawing, draw_position
from glem.core.game.game import BoardLayout, Game, load_game
from tests.core.game.countdown_game import COUNTDOWN, FACTS

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


def drawn(game: Game, position: Any, **options: Any) -> Drawing:
    drawing = draw_position(game, position, **options)
    assert drawing is not None
    return drawing


def drawn_start(*shape: Any, marked: Sequence[int] = (), **facts: Any) -> Drawing:
    """Draw the start of a game on a board of some shape, whose positions are written as one likes."""
    game = Game(**{**FACTS, "parse_position": lambda text: None, **facts, "layout": BoardLayout(*shape)})
    return drawn(game, game.initial_position, marked=marked)


def test_a_board_with_marked_moves(othello: Game) -> None:
    marked = [othello.parse_move(name) for name in ("d3", "c4", "f5", "e6")]
    drawing = drawn(othello, othello.initial_position, marked=marked)
    assert "\n".join(drawing.lines()) == START
    assert (drawing.empty, drawing.players) == ("-", ("X", "O"))


def test_players_keep_their_characters(othello: Game) -> None:
    """The rules call the side to move X; the drawing knows who that is."""
    after = othello.play(othello.initial_position, othello.parse_move("f5"))
    assert drawn(othello, after, first_to_move=False).cells[4] == "---XXX--"
    assert drawn(othello, after, first_to_move=True).cells[4] == "---OOO--"


def test_marks_never_hide_pieces(othello: Game) -> None:
    drawing = drawn(othello, othello.initial_position, marked=range(64))
    assert sorted(set("".join(drawing.cells))) == ["*", "O", "X"]


def test_games_without_boards_are_not_drawn() -> None:
    assert draw_position(COUNTDOWN, COUNTDOWN.initial_position) is None
    # A layout that the position's text does not fit is no help either.
    game = Game(**{**FACTS, "layout": BoardLayout(3, 3)})
    assert draw_position(game, game.initial_position) is None


def test_cells_without_names_are_drawn_bare() -> None:
    """Moves are not named after the cells, so nothing can be marked."""
    drawing = drawn_start(1, 1, marked=[0], format_position=lambda position: "x")
    assert drawing.lines() == ["x"]
    assert drawing.players == ("", "")


def test_a_board_that_begins_with_as_many_pieces_as_empty_cells() -> None:
    """The empty cells are told by their character."""
    drawing = drawn_start(3, 2, format_position=lambda position: "OOXX-- X")
    assert (drawing.empty, drawing.players) == ("-", ("X", "O"))


def test_columns_that_are_moves_have_names_above_and_below() -> None:
    names: dict[str, Any] = {"format_move": lambda move: str(move + 1), "format_position": lambda position: "x--"}
    drawing = drawn_start(1, 3, marked=[0, 1, 2], **names)
    assert drawing.lines() == ["1 2 3", "x - -", "1 2 3"]


class _Line(NamedTuple):
    """Pieces on a line of cells, and how many moves were played."""

    own: np.uint32
    opponent: np.uint32
    plies: np.uint8


def _on_a_line(start: str, *, takes: bool, text: str, signs: str = "XO-") -> Game:
    """A game from ``start``: a piece takes its neighbour of the other side, or one is placed on an empty cell.

    Positions are written with the first of ``signs`` for the side to move (``text`` "mover") or for the player who
    began ("player"); both with the character of the side to move after the board, or alone ("... bare").
    """
    count = len(start)

    def pieces(sign: str) -> np.uint32:
        return np.uint32(sum(1 << cell for cell in range(count) if start[cell] == sign))

    def holds(bits: np.uint32, cell: int) -> bool:
        return 0 <= cell < count and int(bits) >> cell & 1 == 1

    def legal_moves(position: _Line, moves: Any, first: int) -> int:
        legal = [
            2 * cell + side
            for cell in range(count)
            for side in range(2)
            if (holds(position.own, cell) and holds(position.opponent, cell + 2 * side - 1) if takes else side == 0)
            and (takes or not holds(position.own | position.opponent, cell))
        ]
        moves[first : first + len(legal)] = legal
        return len(legal)

    def play(position: _Line, move: int) -> _Line:
        cell = move // 2
        target = cell + 2 * (move % 2) - 1 if takes else cell
        own = (int(position.own) & ~(1 << cell)) | 1 << target
        opponent = int(position.opponent) & ~(1 << target)
        return _Line(np.uint32(opponent), np.uint32(own), np.uint8(position.plies + 1))

    def format_position(position: _Line) -> str:
        style, _, bare = text.partition(" ")
        turned = style == "player" and int(position.plies) % 2 == 1
        mine, theirs = signs[turned], signs[not turned]
        board = "".join(
            mine if holds(position.own, cell) else theirs if holds(position.opponent, cell) else signs[2]
            for cell in range(count)
        )
        return board if bare else f"{board} {mine}"

    facts = {
        **FACTS,
        "initial_position": _Line(pieces("X"), pieces("O"), np.uint8(0)),
        "legal_moves": legal_moves,
        "play": play,
        "is_over": lambda position: False,
        "max_moves": 2 * count,
        "move_count": 2 * count,
        "format_move": lambda move: f"{move // 2}{'<>'[move % 2]}",
        "format_position": format_position,
        "layout": BoardLayout(1, count),
    }
    return Game(**facts)


@pytest.mark.parametrize("text", ["mover", "player", "mover bare", "player bare"])
@pytest.mark.parametrize(
    ("start", "takes"),
    [
        ("XOXOXOXOXO", True),
        ("XOOXXOOX", True),
        ("XXO-OXX", True),
        ("--------", False),
        ("---XO---", False),
        ("XOXOXO--", False),
    ],
)
@pytest.mark.parametrize("signs", ["XO-", "12.", "bw_"])
def test_pieces_keep_their_characters_however_the_game_begins(start: str, takes: bool, text: str, signs: str) -> None:
    """A full board, equal sides and starts that mirror with exchanged colours say nothing of who is who."""
    game = _on_a_line(start, takes=takes, text=text, signs=signs)
    always = _on_a_line(start, takes=takes, text="player", signs=signs)
    for choice in (0, -1):
        position, first_to_move = game.initial_position, True
        while moves := game.list_legal_moves(position):
            position, first_to_move = game.play(position, moves[choice]), not first_to_move
            drawing = drawn(game, position, first_to_move=first_to_move)
            assert drawing.cells == (always.format_position(position).split()[0],)
            assert drawing.empty == signs[2]
            assert drawing.players == (("", "") if "bare" in text else (signs[0], signs[1]))


def test_a_game_of_one_ply() -> None:
    game = _on_a_line("XO", takes=True, text="mover")
    drawing = drawn(game, game.play(game.initial_position, 1), first_to_move=False)
    assert (drawing.cells, drawing.players, drawing.empty) == (("-X",), ("X", "O"), "-")


def test_empty_cells_may_have_any_character() -> None:
    """What a piece leaves behind, or what is there before pieces, is no player."""
    for start, takes in (("XOXOXO", True), ("------", False), ("X-OX-O", True)):
        game = _on_a_line(start, takes=takes, text="mover", signs="120")
        after = game.play(game.initial_position, game.list_legal_moves(game.initial_position)[0])
        drawing = drawn(game, after, first_to_move=False)
        assert (drawing.players, drawing.empty) == (("1", "2"), "0")
        always = _on_a_line(start, takes=takes, text="player", signs="120")
        assert drawing.cells == (always.format_position(after).split()[0],)


def test_kings_change_with_their_men() -> None:
    def format_position(position: Any) -> str:
        return f"{'Xx-oO' if position.stones % 2 == FACTS['initial_position'].stones % 2 else 'Oo-xX'} X"

    game = Game(**{**FACTS, "format_position": format_position, "layout": BoardLayout(1, 5)})
    assert drawn(game, game.play(game.initial_position, 0), first_to_move=False).cells == ("Xx-oO",)


def test_connect_four_keeps_its_own_characters() -> None:
    game = load_game("connect_four")
    after = game.play(game.initial_position, game.parse_move("4"))
    drawing = drawn(game, after, first_to_move=False)
    assert drawing.cells[5] == "---X---"
    assert drawing.players == ("X", "O")


def test_cells_are_called_as_the_layout_says() -> None:
    names: dict[str, Any] = {
        "format_position": lambda position: "x--o",
        "format_move": lambda move: ("b9", "a9-b9", "zz")[move],
    }
    drawing = drawn_start(2, 2, ("a10", "b10", "a9", "b9"), marked=[0, 1, 2], **names)
    assert drawing.lines() == ["   a b", "10 x - 10", " 9 - o 9", "   a b"]
    # Moves that are cells are marked, on empty cells; those of two cells are not.
    drawing = drawn_start(2, 2, ("a10", "b9", "a9", "b10"), marked=[0, 1, 2], **names)
    assert drawing.lines() == ["x *", "- o"]
