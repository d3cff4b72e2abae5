"""Analyses of positions for people and for other programs: the best lines, with what their values mean."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define

from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_value
from glem.core.game.game import Game
from glem.core.game.solver import Solver
from glem.core.players.spec import PlayerSpec
from glem.core.search.probcut_choice import chosen_probcut
from glem.core.search.results import Bound, Limits, Line, SearchResult
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.solver import can_solve, solver_of

__all__ = ["AnalysedLine", "Analysis", "Analyst", "depth_texts", "value_text"]

_DEPTH_BEFORE_SOLVING = 8
"""Enough to show something at once where a solver then finds the truth."""


@define(frozen=True)
class AnalysedLine:
    """One of the best lines of play.

    Parameters
    ----------
    value
        From the side to move, in label units of the evaluation before its link.
    text
        The value for people: a signed number of label units, a winning chance, or ``won`` and ``lost``.
    bound
        What the value says about the line.
    moves
        The line; at least one move.
    depth
        The iteration that found it, in plies.
    plies_to_end
        In how many plies the game is over by it, where the search has found a certain win or loss; else None.
    """

    value: float
    text: str
    bound: Bound
    moves: tuple[int, ...]
    depth: int
    plies_to_end: int | None = None


@define(frozen=True)
class Analysis:
    """What is known of a position.

    Parameters
    ----------
    lines
        The best lines, best first; as many as were asked for and there are moves. Where the search ended inside an
        iteration, the lines that this iteration found come first, then those of the one before it.
    depth
        Last iteration that was completed, in plies.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    stopped
        Whether a limit or a stop ended it inside an iteration.
    proven
        Whether every line was followed to the end of the game, nothing pruned that could matter.
    results_only
        Whether values tell who wins, not by how much.
    selective_depth
        Greatest distance in plies that the search looked at; 0 where nothing was searched.
    """

    lines: tuple[AnalysedLine, ...]
    depth: int
    nodes: int
    seconds: float
    stopped: bool
    proven: bool
    results_only: bool
    selective_depth: int = 0


def depth_texts(analysis: Analysis) -> list[str]:
    """Depths of the lines in words, for each line; empty words where all are as deep as the analysis."""
    if all(line.depth == analysis.depth for line in analysis.lines):
        return [""] * len(analysis.lines)
    return [f"depth {line.depth:>2}  " for line in analysis.lines]


def value_text(evaluation: LinearEvaluation, value: float) -> str:
    """Word a value before the link for people: a signed number of label units, or a winning chance."""
    if evaluation.link == LOGISTIC:
        return f"{float(evaluation.link(np.array(value))):.1%}"
    return f"{value:+.2f}"


class Analyst:
    """Finds the best lines of positions as a searching player sees them.

    Parameters
    ----------
    game
        The game.
    spec
        The player. Positions with at most :attr:`PlayerSpec.solve_from` moves left are solved.

    Raises
    ------
    BadInputError
        The player does not search, or there is no such evaluation.
    """

    def __init__(self, game: Game, spec: PlayerSpec) -> None:
        if spec.kind != "search":
            raise BadInputError(f"player {spec.name!r} is {spec.kind} and does not search, so it cannot analyse")
        self._game = game
        self._evaluation = load_value(spec.evaluation, game)
        self._evaluator = evaluator_of(self._evaluation)
        probcut = chosen_probcut(game, probcut=spec.probcut, evaluation=spec.evaluation, selective=spec.selective)
        settings = SearchSettings(table_mb=spec.table_mb, probcut=probcut)
        self._searcher = Searcher(game, self._evaluator, settings)
        self._solve_from = spec.solve_from
        self._solver: Solver | None = None
        if spec.solve_from and can_solve(game) and not self._evaluator.result_only:
            self._solver = solver_of(game, self._evaluator, spec.table_mb)
        # Compiled now, and the table's memory taken, lest the first search on a clock pay for it.
        self._searcher.search(game.initial_position, Limits(depth=1))
        self.clear()

    @property
    def unit(self) -> str:
        """What values are counted in, for people."""
        return self._evaluation.unit

    def clear(self) -> None:
        """Forget what was found, for another game."""
        self._searcher.clear()
        if self._solver is not None:
            self._solver.clear()

    def analyse(
        self,
        position: Any,
        limits: Limits,
        *,
        lines: int,
        stop: threading.Event,
        previous: Sequence[Any] = (),
        on_iteration: Callable[[Analysis], None] | None = None,
        exclude: Sequence[int] = (),
    ) -> Analysis:
        """Find the best lines of a position that is not over.

        Parameters
        ----------
        position
            The position.
        limits
            When to end.
        lines
            How many lines.
        stop
            Ends the analysis from another thread.
        previous
            The game's earlier positions.
        on_iteration
            Called with what is known after each iteration.
        exclude
            Moves that are not looked at; the position has others.
        """

        def search(limits: Limits) -> Analysis:
            return self._told(
                position,
                self._searcher.search(
                    position,
                    limits,
                    lines=lines,
                    stop=stop,
                    previous=previous,
                    on_iteration=lambda result: tell(self._told(position, result)),
                    exclude=exclude,
                ),
            )

        def tell(analysis: Analysis) -> None:
            if on_iteration is not None:
                on_iteration(analysis)

        if exclude or not self._is_solvable(position, limits):
            return search(limits)
        glance = search(Limits(min(limits.depth or _DEPTH_BEFORE_SOLVING, _DEPTH_BEFORE_SOLVING), limits.nodes))
        if glance.proven or stop.is_set():
            return glance
        solved = self._solved(position, limits, lines, stop, glance)
        if solved is None:
            return search(limits)
        tell(solved)
        return solved

    def _is_solvable(self, position: Any, limits: Limits) -> bool:
        solver = self._solver
        return solver is not None and limits.clock is None and solver.plies_left(position) <= self._solve_from

    def _solved(
        self, position: Any, limits: Limits, lines: int, stop: threading.Event, glance: Analysis
    ) -> Analysis | None:
        """Solve every move; None when that was not finished within the limits or was stopped."""
        solver, game = self._solver, self._game
        assert solver is not None
        began = time.monotonic()
        nodes = glance.nodes
        depth = solver.plies_left(position)
        found: list[Line] = []
        for move in game.list_legal_moves(position):
            after = game.play(position, move)
            seconds = glance.seconds + time.monotonic() - began
            score = 0
            variation: tuple[int, ...] = ()
            if game.is_over(after):
                score = -int(game.final_score(after))
            else:
                nodes_left = None if limits.nodes is None else limits.nodes - nodes
                seconds_left = None if limits.seconds is None else limits.seconds - seconds
                if (nodes_left is not None and nodes_left < 1) or (seconds_left is not None and seconds_left <= 0):
                    return None
                solution = solver.solve(after, nodes=nodes_left, seconds=seconds_left, stop=stop)
                if not solution.exact:
                    return None
                score, variation = -solution.score, solution.variation
                nodes += solution.nodes
            steps = round(score * self._evaluator.steps_per_unit)
            found.append(Line(steps, Bound.EXACT, (move, *variation), depth))
        found.sort(key=lambda line: -line.score)
        return Analysis(
            lines=tuple(self._line(line) for line in found[:lines]),
            depth=depth,
            nodes=nodes,
            seconds=glance.seconds + time.monotonic() - began,
            stopped=False,
            proven=True,
            results_only=False,
        )

    def _told(self, position: Any, result: SearchResult) -> Analysis:
        return Analysis(
            lines=tuple(self._line(line) for line in result.lines),
            depth=result.depth,
            nodes=result.nodes,
            seconds=result.seconds,
            stopped=result.stopped,
            proven=self._is_proven(position, result),
            results_only=self._evaluator.result_only,
            selective_depth=result.selective_depth,
        )

    def _is_proven(self, position: Any, result: SearchResult) -> bool:
        rules = self._game.search_rules
        full_width = self._searcher.settings.probcut is None
        return (
            full_width
            and "plies_left" in rules
            and result.depth >= int(rules["plies_left"](position))
            and not result.stopped
        )

    def _line(self, line: Line) -> AnalysedLine:
        """Say what a line of a search means."""
        evaluator = self._evaluator
        score = line.score
        # Beyond the evaluator's limit lie the certain wins, the sooner the greater.
        is_certain = evaluator.result_only and abs(score) > evaluator.limit
        if is_certain:
            score = evaluator.limit if score > 0 else -evaluator.limit
        value = score / evaluator.steps_per_unit
        certain = "won" if score > 0 else "lost"
        text = certain if is_certain else value_text(self._evaluation, value)
        end = int(self._searcher.state.win) - abs(line.score) if is_certain else None
        return AnalysedLine(value, text, line.bound, line.moves, line.depth, end)
