"""Exact scores of many positions near the end of the game, over the workers of an executor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import define

from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.game.game import load_game
from glem.core.game.solver import Solution, Solver
from glem.core.search.results import Limits
from glem.core.search.solver import solve_moves, solver_of
from glem.core.tasks.kept import Kept
from glem.core.tasks.tasks import Workers, run_tasks

__all__ = ["SolverSpec", "solve_positions"]


@define(frozen=True)
class SolverSpec:
    """What another process needs to make the same solver.

    Parameters
    ----------
    game
        Registry name of the game.
    evaluation
        What orders the moves: an evaluation file, ``default`` for the one that comes with the game, None for none.
    table_mb
        Megabytes of its hash table.
    convention
        Meaning of a final score, one of those that the game's solver knows; None for its usual one.
    """

    game: str
    evaluation: str | None = None
    table_mb: int = 64
    convention: str | None = None

    def make(self) -> Solver:
        """Make the solver.

        Raises
        ------
        BadInputError
            The game cannot be solved, its solver knows no such convention, or the evaluation is unknown or another
            game's.
        """
        game = load_game(self.game)
        evaluator = None
        if self.evaluation is not None:
            evaluator = evaluator_of(load_value(self.evaluation, game))
        options: dict[str, Any] = {} if self.convention is None else {"convention": self.convention}
        try:
            return solver_of(game, evaluator, self.table_mb, **options)
        except TypeError:
            if not options:
                raise
            raise BadInputError(f"the solver of {game.name} knows no score conventions") from None


@define(frozen=True)
class _Task:
    solver: SolverSpec
    position: Any
    all_moves: bool
    result_only: bool
    limits: Limits


_kept: Kept[Solver] = Kept(1)
"""One at a time: their tables are large."""


def _started(task: _Task) -> Solver:
    solver = task.solver.make()
    # The first call compiles or loads machine code, which is no part of a position's time.
    solver.solve(task.position, nodes=1)
    return solver


def _solve(task: _Task) -> tuple[Solution, ...]:
    solver = _kept.get(task.solver, lambda: _started(task))
    # Which positions a worker had before must not show.
    solver.clear()
    limits: dict[str, Any] = {
        "result_only": task.result_only,
        "nodes": task.limits.nodes,
        "seconds": task.limits.seconds,
    }
    if not task.all_moves:
        return (solver.solve(task.position, **limits),)
    return solve_moves(load_game(task.solver.game), solver, task.position, **limits)


def solve_positions(
    solver: SolverSpec,
    positions: Iterable[Any],
    *,
    all_moves: bool = False,
    result_only: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    workers: Workers | None = None,
) -> Iterator[tuple[int, tuple[Solution, ...]]]:
    """Solve positions, each as if it were the first: solutions and nodes do not depend on the workers.

    Parameters
    ----------
    solver
        The solver that every worker makes.
    positions
        Positions of the game, taken as they are needed.
    all_moves
        Solve every move of each position.
    result_only
        Ask only who wins.
    nodes, seconds
        Limits for each position; at most 2**62 and a billion.
    workers
        Where to solve.

    Yields
    ------
    index, solutions
        Index of a position, in the order in which they are solved, and its solution alone; with ``all_moves`` one for
        each move, the best first, and none where the game is over.

    Raises
    ------
    BadInputError
        The solver cannot be made, or a position or a limit is none.
    """
    limits = Limits(nodes=nodes, seconds=seconds)
    tasks = (_Task(solver, position, all_moves, result_only, limits) for position in positions)
    return run_tasks(_solve, tasks, workers)
