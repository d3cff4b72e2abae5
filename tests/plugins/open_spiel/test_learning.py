"""Learning from OpenSpiel's observations: features, patterns, and the way from games to a match."""

import numpy as np
import pytest

from glem.core.conformance import check_learning
from glem.core.errors import GlemError
from glem.core.features.learning import has_learning, load_learning
from glem.core.game.game import BoardLayout, load_game
from glem.plugins.open_spiel import open_spiel_learning
from glem.plugins.open_spiel.observations import observations_of
from tests.oracles.open_spiel import random_game

pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed; pip install 'pyglem[open-spiel]'")

pytestmark = pytest.mark.filterwarnings("ignore::glem.core.compiling.plain_python.PlainRulesWarning")

BREAKTHROUGH = "breakthrough(rows=6,columns=6)"


@pytest.mark.parametrize("text", ["tic_tac_toe", BREAKTHROUGH, "dots_and_boxes", "go(board_size=3)", "nim", "oware"])
def test_learning_keeps_its_promises(text: str) -> None:
    assert has_learning(f"open_spiel:{text}")
    check_learning(load_learning(f"open_spiel:{text}"), games=3).require()


def test_a_cell_tells_what_stands_there() -> None:
    learning = load_learning("open_spiel:connect_four")
    features = learning.features
    assert [features[place].name for place in (0, 1, 7, 42)] == ["mover", "r1c1", "r1c7", "r6c7"]
    assert (learning.game.layout, features[42].cell) == (BoardLayout(6, 7), 41)
    for seed in range(3):
        position = learning.game.initial_position
        for state, action in random_game(pyspiel.load_game("connect_four"), seed):
            mover = int(position.mover)
            values = features.values_of(position)
            planes = np.array(state.observation_tensor(mover)).reshape(3, 42)
            seen = [int(features[1 + cell].value_name(value).removeprefix("plane")) for cell, value in
                    enumerate(values[1:43])]  # fmt: skip
            counts = dict(zip([features[place].name for place in range(43, 49)], values[43:].tolist(), strict=True))
            for plane, count in enumerate(np.bincount(seen, minlength=3).tolist()):
                assert (counts[f"plane{plane}"], counts[f"signed_plane{plane}"]) == (count, count * (1 - 2 * mover))
            assert values[0] == mover
            assert seen == planes.argmax(axis=0).tolist()
            if action is not None:
                position = learning.game.play(position, action)


def test_numbers_that_are_no_board_become_levels() -> None:
    learning = load_learning("open_spiel:oware")
    observations = observations_of("oware")
    assert observations.board is None
    assert list(learning.pattern_sets) == ["pairs"]
    state = pyspiel.load_game("oware").new_initial_state()
    tensor = np.array(state.observation_tensor(0), np.float32)
    for feature, value in zip(learning.features.features[1:], learning.features.values_of(
        learning.game.initial_position)[1:], strict=True):  # fmt: skip
        levels = np.array(feature.value_names, np.float32)
        entry = tensor[int(feature.name.removeprefix("entry"))]
        assert levels[value] <= entry + 1e-4
        assert value == len(levels) - 1 or levels[value + 1] > entry - 1e-4


def test_patterns_are_lines_and_squares_with_the_player_to_move() -> None:
    sets = load_learning("open_spiel:tic_tac_toe").pattern_sets
    assert sets["lines"]["row_r2c1"] == ("mover", "r2c1", "r2c2", "r2c3")
    assert sets["lines"]["rising_r3c1"] == ("mover", "r3c1", "r2c2", "r1c3")
    assert len(sets["lines"]) == 8
    assert len(sets["windows"]) == 4 + 1
    assert len(sets["all"]) == 13


def test_phases_are_thirds_of_a_usual_game() -> None:
    learning = load_learning("open_spiel:tic_tac_toe")
    usual = observations_of("tic_tac_toe").usual_length
    assert 6 <= usual <= 9
    lengths = np.arange(10, dtype=np.uint16)
    columns = learning.game.empty_columns(10)._replace(length=lengths)
    assert learning.phases.of(columns).tolist() == [min(2, 3 * int(length) // usual) for length in lengths]


def test_games_without_observations_have_no_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("open_spiel:hex(board_size=3)")
    kind = type(observations_of("tic_tac_toe")._rules.game.get_type())
    monkeypatch.setattr(kind, "provides_observation_tensor", False)
    with pytest.raises(GlemError, match="no observation tensor"):
        open_spiel_learning(game)
