"""UCI engines as players, and as what gives scores that are graded.

A player's text is ``uci:PROGRAM``, then limits and options, as in ``uci:/usr/games/stockfish,nodes=1000,Hash=16``. What
all programs share (:mod:`glem.core.players.programs`) says what ``folder`` and ``timeout`` are and what failures cost;
every other name is a UCI option of the engine, and ``option.NAME`` is one as well, should its name be that of a limit.
A position at which an engine fails twice has no score; an engine that fails so at several in a row is given up.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import chess

from glem.core.errors import BadInputError
from glem.core.game.game import ExternalPlayers
from glem.core.game.protocols import ExternalScore, PlayerFailureError, ProgramOption, ScoredMove
from glem.core.players.player import MoveChoice
from glem.core.players.programs import (
    ProgramFailureError,
    ProgramPlayer,
    program_digest,
    program_of,
)
from glem.core.search.results import Limits
from glem.games.chess.boards import GameBoard, board_of, move_number
from glem.games.chess.rules.position import Position
from glem.games.chess.uci.external_engine import UciEngine

if TYPE_CHECKING:
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import Clock
    from glem.games.chess.uci.external_engine import EngineAnswer

_CENTIPAWNS = 100.0
_MOST_PAWNS = 30.0
"""Greatest value; mates count as much. Scores beyond it tell nothing more of who will win."""

_LOG_ODDS = math.log(10) / 4
"""Log odds of a pawn, as programmers of chess count it: with P pawns more a side scores 1 / (1 + 10^(-P/4)). What
engines tell as chances of win, draw and loss is steeper: of two won positions it does not tell which is better.
"""

_LEAST_PART = 2.5e-4
"""Probability that a result has of which an engine says 0: it counts in thousandths."""

_NO_CHESS960 = "the engine does not play Chess960"

_MOST_FAILED = 3
"""Positions in a row at which an engine may fail before it is given up."""

_log = logging.getLogger(__name__)


def engine_of(spec: PlayerSpec, *, show_results: bool = False) -> UciEngine:
    """Make the engine of an external player's description.

    Parameters
    ----------
    spec
        The description.
    show_results
        Ask for win, draw and loss where the engine offers them.

    Raises
    ------
    BadInputError
        There is no such program, no limit, or an option makes no sense.
    """
    if spec.limits == Limits():
        raise BadInputError(f"player {spec.name!r} has no limit: give depth=, nodes=, seconds= or clock=")
    program = program_of(spec)
    if "table" in program.options:
        value = program.options["table"]
        raise BadInputError(f"player {spec.name!r}: the table of a UCI engine is its option Hash, in MiB: Hash={value}")
    return UciEngine(program, show_results=show_results)


class _EngineUser:
    """Has the engine of :func:`engine_of` running; :class:`GlemError` where the program does not speak UCI."""

    def __init__(self, spec: PlayerSpec, *, show_results: bool = False) -> None:
        self._limits = spec.limits
        self._engine = engine_of(spec, show_results=show_results)
        self._engine.start()

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options of the engine; see :class:`~glem.core.game.protocols.Configurable`."""
        self._engine.configure(options)

    def close(self) -> None:
        """End the engine."""
        self._engine.close()

    def _answer(
        self, board: chess.Board, clock: Clock | None, game: object, stop: threading.Event | None = None
    ) -> EngineAnswer:
        """Ask the engine, and give it up after the time that it has and some more."""
        seconds = self._engine.program.patience(self._limits, clock)
        return self._engine.think(board, self._limits, clock, game=game, seconds=seconds, stop=stop)


class UciPlayer(_EngineUser, ProgramPlayer):
    """Lets a UCI engine choose the moves."""

    def __init__(self, spec: PlayerSpec) -> None:
        ProgramPlayer.__init__(self, spec)
        _EngineUser.__init__(self, spec)
        self._game = object()
        self._history = GameBoard()
        self._started()

    @property
    def process(self) -> int | None:
        """Number of the engine's process; None while it is not running."""
        return self._engine.process

    def new_game(self, number: int = 0) -> None:
        """Have the engine forget the last game."""
        self._game = object()

    def _asked(
        self, position: Position, previous: Sequence[Position], clock: Clock | None, stop: threading.Event | None
    ) -> MoveChoice:
        board = self._history.board(position, previous)
        if board.chess960 and not self._engine.plays_chess960:
            raise PlayerFailureError(f"{self.name}: {_NO_CHESS960}", 1)
        answer = self._answer(board, clock, self._game, stop)
        if answer.move is None:
            self._engine.kill()
            raise ProgramFailureError(f"engine {self._engine.name} chose no move in {board.fen()}")
        return MoveChoice(
            move_number(board, answer.move),
            score=None if answer.centipawns is None else answer.centipawns / _CENTIPAWNS,
            depth=answer.depth,
            nodes=answer.nodes,
            result=None if answer.mate is None else (1 if answer.mate > 0 else -1),
        )


