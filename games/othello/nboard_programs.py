"""Programs that speak the NBoard protocol, as players: ``nboard:./ntest x s12,depth=12,folder=ntest``.

The protocol is described at :mod:`glem.games.othello.nboard`. ``depth=`` is told by ``set depth`` and must be given:
boards always send it, and NTest waits for it. ``clock=`` is told with each game. Games may begin at any position.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Sequence

from glem.core.errors import BadInputError
from glem.core.game.game import ExternalPlayers, Game
from glem.core.players.player import MoveChoice
from glem.core.players.programs import (
    LinePlayer,
    Program,
    ProgramSpec,
    line_program_of,
    program_digest,
)
from glem.core.search.results import Clock
from glem.games.othello.formats.ggf import game_text
from glem.games.othello.notation import format_square, parse_square
from glem.games.othello.rules import Position

_VERSION = 2
_DIVIDER = re.compile(r"\s*/\s*|\s+")
_MOVE, _NODES, _READY = "===", "nodestats", "pong"
_USUAL_TIMEOUT = 60.0
"""Of the start: programs may test themselves."""


class NboardPlayer(LinePlayer):
    """Lets a program that speaks NBoard choose the moves.

    Raises
    ------
    BadInputError
        There is no such program, or an option or limit that the protocol cannot tell.
    ProgramStartError
        The program cannot be run or does not speak NBoard.
    """

    protocol = "NBoard"

    def __init__(self, game: Game, spec: ProgramSpec) -> None:
        self._pings = 0
        super().__init__(game, spec, _program(spec))

    def _greet(self) -> None:
        seconds = self._program.program.timeout or _USUAL_TIMEOUT
        self._synchronize(f"nboard {_VERSION}", f"set depth {self._limits.depth}", seconds=seconds)

    def _synchronize(self, *lines: str, seconds: float) -> None:
        """Send lines and wait until the program has read them: what it says before belongs to an earlier question."""
        self._pings += 1
        deadline = self._program.ask(*lines, f"ping {self._pings}", seconds=seconds)
        while self._program.next_line(deadline).split() != [_READY, str(self._pings)]:
            continue

    def _answer(
        self, start: Position, moves: Sequence[int], clock: Clock | None, seconds: float
    ) -> tuple[str, MoveChoice | None]:
        self._synchronize(f"set game {game_text(start, moves, clock)}", seconds=seconds)
        deadline = self._program.ask("go", seconds=seconds)
        nodes = 0
        while not (line := self._program.next_line(deadline)).startswith(_MOVE):
            words = line.split()
            if len(words) > 1 and words[0] == _NODES and words[1].isdecimal() and len(words[1]) < 16:
                nodes = int(words[1])
        # The protocol says === MOVE/EVALUATION/SECONDS, Edax puts blanks between.
        name, *rest = _DIVIDER.split(line.removeprefix(_MOVE).strip())
        score = None
        with contextlib.suppress(ValueError, IndexError):
            score = float(rest[0])
        try:
            # Squares in any case, and all words for a pass.
            name = format_square(parse_square(name))
        except BadInputError:
            raise self._program.nonsense(line) from None
        return name, MoveChoice(0, score=score if score is not None and math.isfinite(score) else None, nodes=nodes)


def _program(spec: ProgramSpec) -> Program:
    program = line_program_of(spec, NboardPlayer.protocol, "depth", "clock")
    if spec.limits.depth is None:
        raise BadInputError(
            f"player {spec.name!r} has no depth, which programs that speak NBoard wait for: give depth="
        )
    return program


NBOARD_PLAYERS = ExternalPlayers(
    name="nboard",
    description="Programs that speak NBoard, such as NTest: nboard:PROGRAM, depth=, clock=, folder=, timeout=.",
    digest=lambda _game, spec: program_digest(_program(spec).command),
    make_player=NboardPlayer,
)
