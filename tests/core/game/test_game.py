"""The interface of a game: what its constructor refuses."""

import pickle
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import PluginError
from glem.core.features.learning import Learning
from glem.core.game.game import BoardLayout, Game, game_names, load_game
from tests.core.game.countdown_game import COUNTDOWN, FACTS


class Pair(NamedTuple):
    first: Any
    second: Any


def test_the_built_in_games_are_registered():
    assert "othello" in game_names()
    assert load_game("othello").title == "Othello"


def test_games_are_found_by_name_in_another_process(othello: Game):
    assert pickle.loads(pickle.dumps(othello)) is othello


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"hash_key": None}, "hash_key is None, expected a function"),
        ({"parse_move": "take1"}, "parse_move is a str, expected a function"),
        ({"format_move_at": str}, "there is no parse_move_at"),
        ({"count_moves": 3}, "count_moves is a int, expected a function"),
        ({"search_functions": {"play": None}}, r"search_functions\['play'\] is None"),
        ({"search_functions": None}, "search_functions is None, expected a mapping"),
        ({"max_moves": 0}, "max_moves is 0, expected a whole number of at least 1"),
        ({"move_count": -3}, "move_count is -3"),
        ({"move_count": 32_769}, "move_count is 32769, expected at most 32768: moves are kept in 16 bits"),
        ({"max_plies": 32_768}, "max_plies is 32768, expected at most 32767"),
        ({"score_bounds": (-40_000, 1)}, "score_bounds is 40000, expected at most 32767"),
        ({"max_plies": 2.5}, "max_plies is 2.5"),
        ({"score_bounds": (1, -1)}, "the least first"),
        ({"score_bounds": 1}, "score_bounds is 1, expected two whole numbers"),
        ({"symmetry_count": 2}, "there is no transform and no transform_move: they"),
        ({"pass_move": 3}, "pass_move is 3, expected None or a move below move_count = 3"),
        ({"layout": (8, 8)}, r"layout is a tuple, expected BoardLayout or None"),
        ({"layout": BoardLayout(0, 8)}, "layout has 0 rows and 8 columns"),
        ({"layout": BoardLayout(1, 2, cast("Any", ["a1", "b1"]))}, "layout.cell_names is .*expected a tuple of texts"),
        ({"layout": BoardLayout(1, 2, ("a1",))}, "layout.cell_names has 1 names, expected 2, row by row"),
        ({"layout": BoardLayout(1, 2, ("a1", "a1"))}, "layout.cell_names has 'a1' twice"),
        ({"name": ""}, "name is '', expected a text"),
        ({"initial_position": (np.uint8(9),)}, "initial_position is a tuple, expected a NamedTuple"),
        ({"initial_position": Pair(9, np.uint8(0))}, "'first' of the initial position is a int"),
        ({"initial_position": Pair((np.uint8(9),), np.uint8(0))}, "'first' of the initial position is a tuple"),
        ({"initial_position": Pair(np.array([9]), np.uint8(0))}, "'first' of the initial position is a ndarray"),
        ({"initial_position": Pair(np.str_("nine"), np.uint8(0))}, "'first' of the initial position is a numpy <U4"),
    ],
)
def test_a_declaration_that_cannot_be_right(change, text):
    with pytest.raises(PluginError, match=text):
        Game(**{**FACTS, **change})


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(PluginError, match="game 'countdown': play is None, expected a function; max_moves is 0"):
        Game(**{**FACTS, "play": None, "max_moves": 0})


def test_arguments_that_a_game_does_not_have():
    declare: Any = Game
    missing = {name: value for name, value in FACTS.items() if name not in {"play", "hash_key"}}
    with pytest.raises(PluginError, match="game 'countdown': Game needs play, hash_key, which it was not given"):
        declare(**missing)
    with pytest.raises(PluginError, match=r"Game has no hashkey in glem .*; did you mean 'hash_key'"):
        declare(**FACTS, hashkey=None)
    with pytest.raises(PluginError, match=r"Game has no komi in glem .* interface version 1; the plugin may have been"):
        declare(**FACTS, komi=7)
    with pytest.raises(PluginError, match="interface version 1; it was written for interface version 2"):
        declare(**FACTS, komi=7, interface_version=2)
    with pytest.raises(PluginError, match="game 'countdown': Game got name twice"):
        declare("ant", **FACTS)
    with pytest.raises(PluginError, match="60 arguments without names"):
        declare(*range(60))


def test_declarations_for_learning(othello_learning: Learning):
    declare: Any = Learning
    with pytest.raises(PluginError, match="learning: Learning needs features, phases, which it was not given"):
        declare(game=COUNTDOWN)
    for change, text in (
        ({"features": None}, "features is None, expected AtomicFeatures"),
        ({"pattern_sets": {"small": ("a1", "b1")}}, r"pattern_sets\['small'\] is a tuple, expected a mapping"),
        ({"linear": "mobility"}, "linear is a str, expected a tuple"),
        ({"make_evaluator": 3}, "make_evaluator is a int, expected a function"),
    ):
        with pytest.raises(PluginError, match=text):
            evolve(othello_learning, **change)
    with pytest.raises(PluginError, match=r"phases: names are \(\), expected a tuple of 1 to 256"):
        evolve(othello_learning.phases, names=())
    with pytest.raises(PluginError, match="phase_of is None"):
        evolve(othello_learning.phases, phase_of=None)
    with pytest.raises(PluginError, match="write is None, expected a function"):
        evolve(othello_learning.features, write=None)


def test_empty_columns_have_the_fields_types(othello: Game):
    columns = othello.empty_columns(3)
    assert type(columns) is othello.position_type
    assert all(column.dtype == np.uint64 and column.shape == (3,) for column in columns)
    assert COUNTDOWN.empty_columns(2).stones.dtype == np.uint8
