"""Programs of others that play: what all protocols share, and a program that is spoken to in lines.

A player's text is ``PROTOCOL:PROGRAM``, then limits and options. The program may have arguments. ``folder`` is where
it is started, here if none is named; ``timeout`` is the time in seconds after which it counts as hung.

A program that crashes, prints nonsense or chooses an illegal move is started anew and asked once more. If it fails
again, or has hung, the player has failed over this move: its game is lost, or, where it made no move before, no game.
Nothing that a program prints, or fails to print, costs more than a bounded amount of time and memory, and no process
outlives this one.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import subprocess
import threading
import time
import typing
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import attrs
from attrs import define

from glem.core.errors import BadInputError, GlemError
from glem.core.files.digests import file_digest
from glem.core.game.game import Game
from glem.core.game.protocols import PlayerFailureError
from glem.core.machine.locks import LONGEST_WAIT
from glem.core.machine.programs import OWN_GROUP, ProcessorWatch, guard_group, kill_group, release_group, split_command
from glem.core.players.player import MoveChoice
from glem.core.search.results import Clock, Limits

MOST_BYTES = 1 << 24
"""Of one answer; a program that prints more than this is out of its mind."""
_BLOCK = 1 << 16
_USUAL_TIMEOUT = 60.0
_TIMED_TIMEOUT = 10.0
"""Beyond its time limit, for a program that has one."""
_LONGEST_TIMEOUT = 86_400.0
_QUIT_SECONDS = 0.5
_TIMEOUT, _FOLDER = "timeout", "folder"
_SHOWN = 80

_MOST_BLOCKS = 16
"""That are read ahead; then the program has to wait."""


class ProgramFailureError(GlemError):
    """A program crashed, hung, or answered nonsense; it has been killed.

    Parameters
    ----------
    timed_out
        Whether it hung.
    """

    def __init__(self, text: str, *, timed_out: bool = False) -> None:
        super().__init__(text)
        self.timed_out = timed_out


class ProgramStartError(ProgramFailureError):
    """A program could not be started: no such program, or none that speaks the protocol."""


class ProgramSpec(typing.Protocol):
    """What protocols read of a :class:`~glem.core.players.spec.PlayerSpec`."""

    @property
    def name(self) -> str:
        """Name of the player."""
        ...

    @property
    def evaluation(self) -> str:
        """Protocol and program."""
        ...

    @property
    def limits(self) -> Limits:
        """Limits of each move, or a clock."""
        ...

    @property
    def options(self) -> Any:
        """Pairs of the names and values of further options."""
        ...


@define(frozen=True)
class Program:
    """A program as a player's text describes it.

    Parameters
    ----------
    command
        Program and arguments.
    folder
        Where it is started; None for here.
    timeout
        Seconds after which it counts as hung; None for the usual ones.
    options
        Further options, which the protocol reads.
    """

    command: list[str]
    folder: str | None
    timeout: float | None
    options: dict[str, str]

    def patience(self, limits: Limits, clock: Clock | None) -> float:
        """Seconds to wait for a move: the time that the program has, and some more."""
        seconds = limits.seconds if clock is None else clock.remaining + clock.increment
        return (seconds or 0.0) + (self.timeout or (_USUAL_TIMEOUT if seconds is None else _TIMED_TIMEOUT))


def program_of(spec: ProgramSpec) -> Program:
    """Find the program of a player's description, and read the options that all protocols know.

    Raises
    ------
    BadInputError
        There is no such program or folder, or the timeout makes no sense.
    """
    options = dict(spec.options)
    timeout, folder = options.pop(_TIMEOUT, None), options.pop(_FOLDER, None)
    command = program_command(spec.evaluation.partition(":")[2])
    if folder is not None:
        folder = os.path.expanduser(folder)  # noqa: PTH111 - a Path would raise for a user who is not
        if not Path(folder).is_dir():
            raise BadInputError(f"player {spec.name!r}: folder {folder!r} is none")
    return Program(command, folder, None if timeout is None else _seconds(spec.name, timeout), options)


def line_program_of(spec: ProgramSpec, protocol: str, *limits: str) -> Program:
    """Find the program of a player that is spoken to in lines; it has no options of its own.

    Raises
    ------
    BadInputError
        What :func:`program_of` raises; a limit other than those that the protocol knows; an option that nothing reads.
    """
    program = program_of(spec)
    for name in ("depth", "nodes", "seconds", "clock"):
        if getattr(spec.limits, name) is not None and name not in limits:
            told = " and ".join(f"{one}=" for one in limits)
            raise BadInputError(
                f"player {spec.name!r}: {protocol} has no word for {name}=; it knows {told}, and the program may have "
                "arguments of its own"
            )
    for name in program.options:
        raise BadInputError(f"player {spec.name!r} has an unknown option {name!r}; known: {_FOLDER}, {_TIMEOUT}")
    return program


def _seconds(player: str, text: str) -> float:
    try:
        seconds = float(text)
        if 0 < seconds <= _LONGEST_TIMEOUT:
            return seconds
    except ValueError:
        pass
    raise BadInputError(f"player {player!r}: timeout must be seconds, up to a day, got {text!r}")


def program_command(text: str) -> list[str]:
    """Command of a program, found by its path or its name, and perhaps arguments.

    Raises
    ------
    BadInputError
        There is no such program, or it cannot be run.
    """
    # Not by a Path, which would lose the ./ that says that the program is here, or raise for a user who is not.
    whole = os.path.expanduser(text.strip())  # noqa: PTH111
    try:
        words = [whole] if Path(whole).is_file() else split_command(text)
    except ValueError as error:
        raise BadInputError(f"engine {text!r}: {error}") from None
    if not words:
        raise BadInputError("an engine needs a program, as in uci:stockfish")
    name = os.path.expanduser(words[0])  # noqa: PTH111
    program = shutil.which(name)
    if program is None:
        problem = "no such program, here or on PATH"
        if Path(name).exists():
            problem = "the file cannot be executed"
            if os.sep not in name and shutil.which(f"./{name}"):
                problem = f"no such program on PATH; the one here is ./{name}"
        raise BadInputError(f"engine {words[0]!r}: {problem}")
    return [str(Path(program).absolute()), *words[1:]]


def program_digest(command: Sequence[str]) -> str:
    """Digest of a program's file; "" where it may be executed but not read."""
    try:
        return file_digest(Path(command[0]).resolve())
    except PermissionError:
        # What may be executed need not be readable.
        return ""


