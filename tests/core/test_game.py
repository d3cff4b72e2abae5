"""The interface of a game and the registry."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest
from attrs import evolve

from glem.core import game as module
from glem.core.errors import PluginError
from glem.core.game import INTERFACE_VERSION, Game, game_names, load_game
from tests.core.countdown_game import COUNTDOWN


class _Distribution:
    def __init__(self, name: str) -> None:
        self.name = name


class _Entry:
    """An entry point whose import gives what the test says."""

    def __init__(self, name: str, value: object, distribution: str = "somebody") -> None:
        self.name = name
        self.value = "a.module:VALUE"
        self.dist = _Distribution(distribution)
        self._loaded = value

    def load(self) -> object:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


@pytest.fixture
def installed(monkeypatch):
    def install(*entries: _Entry) -> None:
        monkeypatch.setattr(module, "entry_points", lambda group: entries)

    return install


def test_the_built_in_games_are_registered():
    assert "othello" in game_names()
    assert load_game("othello").title == "Othello"


def test_games_are_found_by_name_in_another_process(othello: Game):
    assert pickle.loads(pickle.dumps(othello)) is othello


def test_names_are_sorted_and_nothing_is_imported(installed):
    installed(_Entry("zebra", ImportError()), _Entry("ant", ImportError()))
    assert game_names() == ["ant", "zebra"]


def test_an_unknown_game(installed):
    installed(_Entry("ant", COUNTDOWN))
    with pytest.raises(PluginError, match=r"no game 'bee'.*available: ant"):
        load_game("bee")


def test_a_game_that_fails_to_load_names_its_distribution(installed):
    installed(_Entry("ant", ZeroDivisionError("a table is missing"), "ant-games"))
    with pytest.raises(PluginError, match=r"'ant' of ant-games .*ZeroDivisionError: a table is missing"):
        load_game("ant")


def test_a_game_that_is_none(installed):
    installed(_Entry("ant", 3))
    with pytest.raises(PluginError, match="is a int, not a Game"):
        load_game("ant")


def test_two_distributions_that_claim_a_name(installed):
    installed(_Entry("ant", COUNTDOWN, "ant-games"), _Entry("ant", COUNTDOWN, "bug-games"))
    with pytest.raises(PluginError, match="from: ant-games, bug-games"):
        load_game("ant")


def test_one_distribution_seen_twice_is_one(installed):
    installed(_Entry("countdown", COUNTDOWN, "ant-games"), _Entry("countdown", COUNTDOWN, "ant-games"))
    assert load_game("countdown") is COUNTDOWN


def test_a_game_for_another_interface(installed):
    installed(_Entry("ant", evolve(COUNTDOWN, interface_version=INTERFACE_VERSION + 1)))
    with pytest.raises(PluginError, match=f"interface version {INTERFACE_VERSION + 1}"):
        load_game("ant")


def test_empty_columns_have_the_fields_types(othello: Game):
    columns = othello.empty_columns(3)
    assert type(columns) is othello.position_type
    assert all(column.dtype == np.uint64 and column.shape == (3,) for column in columns)
    assert COUNTDOWN.empty_columns(2).stones.dtype == np.uint8


def test_entry_points_are_what_the_standard_library_gives():
    # The registry reads these attributes of importlib.metadata's own type.
    entry = EntryPoint("ant", "a.module:VALUE", "glem.games")
    assert (entry.name, entry.value, entry.dist) == ("ant", "a.module:VALUE", None)
    assert isinstance(module.entry_points(group="glem.games"), EntryPoints)
