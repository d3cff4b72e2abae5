"""What commands of the UCI protocol say, and how a search is told in its words."""

from __future__ import annotations

import math
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import attrs
import chess
from attrs import define

from glem.core.errors import BadInputError
from glem.core.game.perft import perft
from glem.core.game.whole_numbers import whole_number
from glem.core.search.results import MOVES_TO_GO, Bound, Clock, Limits
from glem.games.chess.boards import from_board, move_of
from glem.games.chess.notation import parse_position
from glem.games.chess.rules.position import Position

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.search.results import Line, SearchResult


Unit: TypeAlias = Literal["log odds", "expected result", "centipawns"]
"""What an evaluation's values are: expected results lie between -1 and 1."""

_Number = TypeVar("_Number", int, float)

_CENTIPAWNS_PER_LOG_ODDS = 110.0
"""A pawn is worth 1 / 1.1 in the log odds of an evaluation."""
_MOST_CENTIPAWNS = 10_000
_LEAST_SECONDS, _MOST_SECONDS = 1e-3, 1e9
_MOST_OF_CLOCK = 0.8
_MOST_NUMBER = 10**15
_UNSTOPPABLE_DEPTH = 4

_NUMBERS = ("depth", "nodes", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "mate", "perft")
_DECIMALS = re.compile(r"(?<=\d)\.\d*$")
_FLAGS = ("infinite", "ponder")
_MOVES = "searchmoves"


@define(frozen=True)
class Go:
    """The words after ``go``, also Stockfish's ``perft``; times in milliseconds, None where nothing was said."""

    depth: int | None = None
    nodes: int | None = None
    movetime: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    mate: int | None = None
    perft: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()


def parse_go(words: Sequence[str]) -> Go:
    """Read the words after ``go``; unknown ones are passed over, as the protocol asks, and told.

    Raises
    ------
    BadInputError
        A number is missing or is none.
    """
    found: dict[str, Any] = {}
    unknown: list[str] = []
    rest = deque(words)
    while rest:
        word = rest.popleft()
        if word in _FLAGS:
            found[word] = True
        elif word in _NUMBERS:
            text = rest.popleft() if rest else ""
            # Some programs count milliseconds with decimals.
            number = whole_number(_DECIMALS.sub("", text.removeprefix("+")), -(10**18))
            if number is None:
                raise BadInputError(f"go {word} needs a whole number, got {text!r}")
            found[word] = min(number, _MOST_NUMBER)
        elif word == _MOVES:
            found[_MOVES] = ()
            while rest and rest[0] not in (*_NUMBERS, *_FLAGS):
                found[_MOVES] += (rest.popleft(),)
        else:
            unknown.append(word)
    return Go(**found, unknown=tuple(unknown))


def limits_of(go: Go, *, white_to_move: bool, own: Limits, overhead: float) -> Limits:
    """Limits of a search.

    Parameters
    ----------
    go
        What the other side asks for.
    white_to_move
        Whose clock counts.
    own
        The player's own limits, which hold besides. Its clock does not: the other side keeps the clock.
    overhead
        Seconds that pass between the engine and the clock.
    """
    mate_depth = None if go.mate is None else 2 * max(go.mate, 1)
    depth, nodes = _least(go.depth, mate_depth, own.depth), _least(go.nodes, own.nodes)
    limits = Limits(None if depth is None else max(depth, 1), None if nodes is None else max(nodes, 1), own.seconds)
    if go.infinite:
        return limits
    asked = None if go.movetime is None else max(go.movetime / 1000 - overhead, _LEAST_SECONDS)
    milliseconds, increment = (go.wtime, go.winc) if white_to_move else (go.btime, go.binc)
    most = clock = None
    if milliseconds is not None:
        left = min(max(milliseconds / 1000 - overhead, _LEAST_SECONDS), _MOST_SECONDS)
        # The overhead comes with each move, and so it is the increment that must bear it.
        clock = Clock(left, min(max((increment or 0) / 1000 - overhead, 0.0), _MOST_SECONDS))
        if go.movestogo is not None and go.movestogo > 0:
            clock = attrs.evolve(clock, moves=min(go.movestogo + 1, MOVES_TO_GO))
            most = _MOST_OF_CLOCK * left
    seconds = _least(own.seconds, asked, most)
    if seconds is not None:
        seconds = min(max(seconds, _LEAST_SECONDS), _MOST_SECONDS)
    return attrs.evolve(limits, seconds=seconds, clock=clock)


def _least(*limits: _Number | None) -> _Number | None:
    return min((limit for limit in limits if limit is not None), default=None)


