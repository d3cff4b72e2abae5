"""Speed of the endgame solver: ``pytest tests/benchmarks/test_solver.py``.

The aims, on one core of a current x86 server, with the evaluation that comes with glem to order the moves: FFO 1 to 19
in under 0.3 s, 20 to 39 in under 5 s, 40 to 44 in under 6 s; positions of real games with 20 empty squares at over 5 a
second, with 14 at over 600. Node counts are in the extra columns of the JSON output.
"""

from pathlib import Path

import pytest

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.game.game import load_game
from glem.games.othello.solver import EndgameSolver
from tests.benchmarks.solver_tables import problems, solve_each, warmed
from tests.benchmarks.tournament_positions import real_positions

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def solver() -> EndgameSolver:
    return warmed(evaluator_of(load_value("default", load_game("othello"))))


def measure(benchmark, solver: EndgameSolver, positions: list) -> None:
    effort = benchmark.pedantic(solve_each, args=(solver, positions), rounds=3)
    assert effort.wrong == 0
    benchmark.extra_info["million nodes"] = round(effort.nodes / 1e6, 2)
    benchmark.extra_info["million nodes/s"] = round(effort.nodes / effort.seconds / 1e6, 1)
    benchmark.extra_info["positions/s"] = round(effort.positions / effort.seconds, 1)


@pytest.mark.parametrize(("first", "last"), [(1, 19), (20, 39), (40, 44)])
def test_ffo_suite(benchmark, solver: EndgameSolver, shared: Path, first: int, last: int):
    measure(benchmark, solver, problems(shared / "othello", first, last))


@pytest.mark.parametrize(("empties", "count"), [(20, 40), (14, 600)])
def test_positions_of_real_games(benchmark, solver: EndgameSolver, shared: Path, empties: int, count: int):
    positions = real_positions(shared / "othello" / "wthor", empties, count)
    measure(benchmark, solver, [(position, None) for position in positions])
