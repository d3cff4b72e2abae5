"""The player that searches, and solves near the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import attrs

from glem.core.game.game import Game
from glem.core.game.solver import Solution
from glem.core.players.player import MoveChoice
from glem.core.players.spec import PlayerSpec
from glem.core.players.thinker import Thinker
from glem.core.search.results import Clock, Limits

__all__ = ["SearchPlayer"]

_SOLVING_SHARE_OF_MOVE = 0.5
_SOLVING_SHARE_OF_CLOCK = 0.25
"""A solved position makes the rest of the game cheap; one that is not solved in its share must still be searched."""

_LEAST_SECONDS = 1e-3


class SearchPlayer:
    """Searches within its limits; near the end it plays solved moves.

    Parameters
    ----------
    game
        The game.
    spec
        Evaluation, limits and the numbers of moves left from which on positions are solved.
    """

    def __init__(self, game: Game, spec: PlayerSpec) -> None:
        self.name = spec.name
        self._spec = spec
        self._game = game
        self._thinker = Thinker(game, spec)
        self._thinker.warm_up()

    def new_game(self, number: int = 0) -> None:
        """Begin a game with empty tables, so that it takes the same nodes whatever was played before."""
        self._thinker.clear()

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Choose a move: the only one, a solved one, or the best one that the search found."""
        begin = time.perf_counter()
        moves = self._game.list_legal_moves(position)
        if len(moves) == 1:
            return MoveChoice(moves[0], seconds=time.perf_counter() - begin)
        limits = attrs.evolve(self._spec.limits, clock=clock or self._spec.limits.clock)
        exact = self._thinker.solver_for(position, self._spec.solve_from) is not None
        solution = self._solved(position, limits, stop, result_only=not exact)
        nodes = 0 if solution is None else solution.nodes
        if solution is not None and solution.exact and solution.move is not None and (exact or solution.score >= 0):
            return MoveChoice(
                solution.move,
                score=float(solution.score) if exact else None,
                nodes=nodes,
                seconds=time.perf_counter() - begin,
                exact=exact,
                result=(solution.score > 0) - (solution.score < 0),
            )
        found = self._thinker.searcher.search(
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

    def close(self) -> None:
        """Do nothing: tables go with the player."""

    def _solved(
        self, position: Any, limits: Limits, stop: threading.Event | None, *, result_only: bool
    ) -> Solution | None:
        """Solve a position that is near enough to the end, in a share of the time and the nodes."""
        solver = self._thinker.solver_for(position, max(self._spec.solve_from, self._spec.result_from))
        if solver is None:
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
            result_only=result_only,
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
