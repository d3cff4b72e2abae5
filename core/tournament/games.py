"""One game between two players, with its clocks, as a record that can be read without the players."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import attrs
import numpy as np
from attrs import define, field

from glem.core.errors import GlemError, check_arguments, reading
from glem.core.files.json_values import real_of, whole_of
from glem.core.game.draws import Draw, drawn_by
from glem.core.game.game import Game
from glem.core.game.protocols import PlayerFailureError
from glem.core.game.solver import Solver
from glem.core.players.making import kept_player
from glem.core.players.player import MoveChoice
from glem.core.players.spec import EXTERNAL, PlayerSpec
from glem.core.search.results import Clock
from glem.core.search.solver import solver_of
from glem.core.tasks.kept import Kept
from glem.core.tournament.openings import Opening

_DIGITS_OF_SECONDS = 6
_MOST = 1 << 62
_SOLVER_TABLE_MB = 16

_kept_solvers: Kept[Solver] = Kept(4)


class End(StrEnum):
    """Why a game ended: by its moves, the solver, the clock, a program's failure, or a draw that is claimed."""

    FINISHED = "finished"
    ADJUDICATED = "adjudicated"
    TIME = "time"
    FAILURE = "failure"
    DRAWN = "drawn"
    REPETITION = "repetition"


DRAWN_ENDS = {Draw.RULE: End.DRAWN, Draw.REPETITION: End.REPETITION}
"""How a game ends that is drawn although moves are left."""


@define(frozen=True)
class Adjudication:
    """How games are ended and clocks are judged.

    Parameters
    ----------
    solve_from
        Where at most so many moves are left, the game ends with the exact score of the position; 0 for never.
    time_forfeit
        A player whose game clock runs out loses; otherwise overruns are only counted.
    tolerance
        Seconds by which a clock or a move may be overrun unpunished and uncounted: what measuring costs.
    """

    solve_from: int = 0
    time_forfeit: bool = False
    tolerance: float = 0.05

    def __attrs_post_init__(self) -> None:
        check_arguments(self, solve_from=(0,), tolerance=(0.0,))


@define(frozen=True)
class GameTask:
    """A game that is to be played.

    Parameters
    ----------
    game
        The rules.
    number
        Of the game in its tournament; seeds the players.
    opening
        How it begins.
    first, second
        The player who moves first at the opening's start, and the other one.
    adjudication
        How it ends.
    exploration
        Chance of a random move where the player does not know the exact value, so that there are mistakes, and
        opponents who exploit them.
    """

    game: Game
    number: int
    opening: Opening
    first: PlayerSpec
    second: PlayerSpec
    adjudication: Adjudication = field(factory=Adjudication)
    exploration: float = 0.0


