"""Families of games: members by name, and what goes wrong in a stranger's family."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from glem.core.errors import BadInputError, PluginError
from glem.core.families import LEARNING_FAMILIES_GROUP, family_names, family_of, load_member
from glem.core.game import Game, load_game
from glem.core.learning import Learning, has_learning, load_learning
from tests.core.installed_games import write_distribution
from tests.core.plain_game import learning_of, mirror_nim


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
    here = "tests.core.test_families"
    write_distribution(
        tmp_path,
        glem__game_families={"nims": f"{here}:nim_family", "number": f"{here}:_A_NUMBER"},
        glem__learning_families={"nims": f"{here}:nim_learning"},
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


def test_a_family_says_itself_what_it_has_not() -> None:
    with pytest.raises(BadInputError, match="nim has no variant 'x'"):
        load_game("nims:x")


def test_what_has_no_learning_says_so() -> None:
    with pytest.raises(PluginError, match="no learning of the family 'number'"):
        load_member(LEARNING_FAMILIES_GROUP, "number:1", load_game("nims:1"), Learning)
