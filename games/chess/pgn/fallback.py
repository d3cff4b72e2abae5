"""Games that the compiled reader of PGN refuses, read once more by python-chess.

Some programs and people write moves otherwise than the standard: squares alone (``g1f3``), castling as ``o-o`` or
``OO``, a pawn as ``Pe4``, a piece in lower case or as a figurine, a promotion as ``e8(Q)`` or ``e8/Q``. Such spellings
are brought into the form that python-chess knows, python-chess finds the moves, and these are written down plainly,
with their comments, for the compiled reader. Words that are none of this are refused: python-chess passes over what it
does not know, and would read ``f3`` out of ``Sf3``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import chess
import chess.pgn
from attrs import define

from glem.games.chess.boards import move_number
from glem.games.chess.pgn.results import usual_result
from glem.games.chess.pgn.tags import decoded

_LONGEST_TEXT = 1 << 20
_MOST_MOVES = 4096
_LONGEST_WORD = 24

_TAG = re.compile(r"^[ \t\ufeff]*(?:\[[ \t]*\w+[ \t]+\"[^\r\n]*\"[ \t]*\][ \t]*)+", re.MULTILINE)
_ESCAPED = re.compile(r"^%[^\r\n]*", re.MULTILINE)
_PROMOTION = re.compile(r"([a-h][18])(?:\(=?([NBRQ])\)|/([NBRQ]))")
_PIECES = re.compile(r"\{[^}]*\}?|;[^\r\n]*|[()]|\$\d+|[^\s{}();$]+")
_NUMBER = re.compile(r"(?:\d+(?![\w/\u2010-\u2014-]))?[.\u2026]*(.*)")
_SPACED_RESULT = re.compile(r"(?<!\S)(1/2|\u00bd|[01O]) ([-\u2010-\u2015]) (1/2|\u00bd|[01O])(?!\S)")
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
_SUFFIX = r"(?:[+#!?\u2020\u2021]|e\.?p\.?|ch|mate|[.,:])*"
_CASTLING = re.compile(rf"([O0o][-\u2010-\u2014][O0o]|OO|oo)([-\u2010-\u2014][O0o]|[Oo])?{_SUFFIX}")
# No lower-case b: a pawn of the b-file.
_MOVE = re.compile(
    rf"([PNBRQKpnrqk\u2654-\u265f]?)([a-h]?[1-8]?)[-x:X\u00d7\u2010-\u2014]?([a-h][1-8])(?:=?([NBRQnbrq]))?{_SUFFIX}"
)
_FIGURINES = str.maketrans("\u2654\u2655\u2656\u2657\u2658\u2659\u265a\u265b\u265c\u265d\u265e\u265f", "KQRBNP" * 2)
_MARK = re.compile(r"[-+=!?#\u00b1\u2213\u221e]*|N|e\.?p\.?|ch|mate")
_NULL_MOVE = "--"


@define(frozen=True)
class PlainText:
    """A game as the compiled reader takes it.

    Parameters
    ----------
    text
        Its first position, if that was given, its moves by both squares, their comments, and its result.
    moves
        What the moves are, as python-chess played them.
    has_result
        Whether a result stood behind the moves; else there is ``*`` in the text.
    """

    text: bytes
    moves: Sequence[int]
    has_result: bool


def plain_text(text: bytes, *, fen: bytes | None, is_chess960: bool) -> PlainText | None:
    """Have python-chess read one game.

    Parameters
    ----------
    text
        The game with its tags, which are not looked at.
    fen
        Its first position, one that can be played; None for the usual one.
    is_chess960
        Whether castling is written as Chess960 has it even where the position does not tell.

    Returns
    -------
    PlainText or None
        None: the text is too long, has words that are neither moves nor marks, or python-chess finds an error.
    """
    if len(text) > _LONGEST_TEXT:
        return None
    normal = _normalized(decoded(text))
    if normal is None:
        return None
    tags = ['[Variant "Chess960"]\n'] if is_chess960 else []
    first = "" if fen is None else f'[FEN "{fen.decode("ascii", "replace")}"]\n'
    found = chess.pgn.read_game(io.StringIO("".join((*tags, first, "\n", normal))), Visitor=_Writer)
    if found is None or found.is_wrong:
        return None
    body = "\n".join([*found.words, found.marker or "*"])
    return PlainText(f"{first}\n{body}\n".encode("utf-8", "replace"), found.moves, bool(found.marker))


def _normalized(text: str) -> str | None:
    """Spell moves, comments and result of a game, a line each, as python-chess knows them; None for other words."""
    text = _SPACED_RESULT.sub(r"\1\2\3", text.replace("\ufeff", ""))
    text = _PROMOTION.sub(lambda found: f"{found[1]}={found[2] or found[3]}", _ESCAPED.sub("", _TAG.sub("", text)))
    lines: list[str] = []
    depth = moves = 0
    has_result = False
    for found in _PIECES.finditer(text):
        piece = found.group()
        if piece.startswith("{"):
            if not piece.endswith("}"):
                return None
            if depth == 0 and moves and not has_result:
                lines.append(piece)
        elif piece in "()":
            depth = max(depth + (1 if piece == "(" else -1), 0)
        elif depth == 0 and not piece.startswith((";", "$")):
            if (result := usual_result(piece)) in _RESULTS:
                has_result = True
                lines.append(result)
                continue
            word = _spelt(piece)
            if word is None or (word and has_result):
                return None
            if word:
                lines.append(word)
                moves += 1
    return None if depth or moves > _MOST_MOVES else "\n".join(lines)


def _spelt(word: str) -> str | None:
    """Move as python-chess knows it, "" for a number or mark, None for what is neither."""
    if len(word) > _LONGEST_WORD:
        return None
    found = _NUMBER.fullmatch(word)
    word = word if found is None else found[1]
    castling = _CASTLING.fullmatch(word)
    if castling is not None:
        return "O-O-O" if castling[2] else "O-O"
    move = _MOVE.fullmatch(word)
    if move is not None:
        piece = move[1].translate(_FIGURINES).upper().replace("P", "")
        promotion = f"={move[4].upper()}" if move[4] else ""
        return f"{piece}{move[2]}{move[3]}{promotion}"
    return "" if word != _NULL_MOVE and _MARK.fullmatch(word) else None


class _Writer(chess.pgn.BaseVisitor["_Writer"]):
    """Writes down what python-chess reads."""

    def begin_game(self) -> None:
        self.words: list[str] = []
        self.moves: list[int] = []
        self.marker = ""
        self.is_wrong = False

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if not move:
            self.is_wrong = True
            return
        self.moves.append(move_number(board, move))
        if board.is_castling(move):
            self.words.append("O-O" if board.is_kingside_castling(move) else "O-O-O")
            return
        piece = board.piece_type_at(move.from_square)
        letter = "" if piece in (None, chess.PAWN) else chess.piece_symbol(piece).upper()
        promotion = "" if move.promotion is None else f"={chess.piece_symbol(move.promotion).upper()}"
        squares = chess.square_name(move.from_square) + chess.square_name(move.to_square)
        self.words.append(f"{letter}{squares}{promotion}")

    def visit_comment(self, comment: str) -> None:
        self.words.append(f"{{{comment}}}")

    def visit_result(self, result: str) -> None:
        self.marker = self.marker or result

    def handle_error(self, error: Exception) -> None:
        self.is_wrong = True

    def result(self) -> _Writer:
        return self
