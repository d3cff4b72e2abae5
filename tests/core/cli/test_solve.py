"""``glem solve`` as a user runs it."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.game.game import Game
from glem.core.search.solver import SolverSpec, solve_positions
from glem.core.tasks.tasks import Workers
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.evaluator_scores import random_line

FIRST = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X"  # FFO #1
SCORES = "G8:+18; H1:+12; H7:+6; A2:+6; A3:+4; B1:-4; A4:-22; G2:-24;"
# One empty square, a1: it turns b1, and the game ends 39 to 25.
LAST = "-OX" + "X" * 36 + "O" * 25 + " X"


@pytest.fixture
def run(terminal: Terminal) -> Terminal:
    return terminal.of("solve", "othello")


def test_a_file_is_solved_and_checked(run, tmp_path: Path):
    file = tmp_path / "ends.obf"
    file.write_text(f"{FIRST}; {SCORES}\n{LAST}; A1:+14;\n")
    text = run(file, "--check", "--workers", "1", "--evaluation", "none")
    assert " +18 " in text
    assert "g8" in text
    assert "2 positions, 0 not solved; 0 of 2 scores differ" in text
    found = run.json(file, "--check", "--workers", "1")
    assert [report["solutions"][0]["score"] for report in found["positions"]] == [18, 14]
    assert (found["checked"], found["wrong"], found["unsolved"]) == (2, 0, 0)
    file.write_text(f"{FIRST}; G8:+16;\n")
    assert "(in the file: +16)" in run(file, "--check", "--workers", "1", status=1)
    assert "1 position, 1 not solved" in run(file, "--nodes", "5", status=1)


def test_all_moves_and_results(run):
    found = run.json("--position", FIRST, "--all-moves")
    scores = [(entry["move"], entry["score"]) for entry in found["positions"][0]["solutions"]]
    assert sorted(f"{move.upper()}:{score:+d};" for move, score in scores) == sorted(SCORES.split())
    found = run.json("--position", FIRST, "--result-only")
    assert found["positions"][0]["solutions"][0]["score"] == 1


def test_positions_without_scores(run, tmp_path: Path):
    file = tmp_path / "ends.obf"
    file.write_text(f"{FIRST}\n{LAST};\n")
    text = run(file, "--workers", "1")
    assert " +18 " in text
    assert " +14 " in text
    assert "2 positions, 0 not solved" in text
    assert "none of the positions comes with a score" in run(file, "--check", status=2)
    file.write_text(f"{FIRST}\n{LAST}; A1:+14;\n")
    text = run(file, "--check", "--workers", "1")
    assert "0 of 1 scores differ" in text
    assert "1 position without a score" in text
    file.write_text("% nothing\n")
    assert "no positions" in run(file, status=2)


def test_the_format_can_be_named(run, tmp_path: Path):
    file = tmp_path / "ends"
    file.write_text("odd")
    assert "name one with --format: obf, positions, table" in run(file, status=2)
    file.write_text(f"{LAST}\n\n{LAST} 14\n{LAST};\n")
    assert "0 of 1 scores differ" in run(file, "--check", "--workers", "1")
    assert "0 of 1 scores differ" in run(file, "--format", "positions", "--check", "--workers", "1")
    assert "there is no format 'odd'" in run(file, "--format", "odd", status=2)


def test_a_line_of_a_file_is_a_position(run):
    assert run("--position", f"{LAST}; A1:+12;").startswith(" +14 ")
    assert "64 squares" in run("--position", f"{LAST[1:]}; A1:+12;", status=2)


def test_only_the_best_move_is_compared(run, tmp_path: Path):
    file = tmp_path / "ends.obf"
    file.write_text(f"{FIRST}; {SCORES}\n")
    assert "in the file" not in run(file, "--check", "--all-moves")
    file.write_text(f"{FIRST}; G8:+16;\n")
    assert run(file, "--check", "--all-moves", status=1).count("in the file: +16") == 1
    # Where moves are missing, nobody knows the best one.
    text = run(file, "--check", "--all-moves", "--nodes", "20000", status=1)
    assert "in the file" not in text
    assert "0 of 0 scores differ" in text


def test_what_was_not_solved_has_no_score(run):
    assert run("--position", FIRST, "--nodes", "5", status=1).startswith("   ?  ")
    arguments = ("--position", FIRST, "--all-moves", "--nodes", "3000")
    text = run(*arguments, status=1)
    report = run.json(*arguments, status=1)["positions"][0]
    solutions, missing = report["solutions"], report["moves_not_reached"]
    assert missing > 0
    assert len(solutions) + missing == len(SCORES.split())
    assert [entry["score"] is None for entry in solutions] == [not entry["exact"] for entry in solutions]
    assert f"   ?  {missing} moves not reached" in text
    assert "1 position, 1 not solved" in text
    over = "X" * 64 + " X"
    assert "the game is over" in run("--position", over, "--all-moves")


def test_what_is_refused(run):
    assert "nothing to solve" in run(status=2)
    assert "no score convention 'odd'" in run("--position", LAST, "--convention", "odd", status=2)
    assert "no such file" in run("--position", LAST, "--evaluation", "absent.npz", status=2)


def test_workers_do_not_matter(othello: Game):
    positions = random_line(othello, np.random.default_rng(0))[0][-13:-1]
    spec = SolverSpec("othello", table_mb=1)
    alone = dict(solve_positions(spec, positions))
    together = dict(solve_positions(spec, reversed(positions), workers=Workers(2)))
    for place, (solution,) in alone.items():
        (other,) = together[len(positions) - 1 - place]
        assert (solution.score, solution.nodes, solution.variation) == (other.score, other.nodes, other.variation)
