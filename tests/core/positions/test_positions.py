from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.game.equal_positions import canonical_positions, group_equal, position_keys
from glem.core.game.game import Game
from glem.core.positions.positions import Positions
from tests.oracles import positions as oracle


def random_set(game: Game, count: int, seed: int, *, distinct: int = 1 << 62, source: str = "games.txt") -> Positions:
    """Positions of any boards, drawn from ``distinct`` of them and turned at random."""
    rng = np.random.default_rng(seed)
    assert game.transform is not None
    positions = []
    for number in rng.integers(distinct, size=count):
        board = np.random.default_rng(number)
        occupied, owners = board.integers(0, 2**64, 2, np.uint64)
        position = game.position_type(occupied & owners, occupied & ~owners)
        positions.append(game.transform(position, int(rng.integers(game.symmetry_count))))
    return Positions.from_positions(
        game,
        positions,
        rng.integers(-64, 65, count),
        weight=rng.integers(1, 4, count),
        record=np.arange(count) // 5,
        ply=np.arange(count) % 60,
        source=source,
    )


def assert_same(first: Positions, second: Positions) -> None:
    assert first.sources == second.sources
    assert first.label_kind == second.label_kind
    assert list(first.columns()) == list(second.columns())
    for name, column in first.columns().items():
        assert column.dtype == second.columns()[name].dtype, name
        assert np.array_equal(column, second.columns()[name]), name


def row_of(positions: Positions, row: int) -> Any:
    return rows_of(positions.positions, row)


def test_canonical_positions_are_the_smallest_images(othello: Game) -> None:
    some = random_set(othello, 300, 1)
    images = canonical_positions(othello, some.positions)
    for row in range(len(some)):
        expected = oracle.smallest_image(othello, row_of(some, row), symmetries=True)
        assert (int(images.own[row]), int(images.opponent[row])) == expected


def test_keys_are_equal_modulo_symmetry_only_if_asked(othello: Game) -> None:
    assert othello.transform is not None
    some = random_set(othello, 50, 2)
    turned = othello.transform(some.positions, 5)
    assert np.array_equal(position_keys(othello, some.positions), position_keys(othello, turned))
    plain = position_keys(othello, some.positions, symmetries=False)
    assert not np.any(plain == position_keys(othello, turned, symmetries=False))
    assert plain.tolist() == [int(othello.hash_key(row_of(some, row))) for row in range(50)]


def test_a_game_without_symmetries_is_its_own_image(othello: Game) -> None:
    some = random_set(othello, 50, 3)
    plain = evolve(othello, transform=None, symmetry_count=1)
    assert np.array_equal(canonical_positions(plain, some.positions).own, some.positions.own)
    assert np.array_equal(
        position_keys(plain, some.positions), position_keys(othello, some.positions, symmetries=False)
    )


def test_positions_with_equal_keys_are_still_told_apart(othello: Game) -> None:
    colliding = evolve(othello, name="othello-colliding", hash_key=constant_key)
    some = random_set(othello, 200, 4, distinct=60)
    first, group = group_equal(colliding, some.positions)
    expected_first, expected_group = group_equal(othello, some.positions)
    assert np.array_equal(first, expected_first)
    assert np.array_equal(group, expected_group)


def constant_key(position: Any) -> np.uint64:
    return np.uint64(7)


@pytest.mark.parametrize("symmetries", [True, False])
@pytest.mark.parametrize("distinct", [1, 5, 40, 1 << 62])
def test_merging_agrees_with_the_oracle(othello: Game, distinct: int, symmetries: bool) -> None:
    some = random_set(othello, 150, distinct % 97, distinct=distinct)
    merged = some.merge_duplicates(symmetries, keep_spread=True)
    rows = [(row_of(some, row), float(some.label[row]), float(some.weight[row])) for row in range(len(some))]
    expected = oracle.merged(othello, rows, symmetries)
    assert len(merged) == len(expected)
    assert merged.label_spread is not None
    for place, (first, mean, spread, total) in enumerate(expected):
        assert row_of(merged, place) == row_of(some, first)
        assert merged.label[place] == pytest.approx(mean, abs=1e-5)
        assert merged.label_spread[place] == pytest.approx(spread, abs=1e-4)
        assert merged.weight[place] == total
        assert merged.record[place] == some.record[first]
        assert merged.ply[place] == some.ply[first]
        assert merged.game_key[place] == some.game_key[first]


def test_merging_in_two_steps_equals_merging_at_once(othello: Game) -> None:
    first, second = (random_set(othello, 100, seed, distinct=30) for seed in (5, 6))
    parts = [part.merge_duplicates(keep_spread=True) for part in (first, second)]
    stepwise = Positions.concatenate(parts).merge_duplicates(keep_spread=True)
    at_once = Positions.concatenate([first, second]).merge_duplicates(keep_spread=True)
    assert np.allclose(stepwise.label, at_once.label, atol=1e-4)
    assert np.array_equal(stepwise.weight, at_once.weight)
    assert stepwise.label_spread is not None
    assert at_once.label_spread is not None
    assert np.allclose(stepwise.label_spread, at_once.label_spread, atol=1e-3)