class GameLine:
    """A game as ``position`` commands tell it: a first position and moves, most of them known from the last command."""

    def __init__(self) -> None:
        self._start: tuple[str, bool] = ("", False)
        self._texts: list[str] = []
        self._positions: list[Position] = []
        self.board = chess.Board()
        """The board, with its moves."""
        self._begin("", chess960=False)

    @property
    def position(self) -> Position:
        """Position after all moves so far."""
        return self._positions[-1]

    @property
    def previous(self) -> list[Position]:
        """Earlier positions that may occur again, oldest first."""
        return self._positions[-1 - min(self.board.halfmove_clock, len(self._positions) - 1) : -1]

    def set(self, words: Sequence[str], *, chess960: bool) -> None:
        """Obey a ``position`` command of these words.

        Raises
        ------
        BadInputError
            The position is none, or a move is not legal; the line is then that of the initial position.
        """
        kind, *rest = words or [""]
        place = rest.index("moves") if "moves" in rest else len(rest)
        if kind not in {"startpos", "fen"}:
            raise BadInputError(f"position is followed by startpos or fen, got {kind[:20]!r}")
        fen = " ".join(rest[:place]) if kind == "fen" else ""
        try:
            self._go_to(fen, rest[place + 1 :], chess960)
        except BadInputError:
            self._begin("", chess960=chess960)
            raise

    def _begin(self, fen: str, *, chess960: bool) -> None:
        if fen:
            parse_position(fen)
        self.board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
        self._start, self._texts, self._positions = (fen, chess960), [], [from_board(self.board)]

    def _go_to(self, fen: str, texts: Sequence[str], chess960: bool) -> None:
        if self._start != (fen, chess960):
            self._begin(fen, chess960=chess960)
        common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(texts, self._texts, strict=False))))
        while len(self._texts) > common:
            self._texts.pop()
            self._positions.pop()
            self.board.pop()
        for text in texts[common:]:
            try:
                move = self.board.parse_uci(text.lower())
            except ValueError:
                move = chess.Move.null()
            if not move:
                raise BadInputError(f"{text[:20]!r} is no legal move in {self.board.fen()}")
            self.board.push(move)
            self._texts.append(text)
            self._positions.append(from_board(self.board))


def centipawns(value: float, unit: Unit) -> int:
    """Centipawns of an evaluation's value before the link."""
    if unit == "expected result":
        value = 2.0 * math.atanh(min(max(value, -1.0 + 1e-9), 1.0 - 1e-9))
    found = value if unit == "centipawns" else _CENTIPAWNS_PER_LOG_ODDS * value
    return round(min(max(found, -_MOST_CENTIPAWNS), _MOST_CENTIPAWNS))


def _score_text(line: Line, unit: Unit) -> str:
    if line.plies_to_end is not None:
        moves = (line.plies_to_end + 1) // 2
        return f"mate {moves if line.value > 0 else -moves}"
    bound = {Bound.LOWER: " lowerbound", Bound.UPPER: " upperbound"}.get(line.bound, "")
    return f"cp {centipawns(line.value, unit)}{bound}"


def info_lines(
    analysis: SearchResult, board: chess.Board, unit: Unit, *, wdl: Sequence[tuple[int, int, int]] | None = None
) -> list[str]:
    """Tell what a search found: one line for each of its best lines.

    Parameters
    ----------
    analysis
        What it found.
    board
        Where.
    unit
        Of its values.
    wdl
        Win, draw and loss of each line in thousandths, if they are to be told.
    """
    milliseconds = round(1000 * analysis.seconds)
    speed = round(analysis.nodes / analysis.seconds) if analysis.seconds > 0 else 0
    told = []
    for place, line in enumerate(analysis.lines):
        results = "" if wdl is None else f" wdl {' '.join(map(str, wdl[place]))}"
        told.append(
            f"info depth {max(line.depth, 1)} seldepth {max(analysis.selective_depth, line.depth, 1)}"
            f" multipv {place + 1} score {_score_text(line, unit)}{results} nodes {analysis.nodes} nps {speed}"
            f" time {milliseconds} pv {' '.join(variation_texts(board, line.moves))}"
        )
    return told


def perft_lines(game: Game, line: GameLine, depth: int, stop: threading.Event) -> Iterator[str]:
    """Count the sequences of so many moves as Stockfish tells it: behind each move, then of all unless stopped."""
    total = 0
    for move in game.list_legal_moves(line.position):
        leaves = _leaves(game, game.play(line.position, move), depth - 1, stop)
        if stop.is_set():
            return
        total += leaves
        yield f"{line.board.uci(move_of(move))}: {leaves}"
    yield from ("", f"Nodes searched: {total}", "")


def _leaves(game: Game, position: Any, depth: int, stop: threading.Event) -> int:
    """Count in pieces of which each takes a fraction of a second, zero for those behind a stop."""
    if stop.is_set():
        return 0
    if depth <= _UNSTOPPABLE_DEPTH:
        return perft(game, depth, position)
    moves = game.list_legal_moves(position)
    return sum(_leaves(game, game.play(position, move), depth - 1, stop) for move in moves)


def variation_texts(board: chess.Board, moves: Sequence[int]) -> list[str]:
    """Texts of moves that follow each other, in the board's own way of writing castling."""
    board = board.copy(stack=False)
    texts = []
    for number in moves:
        move = move_of(number)
        text = board.uci(move)
        if not board.is_legal(chess.Move.from_uci(text)):
            break
        texts.append(text)
        board.push(move)
    return texts
