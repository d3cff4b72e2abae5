"""Boards for notebooks."""

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as Tree

from attrs import define

from glem.core.errors import BadInputError, described
from glem.core.game.drawing import Drawing, draw_position
from glem.core.game.game import Game, load_game
from glem.core.report.markup import element
from glem.functions import position_of

_CELL = 32
_DISCS = ("#222", "#fff")


@define(frozen=True, repr=False)
class Board:
    """A position that a notebook draws.

    Parameters
    ----------
    game
        The game.
    position
        The position.
    moves
        Texts of moves to the words that stand on their cells.
    first_to_move
        Whether the player who begins games is to move.
    """

    game: Game
    position: Any
    moves: Mapping[str, str]
    first_to_move: bool = True

    def _drawing(self) -> Drawing | None:
        return draw_position(self.game, self.position, first_to_move=self.first_to_move)

    def __repr__(self) -> str:
        drawing = self._drawing()
        lines = [self.game.format_position(self.position)] if drawing is None else drawing.lines()
        return "\n".join([*lines, *(f"{move}: {word}" for move, word in self.moves.items())])

    def _repr_html_(self) -> str:
        drawing = self._drawing()
        if drawing is None:
            return Tree.tostring(element("pre", repr(self)), encoding="unicode", method="html")
        height, width = len(drawing.cells), len(drawing.cells[0])
        parts = []
        placed = set()
        for row, cells in enumerate(drawing.cells):
            for column, piece in enumerate(cells):
                x, y = column * _CELL, row * _CELL
                parts.append(element("rect", x=x, y=y, width=_CELL, height=_CELL, fill="#8ab17d", stroke="#45633a"))
                name = "".join(names[at] for names, at in ((drawing.columns, column), (drawing.rows, row)) if names)
                if piece in drawing.players:
                    fill = _DISCS[drawing.players.index(piece)]
                    middle = {"cx": x + _CELL / 2, "cy": y + _CELL / 2}
                    parts.append(element("circle", r=_CELL * 0.4, fill=fill, stroke="#222", **middle))
                elif piece != drawing.empty:
                    parts.append(_text(piece, x, y, 20))
                if name in self.moves:
                    placed.add(name)
                    parts.append(_text(self.moves[name], x, y, 12))
        names = [_text(name, column * _CELL, height * _CELL, 12) for column, name in enumerate(drawing.columns)]
        names += [_text(name, width * _CELL, row * _CELL, 12) for row, name in enumerate(drawing.rows)]
        size = {"width": (width + 1) * _CELL, "height": (height + 1) * _CELL}
        picture = element("svg", *parts, *names, role="img", aria_label=repr(self), **size)
        others = "; ".join(f"{move}: {word}" for move, word in self.moves.items() if move not in placed)
        whole = element("div", picture, element("p", others) if others else None)
        return Tree.tostring(whole, encoding="unicode", method="html")


def _text(text: str, x: float, y: float, size: int) -> Tree.Element:
    place = {"x": x + _CELL / 2, "y": y + _CELL / 2}
    return element("text", text, text_anchor="middle", dominant_baseline="central", font_size=size, **place)


def board(
    game: Game | str,
    position: Any = None,
    *,
    moves: Mapping[Any, Any] | Iterable[Any] | str = (),
    first_to_move: bool = True,
) -> Board:
    """Show a position on its board, with words on some moves.

    Parameters
    ----------
    game
        The game or its name.
    position
        A position or its text; None for the initial one.
    moves
        Moves, by number or text, to what stands on their cells, such as scores; without that they are counted from 1.
        Moves that are no cells stand below the board. A text such as ``"f5d6c3"`` is played, as ``--moves`` of the
        commands is, and the board shows the position after it.
    first_to_move
        Whether the player who begins games is to move.

    Raises
    ------
    BadInputError
        The text is no position, or a move is not legal.
    """
    owner = load_game(game)
    found = position_of(owner, position)
    if isinstance(moves, str):
        from glem.core.players.engine import Engine
        from glem.core.players.spec import parse_player

        engine = Engine(owner, parse_player("random"))
        engine.set_position(found)
        engine.play_text(moves)
        return Board(owner, engine.position, {}, first_to_move == (len(engine.moves) % 2 == 0))
    if not isinstance(moves, Iterable):
        raise BadInputError(f"moves are needed, as texts or numbers or as one text, got {described(moves)}")
    words = moves.items() if isinstance(moves, Mapping) else ((move, number) for number, move in enumerate(moves, 1))
    legal = {owner.move_text(found, move): move for move in owner.list_legal_moves(found)}
    named = {(move if isinstance(move, str) else owner.move_text(found, int(move))): str(word) for move, word in words}
    if unknown := sorted(set(named) - set(legal)):
        raise BadInputError(f"{unknown[0]!r} is no legal move here; these are: {', '.join(legal)}")
    return Board(owner, found, named, first_to_move)
