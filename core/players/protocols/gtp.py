"""The Go Text Protocol, version 2, for any game of two players.

G. Farnebaeck, "Specification of the Go Text Protocol, version 2, draft 2", 2002,
https://www.lysator.liu.se/~gunnar/gtp/gtp2-spec-draft2/gtp2-spec.html. Black is the player who begins. Moves have the
game's own names instead of the specification's vertices, and ``pass`` is a forced pass; programs that leave forced
passes out are understood too. ``set_game`` and ``list_games`` are those of the graphical client Quarry.

A command that comes while ``genmove`` is at work waits for its answer, with two exceptions that end the thinking:
``quit``, and the private extension ``stop``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from glem.core.errors import BadInputError, GlemError, __version__
from glem.core.game.drawing import draw_position
from glem.core.game.protocols import Protocol
from glem.core.players.protocols.conversation import Conversation, Interruption
from glem.core.search.results import Clock

if TYPE_CHECKING:
    from glem.core.players.engine import Engine
    from glem.core.players.player import MoveChoice


PROTOCOL_VERSION = "2"
_PASSING = "pass"
_COLORS = {"b": True, "black": True, "w": False, "white": False}
_LEAST_SECONDS = 0.01


def serve_gtp(engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
    """Obey the commands of a session until it ends or says ``quit``."""
    _Session(engine, lines, write).run()


GTP = Protocol(
    name="gtp",
    description="Go Text Protocol, version 2; moves as the game writes them.",
    serve=serve_gtp,
)
"""For every game, unless it has a protocol of that name."""


def _words(line: str) -> list[str]:
    """Words of a command line after the preprocessing of section 3.1, the identity number included."""
    text = "".join(character for character in line.replace("\t", " ") if character.isprintable())
    return text.partition("#")[0].split()


def _interruption(line: str) -> Interruption:
    _, words = _numbered(_words(line))
    return Interruption.THINKING if words and words[0] in {"quit", "stop"} else Interruption.NO


def _numbered(words: list[str]) -> tuple[str, list[str]]:
    """Identity number that a command may begin with, and the words after it."""
    has_number = bool(words) and words[0].isascii() and words[0].isdecimal()
    return (words[0], words[1:]) if has_number else ("", words)


class _Session:
    def __init__(self, engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
        self._engine = engine
        self._write = write
        self._conversation = Conversation(lines, _interruption)
        self._clocks: dict[bool, Clock] = {}
        self._commands: dict[str, Callable[[Sequence[str]], str]] = {
            "protocol_version": lambda _: PROTOCOL_VERSION,
            "name": lambda _: "glem",
            "version": lambda _: __version__,
            "known_command": lambda words: "true" if words and words[0] in self._commands else "false",
            "list_commands": lambda _: "\n".join(self._commands),
            "quit": lambda _: "",
            "stop": lambda _: "",
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": partial(self._think, play=True),
            "reg_genmove": partial(self._think, play=False),
            "undo": self._undo,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "final_score": self._final_score,
            "showboard": self._showboard,
            "list_games": lambda _: engine.game.title,
            "set_game": self._set_game,
        }

    def run(self) -> None:
        for line in self._conversation:
            if not (words := _words(line)):
                continue
            number, words = _numbered(words)
            name = words.pop(0) if words else ""
            try:
                if name not in self._commands:
                    raise BadInputError("unknown command")
                sign, answer = "=", self._commands[name](words)
            except GlemError as error:
                sign, answer = "?", " ".join(str(error).split())
            for part in f"{sign}{number} {answer}".rstrip().split("\n"):
                self._write(part.rstrip())
            self._write("")
            if name == "quit":
                return

    def _color(self, words: Sequence[str]) -> bool:
        """Whether the color that a command begins with is the first player's."""
        color = _COLORS.get(words[0].lower()) if words else None
        if color is None:
            raise BadInputError("syntax error: a color is missing, black or white")
        return color

    def _number(self, words: Sequence[str], place: int, what: str) -> float:
        try:
            value = float(words[place])
        except (IndexError, ValueError):
            value = float("nan")
        if not abs(value) < 1e9:
            raise BadInputError(f"syntax error: {what} is missing")
        return value

    def _boardsize(self, words: Sequence[str]) -> str:
        size = self._number(words, 0, "a size")
        layout = self._engine.game.layout
        if layout is None or not layout.rows == layout.columns == size:
            raise BadInputError("unacceptable size")
        return self._clear_board(words)

    def _clear_board(self, _words: Sequence[str]) -> str:
        self._engine.new_game()
        return ""

    def _komi(self, words: Sequence[str]) -> str:
        # Accepted for the sake of programs that always send it; other games than go have none.
        self._number(words, 0, "a komi")
        return ""

    def _set_game(self, words: Sequence[str]) -> str:
        game = self._engine.game
        if " ".join(words).lower() not in {game.name, game.title.lower()}:
            raise BadInputError("unsupported game")
        return ""

    def _to_move(self, words: Sequence[str]) -> None:
        """Let the color that a command names be on move, by a forced pass if one was left out."""
        wanted = self._color(words)
        if wanted != self._engine.first_to_move:
            if not self._engine.must_pass():
                raise BadInputError(f"illegal move: it is {self._color_name(not wanted)}'s turn")
            self._engine.play(self._engine.legal_moves()[0])

    def _color_name(self, is_first: bool) -> str:
        return "black" if is_first else "white"

    def _play(self, words: Sequence[str]) -> str:
        self._color(words)
        if len(words) < 2:
            raise BadInputError("syntax error: a move is missing")
        passing = words[1].lower() == _PASSING
        if passing and self._engine.is_over:
            # Where a game ends by passes, programs play them on a finished board.
            return ""
        before = len(self._engine.moves)
        self._to_move(words)
        try:
            pass_move = self._engine.game.pass_move
            self._engine.play(pass_move if passing and pass_move is not None else self._engine.move_of(words[1]))
        except BadInputError as error:
            if len(self._engine.moves) > before:
                self._engine.undo()
            raise BadInputError(f"illegal move: {error}") from error
        return ""

    def _undo(self, _words: Sequence[str]) -> str:
        if not self._engine.moves:
            raise BadInputError("cannot undo")
        self._engine.undo()
        return ""

    def _final_score(self, _words: Sequence[str]) -> str:
        if not self._engine.has_ended:
            raise BadInputError("cannot score: the game is not over")
        score = self._engine.first_score
        return f"{'B' if score > 0 else 'W'}+{abs(score)}" if score else "0"

    def _showboard(self, _words: Sequence[str]) -> str:
        engine = self._engine
        drawing = draw_position(engine.game, engine.position, first_to_move=engine.first_to_move)
        shown = [engine.game.format_position(engine.position)] if drawing is None else drawing.lines()
        turn = "game over" if engine.has_ended else f"{self._color_name(engine.first_to_move)} to move"
        return "\n".join(("", *shown, turn))

    def _time_settings(self, words: Sequence[str]) -> str:
        main, period, stones = (
            self._number(words, place, what) for place, what in enumerate(("main time", "byo yomi time", "stones"))
        )
        self._clocks = {}
        no_limit = (period > 0 and stones <= 0) or (main <= 0 and period <= 0)
        if not no_limit:
            self._clocks = dict.fromkeys((True, False), _clock(main, 0) if main > 0 else _clock(period, stones))
        return ""

    def _time_left(self, words: Sequence[str]) -> str:
        color = self._color(words)
        self._clocks[color] = _clock(self._number(words, 1, "a time"), self._number(words, 2, "a number of stones"))
        return ""

    def _think(self, words: Sequence[str], *, play: bool) -> str:
        engine = self._engine
        color = self._color(words)
        if engine.is_over:
            return _PASSING
        before = len(engine.moves)
        self._to_move(words)
        found: list[MoveChoice] = []
        begin = time.perf_counter()
        clock = self._clocks.get(color)
        self._conversation.think(lambda stop: found.append(engine.choose(clock=clock, stop=stop)))
        if clock is not None:
            # Until the other side tells, as it does before each move if it keeps a clock.
            left = clock.remaining - (time.perf_counter() - begin)
            self._clocks[color] = Clock(max(left, _LEAST_SECONDS), clock.increment)
        move = found[0].move
        if play:
            engine.play(move)
        elif len(engine.moves) > before:
            engine.undo()
        return _PASSING if move == engine.game.pass_move else engine.game.format_move(move)


def _clock(seconds: float, stones: float) -> Clock:
    """Clock with so many seconds left, for all moves or, in byo yomi, for so many of them."""
    if stones <= 0:
        return Clock(max(seconds, _LEAST_SECONDS))
    share = max(seconds / stones, _LEAST_SECONDS)
    return Clock(share, share)
