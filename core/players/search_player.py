"""The player that searches, and solves near the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import attrs

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.game.game import Game
from glem.core.game.solver import Solution, Solver
from glem.core.players.player_data import load_player_probcut
from glem.core.players.simple_players import legal_moves_of
from glem.core.players.spec import MoveChoice, PlayerSpec
from glem.core.search.results import Bound, Clock, Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.solver import solver_of

__all__ = ["SearchPlayer"]

_SOLVING_SHARE_OF_MOVE = 0.5
_SOLVING_SHARE_OF_CLOCK = 0.25
"""A solved position makes the rest of the game cheap; one that is not solved in its share must still be searched."""

_LEAST_SECONDS = 1e-3


class SearchPlayer:
    """Searches within its limits; near the end it plays solved moves.

    Parameters
    ----------
    spec
        Evaluation, limits and the numbers of moves left from which on positions are solved.
    game
        The game.
    """

    def __init__(self, spec: PlayerSpec, game: Game) -> None:
        self.name = spec.name
        self._spec = spec
        self._game = game
        evaluator = evaluator_of(load_value(spec.evaluation, game))
        settings = SearchSettings(table_mb=spec.table_mb, probcut=load_player_probcut(game, spec))
        self._searcher = Searcher(game, evaluator, settings)
        self._solver: Solver | None = None
        if spec.solve_from or spec.result_from:
            self._solver = solver_of(game, evaluator, spec.table_mb)
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile, or load, all machine code before a clock runs."""
        self._searcher.search(self._game.initial_position, Limits(depth=1))
        if self._solver is None:
            return
        position, last = self._game.initial_position, self._game.initial_position
        while not self._game.is_over(position):
            last, position = position, self._game.play(position, legal_moves_of(self._game, position)[0])
        for result_only in (False, True):
            self._solver.solve(last, result_only=result_only)

    def new_game(self, number: int = 0) -> None:
        """Begin a game with empty tables, so that it takes the same nodes whatever was played before."""
        self._searcher.clear()
        if self._solver is not None:
            self._solver.clear()

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Choose a move: the only one, a solved one, or the best one that the search found."""
        begin = time.perf_counter()
        moves = legal_moves_of(self._game, position)
        if len(moves) == 1:
            return MoveChoice(moves[0], seconds=time.perf_counter() - begin)
        limits = attrs.evolve(self._spec.limits, clock=clock or self._spec.limits.clock)
        solution = self._solved(position, limits, stop)
        nodes = 0 if solution is None else solution.nodes
        exact = self._exact_wanted(position)
        if solution is not None and solution.exact and solution.move is not None and (exact or solution.score >= 0):
            return MoveChoice(
                solution.move,
                score=float(solution.score) if exact else None,
                nodes=nodes,
                seconds=time.perf_counter() - begin,
                exact=exact,
                result=(solution.score > 0) - (solution.score < 0),
            )
        found = self._searcher.search(
            position, _less(limits, time.perf_counter() - begin, nodes), stop=stop, previous=tuple(previous)
        )
        return MoveChoice(
            moves[0] if found.move is None else found.move,
            score=found.value,
            depth=found.depth,
            nodes=nodes + found.nodes,
            seconds=time.perf_counter() - begin,
            # Where all moves lose, the search still knows which makes it hardest for the opponent.
            result=-1 if solution is not None and solution.exact else None,
        )

    def value_near_zero(self, position: Any, window: float) -> float | None:
        """Value of a position, in label units before the link, if it is within the window around zero; else None.

        Most searches end at once: to show that a value lies outside takes a fraction of the nodes of finding it.
        """
        steps = round(window * self._searcher.evaluator.steps_per_unit)
        self._searcher.clear()
        found = self._searcher.search(position, self._spec.limits, window=(-steps - 1, steps + 1))
        return found.value if found.bound == Bound.EXACT and abs(found.score) <= steps else None

    def close(self) -> None:
        """Do nothing: tables go with the player."""

    def _exact_wanted(self, position: Any) -> bool:
        return self._solver is not None and self._solver.plies_left(position) <= self._spec.solve_from

    def _solved(self, position: Any, limits: Limits, stop: threading.Event | None) -> Solution | None:
        """Solve a position that is near enough to the end, in a share of the time and the nodes."""
        solver = self._solver
        if solver is None or solver.plies_left(position) > max(self._spec.solve_from, self._spec.result_from):
            return None
        shares = []
        if limits.seconds is not None:
            shares.append(limits.seconds * _SOLVING_SHARE_OF_MOVE)
        if limits.clock is not None:
            remaining = limits.clock.remaining
            share = remaining * _SOLVING_SHARE_OF_CLOCK + limits.clock.increment
            shares.append(min(share, remaining * _SOLVING_SHARE_OF_MOVE))
        return solver.solve(
            position,
            result_only=not self._exact_wanted(position),
            nodes=None if limits.nodes is None else max(int(limits.nodes * _SOLVING_SHARE_OF_MOVE), 1),
            seconds=max(min(shares), _LEAST_SECONDS) if shares else None,
            stop=stop,
        )


def _less(limits: Limits, seconds: float, nodes: int) -> Limits:
    """Limits of a move after a part of its time has passed and some positions were visited."""
    clock = limits.clock
    if clock is not None:
        clock = attrs.evolve(clock, remaining=max(clock.remaining - seconds, _LEAST_SECONDS))
    left = None if limits.seconds is None else max(limits.seconds - seconds, _LEAST_SECONDS)
    nodes_left = None if limits.nodes is None else max(limits.nodes - nodes, 1)
    return attrs.evolve(limits, seconds=left, clock=clock, nodes=nodes_left)
