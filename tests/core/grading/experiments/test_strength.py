"""Grades beside ratings, on games whose comments are known."""

import json
from pathlib import Path

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.game.game import load_game
from glem.core.grading.experiments.strength import read_ratings, strength_of_players
from tests.core.cli.terminal import Terminal

_MOVES = ("Nf3", "Nf6", "Ng1", "Ng8")
_RATINGS = {"Strong": 3000, "Middling": 2500, "Weak": 2000, "Rare": 2400}


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


def games_of_known_players(count: int) -> str:
    """PGN of so many games of three players, and of one that plays once."""
    random = np.random.default_rng(7)
    names = ("Strong", "Middling", "Weak")
    games = []
    for _ in range(count):
        white, black = random.permutation(names)[:2]
        result = ("1-0", "0-1", "1/2-1/2")[int(random.integers(3))]
        games.append(_game(white, black, result, random))
    games.append(_game("Rare", "Weak", "1-0", random))
    return "".join(games)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strength") / "games.pgn"
    path.write_text(games_of_known_players(360))
    return path


def test_who_knows_better_is_graded_higher(file: Path) -> None:
    found = strength_of_players(load_game("chess"), [file], fewest=50, skip_moves=2)
    assert [point.name for point in found.points] == ["Strong", "Middling", "Weak"]
    assert [point.rating for point in found.points] == [3000, 2500, 2000]
    grades = [point.grade.grade for point in found.points]
    assert grades == sorted(grades, reverse=True)
    assert found.left_out == 1
    assert found.by_rating.pearson > 0.8
    assert found.line is not None
    assert found.line.slope > 0
    strong, _, weak = (point.advantage for point in found.points)
    assert strong is not None
    assert weak is not None
    assert strong.difference > 2 * strong.error
    assert weak.difference < -2 * weak.error
    assert strong.rating_difference == pytest.approx(750, abs=80)
    # Games with the rare player count for nobody's advantage, all others for two.
    assert sum(point.advantage.games for point in found.points if point.advantage is not None) == 720
    again = strength_of_players(load_game("chess"), [file], fewest=50, skip_moves=2)
    assert found.points == again.points


def test_players_without_games_are_told(file: Path) -> None:
    with pytest.raises(BadInputError, match="at least three players with ratings, found 0"):
        strength_of_players(load_game("chess"), [file], fewest=10_000)


def test_the_commands(terminal: Terminal, file: Path, tmp_path: Path) -> None:
    report, ratings = tmp_path / "players.html", tmp_path / "ratings.json"
    out = terminal("experiment", "players", "chess", file, "--fewest", 50, "--report", report)
    assert "grade and rating: r = +" in out
    assert "Strong" in report.read_text()
    command = ["experiment", "strength", "chess", file, "--ratings", ratings]
    for name, evaluation in (("a", "material"), ("b", "default"), ("c", "none")):
        command += ["--evaluation", f"name={name},evaluation={evaluation}"]
    ratings.write_text(json.dumps({"ratings": [{"name": name, "elo": ord(name)} for name in "ab"]}))
    assert "no rating of 'c', but of a, b" in terminal.fails(*command)
    ratings.write_text(json.dumps({"ratings": [{"name": name, "elo": ord(name)} for name in "abc"]}))
    found = terminal.json(*command)
    assert [point["name"] for point in found["points"]] == ["c", "b", "a"]
    assert found["by_difference"] is None


@pytest.mark.parametrize("text", ["", "[]", '{"ratings": 3}', '{"ratings": [{"name": "a"}]}', '{"ratings": []}'])
def test_files_that_are_no_ratings_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.json"
    path.write_text(text)
    with pytest.raises(BadInputError, match=r"ratings\.json"):
        read_ratings(path)
