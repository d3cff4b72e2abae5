"""``glem play``."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from glem.core.cli import options
from glem.core.cli.options import playing
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.drawing import Drawing
    from glem.core.game.game import Game
    from glem.core.players.engine import Engine
    from glem.core.players.player import MoveChoice
    from glem.core.players.spec import PlayerSpec
    from glem.core.tournament.games import PlayedGame


_USUAL_HINTS = 3
_LONGEST_LINE = 10_000
_PERSON, _GLEM = "human", "glem"
"""Names of the players in files."""
_HELP = """\
a move       play it, as the game writes moves; several at once too
hint [N]     the best N moves, 3 by default, with their values
undo         take back your last move and the answer to it
switch       change sides: the other one is yours
moves        the legal moves
board        draw the board again
line         the moves played so far
save FILE    write the moves played so far to a file
new          begin a new game
resign       give up the game
quit         end"""


class _Table:
    """A person at the board."""

    def __init__(
        self, engine: Engine, *, first_is_yours: bool, start: Callable[[], None], start_text: str = ""
    ) -> None:
        self._engine = engine
        self._yours = first_is_yours
        self._start = start
        self._start_text = start_text
        self._resigned = False
        self._open = True
        self._drawn: tuple[int, ...] | None = None
        self._choices: dict[tuple[int, ...], MoveChoice] = {}
        """glem's choices, by the moves of the game that they end."""

    def run(self) -> None:
        """Play until the person quits or the input ends."""
        click.echo(f"You play {self._side(self._yours)}. Write a move, hint, undo, switch, save FILE, quit or help.")
        while self._open:
            self._step()

    def _step(self) -> None:
        engine = self._engine
        if engine.has_ended or self._resigned:
            if self._drawn != engine.moves:
                self._draw()
                self._say_result()
            self._obey(self._ask("new, undo, save FILE or quit> "))
        elif engine.must_pass():
            whose = "You have" if engine.first_to_move == self._yours else "glem has"
            click.echo(f"{whose} no move and must pass.")
            engine.play(engine.legal_moves()[0])
        elif engine.first_to_move == self._yours:
            if self._drawn != engine.moves:
                self._draw()
            self._obey(self._ask(f"{self._side(self._yours)}> "))
        else:
            self._answer()

    def _side(self, first: bool) -> str:
        """Name of a player, with the character that the board shows for it."""
        name = "the first player" if first else "the second player"
        drawing = self._drawing()
        symbol = drawing.players[not first] if drawing is not None else ""
        return f"{symbol} ({name})" if symbol else name

    def _drawing(self, marked: tuple[int, ...] = ()) -> Drawing | None:
        from glem.core.game.drawing import draw_position

        engine = self._engine
        return draw_position(engine.game, engine.position, first_to_move=engine.first_to_move, marked=marked, mark="*")

    def _draw(self) -> None:
        engine = self._engine
        self._drawn = engine.moves
        yours = engine.first_to_move == self._yours and not self._resigned
        drawing = self._drawing(tuple(engine.legal_moves()) if yours else ())
        click.echo()
        if drawing is None:
            click.echo(engine.game.format_position(engine.position))
            return
        for line in drawing.lines():
            click.echo("".join(_styled(character, drawing.empty) for character in line))
        board = "".join(drawing.cells)
        if all(drawing.players) and set(board) <= {*drawing.players, drawing.empty, "*"}:
            click.echo(", ".join(f"{symbol} {board.count(symbol)}" for symbol in drawing.players))

    def _say_result(self) -> None:
        if self._resigned:
            click.echo("You gave up. glem wins.")
        else:
            score = self._engine.first_score if self._yours else -self._engine.first_score
            margin = f" by {abs(score)}" if self._engine.game.greatest_score > 1 else ""
            click.echo(f"You win{margin}." if score > 0 else f"glem wins{margin}." if score else self._draw_text())
        click.echo(f"The game: {self._engine.transcript()}")

    def _draw_text(self) -> str:
        reason = self._engine.draw
        return "A draw." if reason is None else f"A draw by {reason}."

    def _ask(self, prompt: str) -> str:
        if sys.stdin.isatty():
            try:
                return input(prompt)
            except EOFError:
                click.echo()
                return "quit"
        return sys.stdin.readline(_LONGEST_LINE) or "quit"

    def _obey(self, line: str) -> None:
        name, _, rest = line.strip().partition(" ")
        if not name:
            return
        try:
            self._do(name.lower(), rest.strip(), line)
        except BadInputError as error:
            click.echo(f"{error}")

    def _do(self, command: str, rest: str, line: str) -> None:
        """Obey a command, or play the moves of the line."""
        engine = self._engine
        match command:
            case "hint":
                self._hint(rest)
            case "undo":
                self._undo()
            case "switch":
                self._yours = not self._yours
                self._drawn = None
                click.echo(f"You play {self._side(self._yours)}.")
            case "moves":
                moves = (engine.game.move_text(engine.position, move) for move in engine.legal_moves())
                click.echo(" ".join(moves) or "none")
            case "board":
                self._draw()
            case "line":
                click.echo(engine.transcript() or "no moves yet")
            case "save":
                if not rest:
                    raise BadInputError("save where? Write save and the name of a file")
                self.save(Path(rest))
                click.echo(f"saved in {rest}")
            case "new":
                self._start()
                self._choices.clear()
                self._resigned = False
                self._drawn = None
            case "resign":
                self._resigned = True
                self._drawn = None
            case "help" | "?":
                click.echo(_HELP)
            case "quit" | "exit":
                self._open = False
            case _:
                if engine.has_ended or self._resigned:
                    raise BadInputError("the game is over: new, undo, switch, save FILE or quit")
                engine.play_text(line)

    def _answer(self) -> None:
        engine = self._engine
        choice = engine.choose(answers_interrupt=True)
        facts = [
            engine.score_text(choice),
            f"depth {choice.depth}" if choice.depth else "",
            f"{counted(choice.nodes, 'node')}, {choice.seconds:.1f} s" if choice.nodes else "",
        ]
        comment = ", ".join(fact for fact in facts if fact)
        name = engine.game.move_text(engine.position, choice.move)
        click.echo(f"glem plays {name}{f'  ({comment})' if comment else ''}")
        engine.play(choice.move)
        self._choices[engine.moves] = choice

    def _hint(self, rest: str) -> None:
        from glem.core.players.engine import depth_texts

        if rest and not (rest.isascii() and rest.isdecimal() and len(rest) < 4 and int(rest) > 0):
            raise BadInputError(f"hint takes a number of moves from 1 to 999, as in hint 3, got {rest[:20]!r}")
        engine = self._engine
        analysis = engine.analyse(lines=int(rest or _USUAL_HINTS))
        for line, depth in zip(analysis.lines, depth_texts(analysis), strict=True):
            variation = engine.game.line_text(engine.position, line.moves)
            click.echo(f"{engine.line_text(line):>8}  {depth}{variation}")

    def _undo(self) -> None:
        """Go back to where the person last had a choice."""
        engine = self._engine
        if self._resigned:
            self._resigned = False
            self._drawn = None
            return
        engine.undo()
        while engine.moves and (engine.first_to_move != self._yours or engine.must_pass()):
            engine.undo()

    def save(self, path: Path) -> None:
        """Write the game, with its result if that is known, in the format that the name tells."""
        import attrs

        from glem.core.positions.writing import write_games
        from glem.core.tournament.transcripts import records_of_games

        check_outputs(path)
        played = self._played(self._choices)
        if self._resigned:
            is_first = played.players[0] == _PERSON
            played = attrs.evolve(played, result=-1 if is_first else 1, end="resigned")
        try:
            write_games(self._engine.game, path, records_of_games(self._engine.game, [played]))
        except OSError as error:
            raise BadInputError(f"{path} cannot be written: {error.strerror}") from error

    def check_savable(self, path: Path) -> None:
        """Make sure that the format of a name has room for a game that begins like this one."""
        from glem.core.positions.writing import check_format_holds
        from glem.core.tournament.transcripts import records_of_games

        played = self._played({})
        check_format_holds(self._engine.game, path, records_of_games(self._engine.game, [played]))

    def _played(self, choices: Mapping[tuple[int, ...], MoveChoice]) -> PlayedGame:
        """Make a record of the game; its first player is whoever moves first in it."""
        from glem.core.players.player import MoveChoice
        from glem.core.tournament.games import End, PlayedGame
        from glem.core.tournament.openings import Opening

        engine = self._engine
        moves, start = engine.moves, (*engine.previous, engine.position)[0]
        is_elsewhere = tuple(start) != tuple(engine.game.initial_position)
        first_began = engine.first_to_move == (len(moves) % 2 == 0)
        score = None
        if engine.has_ended:
            score = engine.first_score if first_began else -engine.first_score
        return PlayedGame(
            0,
            (_PERSON, _GLEM) if self._yours == first_began else (_GLEM, _PERSON),
            Opening(start=self._start_text if is_elsewhere else ""),
            tuple(choices.get(moves[: end + 1]) or MoveChoice(move) for end, move in enumerate(moves)),
            score=score,
            result=0 if score is None else (score > 0) - (score < 0),
            end=End.FINISHED if engine.has_ended else "",
            overruns=(0, 0),
        )


