"""A UCI engine as a process of its own."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, overload

import chess
from attrs import define, field

from glem.core.errors import BadInputError
from glem.core.game.protocols import ProgramOption
from glem.core.game.whole_numbers import whole_number
from glem.core.players.programs import LineProgram, Program, ProgramFailureError, ProgramStartError

if TYPE_CHECKING:
    from glem.core.search.results import Clock, Limits

_START_SECONDS = 60.0
_STOP_CHECK_SECONDS = 0.01
_SHOW_WDL, _CHESS960 = "uci_showwdl", "uci_chess960"
_OWN = frozenset((_CHESS960, "uci_variant", "ponder"))
"""Options that are no user's: what is told with each position, and what would change the meaning of answers."""
_PREFIX = "option."
_LARGEST = 1 << 62
_DEEPEST = 32_767
_SHOWN = 80
_NO_MOVE = frozenset(("(none)", "0000", "NULL"))

_OPTION = re.compile(r"option\s+name\s+(.+?)\s+type\s+(\w+)(.*)")
_DEFAULT = re.compile(r"\bdefault\s+(\S+)")
_BOUND = r"\b{}\s+(-?\d{{1,18}})\b"
_CHOICE = re.compile(r"\bvar\s+(.+?)\s*(?=\bvar\s|$)")
_INFO_WORDS = frozenset(
    (
        *("depth", "seldepth", "time", "nodes", "pv", "multipv", "score", "currmove", "currmovenumber", "hashfull"),
        *("nps", "tbhits", "sbhits", "cpuload", "refutation", "currline", "wdl", "ebf"),
    )
)
_BOUNDS = frozenset(("lowerbound", "upperbound"))
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_OF_A_MOVE = re.compile("[a-h][1-8]|0000|O-O", re.IGNORECASE)


@define
class EngineAnswer:
    """What an engine answered, from the side to move.

    Parameters
    ----------
    move
        Its move, a legal one; None where it gave none.
    centipawns
        Its last score, a bound only where it gave nothing else; None where it gave none, or a mate.
    mate
        Moves to mate, negative where the side to move is mated; None where it saw no mate. 0 is mated.
    results
        Win, draw and loss in parts of any whole, where the engine tells.
    depth, nodes
        The last that it told; 0 where it told none.
    lines
        By number, from 1 for the best on: the score of each line, a mate or not, and its moves; none with a bound.
    """

    move: chess.Move | None = None
    centipawns: int | None = None
    mate: int | None = None
    results: tuple[int, int, int] | None = None
    depth: int = 0
    nodes: int = 0
    lines: dict[int, tuple[int, bool, list[str]]] = field(factory=dict)
    _is_exact: bool = False

    def add(self, line: str) -> None:
        """Take note of what an ``info`` line tells."""
        told = _told(line.split())
        is_bound = not told.keys().isdisjoint(_BOUNDS)
        kind, *words = told.get("score") or [""]
        value = _number(words) if kind in ("cp", "mate") else None
        number = _number(told.get("multipv", ()), 1)
        # A word that UCI does not know ends the line of moves, which may be written as _move_of takes them.
        moves = list(takewhile(_OF_A_MOVE.search, told.get("pv", ())))
        if value is not None and not is_bound and moves:
            self.lines[number] = value, kind == "mate", moves
        if number != 1:
            return
        self.nodes = _number(told.get("nodes", ()), self.nodes)
        if value is None:
            return
        self.depth = _number(told.get("depth", ()), self.depth, 0, _DEEPEST)
        if is_bound and self._is_exact:
            return
        self.centipawns, self.mate = (None, value) if kind == "mate" else (value, None)
        if not is_bound:
            self._is_exact = True
            win, draw, loss = (_number(told.get("wdl", ())[place:], None, 0) for place in range(3))
            self.results = None if win is None or draw is None or loss is None else (win, draw, loss)

    def is_enough(self, nodes: int) -> bool:
        """Whether so many positions were searched and something came of it."""
        return self.nodes >= nodes and (self.centipawns is not None or self.mate is not None)


