"""The solver of games that bring none: exact to the end, honest about what a limit ended."""

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.game.game import Game
from glem.core.players.making import make_player
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.players.thinker import Thinker
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from glem.core.search.solver import SearchSolver, SolverSpec, can_solve, solve_moves, solver_of
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.game.countdown_game import COUNTDOWN, FACTS, STONES, Position


def plies_left(position: Position) -> int:
    return int(position.stones)


SOLVABLE = Game(**{**FACTS, "search_functions": {"plies_left": plies_left}})


def position_of(stones: int) -> Position:
    return Position(np.uint8(stones))


def value_of(stones: int) -> int:
    return -1 if stones % 4 == 0 else 1


@pytest.fixture(autouse=True)
def plain_searches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So small a game is solved as plain Python before its search is compiled; Connect Four's tests compile theirs."""
    if "othello" not in request.fixturenames:
        monkeypatch.setattr(Searcher.__init__, "__kwdefaults__", {"plain": True, "shared": None})


@pytest.mark.parametrize("stones", range(STONES + 1))
@pytest.mark.parametrize("result_only", [False, True])
def test_every_position_of_a_small_game(stones: int, result_only: bool) -> None:
    solver = solver_of(SOLVABLE, table_mb=1)
    assert isinstance(solver, SearchSolver)
    solution = solver.solve(position_of(stones), result_only=result_only)
    assert solution.exact
    assert solution.score == value_of(stones)
    assert solver.plies_left(position_of(stones)) == stones
    assert (solution.move is None) == (stones == 0)
    if value_of(stones) > 0:
        assert solution.move == stones % 4 - 1


def test_all_moves_are_solved_best_first() -> None:
    solutions = solve_moves(SOLVABLE, SearchSolver(SOLVABLE, table_mb=1), position_of(7))
    assert [(solution.move, solution.score) for solution in solutions] == [(2, 1), (0, -1), (1, -1)]
    assert all(solution.exact and solution.variation[0] == solution.move for solution in solutions)
    assert solve_moves(SOLVABLE, SearchSolver(SOLVABLE, table_mb=1), position_of(0)) == ()


def test_a_search_that_a_limit_ended_is_not_exact() -> None:
    solver = SearchSolver(SOLVABLE, table_mb=1)
    assert not solver.solve(position_of(9), nodes=1).exact
    found = solve_moves(SOLVABLE, solver, position_of(9), nodes=2)
    assert len(found) < 3 and not all(solution.exact for solution in found)


@pytest.mark.slow
def test_graded_scores_agree_with_a_solver_made_for_the_game(othello: Game, mobility: str) -> None:
    own = solver_of(othello, table_mb=1)
    generic = SearchSolver(othello, evaluator_of(LinearEvaluation.load(mobility)), table_mb=1)
    assert not isinstance(own, SearchSolver)
    lines = (random_line(othello, np.random.default_rng(seed))[0] for seed in range(12))
    near = [next((position for position in line if own.plies_left(position) <= 7), line[-2]) for line in lines]
    for position in near:
        expected, found = own.solve(position), generic.solve(position)
        assert found.exact and found.score == expected.score
        result = generic.solve(position, result_only=True)
        assert result.exact and result.score == np.sign(expected.score)


def test_games_without_an_end_in_sight_are_refused() -> None:
    assert can_solve(SOLVABLE) and not can_solve(COUNTDOWN)
    with pytest.raises(BadInputError, match=r"Countdown cannot be solved.*neither make_solver nor"):
        solver_of(COUNTDOWN)


def test_conventions_are_no_business_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.search.solver.load_game", lambda _name: SOLVABLE)
    assert isinstance(SolverSpec("countdown", table_mb=1).make(), SearchSolver)
    with pytest.raises(BadInputError, match="no score conventions"):
        SolverSpec("countdown", table_mb=1, convention="odd").make()


def test_players_without_an_evaluation_need_no_features() -> None:
    spec = parse_player("none,depth=6,solve=3").resolved(SOLVABLE)
    player = make_player(SOLVABLE, spec)
    for stones in (1, 2, 3, 5, 6, 7):
        assert player.choose(position_of(stones), (), None).move == stones % 4 - 1
    assert player.choose(position_of(3), (), None).exact


def test_a_proven_win_is_an_exact_label() -> None:
    labeller = Thinker(SOLVABLE, PlayerSpec("deep", evaluation="none", limits=Limits(depth=3)))
    won, lost, open_one = (labeller.judge(position_of(stones)) for stones in (7, 4, 9))
    assert (won.score, won.exact) == (1, True)
    assert (lost.score, lost.exact) == (-1, True)
    assert (open_one.score, open_one.exact) == (0, False)


def test_a_greedy_player_without_an_evaluation_takes_wins() -> None:
    player = make_player(COUNTDOWN, parse_player("greedy,evaluation=none").resolved(COUNTDOWN))
    assert player.choose(position_of(2), (), None).move == 1
