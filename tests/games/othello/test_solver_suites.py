"""The endgame solver on suites of solved positions from elsewhere."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.game.game import Game
from glem.core.positions.reading import read_scored_positions
from glem.core.search.solver import solve_moves
from glem.games.othello.rules import Position
from glem.games.othello.solver import EndgameSolver
from tests.oracles.obf import solved_positions

pytestmark = pytest.mark.shared


def test_ffo_1_to_19_with_all_their_moves(othello: Game, shared: Path):
    solver = EndgameSolver(table_mb=16)
    for position, known in solved_positions(shared / "othello" / "ffo" / "fforum-1-19.obf"):
        best = solver.solve(position)
        assert best.move is not None
        assert best.score == max(known.values()) == known[best.move]
        assert {solution.move: solution.score for solution in solve_moves(othello, solver, position)} == known
        assert solver.solve(position, result_only=True).score == np.sign(best.score)


def test_a_sample_of_hard_positions_with_20_empty_squares(othello: Game, shared: Path):
    # `python -m tests.benchmarks.solver_tables moves` does them all.
    solver = EndgameSolver(table_mb=64)
    solved = solved_positions(shared / "othello" / "endgame" / "hard-20.obf")
    for row in np.random.default_rng(0).choice(len(solved), 2, replace=False):
        position, known = solved[row]
        assert {solution.move: solution.score for solution in solve_moves(othello, solver, position)} == known


def test_exact_scores_with_0_to_8_empty_squares(othello: Game, shared: Path):
    solver = EndgameSolver(table_mb=1)
    file = shared / "othello" / "endgame" / "exact_scores_0-8_empties.txt.xz"
    (chunk,) = read_scored_positions(othello, file)
    assert len(chunk.label) == 9000
    for row, score in enumerate(chunk.label.tolist()):
        assert solver.solve(position_at(chunk.positions, row)).score == score


@pytest.mark.parametrize("empties", [8, 13])
def test_best_moves_and_raw_scores_of_solitaires(shared: Path, empties: int):
    content = (shared / "othello" / "endgame" / "solitaires" / f"Solitaires_{empties}.pzz").read_bytes()[16 + 4 * 64 :]
    records = np.frombuffer(content[: len(content) // 36 * 36], np.uint8).reshape(-1, 36)
    chosen = records[np.random.default_rng(0).choice(len(records), 300, replace=False)]
    # Two bits a square, the first in the high bits: 2 white, 3 black.
    boards = ((chosen[:, 12:28, None] >> np.array([6, 4, 2, 0], np.uint8)) & 3).reshape(-1, 64)
    places = np.uint64(1) << np.arange(64, dtype=np.uint64)
    black, white = ((boards == side) @ places for side in (3, 2))
    solver = EndgameSolver(table_mb=4, convention="raw")
    for row, record in enumerate(chosen):
        sides = (black[row], white[row])
        solution = solver.solve(Position(*(sides if record[29] == 1 else sides[::-1])))
        assert solution.score == int(record[30].astype(np.int8))
        assert solution.move == 8 * (record[31] // 10 - 1) + record[31] % 10 - 1
