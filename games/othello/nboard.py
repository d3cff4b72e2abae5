"""The NBoard protocol, versions 1 and 2, by which Othello programs speak to graphical boards.

C. Welty, "NBoard Protocol": weltyc/ntest on GitHub, ``instructions/Protocol.htm``. The board sends positions as games
in GGF and asks for moves (``go``), evaluations (``hint``) or the evaluation of all positions of a game (``analyze``).
What thinking goes on ends when the next command comes. Commands that are unknown or make no sense are answered by a
``status`` line, which boards show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import attrs

from glem.core.errors import BadInputError, GlemError
from glem.core.game.protocols import Protocol
from glem.core.game.whole_numbers import read_whole_number
from glem.core.players.protocols.conversation import Conversation, Interruption
from glem.core.search.results import Clock
from glem.games.othello.formats.ggf import after_move, parse_ggf, parse_move_item, played
from glem.games.othello.notation import format_square
from glem.games.othello.rules import PASS

if TYPE_CHECKING:
    from glem.core.players.engine import Engine
    from glem.core.players.player import MoveChoice
    from glem.core.search.results import SearchResult
    from glem.core.tasks.stop import Stop


LATEST_VERSION = 2
_MOST_LINES = 60
_MOST_DEPTH = 60
_SHOWN = 40
_ENDS_ALL = {"ping"}
_ENDS_THINKING = {"analyze", "go", "hint", "move", "quit", "set", "stop"}


def serve_nboard(engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
    """Obey the commands of a session until it ends or says ``quit``."""
    _Session(engine, lines, write).run()


NBOARD = Protocol(
    name="nboard",
    description="Protocol of the graphical board NBoard, versions 1 and 2.",
    serve=serve_nboard,
    opening=("nboard",),
)


def _interruption(line: str) -> Interruption:
    name = line.split(maxsplit=1)[0] if line.strip() else ""
    if name in _ENDS_ALL:
        return Interruption.ALL
    return Interruption.THINKING if name in _ENDS_THINKING else Interruption.NO


class _Session:
    def __init__(self, engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
        self._engine = engine
        self._write = write
        self._conversation = Conversation(lines, _interruption)
        self._version = LATEST_VERSION
        self._clocks: dict[bool, Clock | None] = {True: None, False: None}
        self._commands: dict[str, Callable[[str], None]] = {
            "nboard": self._nboard,
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "ping": lambda rest: write(f"pong {rest[:_SHOWN]}"),
            # There is no opening book to learn into; boards wait for the answer all the same.
            "learn": lambda _: write("learned"),
            "analyze": self._analyze,
            "stop": lambda _: None,
        }

    def run(self) -> None:
        for line in self._conversation:
            name, _, rest = line.strip().partition(" ")
            if not name:
                continue
            if name == "quit":
                return
            try:
                self._obey(name, rest.strip())
            except GlemError as error:
                self._status(" ".join(str(error).split()))

    def _obey(self, name: str, rest: str) -> None:
        if name in self._commands:
            self._commands[name](rest)
        elif self._version == 1:
            # Boards of the first version send moves without a word before them.
            self._move(f"{name} {rest}")
        else:
            raise BadInputError(f"unknown command {name[:_SHOWN]!r}")

    def _status(self, text: str) -> None:
        self._write(f"status {text}")

    def _nboard(self, rest: str) -> None:
        self._version = read_whole_number(rest, "a version", 0, 1000)
        self._write("set myname glem")

    def _set(self, rest: str) -> None:
        what, _, value = rest.partition(" ")
        if what == "depth":
            depth = read_whole_number(value.strip(), "a depth", 1, 10_000)
            # The depth takes the place of the share of a clock by which engines think that were given no limit.
            self._engine.limit(attrs.evolve(self._engine.spec.limits, depth=min(depth, _MOST_DEPTH), clock=None))
            self._write(f"set myname glem{depth}")
        elif what == "game":
            self._set_game(value)
        elif what == "contempt":
            # The value of draws in an opening book, of which there is none.
            read_whole_number(value.lstrip("+-").strip(), "a contempt", 0, 1_000_000)
        else:
            raise BadInputError(f"unknown setting {what[:_SHOWN]!r}")

    def _set_game(self, text: str) -> None:
        game, _ = parse_ggf(text)
        moves, self._clocks = played(game)
        engine = self._engine
        # Many boards send the whole game before every move: what was found for its earlier positions stays.
        known = len(engine.moves)
        begun = (*engine.previous, engine.position)[0] == game.position
        same_sides = engine.first_to_move == (game.black_to_move == (known % 2 == 0))
        if not (begun and same_sides and known and tuple(moves[:known]) == engine.moves):
            engine.set_position(game.position, first_to_move=game.black_to_move)
        for move in moves[len(engine.moves) :]:
            engine.play(move)

    def _move(self, rest: str) -> None:
        engine = self._engine
        move, seconds = parse_move_item(rest)
        before = len(engine.moves)
        if move != PASS and engine.must_pass():
            engine.play(PASS)
        try:
            engine.play(move)
        except BadInputError:
            if len(engine.moves) > before:
                engine.undo()
            raise
        black = not engine.first_to_move
        self._clocks[black] = after_move(self._clocks[black], seconds)

    def _go(self, _rest: str) -> None:
        engine = self._engine
        if engine.is_over:
            raise BadInputError("the game is over")
        clock = self._clocks[engine.first_to_move] if self._version > 1 else None
        found: list[MoveChoice] = []
        finished = self._think("thinking", lambda stop: found.append(engine.choose(clock=clock, stop=stop)))
        choice = found[0]
        if choice.nodes:
            self._write(f"nodestats {choice.nodes} {choice.seconds:.2f}")
        if finished:
            score = "" if choice.score is None else f"{choice.score:.2f}"
            self._write(f"=== {_name(choice.move)}/{score}/{choice.seconds:.2f}")
        self._status("glem is waiting")

    def _think(self, what: str, task: Callable[[Stop], None]) -> bool:
        def think(stop: Stop) -> None:
            self._status(f"glem is {what}")
            task(stop)

        return self._conversation.think(think)

    def _hint(self, rest: str) -> None:
        lines = read_whole_number(rest or "1", "a number of moves", 1, 10_000)

        def think(stop: Stop) -> None:
            self._engine.analyse(lines=min(lines, _MOST_LINES), stop=stop, on_iteration=self._show)

        self._think("analyzing", think)
        self._status("glem is waiting")

    def _show(self, analysis: SearchResult) -> None:
        depth = analysis.depth_text
        if analysis.proven:
            # The protocol's words for what is certain.
            depth = "100%W" if analysis.results_only else "100%"
        for line in analysis.lines:
            self._write(f"search {''.join(map(_name, line.moves))} {line.value:.2f} 0 {depth}")
        self._write(f"nodestats {analysis.nodes} {analysis.seconds:.2f}")

    def _analyze(self, _rest: str) -> None:
        """Evaluate all positions of the game, the last one first, so that the table helps those before it."""
        engine = self._engine
        taken_back: list[int] = []

        def think(stop: Stop) -> None:
            while not stop.is_set():
                value = self._value(stop)
                if value is not None:
                    self._write(f"analysis {len(engine.moves)} {value:.2f}")
                if not engine.moves:
                    return
                taken_back.append(engine.undo())

        try:
            self._think("analyzing", think)
        finally:
            while taken_back:
                engine.play(taken_back.pop())
        self._status("glem is waiting")

    def _value(self, stop: Stop) -> float | None:
        """Value of the position for the side to move; None if it was stopped."""
        if self._engine.is_over:
            return float(self._engine.game.final_score(self._engine.position))
        analysis = self._engine.analyse(stop=stop)
        return None if stop.is_set() else analysis.lines[0].value


def _name(move: int) -> str:
    return "PA" if move == PASS else format_square(move).upper()