class UciEngine(LineProgram):
    """An engine that is started when it is first needed, and again after it failed. One thread at a time may use it.

    Parameters
    ----------
    program
        What to start, and where. Its options are set after each start: names in any case, ``option.NAME`` too.
    show_results
        Ask for win, draw and loss where the engine offers them.
    """

    def __init__(self, program: Program, *, show_results: bool = False) -> None:
        super().__init__(program)
        self._timeout = program.timeout or _START_SECONDS
        self._wanted = {name.removeprefix(_PREFIX): value for name, value in program.options.items()}
        self._show_results = show_results
        self._known: dict[str, tuple[ProgramOption, list[str]]] = {}
        self._game: object = None
        self._is_chess960 = False

    @property
    def plays_chess960(self) -> bool:
        """Whether it plays Chess960, as far as it has told."""
        return not self._known or _CHESS960 in self._known

    def start(self) -> None:
        """Start it, unless it is running, and set its options.

        Raises
        ------
        ProgramStartError
            It cannot be run, does not speak UCI, or does not get ready.
        BadInputError
            It has no such option, or the option not such a value.
        """
        if self.process is not None:
            return
        self._known, self._game, self._is_chess960 = {}, None, False
        super().start()
        try:
            self._get_ready()
        except BaseException:
            # Interrupted, it would count as running.
            self.kill()
            raise

    def _get_ready(self) -> None:
        try:
            self._greet()
        except ProgramFailureError as error:
            raise ProgramStartError(f"{error}; does it speak UCI?", timed_out=error.timed_out) from error
        if self._show_results and _SHOW_WDL in self._known:
            self._set({_SHOW_WDL: "true"})
        self._set(self._wanted)
        # No clock pays for what it still prepares: tables, networks, machine code.
        try:
            self._synchronize()
        except ProgramFailureError as error:
            raise ProgramStartError(f"{error}, asked whether it is ready", timed_out=error.timed_out) from error

    def _greet(self) -> None:
        deadline = self.ask("uci", seconds=self._timeout)
        while (line := self.next_line(deadline)) != "uciok":
            if found := _OPTION.fullmatch(line):
                name, kind, rest = found.groups()
                default = _DEFAULT.search(rest)
                least, most = (_whole(re.search(_BOUND.format(word), rest)) for word in ("min", "max"))
                usual = None
                if default is not None and kind == "check":
                    usual = int(default[1] == "true")
                elif default is not None and kind == "spin":
                    usual = whole_number(default[1], -_LARGEST)
                self._known[name.lower()] = ProgramOption(name, kind, usual, least, most), _CHOICE.findall(rest)

    def _synchronize(self, *lines: str) -> None:
        """Send lines, and wait until the engine has done what they say."""
        deadline = self.ask(*lines, "isready", seconds=self._timeout)
        while self.next_line(deadline) != "readyok":
            continue

    @property
    def announced(self) -> list[ProgramOption]:
        """Options that it has announced and that are its user's; none until it was started."""
        return [option for name, (option, _) in self._known.items() if name not in _OWN]

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options, now if it is running, and after each start.

        Raises
        ------
        BadInputError
            It has no such option, or the option not such a value.
        """
        # Names in any case: what was set under another spelling must not come back at the next start.
        given = {name.lower() for name in options}
        self._wanted = {name: value for name, value in self._wanted.items() if name.lower() not in given}
        self._wanted.update(options)
        if self.process is not None:
            try:
                self._set(options)
            except BadInputError:
                self.kill()
                raise

    def _set(self, wanted: Mapping[str, str]) -> None:
        self.tell(*[self._setting(name, value) for name, value in wanted.items()])

    def _setting(self, name: str, value: str) -> str:
        if name.lower() not in self._known:
            known = ", ".join(sorted(option.name for option in self.announced)) or "none"
            raise BadInputError(f"engine {self.name} has no option {name!r}; it has {known}")
        option, choices = self._known[name.lower()]
        problem = _problem(option, choices, value)
        if problem:
            raise BadInputError(f"engine {self.name}: option {option.name} cannot be {value!r}: {problem}")
        if option.kind == "check":
            value = value.lower()
        return f"setoption name {option.name}" + ("" if option.kind == "button" else f" value {value}")

    def think(
        self,
        board: chess.Board,
        limits: Limits,
        clock: Clock | None = None,
        *,
        game: object = None,
        seconds: float,
        stop: threading.Event | None = None,
    ) -> EngineAnswer:
        """Let the engine think about a position.

        Parameters
        ----------
        board
            The position, with the moves before it.
        limits
            When it should end. An engine that does not keep a limit of nodes is stopped when it reports so many.
        clock
            What is left to it; its opponent counts as having the same.
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
        try:
            self._prepare(board, game)
            deadline = self.ask(_position(board), _go(limits, clock), seconds=seconds)
            return self._answer(board, deadline, limits.nodes, stop)
        except BaseException:
            # What it still would say is no answer to the next question.
            self.kill()
            raise

    def _prepare(self, board: chess.Board, game: object) -> None:
        if board.chess960 != self._is_chess960:
            self._is_chess960 = board.chess960
            self.tell(f"setoption name UCI_Chess960 value {str(board.chess960).lower()}")
        if self._game is None or game is not self._game:
            self._game = game
            self._synchronize("ucinewgame")

    def _answer(
        self, board: chess.Board, deadline: float, nodes: int | None, stop: threading.Event | None
    ) -> EngineAnswer:
        answer = EngineAnswer()
        while True:
            if stop is not None and stop.is_set():
                stop = None
                self.tell("stop")
            line = self.next_line(deadline, None if stop is None else _STOP_CHECK_SECONDS)
            word, *rest = line.split(maxsplit=1) or [""]
            if word == "info" and rest:
                answer.add(rest[0])
                if nodes is not None and answer.is_enough(nodes):
                    # Some engines do not know this limit, or look at it between iterations only.
                    nodes = None
                    self.tell("stop")
            elif word == "bestmove":
                break
        text = rest[0].split()[0] if rest else ""
        if text not in _NO_MOVE:
            try:
                answer.move = _move_of(board, text)
            except ValueError:
                raise self.failure(f"answered {line[:_SHOWN]!r}, which is illegal in {board.fen()}") from None
        return answer


