"""External engines as players: programs that are started, spoken to line by line, and kept on a short lead.

A player's text is ``PROTOCOL:PROGRAM``, then limits and options, as in ``gtp:/usr/games/grhino``. The program may have
arguments: ``nboard:./ntest x s12``. Whatever an engine prints, or fails to print, costs a bounded amount of time and
memory, and no process outlives this one. An engine that crashes, prints nonsense or chooses an illegal move is started
anew and asked once more; if it fails again, or has hung, the player has failed over this move, and its game is lost.
"""

import contextlib
import os
import queue
import shlex
import shutil
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from glem.core.errors import BadInputError, GlemError
from glem.core.files.digests import file_digest
from glem.core.game.game import ExternalPlayers, Game
from glem.core.game.protocols import PlayerFailureError
from glem.core.players.player import MoveChoice
from glem.core.search.results import Clock
from glem.core.tasks.guarded_programs import guard_group, kill_group, release_group

USUAL_TIMEOUT = 60.0
"""Seconds without an answer after which an engine counts as hung, where it has no time limit."""
TIMED_TIMEOUT = 10.0
"""The same beyond its time limit, for an engine that has one."""
_LONGEST_TIMEOUT = 86_400.0
_MOST_BYTES = 1 << 24
_LONGEST_LINE = 1 << 16
_LINES_AHEAD = 1 << 12
_CHECK_SECONDS = 0.01
_END_SECONDS = 0.5


class ProgramFailureError(GlemError):
    """An external engine crashed, hung, or answered nonsense; it has been killed.

    Parameters
    ----------
    text
        What happened.
    timed_out
        Whether it hung.
    """

    def __init__(self, text: str, *, timed_out: bool = False) -> None:
        super().__init__(text)
        self.timed_out = timed_out


def program_command(text: str) -> list[str]:
    """Command of an engine: a program, found by its path or its name, and perhaps arguments.

    Raises
    ------
    BadInputError
        There is no such program, or it cannot be run.
    """
    # Not by a Path, which would lose the ./ that says that the program is here, or raise for a user who is not.
    whole = os.path.expanduser(text.strip())  # noqa: PTH111
    try:
        words = [whole] if Path(whole).is_file() else shlex.split(text)
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
    """Digest of a program; "" for one that may be executed and not read."""
    program = Path(command[0]).resolve()
    found = program.stat()
    return _file_digest(str(program), found.st_mtime_ns, found.st_size)


@lru_cache(64)
def _file_digest(path: str, _modified: int, _size: int) -> str:
    try:
        return file_digest(path)
    except PermissionError:
        return ""


def timeout_of(player: str, text: str) -> float:
    """Read the option ``timeout`` of a player's text, in seconds.

    Raises
    ------
    BadInputError
        It is no number of seconds up to a day.
    """
    try:
        seconds = float(text)
        if 0 < seconds <= _LONGEST_TIMEOUT:
            return seconds
    except ValueError:
        pass
    raise BadInputError(f"player {player!r}: timeout must be seconds, up to a day, got {text!r}")


def processor_seconds(process: int) -> float:
    """Processor time that a process and its ended children have taken; 0 where the system does not tell."""
    try:
        # The name of the program may hold anything, blanks and brackets too.
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def asked_twice(name: str, clock: Clock | None, ask: Callable[[Clock | None], MoveChoice]) -> MoveChoice:
    """Ask an engine for a move, and once more if it fails.

    Parameters
    ----------
    name
        Of the player.
    clock
        Its clock, of which failures take a part.
    ask
        Asks; raises :class:`ProgramFailureError` where the engine fails.

    Raises
    ------
    PlayerFailureError
        It has failed twice, or hung.
    """
    begin = time.perf_counter()
    failures = 0
    while True:
        spent = time.perf_counter() - begin
        left = None if clock is None else Clock(max(clock.remaining - spent, 0.0), clock.increment)
        try:
            return attrs.evolve(ask(left), seconds=time.perf_counter() - begin, failures=failures)
        except ProgramFailureError as error:
            failures += 1
            if failures > 1 or error.timed_out:
                raise PlayerFailureError(f"{name}: {error}", failures) from error


