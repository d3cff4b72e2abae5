"""Games that play themselves: legal, scored rightly, equal for equal seeds, and right about what they have proven."""

import numpy as np
import pytest

from glem.core.compiling.plain_python import PlainRulesWarning
from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.labelling.first_games import play_games, sample_positions
from glem.core.positions.replay import FINISHED, replay
from tests.core.game.countdown_game import COUNTDOWN, FACTS, STONES
from tests.core.game.plain_game import COMPILED, PLAIN
from tests.oracles.game_tree import negamax, tree_of
from tests.othello import OTHELLO


def columns(records: GameRecords) -> list[list[float]]:
    named = (records.moves, records.offsets, records.score, records.theoretical_score, records.theoretical_ply)
    return [np.nan_to_num(column.astype(float), nan=-99.0).tolist() for column in named]


@pytest.mark.parametrize("name", ["countdown", "mirror_nim", "othello"])
def test_games_are_legal_and_end_as_their_scores_say(name: str) -> None:
    game = {"countdown": COUNTDOWN, "mirror_nim": COMPILED, "othello": OTHELLO}[name]
    records = play_games(game, positions=1500, seed=1)
    assert records.lengths.sum() >= 1500
    played = replay(game, records)
    assert (played.status == FINISHED).all()
    assert np.array_equal(played.final_score, records.score)
    assert len({tuple(records.moves_of(number)) for number in range(len(records))}) > 3


def test_equal_seeds_give_equal_games() -> None:
    first, again, other = (play_games(COMPILED, positions=800, seed=seed) for seed in (5, 5, 6))
    assert columns(first) == columns(again)
    assert columns(first) != columns(other)


def test_compiled_and_plain_code_play_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    found = columns(play_games(COUNTDOWN, positions=600, seed=2))
    monkeypatch.setattr("glem.core.labelling.first_games.compiled", lambda function: function)
    assert columns(play_games(COUNTDOWN, positions=600, seed=2)) == found


def test_what_is_proven_is_true() -> None:
    """Who is to move loses exactly where the number of stones is a multiple of four."""
    records = play_games(COUNTDOWN, positions=1000)
    proven = np.flatnonzero(records.theoretical_ply >= 0)
    assert len(proven) == len(records)
    for number in proven:
        moves = records.moves_of(int(number))[: records.theoretical_ply[number]].astype(int)
        stones = STONES - int((moves + 1).sum())
        value = -1 if stones % 4 == 0 else 1
        assert records.theoretical_score[number] == value * (-1) ** len(moves)


def test_where_scores_tell_more_than_results_nothing_is_proven() -> None:
    records = play_games(OTHELLO, positions=300)
    assert np.isnan(records.theoretical_score).all()
    assert (records.theoretical_ply == -1).all()


def test_a_win_in_sight_is_taken() -> None:
    records = play_games(COUNTDOWN, positions=1000, seed=3)
    for number in range(len(records)):
        stones = STONES
        for ply, move in enumerate(records.moves_of(number).tolist()):
            if stones % 4:
                assert (stones - move - 1) % 4 == 0, (number, ply)
            stones -= move + 1


def test_labels_are_the_values_of_all_games_together() -> None:
    positions = sample_positions(COMPILED, positions=700, seed=4)
    records = play_games(COMPILED, positions=700, seed=4)
    tree = tree_of(COMPILED, records)
    expected = [negamax(tree.successors, key, tree.result, tree.exact, {}) for path in tree.keys for key in path[:-1]]
    assert positions.label.tolist() == expected
    assert positions.label_kind == "propagated"


def test_rules_that_are_not_compiled_play_fewer_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.core.compiling.plain_python._warned", set())
    with pytest.warns(PlainRulesWarning):
        records = play_games(PLAIN)
    assert 4000 <= records.lengths.sum() < 5000
    assert (replay(COMPILED, records).status == FINISHED).all()


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(BadInputError, match="at least 1, got 0"):
        play_games(COUNTDOWN, positions=0)


def test_a_game_that_is_too_long_is_left_unfinished() -> None:
    records = play_games(Game(**{**FACTS, "max_plies": 1}), positions=100)
    assert (records.lengths == 1).all() and np.isnan(records.score).all()
