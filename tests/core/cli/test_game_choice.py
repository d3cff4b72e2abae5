import codecs
import itertools
from pathlib import Path

import numpy as np
import pytest

from glem.core.cli.game_choice import choose_game
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import load_learning
from glem.core.files.packed import open_packed
from glem.core.game.game import PositionFormat, load_game
from glem.core.game.records import GameRecords
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from glem.core.positions.reading import format_of, read_records, stream_scored
from glem.core.positions.writing import write_games


def evaluation_file(folder: Path, game: str) -> str:
    learning = load_learning(game)
    path = folder / f"{game}.npz"
    LinearEvaluation(learning, np.zeros(len(learning.phases), np.float32)).save(path)
    return str(path)


def test_a_name_decides(tmp_path: Path) -> None:
    files = [tmp_path / "missing.games"]
    assert choose_game("connect_four", files=files).name == "connect_four"


@pytest.mark.parametrize("name", ["othello", "connect_four"])
def test_files_of_glem_name_their_game(tmp_path: Path, name: str) -> None:
    game = load_game(name)
    for suffix in (".games", ".games.xz"):
        path = tmp_path / f"own{suffix}"
        write_games(game, path, GameRecords.empty())
        assert choose_game(None, files=[path]) is game
    renamed = (tmp_path / "own.games").rename(tmp_path / "own.txt")
    assert choose_game(None, files=[renamed]) is game
    positions = Positions.from_positions(game, [game.initial_position], np.zeros(1), label_kind="given")
    write_positions(tmp_path / "positions.parquet", positions)
    assert choose_game(None, files=[tmp_path / "positions.parquet"]) is game


def test_other_files_are_recognized_by_the_formats_of_one_game(tmp_path: Path) -> None:
    transcript = tmp_path / "games.txt"
    transcript.write_text("f5d6c3d3c4\n")
    assert choose_game(None, files=[transcript]).name == "othello"
    assert choose_game(None, files=[tmp_path / "games.txt"], format="transcripts").name == "othello"
    unknown = tmp_path / "unknown.txt"
    unknown.write_text("?\n")
    with pytest.raises(BadInputError, match="name the game as the first argument: one of chess, connect_four, othello"):
        choose_game(None, files=[unknown])
    with pytest.raises(BadInputError, match=r"missing\.txt: no such file"):
        choose_game(None, files=[tmp_path / "missing.txt"])


BOARD = "---------------------------OX------XO---------------------------"
FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
TEXTS = {
    "othello": [
        "f5d6c3\nf5d6",
        "+d3-c3+c4\n+d3-c3",
        "id,winner,game_moves\n1,1,f5d6c3",
        "(;GM[Othello]B[f5]W[d6];)\n(;GM[Othello]B[f5]W[d6];)",
        f"% two\n{BOARD} X; D3:+4;",
        f"{BOARD} X 4\n{BOARD} O 2",
        f"obf,score\n{BOARD},3",
        "# glem games 1 othello\nf5 d6\t\t\t",
    ],
    "chess": [
        '[White "a"]\n\n1. e4 e5 1-0',
        f"{FEN} 1-0\n{FEN} 0-1",
        f"fen,result\n{FEN},1-0\n{FEN},0-1",
        f"{FEN} | 1-0\n{FEN} | 0-1",
    ],
    "connect_four": ["# glem games 1 connect_four\n4 4\t\t\t"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_texts_of_every_system_are_known_and_read(tmp_path: Path, name: str, text: str) -> None:
    lines = [line for line in text.splitlines() if any(move in line for move in (BOARD, FEN, "d6", "c3", "e4", "4 4"))]
    for mark, end, suffix in itertools.product((b"", codecs.BOM_UTF8), (b"\n", b"\r\n", b"\r"), ("", ".gz")):
        path = tmp_path / f"a.txt{suffix}"
        with open_packed(path) as file:
            file.write(mark + text.encode().replace(b"\n", end) + end)
        game = choose_game(None, files=[path])
        assert game.name == name
        has_positions = isinstance(format_of(game, path), PositionFormat)
        parts = [*(stream_scored if has_positions else read_records)(game, path)]
        assert sum(map(len, parts)) == len(lines)


def test_evaluations_tell_the_game(tmp_path: Path) -> None:
    one, other = (evaluation_file(tmp_path, name) for name in ("othello", "connect_four"))
    assert choose_game(None, evaluations=["default", one]).name == "othello"
    assert choose_game(None, evaluations=[other, other]).name == "connect_four"
    with pytest.raises(BadInputError, match=r"several games: .*othello\.npz \(othello\), .*connect_four\.npz"):
        choose_game(None, evaluations=[one, other])
    with pytest.raises(BadInputError, match="name the game"):
        choose_game(None, evaluations=["default"])
    with pytest.raises(BadInputError, match=r"missing\.npz.*: no such file"):
        choose_game(None, evaluations=["missing.npz", "default"])


def test_one_installed_game_needs_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.cli.game_choice.game_names", lambda: ["connect_four"])
    assert choose_game(None, evaluations=["default"]).name == "connect_four"
    monkeypatch.setattr("glem.core.cli.game_choice.game_names", lambda: [])
    with pytest.raises(BadInputError, match="no games are installed"):
        choose_game(None)
