"""The example of `docs/how-to/tune-your-evaluation.md`: its coefficients, its values, and a game that it plays."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.features.functions import load_function
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.tournament.games import GameTask, play_game
from glem.core.tournament.openings import Opening
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board
from tests.house.tree import ROOT
from tests.oracles.chess_boards import random_game

ODD = """def text(position):
    return "x"

def fails(position):
    raise KeyError("x")

def nothing(position):
    return float("nan")
"""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(ROOT / "docs" / "how-to" / "pesto_like.py", tmp_path / "pesto_like.py"))


@pytest.mark.usefixtures("example")
def test_coefficients_make_the_values_that_it_plays_with():
    first = json.loads(json.dumps(load_function("pesto_like.py:first_weights")()))
    coefficients, value = load_function("pesto_like.py:coefficients"), load_function("pesto_like.py:first")
    positions = [from_board(board) for seed in range(3) for board, _ in random_game(seed + 1, 60)]
    columns = CHESS.columns_of(positions)
    found, phase = coefficients(columns)
    sums = [sum(column @ np.array(first[name][end]) for name, column in found.items()) for end in (0, 1)]
    dense = sums[0] * phase + sums[1] * (1 - phase)
    for row in range(len(positions)):
        assert abs(value(position_at(columns, row)) - dense[row]) < 1
    assert value(CHESS.initial_position) == 0


def players(*names: str) -> list[PlayerSpec]:
    text = "name={0},evaluation=python:pesto_like.py:{0},nodes=100"
    return [parse_player(text.format(name)).resolved(CHESS) for name in names]


def test_functions_play_and_are_told_apart_by_their_code(example: Path):
    first, tuned = players("first", "tuned")
    played = play_game(GameTask(CHESS, 0, Opening(()), first, tuned))
    assert len(played.moves) > 10
    assert all(choice.nodes <= 200 for choice in played.moves)
    # The same game again; and another program is another player.
    assert [choice.move for choice in play_game(GameTask(CHESS, 0, Opening(()), first, tuned)).moves] == [
        choice.move for choice in played.moves
    ]
    example.write_text(example.read_text().replace("POINTS = np.array([0, 1,", "POINTS = np.array([0, 2,"))
    shutil.copy(example, "other.py")
    other = parse_player("name=first,evaluation=python:other.py:first,nodes=100").resolved(CHESS)
    assert other.digest != first.digest


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("greedy,evaluation=python:pesto_like.py:first", "functions are for players that search"),
        ("python:pesto_like.py:nothing,depth=1", "has no 'nothing'"),
        ("python:absent.py:first,depth=1", "no such file"),
        ("python:odd.py:text,depth=1", "text: gives a str for the first position"),
        ("python:odd.py:fails,depth=1", r"fails: fails on the first position: KeyError: 'x' \(odd.py:5\)"),
        ("python:odd.py:nothing,depth=1", "gives nan for the first position"),
    ],
)
def test_what_cannot_play(text: str, words: str):
    Path("odd.py").write_text(ODD)
    with pytest.raises(BadInputError, match=words):
        parse_player(text).resolved(CHESS)
