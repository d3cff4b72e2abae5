"""A UCI engine as a process of its own, kept on a short lead.

The protocol is python-chess's (:mod:`chess.engine`). What stands here is what strangers need besides: nothing that an
engine prints, or fails to print, costs more than a bounded amount of time and memory, and no process outlives this one.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import re
import subprocess
import threading
import time
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any, TypeVar

import chess
import chess.engine
from attrs import define

from glem.core.errors import BadInputError
from glem.core.players.programs import MOST_BYTES, ProgramFailureError, ProgramStartError
from glem.core.tasks.guarded_programs import guard_group, kill_group, release_group

_Result = TypeVar("_Result")

_LONGEST_LINE = 1 << 16
_KNOWN_WORDS = frozenset((b"bestmove", b"id", b"info", b"option", b"readyok", b"uciok"))
_STOP_CHECK_SECONDS = 0.01
_END_SECONDS = 5.0
_QUIT_SECONDS = 0.5
_SHOW_WDL = "UCI_ShowWDL"

_SCORE = re.compile(rb"\bscore (cp|mate) (-?\d{1,9})( lowerbound| upperbound)?\b")
_WDL = re.compile(rb"\bwdl (\d{1,6}) (\d{1,6}) (\d{1,6})\b")
_DEPTH = re.compile(rb"\bdepth (\d{1,6})\b")
_NODES = re.compile(rb"\bnodes (\d{1,18})\b")
_OTHER_LINE = re.compile(rb"\bmultipv (?!1\b)")

# What an engine prints is no concern of the user's terminal.
logging.getLogger("chess.engine").addHandler(logging.NullHandler())


@define
class EngineAnswer:
    """What an engine answered, from the side to move.

    Parameters
    ----------
    move
        Its move; None where it gave none.
    centipawns
        Its last score, a bound only where it gave nothing else; None where it gave none, or a mate.
    mate
        Moves to mate, negative where the side to move is mated; None where it saw no mate. 0 is mated.
    results
        Win, draw and loss in parts of any whole, where the engine tells.
    depth, nodes
        The last that it told; 0 where it told none.
    """

    move: chess.Move | None = None
    centipawns: int | None = None
    mate: int | None = None
    results: tuple[int, int, int] | None = None
    depth: int = 0
    nodes: int = 0
    _is_exact: bool = False

    def add(self, line: bytes) -> None:
        """Take note of what an ``info`` line tells, unless it is of another line than the best."""
        if (b"nodes" not in line and b"score" not in line) or _OTHER_LINE.search(line):
            return
        if found := _NODES.search(line):
            self.nodes = int(found[1])
        score = _SCORE.search(line)
        if score is None:
            return
        if found := _DEPTH.search(line):
            self.depth = int(found[1])
        is_bound = bool(score[3])
        if is_bound and self._is_exact:
            return
        value, is_mate = int(score[2]), score[1] == b"mate"
        self.centipawns, self.mate = (None, value) if is_mate else (value, None)
        if not is_bound:
            self._is_exact = True
            results = _WDL.search(line)
            self.results = None if results is None else (int(results[1]), int(results[2]), int(results[3]))

    def is_enough(self, nodes: int) -> bool:
        """Whether so many positions were searched and something came of it."""
        return self.nodes >= nodes and (self.centipawns is not None or self.mate is not None)


class _Conversation(chess.engine.UciProtocol):
    """python-chess's protocol, which takes what engines print for sane, behind a filter."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = EngineAnswer()
        self.trouble = ""
        self.most_nodes: int | None = None
        self._rest = b""
        self._received = 0
        self._searching = False

    def send_line(self, line: str) -> None:
        if line.startswith(("go", "uci", "isready")):
            self._received = 0
        if line.startswith("go"):
            self.answer = EngineAnswer()
            self._searching = True
        super().send_line(line)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        if self.trouble or isinstance(data, str):
            return
        self._received += len(data)
        if self._received > MOST_BYTES:
            self.fail(f"it printed more than {MOST_BYTES >> 20} MiB without an answer")
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            # The rest of an endless line is an endless line too, and no word that is known.
            self._rest = self._rest[:1] + b"-"
        for line in lines:
            if not self.trouble and len(line) <= _LONGEST_LINE:
                self._take(line.strip())

    def _take(self, line: bytes) -> None:
        if line.startswith(b"info string"):
            return
        word = line.split(None, 1)[0] if line else b""
        if word not in _KNOWN_WORDS:
            return
        if word == b"info":
            self.answer.add(line)
            if self.most_nodes is not None and self.answer.is_enough(self.most_nodes):
                # Some engines do not know this limit, or look at it between iterations only.
                self.most_nodes = None
                self.send_line("stop")
            return
        if word == b"bestmove":
            if not self._searching:
                return
            self._searching = False
        try:
            self._line_received(line.decode("utf-8", errors="replace"))
        except (AssertionError, LookupError, RuntimeError, TypeError, ValueError, asyncio.InvalidStateError) as error:
            self.fail(f"it printed {line[:80]!r}, which makes no sense here ({error})")

    def fail(self, text: str) -> None:
        """Kill the engine, which lets what waits for it know."""
        self.trouble = self.trouble or text
        if self.transport is not None:
            kill_group(self.transport.get_pid())


