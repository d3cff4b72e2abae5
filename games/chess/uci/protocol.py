"""The Universal Chess Interface, by which programs that show or play chess speak to engines.

R. Huber, S. Meyer-Kahlen, "Description of the universal chess interface (UCI)", April 2006. Scores are centipawns, the
moves to a mate, and on demand win, draw and loss in thousandths: by a calibration, or where the evaluation has a
drawishness of its own (:mod:`glem.core.players.chances`). The option ``EvalFile`` names the evaluation as in a player's
text. Besides the limits of ``go`` those of the player hold. What makes no sense is answered by ``info string``.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import chess

from glem.core.errors import BadInputError, GlemError, __version__
from glem.core.game.protocols import Protocol
from glem.core.game.whole_numbers import read_whole_number
from glem.core.players.protocols.conversation import Conversation, Interruption
from glem.core.search.results import MOST_THREADS, Limits, usual_seconds
from glem.core.tasks.stop import Stop
from glem.games.chess.boards import move_number, move_of
from glem.games.chess.uci.commands import (
    GameLine,
    Go,
    Unit,
    info_lines,
    limits_of,
    parse_go,
    perft_lines,
    variation_texts,
)

if TYPE_CHECKING:
    from glem.core.players.chances import ResultChances
    from glem.core.players.engine import Engine
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import Line, SearchResult


_MOST_TABLE_MB = 1 << 16
_MOST_LINES = 218
_MOST_OVERHEAD = 5000
_USUAL_OVERHEAD = 10
_SHOWN = 80
_LOOK_SECONDS = 0.005
_MOST_PERFT = 20
_THOUSAND = 1000


def serve_uci(engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
    """Obey the commands of a session until it ends or says ``quit``."""
    _Session(engine, lines, write).run()


UCI = Protocol(
    name="uci",
    description="Universal Chess Interface, which programs that show or play chess speak.",
    serve=serve_uci,
    opening=("uci",),
    prepares=True,
)


class _Session:
    def __init__(self, engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
        self._engine = engine
        self._write_line = write
        self._writing = threading.Lock()
        self._line = GameLine()
        self._problem = ""
        """Why the position of the last command cannot be played."""
        self._is_new_game = True
        self._chess960 = False
        self._shows_wdl = False
        self._owes_wdl = False
        """Whether to say that win, draw and loss are not known, if so."""
        self._lines = 1
        self._overhead = _USUAL_OVERHEAD / _THOUSAND
        self._spec: PlayerSpec = engine.spec
        self._preparation = _Preparation(engine, self._spec, shows_wdl=False)
        self._owes_ready = False

        # What the reading thread and this one share.
        self._hearing = threading.Lock()
        self._searches = 0
        """Searches that were asked for and not answered."""
        self._hits: deque[threading.Event] = deque()
        """Of the searches that ponder and have not begun or ended: set when the other side has moved as expected."""
        self._told_ready: deque[bool] = deque()
        """Whether ``isready`` was answered while it came, since an engine that thinks answers it too."""

        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "debug": lambda _: None,
            "isready": self._isready,
            "setoption": self._setoption,
            "register": lambda _: None,
            "ucinewgame": self._ucinewgame,
            "position": self._position,
            "go": self._go,
            "stop": lambda _: None,
            "ponderhit": lambda _: None,
        }
        self._conversation = Conversation(lines, self._heard)

    def run(self) -> None:
        self._preparation.start()
        for line in self._conversation:
            words = self._known_words(line)
            if not words:
                if line.strip():
                    self._say(f"unknown command {line.strip()[:_SHOWN]!r}")
                continue
            if words[0] == "quit":
                return
            try:
                self._commands[words[0]](words[1:])
            except GlemError as error:
                self._say(str(error))
            if self._owes_ready:
                self._answer_ready()

    def _known_words(self, line: str) -> list[str]:
        """Words from the first known one on: the protocol asks to pass over what comes before."""
        words = line.split()
        while words and words[0] not in self._commands and words[0] != "quit":
            words.pop(0)
        return words

    def _heard(self, line: str) -> Interruption:
        """Take note of a command in the thread that reads it, while another may be obeyed."""
        words = self._known_words(line)
        name = words[0] if words else ""
        with self._hearing:
            if name == "go":
                self._searches += 1
                if "ponder" in words:
                    self._hits.append(threading.Event())
            elif name == "ponderhit" and self._hits:
                self._hits[-1].set()
            elif name == "isready":
                is_thinking = self._searches > 0
                self._told_ready.append(is_thinking)
                if is_thinking:
                    self._write("readyok")
        return Interruption.ALL if name in {"stop", "quit"} else Interruption.NO

    def _write(self, *lines: str) -> None:
        with self._writing:
            for line in lines:
                self._write_line(line)

    def _say(self, text: str) -> None:
        self._write(f"info string {' '.join(text.split())}")

    def _uci(self, _words: list[str]) -> None:
        spec = self._spec
        self._write(
            f"id name glem {__version__}",
            "id author the authors of glem",
            f"option name Hash type spin default {spec.table_mb} min 1 max {_MOST_TABLE_MB}",
            "option name Clear Hash type button",
            f"option name Threads type spin default {spec.threads} min 1 max {MOST_THREADS}",
            "option name Ponder type check default false",
            f"option name MultiPV type spin default 1 min 1 max {_MOST_LINES}",
            f"option name Move Overhead type spin default {_USUAL_OVERHEAD} min 0 max {_MOST_OVERHEAD}",
            f"option name EvalFile type string default {spec.evaluation}",
            "option name UCI_Chess960 type check default false",
            "option name UCI_ShowWDL type check default false",
            "uciok",
        )

    def _setoption(self, words: list[str]) -> None:
        if not words or words[0] != "name":
            raise BadInputError("setoption is followed by name")
        place = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:place]), " ".join(words[place + 1 :])
        known = name.lower()
        if known == "hash":
            megabytes = read_whole_number(value, f"option {name}", 1, _MOST_TABLE_MB)
            self._spec = attrs.evolve(self._spec, table_mb=megabytes)
        elif known == "evalfile":
            spec = attrs.evolve(self._spec, evaluation=value, digest="")
            spec.resolved(self._engine.game)
            self._spec = spec
        elif known == "multipv":
            self._lines = read_whole_number(value, f"option {name}", 1, _MOST_LINES)
        elif known == "move overhead":
            self._overhead = read_whole_number(value, f"option {name}", 0, _MOST_OVERHEAD) / _THOUSAND
        elif known == "uci_chess960":
            self._chess960 = _truth(name, value)
        elif known == "uci_showwdl":
            self._shows_wdl = self._owes_wdl = _truth(name, value)
        elif known == "clear hash":
            self._is_new_game = True
        elif known == "threads":
            threads = read_whole_number(value, f"option {name}", 1, MOST_THREADS)
            self._spec = attrs.evolve(self._spec, threads=threads)
        elif known == "ponder":
            _truth(name, value)
        else:
            raise BadInputError(f"No such option: {name[:_SHOWN]}")

    def _ucinewgame(self, _words: list[str]) -> None:
        self._is_new_game = True

    def _position(self, words: list[str]) -> None:
        self._problem = ""
        try:
            self._line.set(words, chess960=self._chess960)
        except BadInputError as error:
            self._problem = str(error)
            raise

    def _isready(self, _words: list[str]) -> None:
        with self._hearing:
            is_told = self._told_ready.popleft()
        if not is_told:
            self._owes_ready = True

    def _answer_ready(self) -> None:
        if self._is_prepared():
            self._owes_ready = False
            if self._preparation.problem:
                self._say(self._preparation.problem)
            self._write("readyok")

    def _is_prepared(self) -> bool:
        """Wait until the player can think; False where ``stop`` or ``quit`` ended the waiting."""
        while True:
            preparation = self._preparation
            if not preparation.done.is_set():
                self._conversation.think(preparation.wait)
                if not preparation.done.is_set():
                    return False
            if preparation.spec == self._spec and preparation.shows_wdl >= self._shows_wdl:
                return True
            self._preparation = _Preparation(self._engine, self._spec, shows_wdl=self._shows_wdl)
            self._preparation.start()

    def _go(self, words: list[str]) -> None:
        hit = threading.Event()
        with self._hearing:
            if "ponder" in words:
                hit = self._hits[0]
        best = "(none)"
        try:
            best = self._thought_of(words, hit)
        except GlemError as error:
            # A move that nothing was thought about would be taken for the player's.
            self._say(str(error))
        finally:
            if {"infinite", "ponder"} & set(words):
                # Also where there was nothing to think about.
                self._conversation.think(lambda stop: self._await_word(hit, stop))
            with self._hearing:
                if "ponder" in words:
                    self._hits.popleft()
                self._searches -= 1
        if best:
            self._write(f"bestmove {best}")

    def _thought_of(self, words: list[str], hit: threading.Event) -> str:
        """Think, and word the answer; "" where none is due."""
        if self._problem:
            raise BadInputError(f"there is no position to think about: {self._problem}")
        go = parse_go(words)
        if go.unknown:
            self._say(f"go: unknown words {' '.join(go.unknown)[:_SHOWN]!r} are passed over")
        if go.perft is not None:
            self._count(go.perft)
            return ""
        if not self._is_prepared():
            self._say("stopped before the player was ready")
            return _any_move(self._line.board)
        if self._preparation.problem:
            raise BadInputError(self._preparation.problem)
        engine = self._engine
        engine.set_position(
            self._line.position,
            first_to_move=self._line.board.turn == chess.WHITE,
            previous=self._line.previous,
            same_game=not self._is_new_game,
        )
        self._is_new_game = False
        if engine.is_over:
            self._write(f"info depth 0 score {'mate' if self._line.board.is_check() else 'cp'} 0")
            return "(none)"
        if self._spec.kind != "search":
            return self._chosen()
        if self._owes_wdl and self._preparation.chances is None:
            self._say(self._preparation.without_chances)
        self._owes_wdl = False
        found = self._searched(go, hit)
        return " ponder ".join(variation_texts(self._line.board, found.lines[0].moves)[:2])

    def _count(self, depth: int) -> None:
        """Count sequences of moves, as tests of move generators ask for it."""
        if not 1 <= depth <= _MOST_PERFT:
            raise BadInputError(f"go perft counts from 1 to {_MOST_PERFT} moves, got {depth}")

        def count(stop: threading.Event) -> None:
            for text in perft_lines(self._engine.game, self._line, depth, stop):
                self._write(text)

        if not self._conversation.think(count):
            self._say("stopped before all was counted")

    def _chosen(self) -> str:
        """Move of a player that does not search."""
        found: list[int] = []
        self._conversation.think(lambda stop: found.append(self._engine.choose(stop=stop).move))
        return self._line.board.uci(move_of(found[0]))

    def _searched(self, go: Go, hit: threading.Event) -> SearchResult:
        """Search, telling of every iteration."""
        board, ended = self._line.board, self._conversation.ended
        limits = limits_of(go, white_to_move=board.turn == chess.WHITE, own=self._spec.limits, overhead=self._overhead)
        is_bare = limits == Limits() or go.infinite
        if (is_bare or go.ponder) and ended.is_set():
            # A script ends where its input does.
            limits = attrs.evolve(limits, depth=1)
        found: list[SearchResult] = []
        shown: list[tuple[Line, ...]] = [()]

        def show(analysis: SearchResult) -> None:
            shown.append(analysis.lines)
            self._show(analysis)

        def think(stop: Stop) -> None:
            watch, own, excluded = None, limits, self._excluded(go)
            if go.ponder:
                # The clock runs from the expected move on, whenever that is made.
                watch = threading.Thread(target=_end_after, args=(hit, _seconds_of(limits), stop), daemon=True)
                watch.start()
                own = attrs.evolve(limits, seconds=None, clock=None)
            found.append(
                self._engine.analyse(
                    lines=self._lines,
                    limits=own,
                    stop=stop,
                    on_iteration=show,
                    exclude=excluded,
                    full_width=go.mate is not None,
                )
            )
            if is_bare or go.ponder:
                self._await_word(hit, stop)
            if watch is not None:
                stop.set()
                watch.join()

        self._conversation.think(think)
        if found[0].lines != shown[-1]:
            self._show(found[0])
        return found[0]

    def _await_word(self, hit: threading.Event, stop: Stop) -> None:
        """Wait as programs ask that set no end or let the engine ponder: no answer comes before the word for it."""
        while not (self._conversation.ended.is_set() or hit.is_set() or stop.wait(_LOOK_SECONDS)):
            continue

    def _excluded(self, go: Go) -> Sequence[int]:
        """Legal moves that are not to be searched; none where none of those asked for is legal."""
        wanted = set()
        for text in go.searchmoves or ():
            with contextlib.suppress(ValueError):
                if move := self._line.board.parse_uci(text.lower()):
                    wanted.add(move_number(self._line.board, move))
        return [move for move in self._engine.legal_moves() if move not in wanted] if wanted else ()

    def _show(self, analysis: SearchResult) -> None:
        """Tell what a search has found."""
        chances = self._preparation.chances
        wdl = None
        if self._shows_wdl and chances is not None:
            wdl = [_thousandths(chances, self._line, line) for line in analysis.lines]
        self._write(*info_lines(analysis, self._line.board, self._preparation.unit, wdl=wdl))


def _end_after(hit: threading.Event, seconds: float, stop: threading.Event) -> None:
    """Set ``stop`` so many seconds after ``hit`` is set, unless it is set before."""
    while not hit.wait(_LOOK_SECONDS):
        if stop.is_set():
            return
    stop.wait(min(seconds, threading.TIMEOUT_MAX))
    stop.set()


class _Preparation:
    """Makes the player of a description, and its machine code, in a thread of its own."""

    def __init__(self, engine: Engine, spec: PlayerSpec, *, shows_wdl: bool) -> None:
        self.spec = spec
        self.shows_wdl = shows_wdl
        self.done = threading.Event()
        self.problem = ""
        self.unit: Unit = "log odds"
        self.chances: ResultChances | None = None
        """What values mean for results, where something tells it."""
        self.without_chances = "win, draw and loss are not known"
        self._engine = engine

    def start(self) -> None:
        self._engine.preparing = threading.Thread(target=self._run, name="preparation", daemon=True)
        self._engine.preparing.start()

    def wait(self, stop: threading.Event) -> None:
        while not self.done.wait(_LOOK_SECONDS) and not stop.is_set():
            continue

    def _run(self) -> None:
        try:
            self._engine.spec = self.spec
            if self.spec.kind == "search":
                self._engine.prepare_analysis()
                self._look_at_evaluation()
            else:
                self._engine.prepare()
        except GlemError as error:
            self.problem = str(error)
        except BaseException as error:
            self.problem = f"the player cannot be prepared: {error!r}"
            raise
        finally:
            self.done.set()

    def _look_at_evaluation(self) -> None:
        # Imported late: it loads what learning needs.
        from glem.core.evaluation.links import LOGISTIC
        from glem.core.evaluation.named import FUNCTION_PREFIX, load_searched
        from glem.core.players.chances import ResultChances

        engine, name = self._engine, self.spec.evaluation
        if name.startswith(FUNCTION_PREFIX):
            self.unit = "centipawns"
        elif load_searched(name, engine.game).link != LOGISTIC:
            self.unit = "expected result"
        if not self.shows_wdl:
            return
        try:
            chances = ResultChances(engine.game, name, engine.calibration)
        except BadInputError as error:
            # Another evaluation than the one that the calibration was given for: it plays all the same.
            self.without_chances = f"{self.without_chances}: {error}"
            return
        if chances.is_known:
            # The first prediction compiles.
            chances.thousandths(engine.game.initial_position, 1, 0.0)
            self.chances = chances
        else:
            self.without_chances += f": {name} has no drawishness; glem engine --calibration tells what its values mean"


def _seconds_of(limits: Limits) -> float:
    """Seconds that a search may go on after the expected move was made."""
    seconds = [] if limits.seconds is None else [limits.seconds]
    if limits.clock is not None:
        seconds.append(usual_seconds(limits.clock, None))
    return min(seconds, default=float("inf"))


def _thousandths(chances: ResultChances, line: GameLine, found: Line) -> tuple[int, int, int]:
    """Win, draw and loss of a line, by its value and by the position before it."""
    if found.plies_to_end is not None:
        return (_THOUSAND, 0, 0) if found.value > 0 else (0, 0, _THOUSAND)
    return chances.thousandths(line.position, line.board.fullmove_number, found.value)


def _any_move(board: chess.Board) -> str:
    """Legal move of a player that cannot think."""
    move = next(iter(board.legal_moves), None)
    return "(none)" if move is None else board.uci(move)


def _truth(name: str, text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise BadInputError(f"option {name} is true or false, got {text[:_SHOWN]!r}")
    return text.lower() == "true"
