"""An engine: a game in progress and a player who thinks about it. Protocols and commands speak to it."""

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import attrs
import numpy as np

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_searched
from glem.core.evaluation.result_models import ResultModels
from glem.core.game.draws import Draw, drawn_by
from glem.core.game.game import Game
from glem.core.players.making import make_player
from glem.core.players.player import MoveChoice, Player
from glem.core.players.spec import SEARCH, USUAL_SOLVE_FROM, PlayerSpec
from glem.core.players.thinker import Thinker, kept_thinker
from glem.core.search.results import Clock, Limits, Line, SearchResult
from glem.core.tasks.stop import Stop
from glem.core.tasks.threads import interruptible_result

_Result = TypeVar("_Result")

_MOST_MOVES_SHOWN = 20
_LONGEST_MOVE = 10
_SEPARATORS = " ,;\t\r\n"
_MOVE_NUMBER = re.compile(r"^\d+\.+\s*")


class Engine:
    """A game in progress and a player.

    The *first player* is the one who moves in the game's initial position. Only one thread at a time may use an
    engine; the event given to :meth:`choose` or :meth:`analyse` ends its thinking from any other.

    Parameters
    ----------
    spec
        The player; made when it is first needed.
    calibration
        What the player's values mean for results, for protocols that tell it; None for the evaluation's own.
    """

    def __init__(self, game: Game, spec: PlayerSpec, calibration: ResultModels | None = None) -> None:
        self.game = game
        self.calibration = calibration
        self._spec = spec
        self._player: Player | None = None
        self._positions = [game.initial_position]
        self._moves: list[int] = []
        self._first_began = True
        self.preparing: threading.Thread | None = None
        """The thread in which a protocol prepares the player, if it does that by itself."""

    @property
    def position(self) -> Any:
        """Position after all moves so far."""
        return self._positions[-1]

    @property
    def previous(self) -> tuple[Any, ...]:
        """The game's earlier positions, in order."""
        return tuple(self._positions[:-1])

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves played, passes included."""
        return tuple(self._moves)

    @property
    def first_to_move(self) -> bool:
        """Whether the first player is to move."""
        return self._first_began == (len(self._moves) % 2 == 0)

    @property
    def is_over(self) -> bool:
        """Whether no move is left."""
        return bool(self.game.is_over(self.position))

    @property
    def draw(self) -> Draw | None:
        """Why the game is drawn though moves are left (:mod:`glem.core.game.draws`); None where it is not."""
        return None if self.is_over else drawn_by(self.game, self.position, self._positions[:-1])

    @property
    def has_ended(self) -> bool:
        """Whether the game is over or drawn; a drawn one may be played on."""
        return self.is_over or self.draw is not None

    @property
    def first_score(self) -> int:
        """Final score for the first player; 0 where the game is drawn.

        Raises
        ------
        BadInputError
            The game has not ended.
        """
        if not self.is_over:
            if self.draw is None:
                raise BadInputError("the game is not over")
            return 0
        score = int(self.game.final_score(self.position))
        return score if self.first_to_move else -score

    def new_game(self) -> None:
        """Go back to the initial position; the player forgets what it knew of the last game."""
        self.set_position(self.game.initial_position)

    def set_position(
        self, position: Any, *, first_to_move: bool = True, previous: Sequence[Any] = (), same_game: bool = False
    ) -> None:
        """Begin a new game in a position, or go on from there in the same one.

        Parameters
        ----------
        first_to_move
            Whether the first player is to move in it.
        previous
            Earlier positions of the game, oldest first; their moves are not known here.
        same_game
            Let the player keep what it knows.
        """
        self._positions = [*previous, position]
        self._moves = []
        self._first_began = first_to_move
        if same_game:
            return
        if self._player is not None:
            self._player.new_game()

    def set_position_text(self, text: str) -> None:
        """Begin a new game in a position given as the game writes it.

        Raises
        ------
        BadInputError
            The text is no position.
        """
        self.set_position(self.game.parse_position(text), first_to_move=self.game.first_moves_in(text))

    def legal_moves(self) -> list[int]:
        """List the legal moves, in the game's order."""
        return self.game.list_legal_moves(self.position)

    def must_pass(self) -> bool:
        """Whether the side to move has no move but the pass that files and people leave out."""
        return self.game.pass_move is not None and self.legal_moves() == [self.game.pass_move]

    def play(self, move: int) -> None:
        """Play a move.

        Raises
        ------
        BadInputError
            It is not legal.
        """
        legal = self.legal_moves()
        if move not in legal:
            raise BadInputError(f"{self.game.format_move(move)} is not legal here; {self._what_is_legal(legal)}")
        self._positions.append(self.game.play(self.position, move))
        self._moves.append(move)

    def _what_is_legal(self, legal: Sequence[int]) -> str:
        if not legal:
            return "the game is over"
        names = [self.game.move_text(self.position, move) for move in legal[:_MOST_MOVES_SHOWN]]
        return f"legal: {', '.join(names)}{', ...' if len(legal) > len(names) else ''}"

    def undo(self) -> int:
        """Take the last move back and return it.

        Raises
        ------
        BadInputError
            No move was played.
        """
        if not self._moves:
            raise BadInputError("there is no move to take back")
        self._positions.pop()
        return self._moves.pop()

    def move_of(self, text: str) -> int:
        """Legal move of its usual text.

        Raises
        ------
        BadInputError
            The text is no move, or the move is not legal.
        """
        move = self.game.move_of_text(self.position, text)
        legal = self.legal_moves()
        if move not in legal:
            raise BadInputError(f"{text} is not legal here; {self._what_is_legal(legal)}")
        return move

    def play_text(self, text: str) -> None:
        """Play moves written one after the other, with or without blanks and numbers such as ``12.`` before them.

        Forced passes may be left out.

        Raises
        ------
        BadInputError
            Somewhere no legal move follows; then no move was played.
        """
        before = len(self._moves)
        rest = _MOVE_NUMBER.sub("", text.strip(_SEPARATORS))
        while rest:
            length = self._play_next(rest)
            if length == 0:
                problem = self._problem_of(rest, len(self._moves) - before)
                del self._positions[before + 1 :], self._moves[before:]
                raise BadInputError(problem)
            rest = _MOVE_NUMBER.sub("", rest[length:].lstrip(_SEPARATORS))

    def _problem_of(self, text: str, played: int) -> str:
        """Say why no move begins a text, after so many moves that were played."""
        nonsense = self._nonsense(text)
        if nonsense:
            return nonsense + (f", after {played} legal move{'s' if played > 1 else ''}" if played else "")
        after = f" after the first {played}" if played else ""
        return f"{text[:_LONGEST_MOVE]!r} is no legal move{after}; {self._what_is_legal(self.legal_moves())}"

    def _nonsense(self, text: str) -> str:
        """Let the game say what is wrong with a text that begins with no move, legal or not; "" if it does."""
        if self.is_over:
            return ""
        word = text.translate(dict.fromkeys(map(ord, _SEPARATORS), " ")).split()[0][:_LONGEST_MOVE]
        said = ""
        if self.game.parse_move_at is not None:
            try:
                self.game.parse_move_at(self.position, word)
            except BadInputError as error:
                said = str(error)
            return said
        for length in range(1, len(word) + 1):
            try:
                self.game.parse_move(word[:length])
            except BadInputError as error:
                said = str(error)
            else:
                return ""
        return said

    def _play_next(self, text: str) -> int:
        """Play the move with which a text begins and return the length of its name; 0 if there is none."""
        legal = self.legal_moves()
        for length in range(min(len(text), _LONGEST_MOVE), 0, -1):
            try:
                move = self.game.move_of_text(self.position, text[:length])
            except BadInputError:
                continue
            if move in legal:
                self.play(move)
                return length
        if self.must_pass():
            self.play(legal[0])
            length = self._play_next(text)
            if length == 0:
                self.undo()
            return length
        return 0

    def transcript(self) -> str:
        """Return the moves played as a line that :meth:`play_text` reads; forced passes are left out."""
        if self.game.format_move_at is not None:
            texts = self.game.move_texts(self._positions[-len(self._moves) - 1], self._moves)
            return " ".join(text for text, move in zip(texts, self._moves, strict=True) if move != self.game.pass_move)
        names = [self.game.format_move(move) for move in self._moves if move != self.game.pass_move]
        return ("" if all(len(name) == 2 for name in names) else " ").join(names)

    @property
    def spec(self) -> PlayerSpec:
        """The player's description."""
        return self._spec

    @spec.setter
    def spec(self, spec: PlayerSpec) -> None:
        if spec != self._spec:
            if self._player is not None:
                self._player.close()
            self._spec, self._player = spec, None

    def prepare_analysis(self) -> Thinker:
        """Return what analyses positions, made and its search compiled by now.

        Raises
        ------
        BadInputError
            The player does not search, or as :meth:`prepare`.
        """
        # The same one that chooses moves: what it found for one is of use to the other.
        if self._spec.kind == SEARCH:
            self.prepare()
        return self._player if isinstance(self._player, Thinker) else Thinker(self.game, self._spec)

    def limit(self, limits: Limits) -> None:
        """Change the limits of the player's searches.

        A player that solves as time allows does so from :data:`~glem.core.players.spec.USUAL_SOLVE_FROM` moves left on
        where no time is left to go by.
        """
        spec = self._spec
        if spec.solves_as_time_allows and not limits.is_timed and self.game.make_solver is not None:
            spec = attrs.evolve(spec, solve_from=USUAL_SOLVE_FROM)
        self.spec = attrs.evolve(spec, limits=limits)

    def prepare(self) -> None:
        """Make the player and compile its search now, so that neither errors nor delays meet the first move.

        Raises
        ------
        BadInputError
            There is no such evaluation, or the game cannot do what the description asks for.
        """
        if self._player is None:
            self._player = make_player(self.game, self._spec)
            self._player.new_game()

    def choose(
        self, *, clock: Clock | None = None, stop: Stop | None = None, answers_interrupt: bool = False
    ) -> MoveChoice:
        """Let the player choose a move; it is not played.

        Parameters
        ----------
        clock
            Its clock, if the game has one.
        stop
            Ends its thinking; it then gives the best move that it has.
        answers_interrupt
            The first Ctrl-C ends its thinking in the same way; else it is raised.

        Raises
        ------
        BadInputError
            The game is over.
        """
        if self.is_over:
            raise BadInputError("the game is over, there is no move to choose")
        self.prepare()
        player = self._player
        assert player is not None
        return _interruptibly(
            lambda event: player.choose(self.position, self.previous, clock, stop=event),
            stop or Stop(),
            answers_interrupt=answers_interrupt,
        )

    def score_text(self, choice: MoveChoice) -> str:
        """Word the score of a choice for people; "" where it has none."""
        if choice.score is None:
            return ""
        if choice.exact:
            return f"{choice.score:+.0f} exactly"
        if self._spec.kind != SEARCH:
            return f"{choice.score:+.2f}"
        return _value_text(load_searched(self._spec.evaluation, self.game), choice.score)

    def analyse(
        self,
        *,
        lines: int = 1,
        limits: Limits | None = None,
        stop: Stop | None = None,
        on_iteration: Callable[[SearchResult], None] | None = None,
        exclude: Sequence[int] = (),
        full_width: bool = False,
    ) -> SearchResult:
        """Find the best lines of the position.

        Parameters
        ----------
        limits
            When to end; by default the player's limits.
        stop
            Ends it early.
        on_iteration
            Called with what is known after each iteration, from another thread.
        exclude
            Moves that are not looked at.
        full_width
            Prune nothing selectively, though the player may.

        Raises
        ------
        BadInputError
            The game is over, or the player does not search.
        """
        if self.is_over:
            raise BadInputError("the game is over, there is nothing to analyse")
        thinker = self.prepare_analysis()
        if full_width and self._spec.selective:
            thinker = kept_thinker(self.game, attrs.evolve(self._spec, selective=False))
        return _interruptibly(
            lambda event: thinker.analyse(
                self.position,
                self._spec.limits if limits is None else limits,
                lines=lines,
                stop=event,
                previous=self.previous,
                on_iteration=on_iteration,
                exclude=exclude,
            ),
            stop or Stop(),
        )

    @property
    def unit(self) -> str:
        """What the values of analyses are counted in, for people."""
        return self.prepare_analysis().evaluation.unit

    def line_text(self, line: Line) -> str:
        """Word the value of a line of an analysis for people."""
        return line_text(self.prepare_analysis().evaluation, line)