# ------------------------------------------------------------------------------------------- the event loop

_loops: dict[int, asyncio.AbstractEventLoop] = {}
_loops_lock = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    """Event loop of this process in which all engines are spoken to, in a thread of its own."""
    with _loops_lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            _loops.clear()
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="UCI engines", daemon=True).start()
        return loop


def _submitted(coroutine: Coroutine[Any, Any, _Result]) -> Future[_Result]:
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


_running: weakref.WeakSet[UciEngine] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for engine in list(_running):
        engine.close()


class UciEngine:
    """An engine that is started when it is first needed, and again after it failed. One thread at a time may use it.

    Parameters
    ----------
    command
        Program and arguments.
    options
        UCI options that are set after each start; names in any case.
    timeout
        Seconds without an answer after which an engine counts as hung, where it has no time limit.
    show_results
        Ask for win, draw and loss where the engine offers them.
    folder
        Where it is started; None for here.
    """

    def __init__(
        self,
        command: list[str],
        options: Mapping[str, str] | None = None,
        *,
        timeout: float = 60.0,
        folder: str | None = None,
        show_results: bool = False,
    ) -> None:
        self.command = command
        self.timeout = timeout
        self._folder = folder
        self._options = dict(options or {})
        self._show_results = show_results
        self._protocol: _Conversation | None = None

    @property
    def name(self) -> str:
        """Its program, for errors."""
        return Path(self.command[0]).name

    @property
    def process(self) -> int | None:
        """Number of its process; None while it is not running."""
        protocol = self._protocol
        return None if protocol is None or protocol.transport is None else protocol.transport.get_pid()

    @property
    def plays_chess960(self) -> bool:
        """Whether it plays Chess960, as far as it has told."""
        return self._protocol is None or "UCI_Chess960" in self._protocol.options

    def start(self) -> None:
        """Start it, unless it is running, and set its options.

        Raises
        ------
        ProgramStartError
            It cannot be run, does not speak UCI, or does not get ready.
        BadInputError
            It has no such option, or the option not such a value.
        """
        if self._protocol is not None:
            return
        _running.add(self)
        # Ctrl-C in the terminal is for this process, which ends the engine then.
        starting = _Conversation.popen(
            self.command, stderr=subprocess.DEVNULL, start_new_session=True, cwd=self._folder
        )
        try:
            self._protocol = self._wait(_submitted(starting), self.timeout)[1]
        except (OSError, FutureTimeoutError) as error:
            raise ProgramStartError(f"engine {self.name} cannot be run: {error}") from error
        process = self.process
        assert process is not None
        guard_group(process)
        try:
            self._ask(self._protocol.initialize(), self.timeout)
        except ProgramFailureError as error:
            raise ProgramStartError(f"{error}; does it speak UCI?", timed_out=error.timed_out) from error
        self._configure()
        # No clock pays for what it still prepares: tables, networks, machine code.
        try:
            self._ask(self._protocol.ping(), self.timeout)
        except ProgramFailureError as error:
            raise ProgramStartError(f"{error}, asked whether it is ready", timed_out=error.timed_out) from error

    @property
    def announced(self) -> Sequence[chess.engine.Option]:
        """Options that it has announced, but for those that the protocol sets by itself; none until it was started."""
        known = () if self._protocol is None else self._protocol.options.values()
        return [option for option in known if not option.is_managed()]

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options, now if it is running, and after each start.

        Raises
        ------
        BadInputError
            It has no such option, or the option not such a value.
        """
        # Names in any case: what was set under another spelling must not come back at the next start.
        given = {name.lower() for name in options}
        self._options = {name: value for name, value in self._options.items() if name.lower() not in given}
        self._options.update(options)
        if self._protocol is not None:
            self._set(options)

    def _configure(self) -> None:
        protocol = self._protocol
        assert protocol is not None
        wanted = dict(self._options)
        is_asked = any(name.lower() == _SHOW_WDL.lower() for name in self._options)
        if self._show_results and not is_asked and _SHOW_WDL in protocol.options:
            wanted[_SHOW_WDL] = "true"
        self._set(wanted)

    def _set(self, wanted: Mapping[str, str]) -> None:
        protocol = self._protocol
        assert protocol is not None
        for name, value in wanted.items():
            if name not in protocol.options:
                known = ", ".join(sorted(protocol.options)) or "none"
                self.kill()
                raise BadInputError(f"engine {self.name} has no option {name!r}; it has {known}")
            is_button = protocol.options[name].type == "button"
            try:
                self._ask(protocol.configure({name: None if is_button else value}), self.timeout)
            except ProgramFailureError as error:
                self.kill()
                raise BadInputError(f"engine {self.name}: option {name} cannot be {value!r} ({error})") from error

    def ask(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        *,
        game: object,
        seconds: float,
        stop: threading.Event | None = None,
    ) -> EngineAnswer:
        """Let the engine think about a position.

        Parameters
        ----------
        board
            The position, with the moves before it.
        limit
            When it should end. An engine that does not keep a limit of nodes is stopped when it reports so many.
        game
            Another one than before has the engine forget the last game.
        seconds
            After so long it counts as hung.
        stop
            Asks it to answer at once when it is set.

        Raises
        ------
        ProgramFailureError
            It failed, and is not running any more.
        """
        self.start()
        protocol = self._protocol
        assert protocol is not None
        protocol.most_nodes = limit.nodes
        found = self._ask(protocol.play(board, limit, game=game), seconds, stop)
        protocol.answer.move = found.move
        return protocol.answer

    def _ask(
        self, coroutine: Coroutine[Any, Any, _Result], seconds: float, stop: threading.Event | None = None
    ) -> _Result:
        protocol = self._protocol
        assert protocol is not None
        future = _submitted(coroutine)
        try:
            return self._wait(future, seconds, stop)
        except FutureTimeoutError:
            self.kill()
            raise ProgramFailureError(f"engine {self.name} gave no answer in {seconds:g} s", timed_out=True) from None
        except chess.engine.EngineTerminatedError as error:
            self.kill()
            raise ProgramFailureError(f"engine {self.name} failed: {protocol.trouble or error}") from error
        except chess.engine.EngineError as error:
            self.kill()
            raise ProgramFailureError(f"engine {self.name} answered nonsense: {error}") from error
        except BaseException:
            self.kill()
            raise
        finally:
            future.cancel()

    def _wait(self, future: Future[_Result], seconds: float, stop: threading.Event | None = None) -> _Result:
        if stop is None:
            return future.result(seconds)
        deadline = time.monotonic() + seconds
        is_told = False
        while True:
            if not is_told and stop.is_set() and self._protocol is not None:
                _loop().call_soon_threadsafe(self._protocol.send_line, "stop")
                is_told = True
            try:
                return future.result(_STOP_CHECK_SECONDS)
            except FutureTimeoutError:
                if future.done() or time.monotonic() > deadline:
                    raise

    def kill(self) -> None:
        """End the engine without asking it."""
        group, protocol, self._protocol = self.process, self._protocol, None
        if group is None or protocol is None:
            return
        kill_group(group)
        with contextlib.suppress(FutureTimeoutError):
            _submitted(_ended(protocol)).result(_END_SECONDS)
        release_group(group)

    def close(self) -> None:
        """End the engine: it is asked first."""
        if self._protocol is not None:
            with contextlib.suppress(FutureTimeoutError):
                _submitted(_quit(self._protocol)).result(_QUIT_SECONDS)
        self.kill()
        _running.discard(self)


async def _quit(protocol: _Conversation) -> None:
    with contextlib.suppress(RuntimeError, AttributeError, OSError):
        protocol.send_line("quit")
    await _ended(protocol)


async def _ended(protocol: _Conversation) -> None:
    await asyncio.shield(protocol.returncode)
    if protocol.transport is not None:
        protocol.transport.close()