def _told(words: Sequence[str]) -> dict[str, list[str]]:
    """Words of an ``info`` line by the one that they follow; bounds stand anywhere, and behind ``string`` is text."""
    told: dict[str, list[str]] = {}
    following: list[str] = []
    for word in takewhile(lambda word: word != "string", words):
        if word in _BOUNDS:
            told[word] = []
        elif word in _INFO_WORDS:
            following = told[word] = []
        else:
            following.append(word)
    return told


@overload
def _number(words: Sequence[str], usual: int, least: int = ..., most: int = ...) -> int: ...
@overload
def _number(words: Sequence[str], usual: None = ..., least: int = ..., most: int = ...) -> int | None: ...
def _number(words: Sequence[str], usual: int | None = None, least: int = -_LARGEST, most: int = _LARGEST) -> int | None:
    """Whole number that words begin with."""
    number = int(words[0]) if words and _NUMBER.fullmatch(words[0]) else None
    return usual if number is None or not least <= number <= most else number


def _move_of(board: chess.Board, text: str) -> chess.Move:
    """Move of an answer, also in capital letters and as people write moves; ValueError where there is none."""
    try:
        move = board.parse_uci(text.lower())
    except ValueError:
        move = board.parse_san(text)
    if not move:
        raise ValueError
    return move


def _whole(found: re.Match[str] | None) -> int | None:
    return None if found is None else int(found[1])


def _problem(option: ProgramOption, choices: Sequence[str], value: str) -> str:
    """Say what is wrong with the value of an option; "" for nothing."""
    if option.name.lower() in _OWN:
        return "it is not for users to set"
    if option.kind == "check" and value.lower() not in ("true", "false"):
        return "it is true or false"
    if option.kind == "spin":
        least = -_LARGEST if option.least is None else option.least
        most = _LARGEST if option.most is None else option.most
        if whole_number(value, least, most) is None:
            return f"it is a whole number from {least} to {most}"
    if option.kind == "combo" and value not in choices:
        return f"it is one of: {', '.join(choices)}"
    return "it has more than one line" if "\n" in value or "\r" in value else ""


def _position(board: chess.Board) -> str:
    root = board.root()
    fen = root.fen(shredder=board.chess960, en_passant="fen")
    moves = "".join(f" {move.uci()}" for move in board.move_stack)
    start = "startpos" if fen == chess.STARTING_FEN else f"fen {fen}"
    return f"position {start}" + (f" moves{moves}" if moves else "")


def _go(limits: Limits, clock: Clock | None) -> str:
    words = ["go"]
    if clock is not None:
        # The other side's clock is not known here; engines that look at it see their own.
        left, more = max(1, round(1000 * clock.remaining)), round(1000 * clock.increment)
        words += [f"wtime {left} btime {left} winc {more} binc {more}"]
    if limits.depth is not None:
        words += [f"depth {limits.depth}"]
    if limits.nodes is not None:
        words += [f"nodes {limits.nodes}"]
    if limits.seconds is not None:
        words += [f"movetime {max(1, round(1000 * limits.seconds))}"]
    return " ".join(words)