@define(frozen=True)
class PlayedGame:
    """A game that was played.

    Parameters
    ----------
    number
        Of the game in its tournament.
    players
        Names of the first and of the second player.
    opening
        How it began.
    moves
        The players' moves, without those of the opening; their seconds are the clock's, measured from outside.
    score
        Final score from the first player's view; None where the clock or a failure decided.
    result
        1, 0 or -1 from the first player's view.
    end
        Why it ended. A game with a person may also be ``resigned``; "" tells that it was left, without a result.
    overruns
        How many moves of the first and of the second player exceeded the time of the move or of the game.
    failures
        How often the program of the first and of the second player failed and was started anew.
    problem
        What the failure was that ended it; "" where none did.
    """

    number: int
    players: tuple[str, str]
    opening: Opening
    moves: tuple[MoveChoice, ...]
    score: int | None
    result: int
    end: End | str
    overruns: tuple[int, int]
    failures: tuple[int, int] = (0, 0)
    problem: str = ""

    def side_of(self, place: int) -> int:
        """0 where move ``place`` is the first player's, 1 where it is the second's."""
        return (len(self.opening.moves) + place) % 2

    def to_json(self, game: Game) -> dict[str, Any]:
        """Record as plain JSON values; a move is ``[name, score, depth, nodes, seconds, exact, result]``.

        Behind them stand the move's processor seconds, where they were measured.

        JSON has no infinite scores: they become null.
        """
        moves = [
            (
                game.format_move(choice.move),
                choice.score if choice.score is not None and math.isfinite(choice.score) else None,
                choice.depth,
                choice.nodes,
                round(choice.seconds, _DIGITS_OF_SECONDS),
                choice.exact,
                choice.result,
                *(() if choice.processor_seconds is None else (round(choice.processor_seconds, _DIGITS_OF_SECONDS),)),
            )
            for choice in self.moves
        ]
        return {
            "number": self.number,
            "players": self.players,
            "opening": self.opening.to_json(game),
            "moves": moves,
            "score": self.score,
            "result": self.result,
            "end": str(self.end),
            "overruns": self.overruns,
            **({"failures": self.failures} if any(self.failures) else {}),
            **({"problem": self.problem} if self.problem else {}),
        }

    @classmethod
    def from_json(cls, game: Game, value: Any) -> PlayedGame:
        """Read what :meth:`to_json` gave; :class:`BadInputError` when it is anything else."""
        with reading("a game", "record of a game"):
            first, second = value["players"]
            counts = (value["overruns"], value.get("failures", (0, 0)))
            overruns, failures = ((whole_of(one), whole_of(other)) for one, other in counts)
            played = cls(
                number=whole_of(value["number"]),
                players=(str(first), str(second)),
                opening=Opening.from_json(game, value["opening"]),
                moves=tuple(_choice_from_json(game, *move) for move in value["moves"]),
                score=None if value["score"] is None else whole_of(value["score"], -_MOST),
                result=whole_of(value["result"], -1, 1),
                end=End(value["end"]),
                overruns=overruns,
                failures=failures,
                problem=str(value.get("problem", "")),
            )
            # Numbers are made whole and names exact on the way: what came out differently was something else.
            if json.loads(json.dumps(played.to_json(game))) != json.loads(json.dumps(value)):
                raise ValueError("glem writes it differently")
            return played


def _choice_from_json(
    game: Game,
    name: str,
    score: Any,
    depth: Any,
    nodes: Any,
    seconds: Any,
    exact: Any,
    result: Any,
    processor_seconds: Any = None,
) -> MoveChoice:
    return MoveChoice(
        game.parse_move(name),
        score=None if score is None else real_of(score),
        depth=whole_of(depth),
        nodes=whole_of(nodes),
        seconds=_seconds(seconds),
        exact=bool(exact),
        result=None if result is None else whole_of(result, -1, 1),
        processor_seconds=None if processor_seconds is None else _seconds(processor_seconds),
    )


def _seconds(value: Any) -> float:
    seconds = real_of(value)
    if seconds < 0:
        raise ValueError(f"{value!r} where seconds are expected")
    return seconds