class _Pipes:
    """The input and the output of a program, each in the hands of a thread: a program that hangs holds nobody else."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._commands: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._blocks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._room = threading.Semaphore(_MOST_BLOCKS)
        self._is_closed = False
        self._threads = [
            threading.Thread(target=target, args=(pipe,), name="program", daemon=True)
            for target, pipe in ((self._write, process.stdin), (self._read, process.stdout))
        ]
        for thread in self._threads:
            thread.start()

    def _write(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError), pipe:
            while (data := self._commands.get()) is not None:
                while data:
                    data = data[pipe.write(data) :]

    def _read(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError), pipe:
            while self._room.acquire() and not self._is_closed:
                data = pipe.read(_BLOCK)
                if not data:
                    break
                self._blocks.put(data)
        self._blocks.put(b"")

    def send(self, data: bytes) -> None:
        """Have a text written, as soon as the program reads it."""
        self._commands.put(data)

    def receive(self, seconds: float) -> bytes | None:
        """Wait for what the program prints; empty when it has ended, None where nothing comes for so long."""
        last = time.monotonic() + seconds
        while True:
            with contextlib.suppress(queue.Empty):
                data = self._blocks.get(timeout=max(min(last - time.monotonic(), LONGEST_WAIT), 0.0))
                self._room.release()
                return data
            if time.monotonic() >= last:
                return None

    def close(self) -> None:
        """Close both, now that the program has ended."""
        self._is_closed = True
        self._commands.put(None)
        self._room.release()
        for thread in self._threads:
            # What the program started, and is no longer of its group, may still hold the other ends.
            thread.join(_QUIT_SECONDS)


class LineProgram:
    """A program that reads commands and answers in lines. One thread at a time may use it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._pipes: _Pipes | None = None
        self._rest = b""
        self._lines: list[str] = []
        self._received = 0
        self._seconds = 0.0

    @property
    def name(self) -> str:
        """Its file, for errors."""
        return Path(self.program.command[0]).name

    @property
    def process(self) -> int | None:
        """Number of its process; None while it is not running."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it; :class:`ProgramStartError` where it cannot be run."""
        self._rest, self._lines = b"", []
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                self.program.command,
                cwd=self.program.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                **OWN_GROUP,
            )
        except OSError as error:
            raise ProgramStartError(f"engine {self.name} cannot be run: {error}") from error
        guard_group(self._process.pid)
        self._pipes = _Pipes(self._process)

    def tell(self, *lines: str) -> None:
        """Send lines; whether the program has ended, or does not read, shows where an answer is awaited."""
        assert self._pipes is not None
        self._pipes.send("".join(f"{line}\n" for line in lines).encode())

    def next_line(self, deadline: float, wait: float | None = None) -> str:
        """Read a line; "" where none comes for ``wait`` seconds, if that is given.

        Parameters
        ----------
        deadline
            Moment of :func:`time.monotonic` at which it counts as hung.
        wait
            Seconds after which the caller has something else to look after.

        Raises
        ------
        ProgramFailureError
            It ended, hung or printed too much; it has been killed.
        """
        assert self._pipes is not None
        while not self._lines:
            left = deadline - time.monotonic()
            data = self._pipes.receive(left if wait is None else min(left, wait)) if left > 0 else None
            if data is None:
                if wait is not None and wait < left:
                    return ""
                raise self.failure(f"gave no answer in {self._seconds:.3g} s", timed_out=True)
            if not data:
                raise self.failure("ended by itself")
            self._received += len(data)
            if self._received > MOST_BYTES:
                raise self.failure(f"printed more than {MOST_BYTES >> 20} MiB without an answer")
            *lines, self._rest = (self._rest + data).split(b"\n")
            if len(self._rest) > _BLOCK:
                # The rest of an endless line is an endless line too, and no answer.
                self._rest = b"-" * _BLOCK
            self._lines = [line.decode("utf-8", "replace").strip() for line in reversed(lines)]
        return self._lines.pop()

    def ask(self, *lines: str, seconds: float, deadline: float | None = None) -> float:
        """Send lines, the last of which waits for an answer; gives the deadline for :meth:`next_line`.

        The seconds are those that an error names; where some have passed already, the deadline says so.
        """
        self._received, self._seconds = 0, seconds
        self.tell(*lines)
        return time.monotonic() + seconds if deadline is None else deadline

    def failure(self, text: str, *, timed_out: bool = False) -> ProgramFailureError:
        """Kill it, and give the error that says why."""
        self.kill()
        return ProgramFailureError(f"engine {self.name} {text[: 4 * _SHOWN]}", timed_out=timed_out)

    def nonsense(self, answer: str) -> ProgramFailureError:
        """Kill it, and give the error that says what it answered."""
        return self.failure(f"answered nonsense: {answer[:_SHOWN]!r}")

    def kill(self) -> None:
        """End it without asking it."""
        process, self._process = self._process, None
        if process is None:
            return
        kill_group(process.pid)
        process.wait()
        if self._pipes is not None:
            self._pipes.close()
        release_group(process.pid)

    def close(self) -> None:
        """End it: it is asked first."""
        if self._process is not None:
            self.tell("quit")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_QUIT_SECONDS)
        self.kill()


