"""Selecting positions of game records against a replay of every position."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.compiling.columns import rows_of
from glem.core.game.equal_positions import position_keys
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.positions.positions import Positions
from glem.core.positions.reading import read_records
from glem.core.positions.replay import FINISHED, plies_of_games, replay
from glem.core.positions.selection.reading import FileSummary, read_selected, select_from_records
from glem.core.positions.selection.selection import SelectionRule
from tests.core.grading.random_games import random_records, write_random_games

RULES = [
    SelectionRule(skip_moves=2),
    SelectionRule("last", skip_moves=3),
    SelectionRule("all", skip_moves=0, skip_end=0.0),
    SelectionRule("every", step=7, skip_moves=1),
]


@pytest.fixture(scope="module", params=["connect_four", "othello"])
def games(request: pytest.FixtureRequest) -> tuple[Game, GameRecords]:
    """Games of a game without passes, and of one whose records leave passes out."""
    game = load_game(request.param)
    records = random_records(game, 60)
    assert game.pass_move is None or (plies_of_games(game, records) > records.lengths).any()
    return game, records


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_positions_are_those_of_a_full_replay(games: tuple[Game, GameRecords], rule: SelectionRule) -> None:
    game, records = games
    selected = select_from_records(game, records, rule, first_record=5)
    row, move = selected.extra["row"], selected.extra["move"]
    played = replay(game, records)
    assert (played.status == FINISHED).all()
    np.testing.assert_array_equal(selected.extra["length"], np.diff(played.offsets)[row] - 1)
    rows = played.offsets[row] + selected.ply
    for found, expected in zip(selected.positions, played.positions, strict=True):
        np.testing.assert_array_equal(found, expected[rows])
    np.testing.assert_array_equal(selected.side, played.side[rows])
    np.testing.assert_array_equal(selected.record, row + 5)
    np.testing.assert_array_equal(selected.game_key, position_keys(game, rows_of(played.positions, played.last))[row])
    made = move >= 0
    np.testing.assert_array_equal(records.moves[move[made]], played.move[rows[made]])
    assert (played.move[rows[~made]] == (-2 if game.pass_move is None else game.pass_move)).all()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_the_rule_is_kept_in_every_game(games: tuple[Game, GameRecords], rule: SelectionRule) -> None:
    game, records = games
    selected = select_from_records(game, records, rule)
    for number, length in enumerate(plies_of_games(game, records).tolist()):
        found = selected.ply[selected.record == number].tolist()
        left = [ply for ply in range(length) if 2 * rule.skip_moves <= ply < length - int(length * rule.skip_end)]
        if rule.kind == "random":
            assert len(found) == min(len(left), 1)
            assert set(found) <= set(left)
        else:
            assert found == {"last": left[-1:], "all": left, "every": left[:: rule.step]}[rule.kind]


def test_each_position_left_is_as_likely() -> None:
    """Over many seeds, of one game of 42 plies without its last four: plies 4 to 37."""
    game = load_game("connect_four")
    records = random_records(game, 40)
    longest = records.select(np.array([records.lengths.argmax()]))
    drawn = [
        int(select_from_records(game, longest, SelectionRule(skip_moves=2, seed=seed)).ply[0]) for seed in range(1500)
    ]
    length = int(longest.lengths[0])
    counts = np.bincount(drawn, minlength=length)[4 : length - length // 10]
    assert counts.sum() == 1500
    expected = 1500 / len(counts)
    # Chi-squared with 30-odd degrees of freedom exceeds 80 once in some 100,000 draws.
    assert ((counts - expected) ** 2 / expected).sum() < 80


def test_the_position_of_a_game_depends_on_the_game_alone() -> None:
    game = load_game("connect_four")
    records = random_records(game, 30)
    rule = SelectionRule(skip_moves=2, seed=4)
    forward = select_from_records(game, records, rule)
    backward = select_from_records(game, records.select(np.arange(30)[::-1]), rule)
    np.testing.assert_array_equal(forward.ply, backward.ply[::-1])


def test_games_without_a_result_are_counted(tmp_path: Path) -> None:
    """Unfinished games have no score in these files."""
    game = load_game("connect_four")
    path = tmp_path / "games.games"
    write_random_games(game, path, 20, unfinished=5)
    *parts, summary = read_selected(game, path, SelectionRule(skip_moves=2))
    assert isinstance(summary, FileSummary)
    assert (summary.games, summary.counts.games, summary.counts.without_result) == (15, 15, 5)
    assert sum(len(part) for part in parts if isinstance(part, Positions)) == summary.counts.chosen
    scores = np.concatenate([records.score for records in read_records(game, path)])
    assert int(np.isnan(scores).sum()) == 5
