"""The endgame solver against the naive one, in every convention, its limits, and suites of solved positions."""

import threading
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from attrs import fields

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.positions.reading import read_scored_positions
from glem.core.search.solver import solve_moves
from glem.core.tasks.stop import Stop
from glem.games.othello import OTHELLO
from glem.games.othello.rules import Position
from glem.games.othello.solver import EndgameSolver, Techniques
from glem.games.othello.solver.workspace import PASS_NUMBER
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.oracles import endgame as oracle
from tests.oracles.obf import solved_positions
from tests.oracles.othello_rules import board_of, legal_moves, play, position_of

CONVENTIONS = ["standard", "raw", "sign"]


def played(generator: np.random.Generator, empties: int) -> np.ndarray:
    """Board of a random game with so many empty squares, or where it ended before."""
    board = board_of(0x0000000810000000, 0x0000001008000000)
    while (board == 0).sum() > empties:
        moves = legal_moves(board)
        if not moves:
            return board
        board = play(board, int(generator.choice(moves)))
    return board


def scattered(generator: np.random.Generator, empties: int) -> np.ndarray:
    """Board of discs at random: many passes, wipe-outs and early ends."""
    flat = np.where(generator.random(64) < generator.random() ** 2, 1, -1)
    flat[generator.choice(64, empties, replace=False)] = 0
    return flat.reshape(8, 8)


# The conventions differ in what the end of a game is worth; the naive solver takes ten seconds for each.
@pytest.mark.parametrize(
    "convention", ["standard", *(pytest.param(n, marks=pytest.mark.repeats) for n in ("raw", "sign"))]
)
def test_random_endgames_as_the_naive_solver(convention):
    generator = np.random.default_rng(CONVENTIONS.index(convention))
    solver = EndgameSolver(table_mb=1, convention=convention)
    for number in range(700):
        empties = number % 6 if number % 100 else 6
        board = (played if number % 2 else scattered)(generator, empties)
        solution = solver.solve(position_of(board))
        expected = oracle.solve(board, convention)
        assert solution.score == expected
        assert solution.exact
        if convention != "sign":
            assert oracle.score_of_play(board, solution.variation, convention) == expected
        if solution.move is None:
            assert not legal_moves(board)
        else:
            assert -oracle.solve(play(board, solution.move), convention) == expected
            assert solution.variation[0] == solution.move
        result = solver.solve(position_of(board), result_only=True)
        assert result.score == np.sign(expected)
        if result.move is not None:
            assert -np.sign(oracle.solve(play(board, result.move), convention)) == np.sign(expected)


def test_every_move_of_random_endgames():
    generator = np.random.default_rng(7)
    solver = EndgameSolver(table_mb=1)
    for _ in range(60):
        board = played(generator, 5)
        solutions = solve_moves(OTHELLO, solver, position_of(board))
        assert sorted(solution.move for solution in solutions if solution.move is not None) == legal_moves(board)
        assert [solution.score for solution in solutions] == sorted((s.score for s in solutions), reverse=True)
        for solution in solutions:
            assert solution.move is not None
            assert solution.score == -oracle.solve(play(board, solution.move))
            assert oracle.score_of_play(board, solution.variation) == solution.score


def test_a_forced_pass_is_a_move():
    # a1 own, b1 opponent's, the rest empty: the side that holds b1 must pass, then c1 ends the game.
    solution = EndgameSolver().solve(Position(np.uint64(0b10), np.uint64(0b01)))
    assert solution.variation == (64, 2)
    assert solution.score == -64


def test_usual_nodes_are_of_the_size_of_real_ones(othello_learning: Learning):
    game, solver = othello_learning.game, EndgameSolver(evaluator_of(mobility_evaluation(othello_learning)), table_mb=4)
    position, nodes = game.initial_position, []
    generator = np.random.default_rng(4)
    while not game.is_over(position):
        count = solver.plies_left(position)
        if 8 <= count <= 14:
            nodes.append(np.log(solver.solve(position).nodes / solver.usual_nodes(count)))
            solver.clear()
        position = game.play(position, generator.choice(game.list_legal_moves(position)))
    assert abs(np.mean(nodes)) < np.log(8)
    assert solver.usual_nodes(20, result_only=True) < solver.usual_nodes(20) < solver.usual_nodes(21)


def test_equal_nodes_after_clear(othello: Game):
    position = othello.parse_position("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X")  # FFO #1
    solver = EndgameSolver(table_mb=4)
    first = solver.solve(position)
    again = solver.solve(position)
    assert first.move is not None
    assert (first.score, othello.format_move(first.move)) == (18, "g8")
    assert (again.score, again.move) == (first.score, first.move)
    assert again.nodes < first.nodes / 10
    solver.clear()
    cleared = solver.solve(position)
    assert (cleared.nodes, cleared.variation) == (first.nodes, first.variation)
    assert EndgameSolver(table_mb=4).solve(position).nodes == first.nodes


def test_techniques_and_evaluations_change_only_the_nodes(othello_learning: Learning):
    generator = np.random.default_rng(3)
    positions = [position_of(played(generator, empties)) for empties in (16, 17)]
    evaluator = evaluator_of(mobility_evaluation(othello_learning))
    plain = EndgameSolver(table_mb=4)
    expected = [plain.solve(position) for position in positions]
    guided = EndgameSolver(evaluator, 4)
    nodes = set()
    for left_out in (None, *(field.name for field in fields(Techniques))):
        techniques = Techniques() if left_out is None else Techniques(**{left_out: False})
        solver = EndgameSolver(evaluator, 4, techniques=techniques)
        solutions = [solver.solve(position) for position in positions]
        assert [solution.score for solution in solutions] == [solution.score for solution in expected], left_out
        nodes.add(sum(solution.nodes for solution in solutions))
    assert len(nodes) == len(fields(Techniques)) + 1
    for position, solution in zip(positions, expected, strict=True):
        assert guided.solve(position, result_only=True).score == np.sign(solution.score)
        assert guided.solve(position).exact