class ProgramPlayer(ABC):
    """Lets a program choose the moves, whatever its protocol."""

    def __init__(self, spec: ProgramSpec) -> None:
        self.name = spec.name
        self._limits = spec.limits
        self._watch = ProcessorWatch()

    @abstractmethod
    def _asked(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, stop: threading.Event | None
    ) -> MoveChoice:
        """Ask the program once, starting it where it does not run.

        Raises
        ------
        ProgramFailureError
            It failed, and has been killed.
        """

    @property
    @abstractmethod
    def process(self) -> int | None:
        """Number of the program's process; None while it is not running."""

    def _started(self) -> None:
        """Take note that the program is ready: what it did for that is no move's."""
        self._watch.spent(self.process)

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Let the program choose a move, starting it anew where it fails."""
        begin, failures = time.perf_counter(), 0
        clock = clock or self._limits.clock
        while True:
            left = clock and Clock(max(clock.remaining - (time.perf_counter() - begin), 0.0), clock.increment)
            try:
                choice = self._asked(position, previous, left, stop)
                break
            except ProgramFailureError as error:
                failures += 1
                if failures > 1 or error.timed_out:
                    raise PlayerFailureError(f"{self.name}: {error}", failures) from error
        return attrs.evolve(
            choice,
            seconds=time.perf_counter() - begin,
            processor_seconds=self._watch.spent(self.process),
            failures=failures,
        )


class LinePlayer(ProgramPlayer):
    """A player whose program is spoken to in lines; it cannot be told to hurry.

    Raises
    ------
    ProgramStartError
        The program cannot be run, or does not speak the protocol.
    """

    protocol: typing.ClassVar[str]
    """Name of the protocol, for people."""

    def __init__(self, game: Game, spec: ProgramSpec, program: Program) -> None:
        super().__init__(spec)
        self._game = game
        self._program = LineProgram(program)
        self._history: list[Any] = []
        self._moves: list[int] = []
        self._start()

    @property
    def process(self) -> int | None:
        """Number of the program's process; None while it is not running."""
        return self._program.process

    def new_game(self, number: int = 0) -> None:
        """Forget the last game."""
        self._history = []

    def close(self) -> None:
        """End the program."""
        self._program.close()

    @abstractmethod
    def _greet(self) -> None:
        """Begin the conversation; returns when the program is ready."""

    @abstractmethod
    def _answer(
        self, start: Any, moves: Sequence[int], clock: Clock | None, seconds: float
    ) -> tuple[str, MoveChoice | None]:
        """Tell the game so far and let the program think.

        Parameters
        ----------
        start
            First position of the game.
        seconds
            After so long it counts as hung.

        Returns
        -------
        text, choice
            The move's text; what else the program told, with any move.
        """

    def _start(self) -> None:
        try:
            self._program.start()
            self._greet()
        except ProgramFailureError as error:
            raise ProgramStartError(f"{error}; does it speak {self.protocol}?", timed_out=error.timed_out) from error
        self._started()

    def _asked(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, stop: threading.Event | None
    ) -> MoveChoice:
        legal = self._game.list_legal_moves(position)
        moves = self._moves_to(position, previous)
        if legal == [self._game.pass_move]:
            # Programs differ in what they say where they must pass.
            return MoveChoice(legal[0])
        if self.process is None:
            self._start()
        patience = self._program.program.patience(self._limits, clock)
        text, choice = self._answer((*previous, position)[0], moves, clock, patience)
        move = self._move_of(position, text)
        if move not in legal:
            where = self._game.format_position(position)
            raise self._program.failure(f"chose {text[:_SHOWN]!r}, which is illegal in {where}")
        self._play(moves, move)
        return attrs.evolve(choice or MoveChoice(move), move=move)

    def _play(self, moves: Sequence[int], move: int) -> None:
        """Take note of the program's own legal move, after those before it; it does nothing by itself."""

    def _move_of(self, position: Any, text: str) -> int | None:
        """Move of a text, as people write it in the position or as the game names it; None where it is neither."""
        with contextlib.suppress(BadInputError):
            return self._game.move_of_text(position, text)
        with contextlib.suppress(BadInputError):
            return self._game.parse_move(text)
        return None

    def _moves_to(self, position: Any, previous: Sequence[Any]) -> list[int]:
        """Find the moves of the game so far, each once."""
        game, wanted = self._game, [*previous, position]
        known = len(self._history)
        if not known or wanted[:known] != self._history:
            self._history, self._moves = wanted[:1], []
        for following in wanted[len(self._history) :]:
            before = self._history[-1]
            self._moves.append(
                next(move for move in game.list_legal_moves(before) if game.play(before, move) == following)
            )
            self._history.append(following)
        return list(self._moves)
