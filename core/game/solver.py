"""Exact values of positions near the end of the game: what a game's solver promises."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from attrs import define

if TYPE_CHECKING:
    from glem.core.features.evaluators import Evaluator
    from glem.core.game.game import Game

__all__ = ["Solution", "Solver", "can_solve", "solve_moves", "solver_of"]


@define(frozen=True)
class Solution:
    """What a solver found.

    Parameters
    ----------
    score
        Final score with best play from the side to move, in the solver's score convention; only its sign counts
        when just the result was asked for.
    move
        A best move; None where the game is over.
    variation
        Best play from the position on, ``move`` first; may be shorter than the rest of the game.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    exact
        False when the search was stopped or ran out of nodes: score and move are then the best known ones.
    """

    score: int
    move: int | None
    variation: tuple[int, ...]
    nodes: int
    seconds: float
    exact: bool = True


class Solver(Protocol):
    """Finds exact values of positions near the end; holds a hash table, so that one thread at a time may use it."""

    def plies_left(self, position: Any) -> int:
        """Upper bound on the moves left, forced passes excluded: how hard the position is."""
        ...

    def solve(
        self,
        position: Any,
        *,
        result_only: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Solution:
        """Solve a position: its exact score, or only whether it is won, drawn or lost (score 1, 0 or -1)."""
        ...

    def clear(self) -> None:
        """Forget everything: the next solution takes the same nodes as in a new solver."""
        ...


def solve_moves(
    game: Game,
    solver: Solver,
    position: Any,
    *,
    result_only: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    stop: threading.Event | None = None,
) -> tuple[Solution, ...]:
    """Solve all moves of a position, the best first.

    Each solution is from the view of the side that makes the move, which begins its variation. The limits are for all
    of them together; the move at which they ended comes last, and moves that they leave no nodes or time for are not in
    the answer.

    Parameters
    ----------
    game
        The game.
    solver
        Of the game.
    position, result_only, nodes, seconds, stop
        As in :meth:`Solver.solve`.
    """
    began = time.monotonic()
    found: list[Solution] = []
    for move in game.list_legal_moves(position):
        nodes_left = None if nodes is None else nodes - sum(solution.nodes for solution in found)
        seconds_left = None if seconds is None else seconds - (time.monotonic() - began)
        # Limits that have no sense from the beginning are for the solver to refuse.
        if found and ((nodes_left is not None and nodes_left < 1) or (seconds_left is not None and seconds_left <= 0)):
            break
        reply = solver.solve(
            game.play(position, move), result_only=result_only, nodes=nodes_left, seconds=seconds_left, stop=stop
        )
        found.append(Solution(-reply.score, move, (move, *reply.variation), reply.nodes, reply.seconds, reply.exact))
        if not reply.exact:
            break
    return tuple(sorted(found, key=lambda solution: (not solution.exact, -solution.score)))


def can_solve(game: Game) -> bool:
    """Whether a game brings a solver, or tells how many moves are left, so that a search to the end is one."""
    return game.make_solver is not None or "plies_left" in game.search_rules


def solver_of(game: Game, evaluator: Evaluator | None = None, table_mb: int = 64, **options: Any) -> Solver:
    """Make the solver that a game brings, else :class:`~glem.core.search.solver.SearchSolver`.

    Parameters
    ----------
    game
        The game.
    evaluator
        What orders moves, if anything.
    table_mb
        Megabytes of the table.
    options
        What the game's own solver knows besides.

    Raises
    ------
    BadInputError
        The game can be solved in neither way.
    TypeError
        The solver does not know an option.
    """
    if game.make_solver is not None:
        return game.make_solver(evaluator=evaluator, table_mb=table_mb, **options)
    # Imported late: the search needs games, and they this module.
    from glem.core.search.solver import SearchSolver

    return SearchSolver(game, evaluator, table_mb, **options)