def play_game(task: GameTask) -> PlayedGame:
    """Play a game.

    Players are made once in each thread and kept for further games. Without time limits the moves depend on the task
    alone.

    Raises
    ------
    BadInputError
        A player cannot be made, or the opening is illegal.
    GlemError
        A player chose an illegal move, or a program failed before its first move of the game: it is no opponent.
    """
    players = (kept_player(task.game, task.first), kept_player(task.game, task.second))
    for player in players:
        player.new_game(task.number)
    clocks = (_GameClock(task.first, task.adjudication), _GameClock(task.second, task.adjudication))
    previous = task.opening.positions(task.game)
    position = previous.pop()
    moves: list[MoveChoice] = []
    failures, problem = [0, 0], ""
    side = len(previous) % 2
    score: int | None
    while True:
        legal = task.game.list_legal_moves(position, fast=True)
        ended = _judged(task, position, previous, is_over=not legal)
        if ended is not None:
            own_score, end = ended
            score = own_score if side == 0 else -own_score
            result = (score > 0) - (score < 0)
            break
        clock = clocks[side]
        begin, processor_begin = time.perf_counter(), time.thread_time()
        try:
            choice = players[side].choose(position, previous, clock.clock)
        except PlayerFailureError as error:
            if error.failures and not any((len(task.opening.moves) + place) % 2 == side for place in range(len(moves))):
                raise GlemError(f"game {task.number}: {error}; without a move of its own no game counts") from error
            failures[side] += error.failures
            problem = str(error)
            score, end, result = None, End.FAILURE, (-1 if side == 0 else 1)
            break
        failures[side] += choice.failures
        if task.exploration and not choice.exact and choice.result is None:
            choice = _explored(task, side, position, len(previous), choice)
        seconds = time.perf_counter() - begin
        spent: float | None = time.thread_time() - processor_begin + (choice.processor_seconds or 0.0)
        if choice.move not in legal:
            name, text = players[side].name, task.game.format_position(position)
            raise GlemError(f"game {task.number}: {name} chose move {choice.move}, which is illegal in {text}")
        if (task.first, task.second)[side].kind == EXTERNAL:
            # What this thread did is not the program's time.
            spent = choice.processor_seconds
        moves.append(attrs.evolve(choice, seconds=seconds, processor_seconds=spent))
        if not clock.allows(seconds):
            score, end, result = None, End.TIME, (-1 if side == 0 else 1)
            break
        previous.append(position)
        position = task.game.play(position, choice.move)
        side = 1 - side
    overruns = (clocks[0].overruns, clocks[1].overruns)
    names = (task.first.name, task.second.name)
    return PlayedGame(
        task.number,
        names,
        task.opening,
        tuple(moves),
        score,
        result,
        end,
        overruns,
        (failures[0], failures[1]),
        problem,
    )


def _explored(task: GameTask, side: int, position: Any, ply: int, choice: MoveChoice) -> MoveChoice:
    """Put a random move in the place of a choice, by chance."""
    # A last number in the seed: random openings and random players draw from streams of their own.
    generator = np.random.default_rng(((task.first, task.second)[side].seed, task.number, ply, 1))
    if generator.random() >= task.exploration:
        return choice
    moves = task.game.list_legal_moves(position)
    move = moves[generator.integers(len(moves))]
    return MoveChoice(move, nodes=choice.nodes, seconds=choice.seconds, processor_seconds=choice.processor_seconds)


def _judged(task: GameTask, position: Any, previous: Sequence[Any], *, is_over: bool) -> tuple[int, End] | None:
    """Score for the side to move and reason, where the game is over, drawn or adjudicated."""
    if is_over:
        return task.game.final_score(position), End.FINISHED
    draw = drawn_by(task.game, position, previous)
    if draw is not None:
        return 0, DRAWN_ENDS[draw]
    limit = task.adjudication.solve_from
    if limit == 0:
        return None
    solver = _kept_solvers.get(task.game.name, lambda: solver_of(task.game, table_mb=_SOLVER_TABLE_MB))
    if solver.plies_left(position) > limit:
        return None
    # Not cleared before: a table full of exact bounds changes nodes, never scores.
    return solver.solve(position).score, End.ADJUDICATED


class _GameClock:
    """A player's time in one game."""

    def __init__(self, spec: PlayerSpec, adjudication: Adjudication) -> None:
        self.clock = spec.limits.clock
        self.overruns = 0
        self._per_move = spec.limits.seconds
        self._adjudication = adjudication

    def allows(self, seconds: float) -> bool:
        """Take the time of a move off and say whether the game goes on."""
        tolerance = self._adjudication.tolerance
        over = self._per_move is not None and seconds > self._per_move + tolerance
        lost = False
        if self.clock is not None:
            remaining = self.clock.remaining - seconds
            if remaining < -tolerance:
                over = True
                lost = self._adjudication.time_forfeit
            self.clock = Clock(max(remaining, 0.0) + self.clock.increment, self.clock.increment)
        self.overruns += over
        return not lost