def _styled(character: str, empty: str) -> str:
    """Colour a character of a board; click takes colours out again where the output is no terminal."""
    if character == "*":
        return click.style(character, fg="green")
    return click.style(character, dim=True) if character == empty else character


@options.command(
    "play", "play GAME --seconds 3", "play GAME --second --player model.npz,depth=8 --save won.games", json=False
)
@playing.game
@options.flag("--second", "Let glem begin.")
@playing.position
@playing.moves
@playing.opponent(seconds=1.0)
@options.file("--save", "Write the game at the end: .pgn, ...; its name tells how.", path_type=Path)
def command(game: Game, second: bool, position: str | None, moves: str, player: PlayerSpec, save: Path | None) -> None:
    """Play GAME against an evaluation, in the terminal.

    The board is drawn, with your legal moves marked where moves are cells; moves of two cells are not marked, "moves"
    lists them. "help" lists what you can write. Without a limit glem thinks for a second a move; Ctrl-C while it
    thinks makes it move at once.
    """
    from glem.core.players.engine import Engine

    if isinstance(sys.stdin, io.TextIOWrapper):
        # What is no text is no move either, and no reason to end a game.
        sys.stdin.reconfigure(errors="replace")
    check_outputs(save)
    engine = Engine(game, player)

    def start() -> None:
        if position is None:
            engine.new_game()
        else:
            engine.set_position_text(position)
        engine.play_text(moves)

    start()
    table = _Table(engine, first_is_yours=engine.first_to_move != second, start=start, start_text=position or "")
    if save is not None:
        table.check_savable(save)
    engine.prepare()
    try:
        table.run()
    finally:
        if save is not None:
            table.save(save)