class UciScoring(_EngineUser):
    """Scores positions by a UCI engine; its limit cannot be a clock."""

    unit = "pawns"

    def __init__(self, spec: PlayerSpec) -> None:
        if spec.limits.clock is not None:
            raise BadInputError(f"{spec.name!r}: a clock is for games; limit the engine by depth=, nodes= or seconds=")
        super().__init__(spec, show_results=True)
        self._failed = 0
        self._is_told = False
        self._game = object()

    def forget(self) -> None:
        """Have the engine clear its tables."""
        self._game = object()

    def score(self, position: Any) -> ExternalScore:
        """Score a position; it has no score if the engine fails twice, or twice tells none.

        Raises
        ------
        ProgramFailureError
            It failed at so many positions in a row that it is given up, or cannot be started any more.
        """
        board = board_of(position)
        failures, problem = 0, "it told no score"
        self._engine.start()
        if board.chess960 and not self._engine.plays_chess960:
            return ExternalScore(None, problem=_NO_CHESS960)
        for _ in range(2):
            try:
                answer = self._answer(board, None, self._game)
            except ProgramFailureError as error:
                failures += 1
                problem = str(error)
                if not self._is_told:
                    # At once, whichever process scores: others may take as long.
                    _log.warning("note: %s; it is started anew", problem)
                    self._is_told = True
                if error.timed_out and self._failed:
                    break
                continue
            value = _value(answer.centipawns, answer.mate)
            if value is not None:
                self._failed = 0
                move = None if answer.move is None else move_number(board, answer.move)
                problem, lines = problem if failures else "", tuple(_lines(board, answer, value))
                return ExternalScore(value, _results(answer), failures, problem, move, _expected(value), lines)
        self._failed = self._failed + 1 if failures else 0
        if self._failed >= _MOST_FAILED:
            raise ProgramFailureError(f"{problem}; {_MOST_FAILED} positions in a row have no score, so it is given up")
        return ExternalScore(None, None, failures, problem)


def _value(centipawns: int | None, mate: int | None) -> float | None:
    """Score in pawns from the side to move, mates as the greatest; None where there is none."""
    if mate is not None:
        return _MOST_PAWNS if mate > 0 else -_MOST_PAWNS
    if centipawns is None:
        return None
    return min(max(centipawns / _CENTIPAWNS, -_MOST_PAWNS), _MOST_PAWNS)


def _expected(pawns: float) -> float:
    return math.tanh(_LOG_ODDS * pawns / 2)


def _lines(board: chess.Board, answer: EngineAnswer, value: float) -> Iterator[ScoredMove]:
    """Give the line of an answer's move and value, told or not, then the others that begin with a move."""
    best = answer.lines.get(1)
    if answer.move:
        goes_on = best is not None and len(best[2]) > answer.depth
        yield ScoredMove(move_number(board, answer.move), _expected(value), goes_on)
    for number, (score, is_mate, moves) in sorted(answer.lines.items()):
        pawns = _value(None, score) if is_mate else _value(score, None)
        if number == 1 or pawns is None:
            continue
        with contextlib.suppress(ValueError):
            move = move_number(board, chess.Move.from_uci(moves[0]))
            yield ScoredMove(move, _expected(pawns), len(moves) > answer.depth)


def _results(answer: EngineAnswer) -> tuple[float, float, float] | None:
    """Probabilities of the results; None where the engine gave none."""
    if answer.results is None or sum(answer.results) == 0:
        return None
    whole = sum(answer.results)
    win, draw, loss = (max(part, _LEAST_PART * whole) for part in answer.results)
    total = win + draw + loss
    return win / total, draw / total, loss / total


def list_options(spec: PlayerSpec) -> list[ProgramOption]:
    """Start an engine, and list the options that it announces.

    Raises
    ------
    BadInputError
        There is no such program or option.
    GlemError
        The program does not speak UCI.
    """
    engine = engine_of(spec)
    try:
        engine.start()
        return engine.announced
    finally:
        engine.close()


UCI_PLAYERS = ExternalPlayers(
    name="uci",
    description="UCI engines: uci:PROGRAM, limits, folder=, timeout=, and options of the engine such as Hash=16.",
    digest=lambda _game, spec: program_digest(engine_of(spec).program.command),
    make_player=lambda _game, spec: UciPlayer(spec),
    make_scoring=lambda _game, spec: UciScoring(spec),
    list_options=lambda _game, spec: list_options(spec),
)
