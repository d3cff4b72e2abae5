"""Families of games: members by name, and what goes wrong in a stranger's family."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from glem.core.cli import command_group
from glem.core.cli.game_choice import choose_game
from glem.core.errors import BadInputError, PluginError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_evaluation
from glem.core.features.learning import Learning, has_learning, load_learning
from glem.core.game.families import LEARNING_FAMILIES_GROUP, check_named_by_file, family_names, family_of, load_member
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.positions.files import read_positions, write_positions
from glem.core.positions.positions import Positions
from glem.core.positions.writing import write_games
from tests.core.game.installed_games import write_distribution
from tests.core.game.plain_game import learning_of, mirror_nim


def nim_family(text: str) -> Game:
    if text == "broken":
        raise RuntimeError("no such luck")
    if text == "other":
        return mirror_nim("by_another_name")
    if text == "nothing":
        return None  # type: ignore[return-value]
    if not text.isdecimal():
        raise BadInputError(f"nim has no variant {text!r}")
    return mirror_nim(f"nims:{text}")


def nim_learning(game: Game) -> Learning:
    return learning_of(game)


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = "tests.core.game.test_families"
    write_distribution(
        tmp_path,
        {
            "glem.game_families": {"nims": f"{here}:nim_family", "number": f"{here}:_A_NUMBER"},
            "glem.learning_families": {"nims": f"{here}:nim_learning"},
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))


_A_NUMBER = 3


def test_members_are_loaded_by_their_whole_name() -> None:
    game = load_game("nims:1")
    assert game.name == "nims:1"
    assert load_game("nims:1") is game
    assert load_game("nims:2") is not game
    assert pickle.loads(pickle.dumps(game)) is game
    learning = load_learning("nims:1")
    assert learning.game is game
    assert load_learning("nims:1") is learning
    assert has_learning("nims:1")
    assert not has_learning("number:1")


def test_names_of_families() -> None:
    assert "nims" in family_names()
    assert family_of("nims:1:2") == "nims"
    assert family_of("nims") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nims", "'nims' is a family of games: name one of them as nims:GAME"),
        ("nobody:1", "no family of games 'nobody'.*available: .*nims"),
        ("nims:broken", "family of games 'nims' of games-of-tests fails for 'broken': RuntimeError: no such luck"),
        (
            "nims:nothing",
            "family of games 'nims' of games-of-tests makes a NoneType of .nims:nothing",
        ),
        ("nims:other", "family of games 'nims' of games-of-tests calls itself 'by_another_name'"),
        ("number:1", "family of games 'number' of games-of-tests cannot be loaded: .* is a int"),
    ],
)
def test_what_is_wrong_is_said_with_the_distribution(name: str, text: str) -> None:
    with pytest.raises(PluginError, match=text):
        load_game(name)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, ...]:
    """Files of the game ``nims:1``, of which nothing has been loaded by name yet afterwards."""
    game, learning = load_game("nims:1"), load_learning("nims:1")
    written = tuple(tmp_path / name for name in ("some.games", "some.parquet", "some.npz"))
    write_games(game, written[0], GameRecords.empty())
    write_positions(written[1], Positions.from_positions(game, [game.initial_position], [1.0]))
    LinearEvaluation(learning, np.zeros(len(learning.phases), np.float32)).save(written[2])
    return written


READERS: tuple[Callable[[Path], object], ...] = (
    lambda path: choose_game(None, files=[path]),
    read_positions,
    load_evaluation,
)


def test_a_file_does_not_choose_what_a_family_makes(files: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.game.families._loaded", set())
    for path, read in zip(files, READERS, strict=True):
        with pytest.raises(BadInputError, match=f"{path} is of the game 'nims:1', .*: glem --trust nims:1 COMMAND"):
            read(path)
    load_game("nims:1")
    for path, read in zip(files, READERS, strict=True):
        read(path)


def test_a_family_vouches_for_members_that_files_may_name(
    files: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glem.core.game.families._loaded", set())
    monkeypatch.setattr(nim_family, "is_harmless", lambda text: text == "1", raising=False)
    for path, read in zip(files, READERS, strict=True):
        read(path)
    with pytest.raises(BadInputError, match="'nims:2'"):
        check_named_by_file("nims:2", "a file")


def test_games_that_are_named_to_the_command_are_trusted(
    files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = ("positions", str(files[0]), "-o", str(tmp_path / "out.parquet"))
    monkeypatch.setattr("glem.core.game.families._loaded", set())
    refused = CliRunner().invoke(command_group, output)
    assert isinstance(refused.exception, BadInputError) and "--trust" in str(refused.exception)
    for words in (("--trust", "nims:1", *output), (*output, "--game", "nims:1")):
        monkeypatch.setattr("glem.core.game.families._loaded", set())
        assert "no position is left to write" in str(CliRunner().invoke(command_group, words).exception)


def test_what_is_shown_of_a_hostile_name_can_be_copied() -> None:
    for name, shown in (("nims:'$(true)'", "--trust 'nims:'\"'\"'$(true)'\"'\"'' "), ("nims:\x1b[2J", "--trust GAME ")):
        with pytest.raises(BadInputError) as refused:
            check_named_by_file(name, "a file")
        assert shown in str(refused.value)
        assert "\x1b" not in str(refused.value)


def test_a_family_says_itself_what_it_has_not() -> None:
    with pytest.raises(BadInputError, match="nim has no variant 'x'"):
        load_game("nims:x")


def test_what_has_no_learning_says_so() -> None:
    with pytest.raises(PluginError, match="no learning of the family 'number'"):
        load_member(LEARNING_FAMILIES_GROUP, "number:1", load_game("nims:1"), Learning)
