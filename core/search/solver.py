"""A solver for games that bring none of their own: the search, as deep as the game can last.

All it needs is the operation ``plies_left`` (:mod:`glem.core.game.optional_operations`). A solver made for its game is
faster; this one makes exact scores near the end available to every game. Many positions are solved over workers.
"""

import time
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import define

from glem.core.errors import BadInputError, check_arguments
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import blank_evaluation, load_value
from glem.core.features.evaluators import Evaluator
from glem.core.game.game import Game, load_game
from glem.core.game.solver import Solution, Solver
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.tasks.kept import Kept
from glem.core.tasks.stop import Stop
from glem.core.tasks.tasks import Workers, run_tasks


class SearchSolver:
    """Solves positions by searching to the end; a :class:`~glem.core.game.solver.Solver`.

    Parameters
    ----------
    game
        A game with the operation ``plies_left``.
    evaluator
        What orders moves; with None, or where it tells only who wins while scores tell more, only ends of games do.
    table_mb
        Megabytes of the table.

    Raises
    ------
    BadInputError
        The game does not tell how many moves are left.
    """

    def __init__(self, game: Game, evaluator: Evaluator | None = None, table_mb: int = 64) -> None:
        if "plies_left" not in game.search_rules:
            raise BadInputError(
                f"{game.title} cannot be solved: its Game has neither make_solver nor a search function plies_left, "
                "the most moves that are left, which is all that a search to the end needs"
            )
        self._game = game
        self._is_graded = game.greatest_score > 1
        if evaluator is None or (evaluator.result_only and self._is_graded):
            evaluator = evaluator_of(blank_evaluation(game))
        self._searcher = Searcher(game, evaluator, SearchSettings(table_mb=table_mb))

    def plies_left(self, position: Any) -> int:
        """Upper bound on the moves left, forced passes excluded."""
        return int(self._game.search_rules["plies_left"](position))

    def clear(self) -> None:
        """Forget everything: the next solution takes the same nodes as in a new solver."""
        self._searcher.clear()

    def solve(
        self,
        position: Any,
        *,
        result_only: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: Stop | None = None,
    ) -> Solution:
        """Solve a position: its exact score, or only whether it is won, drawn or lost (score 1, 0 or -1)."""
        window = (-1, 1) if result_only or not self._is_graded else None
        found = self._searcher.search(position, Limits(nodes=nodes, seconds=seconds), stop=stop, window=window)
        return Solution(
            score=self._final(found.score, result_only=window is not None),
            move=found.move,
            variation=found.variation,
            nodes=found.nodes,
            seconds=found.seconds,
            # Where only results count, a win or a loss may be known before the end is reached.
            exact=found.proven or (not found.stopped and found.lines[0].plies_to_end is not None),
        )

    def _final(self, steps: int, *, result_only: bool) -> int:
        if result_only:
            return (steps > 0) - (steps < 0)
        return round(steps / self._searcher.evaluator.steps_per_unit)


def solve_moves(
    game: Game,
    solver: Solver,
    position: Any,
    *,
    result_only: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    stop: Stop | None = None,
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
        As in :meth:`Solver.solve <glem.core.game.solver.Solver.solve>`.
    """
    began = time.perf_counter()
    found: list[Solution] = []
    for move in game.list_legal_moves(position):
        nodes_left = None if nodes is None else nodes - sum(solution.nodes for solution in found)
        seconds_left = None if seconds is None else seconds - (time.perf_counter() - began)
        # Limits that make no sense from the beginning are for the solver to refuse.
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
    """Make the solver that a game brings, else :class:`SearchSolver`.

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
    return SearchSolver(game, evaluator, table_mb, **options)


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

    def __attrs_post_init__(self) -> None:
        check_arguments(self, table_mb=(1, 1 << 20))

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
    asked: dict[str, Any]


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
    if not task.all_moves:
        return (solver.solve(task.position, **task.asked),)
    return solve_moves(load_game(task.solver.game), solver, task.position, **task.asked)


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
    Limits(nodes=nodes, seconds=seconds)  # which refuses what is none, before anything is solved
    asked = {"result_only": result_only, "nodes": nodes, "seconds": seconds}
    tasks = (_Task(solver, position, all_moves, asked) for position in positions)
    return run_tasks(_solve, tasks, workers)
