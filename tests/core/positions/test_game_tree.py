import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.game_tree import GameTree, label_changes, propagate
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from tests.core.positions.test_positions import assert_same
from tests.oracles import game_tree as oracle
from tests.oracles.replay import random_game, records_of


def filled(values: dict[int, float], count: int) -> NDArray[np.float32]:
    column = np.full(count, np.nan, np.float32)
    for node, value in values.items():
        column[node] = value
    return column


@st.composite
def graphs(draw: st.DrawFn, circles: bool) -> dict[str, Any]:
    count = draw(st.integers(1, 12))
    node = st.integers(0, count - 1)
    arcs = draw(st.lists(st.tuples(node, node), max_size=30))
    # A later node is a later position, unless there may be circles.
    arcs = [pair for pair in arcs if circles or pair[0] < pair[1]]
    score = st.one_of(st.integers(-5, 5).map(float), st.just(math.nan))
    some = st.dictionaries(node, score, max_size=count)
    return {
        "count": count,
        "arcs": arcs,
        "result": draw(some),
        "exact": {node: value for node, value in draw(some).items() if not math.isnan(value)},
        "alternative": draw(some),
        "ply": draw(st.lists(st.integers(0, 5), min_size=count, max_size=count)),
    }


def check(graph: dict[str, Any], *, with_ply: bool) -> None:
    """Values are those of naive recursion; with plies, over the arcs that do not lead back."""
    count = graph["count"]
    parents, children = np.array(graph["arcs"], np.int32).reshape(-1, 2).T
    found = propagate(
        np.ascontiguousarray(parents),
        np.ascontiguousarray(children),
        filled(graph["result"], count),
        exact=filled(graph["exact"], count),
        alternative=filled(graph["alternative"], count),
        ply=np.array(graph["ply"], np.int16) if with_ply else None,
    )
    successors = {node: [child for parent, child in graph["arcs"] if parent == node] for node in range(count)}
    if with_ply:
        successors = oracle.without_returns(successors, dict(enumerate(graph["ply"])))
    known = graph["result"], graph["exact"], graph["alternative"]
    expected = [oracle.negamax(successors, node, *known) for node in range(count)]
    np.testing.assert_array_equal(found, expected)


@settings(deadline=None)
@given(graphs(circles=False))
def test_values_agree_with_naive_recursion(graph: dict[str, Any]) -> None:
    check(graph, with_ply=False)


@settings(deadline=None)
@given(graphs(circles=True))
def test_in_circles_moves_that_go_back_do_not_count(graph: dict[str, Any]) -> None:
    check(graph, with_ply=True)


def test_circles_need_plies() -> None:
    parents, children = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    with pytest.raises(BadInputError, match="form circles"):
        propagate(parents, children, np.zeros(2, np.float32))


def random_games(game: Game, games: int, seed: int, choices: int) -> GameRecords:
    """Random games without recorded passes that share many positions; some stop early, some have an exact score."""
    rng = np.random.default_rng(seed)
    # Turned moves of the same few choices: equal positions come in different orientations.
    lengths = [30 if number % 7 == 6 else game.max_plies for number in range(games)]
    records = records_of([random_game(game, rng, plies, choices) for plies in lengths])
    exact = np.arange(games) % 5 == 0
    return evolve(
        records,
        source="random",
        theoretical_score=np.where(exact, rng.integers(-9, 10), np.nan).astype(np.float32),
        theoretical_ply=np.where(exact, 40, -1).astype(np.int16),
    )


def test_a_tree_of_games_agrees_with_naive_recursion(othello: Game) -> None:
    records = random_games(othello, 30, 1, choices=2)
    tree = GameTree.from_records(othello, [records.select(slice(0, 9)), records.select(slice(9, 30))])
    expected = oracle.tree_of(othello, records)
    value = tree.propagate()
    row = 0
    found: dict[Any, float] = {}
    for path in expected.keys:
        for key in path:
            known = oracle.negamax(expected.successors, key, expected.result, expected.exact, {}, found)
            assert value[tree.node[row]] == pytest.approx(known, abs=1e-5, nan_ok=True)
            row += 1
    assert row == len(tree.node)
    assert len(tree) == len({key for path in expected.keys for key in path})


def test_a_result_labels_the_positions_of_a_single_game(othello: Game) -> None:
    records = random_games(othello, 1, 2, choices=60)
    records = evolve(records, theoretical_score=np.full(1, np.nan, np.float32))
    tree = GameTree.from_records(othello, [records])
    found = tree.labelled(tree.propagate())
    assert found.label_kind == "propagated"
    assert_same(found, evolve(positions_of_records(othello, [records]), label_kind="propagated"))


def test_distinct_positions_carry_their_occurrences(othello: Game) -> None:
    records = random_games(othello, 20, 4, choices=2)
    tree = GameTree.from_records(othello, [records])
    value = tree.propagate()
    every, distinct = tree.labelled(value), tree.labelled(value, distinct=True)
    merged = every.merge_duplicates()
    assert len(distinct) == len(merged) < len(every)
    assert np.array_equal(distinct.weight, merged.weight)
    assert np.array_equal(distinct.label, merged.label)
    assert np.array_equal(distinct.positions.own, merged.positions.own)


def test_alternatives_and_exact_values_enter(othello: Game) -> None:
    tree = GameTree.from_records(othello, [random_games(othello, 10, 5, choices=3)])
    value = tree.propagate()
    unknown = np.full(len(tree), np.nan, np.float32)
    better = unknown.copy()
    better[0] = value[0] + 3
    assert tree.propagate(alternative=better)[0] == value[0] + 3
    worse = unknown.copy()
    worse[0] = value[0] - 3
    assert tree.propagate(alternative=worse)[0] == value[0]
    assert tree.propagate(exact=worse)[0] == value[0] - 3


def test_no_games_make_an_empty_tree(othello: Game) -> None:
    tree = GameTree.from_records(othello, [])
    assert len(tree) == 0
    assert len(tree.labelled(tree.propagate())) == 0


def test_games_with_illegal_moves_are_left_out(othello: Game) -> None:
    records = random_games(othello, 5, 6, choices=5)
    moves = records.moves.copy()
    moves[records.offsets[2] + 3] = 0
    tree = GameTree.from_records(othello, [evolve(records, moves=moves)])
    assert tree.number.tolist() == [0, 1, 3, 4]


def test_changes_are_counted_by_phase() -> None:
    before = np.array([1, 2, -3, math.nan, 5], np.float32)
    after = np.array([1, -2, -1, 4, math.nan], np.float32)
    first, second, total = label_changes(before, after, np.array([0, 1, 1, 0, 0], np.uint8), ("early", "late"))
    assert (first.name, first.positions, first.changed, first.turned) == ("early", 1, 0, 0)
    assert (second.positions, second.changed, second.turned, second.mean_change) == (2, 2, 1, 3.0)
    assert (total.name, total.positions, total.changed) == ("all", 3, 2)


@pytest.mark.shared
def test_tournament_labels_change_most_in_the_opening(othello: Game, othello_learning: Learning, shared: Path) -> None:
    records = read_records(othello, shared / "othello" / "wthor" / "WTH_2010.wtb")
    tree = GameTree.from_records(othello, records)
    phases = othello_learning.phases
    value = tree.propagate(exact=np.full(len(tree), np.nan, np.float32))
    phase = phases.of(tree.played.positions)
    rows = label_changes(tree.labels_of_games("result"), value[tree.node], phase, phases.names)
    shares = [row.changed / row.positions for row in rows[:-1]]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5
    assert shares[-1] < 0.001
