"""``glem tune-options`` on an engine with a known optimum: by grade, by matches, killed, with workers, wrong input."""

import json
import re
import sys
from pathlib import Path

import chess
import numpy as np
import pytest

from tests.core.cli.terminal import Terminal
from tests.core.tuning.tuned_engine import SKILL, material

ENGINE = f"uci:{sys.executable} {Path(__file__).with_name('tuned_engine.py')},nodes=1"
BY_GRADE = ("--parameter", "Skill,20,0,100,15,0.02", "--select", "all", "--skip-moves", "0", "--workers", "1")
BY_MATCH = ("--parameter", "Skill,20,0,100,15,0.02", "--parameter", "Blind,true", "--workers", "1")
_SIDES = ("P", "N", "B", "R", "Q")


@pytest.fixture
def spsa(terminal: Terminal) -> Terminal:
    return terminal.of("tune-options", "chess", ENGINE)


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Positions whose results follow the material, more or less."""
    random = np.random.default_rng(1)
    lines = []
    while len(lines) < 1500:
        board = chess.Board(None)
        squares = random.permutation(np.arange(8, 56))[:8].tolist()
        for square, letter in zip(squares, "KkPpNnRr", strict=True):
            if letter in "Kk" or random.random() < 0.6:
                board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = bool(random.integers(2))
        if not board.is_valid() or board.is_check():
            continue
        chance = 1 / (1 + np.exp(-material(board)))
        won = (random.random() < chance) == board.turn
        lines.append(f"{board.fen()};{'1-0' if won else '0-1'}")
    path = tmp_path_factory.mktemp("positions") / "material.epd"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def openings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Positions in which both sides threaten a mate in one."""
    path = tmp_path_factory.mktemp("openings") / "mates.epd"
    fens = [f"1r4k1/p4ppp/8/8/8/8/P4PPP/1R4K1 {side} - - {clock} 40" for clock in range(60) for side in "wb"]
    path.write_text("\n".join(fens) + "\n")
    return path


def found_in(folder: Path) -> dict[str, tuple[float, float | None, str]]:
    result = json.loads((folder / "result.json").read_text())
    return {each["name"]: (each["value"], each["error"], each["rounded"]) for each in result["parameters"]}


def test_by_grade_the_optimum_is_found_within_its_error(spsa: Terminal, positions: Path, tmp_path: Path):
    output = spsa(
        positions,
        *BY_GRADE,
        *("--held-out", "0.3", "--iterations", "150", "--batch", "30", "--seed", "1"),
        *("-o", tmp_path / "tuned"),
    )
    value, error, rounded = found_in(tmp_path / "tuned")["Skill"]
    assert error is not None
    assert abs(value - SKILL) < 3 * error < 20
    assert f"setoption name Skill value {rounded}" in output
    assert (tmp_path / "tuned" / "options.txt").read_text() == f"setoption name Skill value {rounded}\n"
    check = json.loads((tmp_path / "tuned" / "result.json").read_text())["check"]
    assert check["difference"] > 0
    assert check["p_value"] < 0.05
    assert (tmp_path / "tuned" / "paths.svg").read_text().startswith("<?xml")


def test_by_matches_the_optimum_is_found_within_its_error(spsa: Terminal, openings: Path, tmp_path: Path):
    output = spsa("--openings", openings, *BY_MATCH, "--iterations", "100", "--batch", "12", "-o", tmp_path / "tuned")
    value, error, _ = found_in(tmp_path / "tuned")["Skill"]
    assert error is not None
    assert abs(value - SKILL) < 3 * error < 75
    assert found_in(tmp_path / "tuned")["Blind"][2] == "false"
    assert "glem match chess" in output


