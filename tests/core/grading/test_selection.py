"""Which positions of a game are graded."""

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.positions.selection.selection import PositionChooser, SelectionCounts, SelectionRule
from tests.oracles.grading import eligible_plies

LENGTHS = (60, 61, 22, 21, 59, 100, 5, 40)


def rows_of(lengths: tuple[int, ...]) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.uint64]]:
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
    record, ply, key = rows_of(LENGTHS)
    rows, counts = chosen_rows(SelectionRule("all", skip_moves, tenths / 10), record, ply, key)
    found = [(int(record[row]), int(ply[row])) for row in rows]
    expected = [(g, p) for g, length in enumerate(LENGTHS) for p in eligible_plies(length, skip_moves, tenths)]
    assert found == expected
    assert counts.chosen == len(expected)
    assert counts.without == len(LENGTHS) - len({game for game, _ in expected})
    assert (counts.positions, counts.games, counts.incomplete) == (len(record), len(LENGTHS), 0)


def test_random_takes_one_a_game_each_as_often() -> None:
    games = 30_000
    record, ply, key = rows_of((30,) * games)
    rows, counts = chosen_rows(SelectionRule(), record, ply, key)
    assert counts.chosen == games == len(set(record[rows].tolist()))
    # 30 plies: 20 to 26 are left.
    drawn = np.bincount(ply[rows], minlength=30)
    assert drawn[:20].sum() == drawn[27:].sum() == 0
    assert np.abs(drawn[20:27] / games - 1 / 7).max() < 4 * (1 / 7 * 6 / 7 / games) ** 0.5


def test_choice_depends_on_game_and_seed_alone() -> None:
    record, ply, key = rows_of(LENGTHS)
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
    record, ply, key = rows_of((60, 24, 5))
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
    record, ply, key = rows_of((60, 60))
    kept = np.flatnonzero((record == 0) | (ply % 2 == 0))
    _, counts = chosen_rows(SelectionRule(), record[kept], ply[kept], key[kept])
    assert counts.incomplete == 1


@pytest.mark.parametrize("rule", [SelectionRule(), SelectionRule("every", step=7), SelectionRule("last")], ids=str)
def test_numbers_of_games_cost_no_memory_whatever_they_are(rule: SelectionRule) -> None:
    record, ply, key = rows_of(LENGTHS)
    order = np.random.default_rng(1).permutation(len(record))
    columns = (record[order], ply[order], key[order])
    numbers = np.random.default_rng(2).permutation(np.array([0, 7, 100, 2**31 - 1, 2**31 - 2, 2**30, 5, 6], np.int32))
    assert chosen_rows(rule, numbers[columns[0]], *columns[1:], chunk=37) == chosen_rows(rule, *columns)


@pytest.mark.parametrize("text", ["", "first", "every", "every:", "every:x", "every:0", "all:3", "every:-2"])
def test_wrong_rules_are_named(text: str) -> None:
    with pytest.raises(BadInputError):
        SelectionRule.parse(text)


def test_wrong_limits_are_named() -> None:
    with pytest.raises(BadInputError, match="last 1 of a game"):
        SelectionRule(skip_end=1.0)
    assert str(SelectionRule()) == (
        "one random position a game (seed 0), without the first 10 moves of each side and the last 10%"
    )
