"""Programs that speak the Go Text Protocol, as players of any game.

A player's text is ``gtp:PROGRAM``, then ``seconds=``, ``clock=``, or no limit where the program has one of its own. The
moves are told one by one, so that games must begin at the game's first position. A program that resigns has lost. What
moves are called is said where glem serves the protocol (:mod:`glem.core.players.protocols.gtp`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from glem.core.game.game import ExternalPlayers, Game
from glem.core.game.protocols import PlayerFailureError
from glem.core.players.player import MoveChoice
from glem.core.players.programs import (
    LinePlayer,
    Program,
    ProgramSpec,
    line_program_of,
    program_digest,
)
from glem.core.search.results import Clock

_PASSING = "pass"
_COLORS = ("b", "w")
_USUAL_TIMEOUT = 60.0
"""Of commands that need no thinking."""


class GtpPlayer(LinePlayer):
    """Lets a program that speaks GTP choose the moves.

    Raises
    ------
    BadInputError
        There is no such program, or an option or limit that the protocol cannot tell.
    ProgramStartError
        The program cannot be run, does not speak GTP or does not know the game.
    """

    protocol = "GTP"

    def __init__(self, game: Game, spec: ProgramSpec) -> None:
        self._told: list[int] | None = None
        super().__init__(game, spec, _program(spec))

    def new_game(self, number: int = 0) -> None:
        """Forget the last game."""
        super().new_game(number)
        self._told = None

    def _greet(self) -> None:
        self._told = None
        seconds = self._program.program.timeout or _USUAL_TIMEOUT
        self._command("protocol_version", seconds)
        if self._command("known_command set_game", seconds)[1].lower() == "true":
            self._must(f"set_game {self._game.title}", seconds)

    def _command(self, text: str, seconds: float, deadline: float | None = None) -> tuple[bool, str]:
        """Whether the program obeyed a command, and its answer; times are those of :meth:`LineProgram.ask`."""
        deadline = self._program.ask(text, seconds=seconds, deadline=deadline)
        while not (line := self._program.next_line(deadline)):
            continue
        if line[0] not in "=?":
            raise self._program.nonsense(line)
        answer = [line[1:].strip()]
        while further := self._program.next_line(deadline):
            answer.append(further)
        return line[0] == "=", "\n".join(answer)

    def _must(self, text: str, seconds: float, deadline: float | None = None) -> str:
        is_done, answer = self._command(text, seconds, deadline)
        if not is_done:
            raise self._program.failure(f"refuses {text!r}: {answer}")
        return answer

    def _answer(
        self, start: Any, moves: Sequence[int], clock: Clock | None, seconds: float
    ) -> tuple[str, MoveChoice | None]:
        if start != self._game.initial_position:
            raise PlayerFailureError(f"{self.name}: GTP cannot tell a program that a game begins elsewhere", 1)
        deadline = time.monotonic() + seconds
        if self._told is None or list(moves[: len(self._told)]) != self._told:
            self._begin(seconds, deadline)
        assert self._told is not None
        for ply in range(len(self._told), len(moves)):
            move = moves[ply]
            told = f"play {_COLORS[ply % 2]}"
            if move == self._game.pass_move:
                # Some programs know no passes: the color of the next command says it all.
                self._command(f"{told} {_PASSING}", seconds, deadline)
            else:
                self._must(f"{told} {self._game.format_move(move)}", seconds, deadline)
        color = _COLORS[len(moves) % 2]
        if clock is not None:
            self._command(f"time_left {color} {_whole_seconds(clock.remaining)} 0", seconds, deadline)
        text = self._must(f"genmove {color}", seconds, deadline)
        if text.lower() == "resign":
            self._told = None
            raise PlayerFailureError(f"{self.name} resigned", 0)
        return text, None

    def _play(self, moves: Sequence[int], move: int) -> None:
        # The program has played it.
        self._told = [*moves, move]

    def _begin(self, seconds: float, deadline: float) -> None:
        """Begin a game; what a program need not know it may refuse."""
        layout, limits = self._game.layout, self._limits
        commands = []
        if layout is not None and layout.rows == layout.columns:
            commands.append(f"boardsize {layout.rows}")
        if limits.clock is not None:
            commands.append(f"time_settings {_whole_seconds(limits.clock.remaining)} 0 0")
        elif limits.seconds is not None:
            commands.append(f"time_settings 0 {_whole_seconds(limits.seconds)} 1")
        for command in commands:
            self._command(command, seconds, deadline)
        self._must("clear_board", seconds, deadline)
        self._told = []


def _whole_seconds(seconds: float) -> int:
    # The specification's times are whole, and 0 would be no limit.
    return max(math.floor(seconds), 1)


def _program(spec: ProgramSpec) -> Program:
    return line_program_of(spec, GtpPlayer.protocol, "seconds", "clock")


GTP_PLAYERS = ExternalPlayers(
    name="gtp",
    description="Programs that speak GTP: gtp:PROGRAM, seconds= or clock=, folder=, timeout=.",
    digest=lambda _game, spec: program_digest(_program(spec).command),
    make_player=GtpPlayer,
)
"""For every game, unless it declares external players of that name."""