def _interruptibly(task: Callable[[Stop], _Result], stop: Stop, *, answers_interrupt: bool = False) -> _Result:
    """Run a task; out of the main thread, which alone hears Ctrl-C, but not while it runs compiled code."""
    if threading.current_thread() is not threading.main_thread():
        return task(stop)
    with ThreadPoolExecutor(1, "engine") as executor:
        running = executor.submit(task, stop)
        try:
            return interruptible_result(running)
        except KeyboardInterrupt:
            stop.set()
            if not answers_interrupt:
                raise
        return running.result()


def _value_text(evaluation: LinearEvaluation, value: float) -> str:
    """Word a value before the link: a signed number of label units, or a winning chance."""
    if evaluation.link == LOGISTIC:
        return f"{float(evaluation.link(np.array(value))):.1%}"
    return f"{value:+.2f}"


def line_text(evaluation: LinearEvaluation, line: Line) -> str:
    """Word the value of a line: a signed number or a chance, or ``won`` and ``lost``."""
    if line.plies_to_end is not None:
        return "won" if line.value > 0 else "lost"
    return _value_text(evaluation, line.value)


def depth_texts(found: SearchResult) -> list[str]:
    """Word the depth of each line; empty words where all are as deep as the search."""
    if all(line.depth == found.depth for line in found.lines):
        return [""] * len(found.lines)
    return [f"depth {line.depth:>2}  " for line in found.lines]
