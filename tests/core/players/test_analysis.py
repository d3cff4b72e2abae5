"""Analyses: searched lines, and solved ones where the player solves."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.game.solver import Solution
from glem.core.players.analysis import line_text
from glem.core.players.spec import PlayerSpec
from glem.core.players.thinker import Thinker
from glem.core.search.results import Bound, Clock, Limits, SearchResult
from tests.core.evaluation.linear_evaluations import mobility_evaluation

EMPTIES = 6


class PlainSolver:
    """Solves by looking at everything."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.asked = 0

    def plies_left(self, position: Any) -> int:
        return 64 - int(position.own | position.opponent).bit_count()

    def solve(
        self,
        position: Any,
        *,
        result_only: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Solution:
        assert not result_only
        self.asked += 1
        score, variation, visited = self._best(position)
        return Solution(score, variation[0], variation, visited, 0.0, exact=nodes is None or visited <= nodes)

    def _best(self, position: Any) -> tuple[int, tuple[int, ...], int]:
        game = self._game
        if game.is_over(position):
            return int(game.final_score(position)), (), 1
        moves = np.zeros(game.max_moves, np.int32)
        best_score = -1000
        best_line: tuple[int, ...] = ()
        visited = 1
        for move in moves[: game.legal_moves(position, moves, 0)].tolist():
            score, variation, below = self._best(game.play(position, move))
            visited += below
            if -score > best_score:
                best_score, best_line = -score, (move, *variation)
        return best_score, best_line, visited

    def clear(self) -> None:
        self.asked = 0


@pytest.fixture(scope="module")
def spec(mobility: str) -> PlayerSpec:
    return PlayerSpec("mobility", evaluation=mobility, limits=Limits(depth=20), table_mb=1)


@pytest.fixture(scope="module")
def solving_game(othello: Game) -> Game:
    """Othello with a solver that needs no compilation."""
    return attrs.evolve(othello, make_solver=lambda evaluator, table_mb: PlainSolver(othello))


@pytest.fixture(scope="module")
def endgames(othello: Game) -> list[Any]:
    """Positions near the end of random games."""
    generator = np.random.default_rng(5)
    found: list[Any] = []
    while len(found) < 12:
        position = othello.initial_position
        while not othello.is_over(position):
            moves = np.zeros(othello.max_moves, np.int32)
            count = othello.legal_moves(position, moves, 0)
            if count > 1 and int(position.own | position.opponent).bit_count() >= 64 - EMPTIES:
                found.append(position)
                break
            position = othello.play(position, int(generator.choice(moves[:count])))
    return found


def analyse(
    thinker: Thinker, position: Any, limits: Limits, *, lines: int = 60
) -> tuple[SearchResult, list[SearchResult]]:
    seen: list[SearchResult] = []
    found = thinker.analyse(position, limits, lines=lines, stop=threading.Event(), on_iteration=seen.append)
    return found, seen


def test_solved_lines_are_those_of_a_full_search(
    othello: Game, solving_game: Game, spec: PlayerSpec, endgames: list[Any]
) -> None:
    searching = Thinker(othello, spec)
    solving = Thinker(solving_game, attrs.evolve(spec, solve_from=EMPTIES))
    for position in endgames:
        searched, _ = analyse(searching, position, Limits(depth=20))
        solved, seen = analyse(solving, position, Limits(depth=1))
        assert searched.proven
        assert solved.proven
        assert seen[-1] is solved
        assert {line.moves[0]: line.value for line in solved.lines} == {
            line.moves[0]: line.value for line in searched.lines
        }
        assert solved.depth >= searched.depth
        for line in solved.lines:
            after = position
            for move in line.moves:
                after = othello.play(after, move)
            sign = -1 if len(line.moves) % 2 else 1
            assert othello.is_over(after)
            assert sign * othello.final_score(after) == line.value
            assert line.bound is Bound.EXACT


def test_what_cannot_be_solved_within_the_limits_is_searched(
    solving_game: Game, spec: PlayerSpec, endgames: list[Any]
) -> None:
    thinker = Thinker(solving_game, attrs.evolve(spec, solve_from=EMPTIES))
    # So few nodes that the glance uses them up, or the solver is refused.
    few, _ = analyse(thinker, endgames[0], Limits(depth=2, nodes=20), lines=1)
    assert not few.proven
    assert len(few.lines) == 1
    # Thinking on a clock leaves the clock to the search.
    clocked, _ = analyse(thinker, endgames[0], Limits(depth=2, clock=Clock(100)), lines=1)
    assert clocked.depth == 2


def test_a_stop_before_solving_leaves_what_was_searched(
    solving_game: Game, spec: PlayerSpec, endgames: list[Any]
) -> None:
    thinker = Thinker(solving_game, attrs.evolve(spec, solve_from=EMPTIES))
    stop = threading.Event()
    found = thinker.analyse(endgames[0], Limits(depth=1), lines=1, stop=stop, on_iteration=lambda analysis: stop.set())
    assert found.lines
    assert not found.proven


def test_values_are_worded(othello: Game, othello_learning: Learning, spec: PlayerSpec, tmp_path: Path) -> None:
    """Discs have a sign; chances are percentages, certain results words."""
    won = othello.parse_position(f"XO------{'-' * 56} X")
    thinker = Thinker(othello, spec)
    discs, _ = analyse(thinker, won, Limits(depth=5), lines=1)
    assert line_text(thinker.evaluation, discs.lines[0]) == "+64.00"
    mobility_evaluation(othello_learning, logistic=True).save(tmp_path / "chance.npz")
    thinker = Thinker(othello, attrs.evolve(spec, evaluation=str(tmp_path / "chance.npz")))
    certain, _ = analyse(thinker, won, Limits(depth=5), lines=1)
    assert line_text(thinker.evaluation, certain.lines[0]) == "won"
    assert certain.results_only
    begin, _ = analyse(thinker, othello.initial_position, Limits(depth=1), lines=1)
    assert line_text(thinker.evaluation, begin.lines[0]).endswith("%")
