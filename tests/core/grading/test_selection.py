"""Which positions of a game are graded: those of files of positions, and of game records against a full replay."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.game.equal_positions import position_keys
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.positions.positions import Positions
from glem.core.positions.reading import read_records
from glem.core.positions.replay import FINISHED, plies_of_games, replay
from glem.core.positions.selection.reading import FileSummary, read_selected, select_from_records
from glem.core.positions.selection.selection import PositionChooser, SelectionCounts, SelectionRule
from tests.core.grading.random_games import random_records, write_random_games
from tests.oracles.grading import eligible_plies

LENGTHS = (60, 61, 22, 21, 59, 100, 5, 40)


def every_position(lengths: tuple[int, ...]) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.uint64]]:
    """Record, ply and game key of every position of games of these lengths."""
    record = np.repeat(np.arange(len(lengths)), lengths).astype(np.int32)
    ply = np.concatenate([np.arange(length) for length in lengths]).astype(np.int16)
    return record, ply, (record.astype(np.uint64) + np.uint64(1)) * np.uint64(0x123456789ABCDEF)


def chosen_rows(rule: SelectionRule, *columns: NDArray, chunk: int = 1 << 20) -> tuple[list[int], SelectionCounts]:
    record, ply, key = columns
    chooser = PositionChooser(rule)
    chunks = [slice(start, start + chunk) for start in range(0, len(record), chunk)]
    for rows in chunks:
        chooser.observe(record[rows], ply[rows])
    for rows in chunks:
        chooser.rank(record[rows], ply[rows], key[rows])
    masks = [chooser.choose(record[rows], ply[rows], key[rows]) for rows in chunks]
    return np.flatnonzero(np.concatenate(masks)).tolist(), chooser.counts()


@pytest.mark.parametrize(("skip_moves", "tenths"), [(10, 1), (0, 0), (3, 2), (0, 3)])
def test_all_leaves_out_what_the_oracle_leaves_out(skip_moves: int, tenths: int) -> None:
    record, ply, key = every_position(LENGTHS)
    rows, counts = chosen_rows(SelectionRule("all", skip_moves, tenths / 10), record, ply, key)
    found = [(int(record[row]), int(ply[row])) for row in rows]
    expected = [(g, p) for g, length in enumerate(LENGTHS) for p in eligible_plies(length, skip_moves, tenths)]
    assert found == expected
    assert counts.chosen == len(expected)
    assert counts.without == len(LENGTHS) - len({game for game, _ in expected})
    assert (counts.positions, counts.games, counts.incomplete) == (len(record), len(LENGTHS), 0)


def test_random_takes_one_a_game_each_as_often() -> None:
    games = 30_000
    record, ply, key = every_position((30,) * games)
    rows, counts = chosen_rows(SelectionRule(), record, ply, key)
    assert counts.chosen == games == len(set(record[rows].tolist()))
    # 30 plies: 20 to 26 are left.
    drawn = np.bincount(ply[rows], minlength=30)
    assert drawn[:20].sum() == drawn[27:].sum() == 0
    assert np.abs(drawn[20:27] / games - 1 / 7).max() < 4 * (1 / 7 * 6 / 7 / games) ** 0.5


def test_choice_depends_on_game_and_seed_alone() -> None:
    record, ply, key = every_position(LENGTHS)
    rows, _ = chosen_rows(SelectionRule(skip_moves=2), record, ply, key)
    assert chosen_rows(SelectionRule(skip_moves=2), record, ply, key, chunk=7)[0] == rows
    # Shuffled, and with other games around.
    order = np.random.default_rng(0).permutation(len(record))
    shuffled, _ = chosen_rows(SelectionRule(skip_moves=2), record[order], ply[order], key[order], chunk=31)
    assert sorted(order[shuffled].tolist()) == rows
    later = record >= 4
    some, _ = chosen_rows(SelectionRule(skip_moves=2), record[later] - 4, ply[later], key[later])
    assert np.flatnonzero(later)[some].tolist() == [row for row in rows if record[row] >= 4]
    other, _ = chosen_rows(SelectionRule(skip_moves=2, seed=1), record, ply, key)
    assert other != rows


def test_last_and_every() -> None:
    record, ply, key = every_position((60, 24, 5))
    rows, counts = chosen_rows(SelectionRule.parse("last"), record, ply, key)
    assert [(int(record[row]), int(ply[row])) for row in rows] == [(0, 53), (1, 21)]
    assert counts.without == 1
    rows, _ = chosen_rows(SelectionRule.parse("every:7", skip_moves=10), record, ply, key)
    assert [(int(record[row]), int(ply[row])) for row in rows] == [(0, p) for p in (20, 27, 34, 41, 48)] + [(1, 20)]


def test_positions_without_a_game_stand_for_themselves() -> None:
    record = np.array([-1, -1, -1, 0, 0], np.int32)
    ply = np.array([-1, 30, 3, -1, -1], np.int16)
    key = np.arange(5, dtype=np.uint64)
    rows, counts = chosen_rows(SelectionRule(), record, ply, key, chunk=2)
    assert rows[:2] == [0, 1]
    # One of the two positions of the game, though neither tells its ply.
    assert len(rows) == 3
    assert (counts.games, counts.unknown_ply, counts.without) == (4, 3, 1)


def test_games_that_lack_positions_are_counted() -> None:
    record, ply, key = every_position((60, 60))
    kept = np.flatnonzero((record == 0) | (ply % 2 == 0))
    _, counts = chosen_rows(SelectionRule(), record[kept], ply[kept], key[kept])
    assert counts.incomplete == 1


@pytest.mark.parametrize("rule", [SelectionRule(), SelectionRule("every", step=7), SelectionRule("last")], ids=str)
def test_numbers_of_games_cost_no_memory_whatever_they_are(rule: SelectionRule) -> None:
    record, ply, key = every_position(LENGTHS)
    order = np.random.default_rng(1).permutation(len(record))
    columns = (record[order], ply[order], key[order])
    numbers = np.random.default_rng(2).permutation(np.array([0, 7, 100, 2**31 - 1, 2**31 - 2, 2**30, 5, 6], np.int32))
    assert chosen_rows(rule, numbers[columns[0]], *columns[1:], chunk=37) == chosen_rows(rule, *columns)


@pytest.mark.parametrize("text", ["", "first", "every", "every:", "every:x", "every:0", "all:3", "every:-2"])
def test_wrong_rules_are_named(text: str) -> None:
    with pytest.raises(BadInputError):
        SelectionRule.parse(text)


def test_wrong_limits_are_named() -> None:
    with pytest.raises(BadInputError, match=r"skip_end is 1.0, .* below 1"):
        SelectionRule(skip_end=1.0)
    assert str(SelectionRule()) == (
        "one random position a game (seed 0), without the first 10 moves of each side and the last 10%"
    )


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
