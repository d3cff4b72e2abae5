"""The player that searches, and solves near the end: evaluation, selective search and solver are put together here."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_searched
from glem.core.game.game import Game
from glem.core.game.solver import Solution, Solver
from glem.core.players.player import MoveChoice
from glem.core.players.spec import SEARCH, PlayerSpec
from glem.core.search.results import Bound, Clock, Limits, Line, SearchResult
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.solver import solve_moves, solver_of
from glem.core.tasks.kept import Kept
from glem.core.tasks.stop import Stop

_DEPTH_BEFORE_SOLVING = 8
"""Enough to show something at once where a solver then finds the truth."""

_SOLVING_SHARE = 0.5
"""A solved position makes the rest of the game cheap; one that is not solved in its share must still be searched."""
_SOLVING_MOVES = 3
"""On a clock, solving gets as much as so many moves."""

_SURE = 1.5
"""Positions of equal moves left differ: a share of time must be so often what solving takes as a rule."""
_FIRST_RATE = 8e6
"""Positions a second that a solver visits, until it has shown its own rate."""
_LEAST_MEASURED = 20_000
"""Positions, in fewer of which it does not show."""

_LEAST_SECONDS = 1e-3

_MOST_KEPT = 4


class Thinker:
    """A player who searches within its limits and solves near the end; also judges and analyses positions.

    Parameters
    ----------
    table_mb
        Megabytes of the search's table; by default the player's. The solver's is always as large as the player says.

    Raises
    ------
    BadInputError
        The player does not search, it cannot be made, or its data are not those that it was resolved with.
    """

    def __init__(self, game: Game, spec: PlayerSpec, table_mb: int | None = None) -> None:
        if spec.kind != SEARCH:
            raise BadInputError(f"player {spec.name!r} is {spec.kind} and does not search, so it cannot analyse")
        spec.check(game)
        self.name = spec.name
        self.game = game
        self.spec = spec
        self.evaluation = load_searched(spec.evaluation, game)
        self.evaluator = evaluator_of(self.evaluation)
        settings = SearchSettings(
            table_mb=spec.table_mb if table_mb is None else table_mb,
            probcut=spec.load_probcut(game),
            quiescence=spec.quiescence,
            pruning=spec.selective,
            threads=spec.threads,
        )
        self.searcher = Searcher(game, self.evaluator, settings)
        self._solver: Solver | None = None
        self._usual_nodes: Callable[..., float] | None = None
        """Where positions are solved that fit into a time, what solving takes."""
        self._rate = _FIRST_RATE
        if spec.solve_from or spec.result_from:
            self._solver = solver_of(game, self.evaluator, spec.table_mb)
        elif spec.solves_as_time_allows and game.make_solver is not None:
            self._solver = solver_of(game, self.evaluator, spec.table_mb)
            self._usual_nodes = getattr(self._solver, "usual_nodes", None)

    def new_game(self, number: int = 0) -> None:
        """Forget everything: what is found then does not depend on what was asked before."""
        self.searcher.clear()
        if self._solver is not None:
            self._solver.clear()

    def close(self) -> None:
        """Do nothing: tables go with the thinker."""

    def warm_up(self) -> None:
        """Compile, or load, all machine code before a clock runs."""
        self.searcher.search(self.game.initial_position, Limits(depth=1))
        if self._solver is not None:
            # Far from the end, where solvers use all of their code.
            for result_only in (False, True):
                self._solver.solve(self.game.initial_position, result_only=result_only, nodes=1)
        self.new_game()

    def solver_for(self, position: Any, seconds: float | None = None, *, result_only: bool = False) -> Solver | None:
        """Return the solver where few moves are left, or, on a clock, where so many seconds are likely to do."""
        solver = self._solver
        if solver is None:
            return None
        left = solver.plies_left(position)
        if self._usual_nodes is not None and seconds is not None:
            is_near = self._usual_nodes(left, result_only=result_only) * _SURE <= seconds * self._rate
        else:
            is_near = left <= max(self.spec.solve_from or 0, self.spec.result_from if result_only else 0)
        return solver if is_near else None

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: Stop | None = None
    ) -> MoveChoice:
        """Choose a move: the only one, a solved one near the end, or the best one that the search found."""
        begin = time.perf_counter()
        moves = self.game.list_legal_moves(position)
        if len(moves) == 1:
            return MoveChoice(moves[0], seconds=time.perf_counter() - begin)
        limits = self.spec.limits
        if clock is not None:
            limits = attrs.evolve(limits, clock=clock)
        limits = self._shared(limits, position)
        exact, solution = self._solved_position(position, limits, stop)
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
        found = self.searcher.search(
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
            processor_seconds=self.searcher.helper_seconds,
        )

    def _shared(self, limits: Limits, position: Any) -> Limits:
        """Tell how many moves share a clock where a solver ends the game: those until it is likely to do so in time."""
        clock = limits.clock
        if clock is None or self._solver is None or self._usual_nodes is None:
            return limits
        left = self._solver.plies_left(position)
        nodes = clock.remaining * _SOLVING_SHARE * self._rate / _SURE
        solved = next((count for count in range(left, 0, -1) if self._usual_nodes(count) <= nodes), 0)
        return attrs.evolve(limits, clock=attrs.evolve(clock, moves=(left - solved) / 2 + _SOLVING_MOVES))

    def _solved_position(
        self, position: Any, limits: Limits, stop: Stop | None = None, *, takes_results: bool = True
    ) -> tuple[bool, Solution | None]:
        """Solve a position that is near enough to the end, in a share of the time and the nodes.

        Returns
        -------
        exact, solution
            Whether its exact score was asked for, not only its result, if that will do; None where it was not near
            enough.
        """
        seconds = _seconds_for_solving(limits)
        exact = not takes_results or self.solver_for(position, seconds) is not None
        solver = self.solver_for(position, seconds, result_only=not exact)
        if solver is None:
            return exact, None
        solution = solver.solve(
            position, result_only=not exact, nodes=_nodes_for_solving(limits), seconds=seconds, stop=stop
        )
        self._note_rate(solution)
        return exact, solution

    def _note_rate(self, solution: Solution) -> None:
        if solution.nodes > _LEAST_MEASURED:
            self._rate = solution.nodes / solution.seconds

    def judge(self, position: Any, *, fresh: bool = False, window: tuple[int, int] | None = None) -> MoveChoice:
        """Judge a position by the solver where it is near enough to the end, else by a search within the limits.

        Parameters
        ----------
        fresh
            Begin with empty tables, which takes none of the time that is told.
        window
            Lower and upper bound in steps: a score that a search finds outside is only a bound.

        Returns
        -------
        MoveChoice
            Its score lies within the game's final scores, or within the greatest log odds of the search under the
            logistic link. It is exact where it comes from the solver, or where a full-width search has proven a win or
            a loss and there is nothing but these. The move is -1 where the game is over.
        """
        limit = self.evaluator.limit / self.evaluator.steps_per_unit
        is_odds = self.evaluation.link == LOGISTIC
        if fresh:
            self.new_game()
        begin = time.perf_counter()
        limits = self._shared(self.spec.limits, position)
        # Where moves left are named from which on positions are solved, they are solved whatever that takes.
        solving = Limits() if self._usual_nodes is None else limits
        _, solution = self._solved_position(position, solving, takes_results=is_odds)
        nodes = 0
        if solution is not None:
            score = limit * np.sign(solution.score) if is_odds else solution.score
            seconds = time.perf_counter() - begin
            if solution.exact:
                return MoveChoice(_number(solution.move), float(score), 0, solution.nodes, seconds, exact=True)
            nodes, limits = solution.nodes, _less(limits, seconds, solution.nodes)
        found = self.searcher.search(position, limits, window=window)
        low, high = (-limit, limit) if is_odds else self.game.score_bounds
        proven = (
            self.game.greatest_score <= 1
            and self.searcher.settings.probcut is None
            and found.lines[0].plies_to_end is not None
        )
        score, seconds = min(max(found.value, low), high), time.perf_counter() - begin
        return MoveChoice(_number(found.move), score, found.depth, nodes + found.nodes, seconds, exact=proven)

    def analyse(
        self,
        position: Any,
        limits: Limits,
        *,
        lines: int,
        stop: Stop,
        previous: Sequence[Any] = (),
        on_iteration: Callable[[SearchResult], None] | None = None,
        exclude: Sequence[int] = (),
    ) -> SearchResult:
        """Find the best lines of a position that is not over.

        Parameters
        ----------
        position
            The position; it is solved where :meth:`choose` would solve it.
        stop
            Ends the analysis from another thread.
        previous
            The game's earlier positions.
        on_iteration
            Called with what is known after each iteration.
        exclude
            Moves that are not looked at; the position has others.
        """
        began = time.perf_counter()

        def search(limits: Limits) -> SearchResult:
            return self.searcher.search(
                position, limits, lines=lines, stop=stop, previous=previous, on_iteration=on_iteration, exclude=exclude
            )

        limits, result_only = self._shared(limits, position), self.evaluator.result_only
        seconds, nodes = _seconds_for_solving(limits), _nodes_for_solving(limits)
        solver = self.solver_for(position, seconds, result_only=result_only)
        if exclude or solver is None:
            return search(limits)
        depth = min(limits.depth or _DEPTH_BEFORE_SOLVING, _DEPTH_BEFORE_SOLVING)
        glance = search(Limits(depth, nodes, seconds))
        if glance.proven or stop.is_set():
            return glance
        found: tuple[Solution, ...] = ()
        nodes = None if nodes is None else nodes - glance.nodes
        seconds = None if seconds is None else seconds - glance.seconds
        if (nodes is None or nodes > 0) and (seconds is None or seconds > 0):
            solving: dict[str, Any] = {"result_only": result_only, "nodes": nodes, "seconds": seconds, "stop": stop}
            if lines == 1:
                found = (solver.solve(position, **solving),)
                self._note_rate(found[0])
            else:
                found = solve_moves(self.game, solver, position, **solving)
        spent = glance.nodes + sum(each.nodes for each in found)
        wanted = 1 if lines == 1 else len(self.game.list_legal_moves(position))
        if len(found) < wanted or not all(each.exact for each in found):
            return glance if stop.is_set() else search(_less(limits, time.perf_counter() - began, spent))
        solved = attrs.evolve(
            glance,
            lines=tuple(self._solved_line(solver.plies_left(position), each) for each in found[:lines]),
            depth=solver.plies_left(position),
            selective_depth=0,
            nodes=spent,
            seconds=time.perf_counter() - began,
            stopped=False,
            proven=True,
        )
        if on_iteration is not None:
            on_iteration(solved)
        return solved

    def _solved_line(self, left: int, solution: Solution) -> Line:
        """Line of a solution with so many moves left."""
        if self.evaluator.result_only:
            score = int(np.sign(solution.score)) * (int(self.searcher.state.win) - left)
        else:
            score = round(solution.score * self.evaluator.steps_per_unit)
        return self.searcher.line(score, Bound.EXACT, solution.variation, left)


def _seconds_for_solving(limits: Limits) -> float | None:
    """Share of the time that a solver gets; None where time is not limited."""
    given = [] if limits.seconds is None else [limits.seconds]
    if limits.clock is not None:
        given.append(limits.clock.remaining)
    return max(min(given) * _SOLVING_SHARE, _LEAST_SECONDS) if given else None


def _nodes_for_solving(limits: Limits) -> int | None:
    return None if limits.nodes is None else max(int(limits.nodes * _SOLVING_SHARE), 1)


def _less(limits: Limits, seconds: float, nodes: int) -> Limits:
    """Limits of a move after a part of its time has passed and some positions were visited."""
    clock = limits.clock
    if clock is not None:
        clock = attrs.evolve(clock, remaining=max(clock.remaining - seconds, _LEAST_SECONDS))
    left = None if limits.seconds is None else max(limits.seconds - seconds, _LEAST_SECONDS)
    nodes_left = None if limits.nodes is None else max(limits.nodes - nodes, 1)
    return attrs.evolve(limits, seconds=left, clock=clock, nodes=nodes_left)


def _number(move: int | None) -> int:
    return -1 if move is None else move


_kept: Kept[Thinker] = Kept(_MOST_KEPT)


def kept_thinker(game: Game, spec: PlayerSpec, table_mb: int | None = None) -> Thinker:
    """Thinker that this thread keeps for further tasks, cleared; arguments and errors are those of :class:`Thinker`."""
    thinker = _kept.get((game.name, spec, table_mb), lambda: Thinker(game, spec, table_mb))
    thinker.new_game()
    return thinker