def test_equal_labels_merge_exactly(othello: Game) -> None:
    some = random_set(othello, 1000, 7, distinct=3)
    even = evolve(some, label=np.full(1000, 0.1, np.float32)).merge_duplicates(keep_spread=True)
    assert (even.label == np.float32(0.1)).all()
    assert even.label_spread is not None
    assert (even.label_spread == 0).all()


def test_weights_of_zero_keep_the_first_label(othello: Game) -> None:
    some = evolve(random_set(othello, 10, 8, distinct=1), weight=np.zeros(10, np.float32))
    merged = some.merge_duplicates()
    assert merged.label.tolist() == [some.label[0]]
    assert merged.weight.tolist() == [0]


def test_a_split_keeps_games_together_and_depends_on_nothing_else(othello: Game) -> None:
    some = random_set(othello, 4000, 9)
    game_key = some.game_key[some.record * 5]
    some = evolve(some, game_key=game_key)
    training, held_out = some.split_by_game(0.3, seed=4)
    assert len(training) + len(held_out) == len(some)
    assert not set(training.record) & set(held_out.record)
    assert 0.24 < len(held_out) / len(some) < 0.36
    shuffled = some.select(np.random.default_rng(1).permutation(len(some)))
    assert set(shuffled.select(shuffled.held_out_mask(0.3, seed=4)).record) == set(held_out.record)
    assert set(some.split_by_game(0.3, seed=5)[1].record) != set(held_out.record)
    # A larger share holds out the same games and more.
    assert set(held_out.record) < set(some.split_by_game(0.6, seed=4)[1].record)
    assert len(some.split_by_game(0, seed=4)[1]) == 0
    assert len(some.split_by_game(1, seed=4)[0]) == 0
    with pytest.raises(BadInputError, match=r"between 0 and 1, got 1\.5"):
        some.split_by_game(1.5)


def test_without_drops_positions_of_the_other_set_modulo_symmetry(othello: Game) -> None:
    some, other = random_set(othello, 200, 10, distinct=50), random_set(othello, 20, 11, distinct=50)
    known = {oracle.smallest_image(othello, row_of(other, row), symmetries=True) for row in range(len(other))}
    expected = [
        row
        for row in range(len(some))
        if oracle.smallest_image(othello, row_of(some, row), symmetries=True) not in known
    ]
    assert_same(some.without(other), some.select(np.array(expected)))
    assert_same(some.without(Positions.empty(othello)), some)


def test_selecting_and_shuffling_keep_rows_together(othello: Game) -> None:
    some = random_set(othello, 100, 12)
    assert_same(some.select(slice(10, 20)), some.select(np.arange(10, 20)))
    assert_same(some.select(some.ply < 7), some.select(np.flatnonzero(some.ply < 7)))
    shuffled = some.select(np.random.default_rng(3).permutation(len(some)))
    assert_same(shuffled.select(np.argsort(shuffled.record * 100 + shuffled.ply)), some)


def test_concatenating_renumbers_records_and_unites_sources(othello: Game) -> None:
    first = random_set(othello, 10, 13, source="a")
    second = evolve(random_set(othello, 10, 14, source="b"), record=np.array([-1, *range(9)], np.int32))
    third = random_set(othello, 5, 15, source="a")
    joined = Positions.concatenate([first, second, third])
    assert joined.sources == ("a", "b")
    assert joined.source.tolist() == [0] * 10 + [1] * 10 + [0] * 5
    assert joined.record.tolist() == [*first.record, -1, *range(2, 11), *[11] * 5]
    assert_same(Positions.concatenate([first.select(slice(4)), first.select(slice(4, 10))], renumber=False), first)


def test_sets_that_do_not_fit_together_are_refused(othello: Game) -> None:
    some = random_set(othello, 10, 16)
    with pytest.raises(BadInputError, match="labels other, score"):
        Positions.concatenate([some, evolve(some, label_kind="other")])
    with pytest.raises(BadInputError, match="no position sets"):
        Positions.concatenate([])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": np.zeros(9, np.float32)}, "a set of 10 positions has 9 values of 'label'"),
        ({"label": np.full(10, np.nan, np.float32)}, "label of position 0 is nan"),
        ({"weight": -np.ones(10, np.float32)}, r"weight of position 0 is -1\.0"),
        ({"source": np.full(10, 3, np.int16)}, "names source 3 of 1"),
        ({"source": np.arange(10, dtype=np.int16) - 5}, "has source -5"),
        ({"record": np.full(10, -9, np.int32)}, "has record -9"),
        ({"ply": np.full(10, -2, np.int16)}, "has ply -2"),
        ({"label_spread": np.zeros(3, np.float32)}, "3 values of 'label_spread'"),
    ],
)
def test_bad_columns_are_refused(othello: Game, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        evolve(random_set(othello, 10, 17), **changes)


def test_repr_counts(othello: Game) -> None:
    assert repr(random_set(othello, 10, 18)) == (
        "Positions(othello: 10 positions of 2 records, labels 'score', sources 1)"
    )
    assert len(Positions.empty(othello)) == 0
