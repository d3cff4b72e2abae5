"""PGN read by python-chess."""

import io
import re
from collections.abc import Iterator
from typing import NamedTuple

import chess
import chess.pgn

from glem.games.chess.boards import move_number

SCORES = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}


class PlainGame(NamedTuple):
    """One game; ``errors`` holds what python-chess found wrong, ``board`` is the last position of the main line."""

    tags: dict[str, str]
    moves: list[int]
    result: str
    board: chess.Board
    errors: list[str]


class _Visitor(chess.pgn.BaseVisitor[PlainGame]):
    def begin_game(self) -> None:
        self.tags: dict[str, str] = {}
        self.moves: list[int] = []
        self.marker = "*"
        self.board = chess.Board()
        self.errors: list[str] = []

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self.tags[tagname] = tagvalue

    def visit_board(self, board: chess.Board) -> None:
        self.board = board

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self.moves.append(move_number(board, move) if move else -1)

    def visit_result(self, result: str) -> None:
        if self.marker == "*":
            self.marker = result

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def handle_error(self, error: Exception) -> None:
        self.errors.append(str(error))

    def result(self) -> PlainGame:
        told = self.tags.get("Result", "*")
        return PlainGame(self.tags, self.moves, told if told in SCORES else self.marker, self.board, self.errors)


def plain_games(content: bytes) -> Iterator[PlainGame]:
    """All games that have tags or moves.

    Doubled blank lines are made one first: python-chess ends a game at the second, before or within its moves.
    """
    # Every byte is a letter of Latin-1.
    text = re.sub(r"\n[ \t]*\n\s*\n", "\n\n", content.decode("latin-1").replace("\r\n", "\n"))
    handle = io.StringIO(text, newline=None)
    while (game := chess.pgn.read_game(handle, Visitor=_Visitor)) is not None:
        if game.tags or game.moves or game.errors:
            yield game