@pytest.mark.parametrize("by", ["grade", "match"])
def test_killed_and_with_more_workers_it_ends_the_same(
    spsa: Terminal, by: str, positions: Path, openings: Path, tmp_path: Path
):
    source = (positions, *BY_GRADE, "--check-positions", "40") if by == "grade" else ("--openings", openings, *BY_MATCH)
    how = (*source, "--iterations", "5", "--batch", "4", "--seed", "3")
    spsa(*how, "-o", tmp_path / "whole")
    spsa(*how, "--workers", "2", "-o", tmp_path / "two")
    whole = (tmp_path / "whole" / "spsa.jsonl").read_text()
    assert (tmp_path / "two" / "spsa.jsonl").read_text() == whole
    # Cut in the middle of a line.
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "spsa.jsonl").write_bytes("\n".join(whole.splitlines()[:4])[:-9].encode())
    spsa(*how, "-o", tmp_path / "cut")
    for name in ("spsa.jsonl", "result.json", "options.txt", "paths.svg"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert "spsa.jsonl" in spsa.fails(*how, "--batch", "5", "-o", tmp_path / "whole")
    lines = whole.splitlines()
    for value in ('"-1"', "true", "1" + "0" * 400, "1e400", "[1]"):
        damaged = re.sub(r'"outcomes":\[[^,\]]+', f'"outcomes":[{value}', lines[3])
        (tmp_path / "cut" / "spsa.jsonl").write_text("\n".join([*lines[:3], damaged, *lines[4:], ""]))
        assert "spsa.jsonl:4: damaged" in spsa.fails(*how, "-o", tmp_path / "cut")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Sklil,1", "announces no option 'Sklil'; it has Blind, Skill"),
        ("Style,1", "Style of the engine of .* is of type combo; only numbers"),
        ("Skill,1x", "START must be a number, got '1x'"),
        ("Skill,20,0,200", "MAX 200 is outside of 0 to 100"),
        ("Skill,20,30,40", "START 20 is outside of 30 to 40"),
        ("Skill,20,40,40", "MIN 40 must be below MAX 40"),
        ("Skill,20,0.5,40", "MIN must be a whole number"),
        ("Skill,20,0,40,0", "C_END must be positive"),
        ("Skill,1,2,3,4,5,6", "6 numbers; a parameter has"),
        ("Skill,check,1", "is of type spin, not 'check'"),
        ("Blind,perhaps", "is of type check, not 'perhaps'"),
    ],
)
def test_wrong_parameters_are_told(spsa: Terminal, line: str, problem: str, openings: Path, tmp_path: Path):
    said = spsa.fails("--openings", openings, "--parameter", line, "-o", tmp_path / "o")
    assert re.search(problem, said), said
    assert line in said


def test_wrong_calls_are_told(terminal: Terminal, spsa: Terminal, positions: Path, openings: Path, tmp_path: Path):
    out = ("-o", tmp_path / "o")
    assert "nothing to tune" in spsa.fails("--openings", openings, *out)
    assert "Skill is there twice" in spsa.fails("--openings", openings, *BY_MATCH, "--parameter", "skill", *out)
    assert "--openings goes with matches" in spsa.fails(positions, "--openings", openings, *BY_GRADE, *out)
    assert "--skip-moves goes with GAMES" in spsa.fails(*BY_MATCH, "--skip-moves", "2", *out)
    assert "no-such" in terminal.fails("tune-options", "chess", "uci:/no-such-program,nodes=1", *BY_MATCH, *out)
    assert "external engine" in terminal.fails("tune-options", "chess", "default,nodes=1", *BY_MATCH, *out)
    (tmp_path / "empty.txt").write_text("# nothing\n")
    assert "empty.txt: has no parameters" in spsa.fails("--parameters", tmp_path / "empty.txt", *out)
    (tmp_path / "bad.txt").write_text("# OpenBench\nSkill, int, 20, 0, 100, 5, 0.002\nNone, 1\n")
    assert re.search(r"bad\.txt:3: .*announces no option", spsa.fails("--parameters", tmp_path / "bad.txt", *out))
    assert not (tmp_path / "o").exists()
