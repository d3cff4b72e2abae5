"""External engines that speak the NBoard protocol, as players: NTest, Edax in its NBoard mode, glem itself.

C. Welty, "NBoard Protocol": weltyc/ntest on GitHub, ``instructions/Protocol.htm``.
"""

from glem.core.errors import BadInputError
from glem.core.players.external import USUAL_TIMEOUT, ProgramPlayer, program_players
from glem.core.players.player import MoveChoice
from glem.core.search.results import Clock
from glem.games.othello.formats.ggf import parse_move_item

_HEADING = "(;GM[Othello]PC[glem]PB[black]PW[white]RE[?]TY[8]BO[8 {} *]".format(
    "---------------------------O*------*O---------------------------"
)
_PASSING = "PA"


class NBoardPlayer(ProgramPlayer):
    """A program that speaks NBoard; ``depth=`` sets its level, which each program understands in its own way."""

    def _begin(self) -> None:
        self._program.send("nboard 2", *([] if self._limits.depth is None else [f"set depth {self._limits.depth}"]))
        # Some test themselves first.
        self._program.send("ping 1")
        self._program.answer(("pong 1",), self._timeout or USUAL_TIMEOUT)

    def _move(self, moves: list[int], clock: Clock | None, patience: float) -> MoveChoice:
        # Programs want forced passes, which glem's own GGF leaves out as files of games do.
        texts = (_PASSING if move == self._game.pass_move else self._game.format_move(move) for move in moves)
        played = "".join(f"{'BW'[ply % 2]}[{text}]" for ply, text in enumerate(texts))
        self._program.send(f"set game {_HEADING}{played};)", "go")
        answer = self._program.answer(("===",), patience)[3:].strip()
        parts = answer.split("/")
        try:
            move, _ = parse_move_item(parts[0])
        except BadInputError as error:
            raise self._program.failure(f"it answers {answer[:40]!r}: {error}") from error
        try:
            score = float(parts[1])
        except (IndexError, ValueError):
            score = None
        return MoveChoice(move, score=score)


NBOARD_PLAYERS = program_players("nboard", "Programs that speak NBoard; depth= is their level", NBoardPlayer)
