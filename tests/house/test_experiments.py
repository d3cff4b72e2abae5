"""The scripts of docs/experiments, each on a few games: they run, and what they print and write is what they should."""

import json
import sys
from importlib import import_module
from pathlib import Path

import attrs
import numpy as np
import pytest

from glem.core.game.game import load_game
from glem.core.positions.files import write_positions
from glem.functions import positions_of_games
from tests.core.positions.test_game_tree import random_games
from tests.house.tree import ROOT

_MOVES = ("Nf3", "Nf6", "Ng1", "Ng8")
_RATINGS = {"Strong": 3000, "Middling": 2500, "Weak": 2000, "Dull": 1500, "Rare": 2400}


class Script:
    """Runs a script in a folder of its own; gives the lines that it prints, as words."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, name: str, *arguments: object) -> list[list[str]]:
        import_module(name).main([*map(str, arguments)])
        return [line.split() for line in self._capsys.readouterr().out.splitlines()]


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Script:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "experiments"))
    monkeypatch.chdir(tmp_path)
    return Script(capsys)


def _game(white: str, black: str, result: str, random: np.random.Generator) -> str:
    """One game: knights go to and fro, and stronger players know better who will win."""
    value = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}[result]
    words = []
    for ply in range(40):
        noise = 2.0 * (3000 - _RATINGS[(white, black)[ply % 2]]) / 1000 + 0.5
        score = value + noise * random.normal()
        words.append((f"{ply // 2 + 1}. " if ply % 2 == 0 else "") + f"{_MOVES[ply % 4]} {{wv={score:.2f}, d=9}}")
    return (
        f'[Event "Test"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
        f'[WhiteElo "{_RATINGS[white]}"]\n[BlackElo "{_RATINGS[black]}"]\n\n{" ".join(words)} {result}\n\n'
    )


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PGN of games of four players, and of one that plays once."""
    random = np.random.default_rng(7)
    texts = [_game("Rare", "Weak", "1-0", random)]
    for _ in range(480):
        white, black = random.permutation([*_RATINGS][:4])[:2]
        texts.append(_game(white, black, ("1-0", "0-1", "1/2-1/2")[int(random.integers(3))], random))
    path = tmp_path_factory.mktemp("games") / "games.pgn"
    path.write_text("".join(texts))
    return path


def test_grades_after_searches(script: Script, games: Path, tmp_path: Path) -> None:
    lines = script(
        *("power", "chess", games, "--evaluation", "default", "--evaluation", "material", "--limits", "nodes=8,16,32"),
        *("--positions", 60),
    )
    assert lines[0][:4] == ["60", "of", "481", "positions,"]
    rows = [line for line in lines if line[:1] in (["default"], ["material"])]
    assert [row[1] for row in rows[:4]] == ["static", "nodes=8", "nodes=16", "nodes=32"]
    assert [row[-2:] for row in rows[8:]] == [["of", "3"]] * 2
    assert (tmp_path / "power.svg").exists()


def test_who_knows_better_is_graded_higher(script: Script, games: Path, tmp_path: Path) -> None:
    lines = script("players", "chess", games, "--fewest", 50, "--skip-moves", 2)
    rows = [line for line in lines if line and line[0] in _RATINGS]
    assert [row[:2] for row in rows] == [[name, str(_RATINGS[name])] for name in [*_RATINGS][:4]]
    grades = [float(row[3]) for row in rows]
    assert grades[0] > grades[1] > max(grades[2:])
    assert float(rows[0][6]) > 2 * float(rows[0][8])
    assert float(rows[3][6]) < -2 * float(rows[3][8])
    assert ["1", "players", "with", "too", "few", "games", "left", "out"] in lines
    told = [" ".join(line) for line in lines]
    assert any(line.startswith("grade and rating: r = +0.") for line in told)
    assert any(line.startswith("advantage and rating difference: r = +0.") for line in told)
    assert (tmp_path / "players.svg").exists()
    with pytest.raises(SystemExit, match="no player has so many games"):
        script("players", "chess", games, "--fewest", 10_000)


def test_grades_beside_ratings(script: Script, games: Path, tmp_path: Path) -> None:
    command = ["strength", "chess", games, "--ratings", tmp_path / "ratings.json"]
    for name, evaluation in (("a", "material"), ("b", "default"), ("c", "none")):
        command += ["--evaluation", f"name={name},evaluation={evaluation}"]
    for names, told in (("ab", "no rating of c, but of a, b"), ("abc", "")):
        ratings = {"ratings": [{"name": name, "elo": ord(name)} for name in names]}
        (tmp_path / "ratings.json").write_text(json.dumps(ratings))
        if told:
            with pytest.raises(SystemExit, match=told):
                script(*command)
    lines = script(*command)
    assert [line[:2] for line in lines[2:5]] == [["c", "+99"], ["b", "+98"], ["a", "+97"]]
    assert (tmp_path / "strength.svg").exists()


def test_discriminants_are_fitted_compared_and_played_once(script: Script, tmp_path: Path) -> None:
    game = load_game("connect_four")
    records = random_games(game, 800, 3, choices=7)
    records = attrs.evolve(records, theoretical_score=np.full(len(records), np.nan, np.float32))
    write_positions(tmp_path / "results.parquet", positions_of_games(game, records))
    command = ("discriminants", "results.parquet", "study", "--held-out", 0.3, "--plies", "2-40")
    play = ("--opening-count", 1, "--opening-plies", 4, "--even-within", 9, "--judge-depth", 1, "--game-seconds", 0.05)
    lines = script(*command, *play)
    losses = [line for line in lines if line[:1] == ["all"]]
    assert [len(line) for line in losses] == [11, 8]
    assert float(losses[1][5]) > 2 * float(losses[1][7])  # QUAD - FISHER: terms are discrete and rare
    slopes = [line for line in lines if line[1:2] == ["QUAD"] and "±" in line]
    assert [line[0] for line in slopes] == ["0-5", "6-11", "12-17", "18-23", "24-29"]
    pairings = [line for line in lines if line[1:2] == ["-"]]
    assert [line[3:6] for line in pairings][3] == ["30", "-", "36"]
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").glob("*.npz")}
    again = script(*command, *play)
    # But for nodes a second, whose sums are rounded.
    assert [line[:14] for line in again] == [line[:14] for line in lines]
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert len([*(tmp_path / "study").glob("*.jsonl")]) == len(sys.modules["discriminants"].PAIRINGS)