def test_selective_bounds_that_contradict_each_other_end_their_pass(
    othello_learning: Learning, monkeypatch: pytest.MonkeyPatch
):
    position = position_of(played(np.random.default_rng(3), 17))
    solver = EndgameSolver(evaluator_of(mobility_evaluation(othello_learning)), 4)
    expected = solver.solve(position)
    window, seen = EndgameSolver._window, []

    def contradicting(self: EndgameSolver, position: Position, alpha: int, beta: int) -> int:
        if not self._workspace.counters[PASS_NUMBER]:
            return window(self, position, alpha, beta)
        seen.append((alpha, beta))
        assert len(seen) < 9
        # As with a table by which a position has a score of at most 5, and of at least 9.
        return 5 if alpha >= 5 else 9

    monkeypatch.setattr(EndgameSolver, "_window", contradicting)
    monkeypatch.setattr(EndgameSolver, "_estimate", lambda *_: 20)
    again = solver.solve(position)
    assert len(seen) == 2
    assert (again.score, again.exact) == (expected.score, True)


def test_limits_and_a_stop_end_the_search_soon(othello: Game):
    position = othello.parse_position("-" * 20 + "XXOOXXOO" * 3 + "-" * 20 + " X")
    solver = EndgameSolver(table_mb=1)
    few = solver.solve(position, nodes=20_000)
    assert not few.exact
    assert few.nodes < 200_000
    assert few.move in legal_moves(board_of(int(position.own), int(position.opponent)))
    begun = time.thread_time()
    assert not solver.solve(position, seconds=0.05).exact
    assert time.thread_time() - begun < 1
    stop = Stop()
    timer = threading.Timer(0.1, stop.set)
    timer.start()
    assert not solver.solve(position, stop=stop).exact
    timer.join()
    assert not solver.solve(position, stop=stop).exact
    assert solve_moves(OTHELLO, solver, position, nodes=1000)[0].exact is False


def test_a_move_that_was_not_solved_comes_after_those_that_were():
    # What is known of it is no score to compare: 0, where those of the others may be below.
    generator = np.random.default_rng(8)
    solver = EndgameSolver(table_mb=1)
    ended_early = 0
    for _ in range(10):
        position = position_of(played(generator, 10))
        for nodes in (100, 400, 1600, 6400):
            solver.clear()
            solutions = solve_moves(OTHELLO, solver, position, nodes=nodes)
            assert all(solution.exact for solution in solutions[:-1])
            ended_early += len(solutions) > 1 and not solutions[-1].exact and solutions[-2].score < solutions[-1].score
    assert ended_early


def test_what_is_refused():
    solver = EndgameSolver(table_mb=1)
    with pytest.raises(BadInputError, match="2 squares hold discs of both sides"):
        solver.solve(Position(np.uint64(7), np.uint64(3)))
    with pytest.raises(BadInputError, match="limit of nodes"):
        solver.solve(Position(np.uint64(4), np.uint64(3)), nodes=0)
    for seconds in (float("nan"), float("inf"), 0.0):
        with pytest.raises(BadInputError, match="limit of seconds"):
            solver.solve(Position(np.uint64(4), np.uint64(3)), seconds=seconds)
    with pytest.raises(BadInputError, match="no score convention 'odd'"):
        EndgameSolver(convention=cast(Any, "odd"))
    with pytest.raises(BadInputError, match="megabytes"):
        EndgameSolver(table_mb=0)


@pytest.mark.shared
def test_ffo_1_to_19_with_all_their_moves(othello: Game, shared: Path):
    solver = EndgameSolver(table_mb=16)
    for position, known in solved_positions(shared / "othello" / "ffo" / "fforum-1-19.obf"):
        best = solver.solve(position)
        assert best.move is not None
        assert best.score == max(known.values()) == known[best.move]
        assert {solution.move: solution.score for solution in solve_moves(othello, solver, position)} == known
        assert solver.solve(position, result_only=True).score == np.sign(best.score)


@pytest.mark.shared
def test_a_sample_of_hard_positions_with_20_empty_squares(othello: Game, shared: Path):
    # `python -m tests.benchmarks.solver_tables moves` does them all.
    solver = EndgameSolver(table_mb=64)
    solved = solved_positions(shared / "othello" / "endgame" / "hard-20.obf")
    for row in np.random.default_rng(0).choice(len(solved), 2, replace=False):
        position, known = solved[row]
        assert {solution.move: solution.score for solution in solve_moves(othello, solver, position)} == known


@pytest.mark.shared
def test_exact_scores_with_0_to_8_empty_squares(othello: Game, shared: Path):
    solver = EndgameSolver(table_mb=1)
    file = shared / "othello" / "endgame" / "exact_scores_0-8_empties.txt.xz"
    (chunk,) = read_scored_positions(othello, file)
    assert len(chunk.label) == 9000
    for row, score in enumerate(chunk.label.tolist()):
        assert solver.solve(position_at(chunk.positions, row)).score == score


@pytest.mark.shared
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