class LineProgram:
    """A program that is written lines to and prints lines; started when it is first needed, and after it failed.

    Parameters
    ----------
    command
        Program and arguments; it runs in the folder of the program, where engines look for their data.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue()

    @property
    def name(self) -> str:
        """Its program, for errors."""
        return Path(self._command[0]).name

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not failed since."""
        return self._process is not None

    @property
    def processor_seconds(self) -> float:
        """Processor time since its start."""
        return 0.0 if self._process is None else processor_seconds(self._process.pid)

    def start(self) -> None:
        """Start it.

        Raises
        ------
        ProgramFailureError
            It cannot be run.
        """
        self._lines = queue.Queue(_LINES_AHEAD)
        try:
            self._process = subprocess.Popen(  # noqa: S603 # the program that the user has named
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=Path(self._command[0]).parent,
                # Ctrl-C in the terminal is for this process, which ends the engine then.
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramFailureError(f"engine {self.name} cannot be run: {error}") from error
        guard_group(self._process.pid)
        threading.Thread(target=_hand_on, args=(self._process.stdout, self._lines), daemon=True).start()

    def send(self, *lines: str) -> None:
        """Write lines to it.

        Raises
        ------
        ProgramFailureError
            It has ended.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._process.stdin.flush()
        except OSError as error:
            raise self.failure("it ended") from error

    def answer(self, begins: tuple[str, ...], seconds: float, on_stop: Callable[[], bool] = lambda: False) -> str:
        """Wait for a line that begins with one of some texts; other lines mean nothing.

        Parameters
        ----------
        begins
            The texts.
        seconds
            After so long it counts as hung.
        on_stop
            Is called now and then.

        Raises
        ------
        ProgramFailureError
            It ended, hung, or printed more than 16 MiB.
        """
        deadline, received = time.monotonic() + seconds, 0
        while True:
            on_stop()
            try:
                line = self._lines.get(timeout=_CHECK_SECONDS)
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise self.failure(f"it gave no answer in {seconds:g} s", timed_out=True) from None
                continue
            if line is None:
                raise self.failure("it ended")
            received += len(line)
            text = line.decode("utf-8", "replace").strip()
            if text.startswith(begins):
                return text
            if received > _MOST_BYTES or time.monotonic() > deadline:
                raise self.failure("it printed and printed without an answer", timed_out=True)

    def failure(self, text: str, *, timed_out: bool = False) -> ProgramFailureError:
        """Kill it; return the error that says why."""
        self.close()
        return ProgramFailureError(f"engine {self.name} failed: {text}", timed_out=timed_out)

    def close(self) -> None:
        """End it without asking."""
        process, self._process = self._process, None
        if process is None:
            return
        kill_group(process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError, AttributeError, ValueError):
                stream.close()  # type: ignore[union-attr]
        release_group(process.pid)


def _hand_on(stream: Any, lines: queue.Queue[bytes | None]) -> None:
    """Put the lines of a program into a queue, and None at their end; long ones come in parts."""
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(_LONGEST_LINE):
            lines.put(line)
    lines.put(None)


class ProgramPlayer(ABC):
    """Lets a program that speaks by lines choose the moves.

    Parameters
    ----------
    game
        The game.
    spec
        The player; ``timeout`` is the only option.

    Raises
    ------
    BadInputError
        There is no such program, or an option makes no sense.
    """

    def __init__(self, game: Game, spec: Any) -> None:
        self.name = spec.name
        self._game = game
        self._limits = spec.limits
        options = dict(spec.options)
        timeout = options.pop("timeout", None)
        if options:
            raise BadInputError(f"player {spec.name!r} has an unknown option {next(iter(options))!r}; known: timeout")
        self._timeout = None if timeout is None else timeout_of(spec.name, timeout)
        self._program = LineProgram(program_command(spec.evaluation.partition(":")[2]))
        self._start()

    @abstractmethod
    def _begin(self) -> None:
        """Speak the first words of the protocol with a program that has just been started."""

    @abstractmethod
    def _move(self, moves: list[int], clock: Clock | None, patience: float) -> MoveChoice:
        """Have the program choose a move after the moves of a game."""

    def _start(self) -> None:
        if not self._program.is_running:
            self._program.start()
            self._begin()

    def new_game(self, number: int = 0) -> None:  # noqa: B027 # most have nothing to do
        """Do nothing: the program is told the whole game before every move."""

    def choose(
        self,
        position: Any,
        previous: Sequence[Any],
        clock: Clock | None,
        *,
        stop: threading.Event | None = None,
    ) -> MoveChoice:
        """Let the program choose a move, starting it anew where it fails."""
        moves = moves_between(self._game, [*previous, position])
        limit = clock or self._limits.clock

        def ask(left: Clock | None) -> MoveChoice:
            self._start()
            before = self._program.processor_seconds
            seconds = self._limits.seconds if left is None else left.remaining + left.increment
            patience = self._timeout or (USUAL_TIMEOUT if seconds is None else TIMED_TIMEOUT)
            found = self._move(moves, left, (seconds or 0.0) + patience)
            if found.move not in self._game.list_legal_moves(position):
                where = self._game.format_position(position)
                raise self._program.failure(f"it chose {self._game.format_move(found.move)}, illegal in {where}")
            return attrs.evolve(found, processor_seconds=self._program.processor_seconds - before)

        return asked_twice(self.name, limit, ask)

    def close(self) -> None:
        """End the program."""
        self._program.close()


def moves_between(game: Game, positions: Sequence[Any]) -> list[int]:
    """Find the moves that lead from each position to the next.

    Raises
    ------
    BadInputError
        The first position is not the initial one.
    """
    if tuple(positions[0]) != tuple(game.initial_position):
        raise BadInputError("the game did not begin in the initial position, and the protocol cannot tell another one")
    moves = []
    for before, after in pairwise(positions):
        found = (move for move in game.list_legal_moves(before) if tuple(game.play(before, move)) == tuple(after))
        moves.append(next(found))
    return moves


class GtpPlayer(ProgramPlayer):
    """A program that speaks the Go Text Protocol, with the game's own names of moves; see the GTP that glem speaks."""

    def _begin(self) -> None:
        self._command("protocol_version", self._timeout or USUAL_TIMEOUT)

    def _command(self, text: str, seconds: float) -> str:
        self._program.send(text)
        answer = self._program.answer(("=", "?"), seconds)
        if answer.startswith("?"):
            raise self._program.failure(f"it refuses {text!r}: {answer[1:].strip()}")
        return answer[1:].strip()

    def _move(self, moves: list[int], clock: Clock | None, patience: float) -> MoveChoice:
        game, colors = self._game, ("black", "white")
        self._command("clear_board", patience)
        for ply, move in enumerate(moves):
            if move != game.pass_move:
                self._command(f"play {colors[ply % 2]} {game.format_move(move)}", patience)
        color = colors[len(moves) % 2]
        if clock is not None:
            self._command(f"time_left {color} {max(round(clock.remaining), 1)} 0", patience)
        text = self._command(f"genmove {color}", patience)
        if text.lower() == "pass" and game.pass_move is not None:
            return MoveChoice(game.pass_move)
        try:
            return MoveChoice(game.parse_move(text.lower()))
        except BadInputError as error:
            raise self._program.failure(f"it answers {text[:40]!r}: {error}") from error


def program_players(name: str, description: str, player: type[ProgramPlayer]) -> ExternalPlayers:
    """Describe programs that a kind of player speaks to."""
    return ExternalPlayers(
        name=name,
        description=f"{description}: {name}:PROGRAM, limits, timeout= in seconds.",
        digest=lambda _game, spec: program_digest(program_command(spec.evaluation.partition(":")[2])),
        make_player=player,
    )


GTP_PLAYERS = program_players("gtp", "Programs that speak the Go Text Protocol", GtpPlayer)
"""For every game."""
