from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.games.othello.rules import Position, transform
from tests.core.evaluation.evaluator_scores import random_line
from tests.oracles import othello_features


@pytest.fixture(scope="module")
def played(othello: Game) -> list[Position]:
    return [position for seed in range(6) for position in random_line(othello, np.random.default_rng(seed))[0]]


def test_features_of_played_positions_agree_with_the_oracle(othello_learning: Learning, played: list[Position]) -> None:
    features = othello_learning.features
    values = features.values(features.game.columns_of(played))
    names = [feature.name for feature in features.features]
    for row, position in enumerate(played):
        assert dict(zip(names, values[row].tolist(), strict=True)) == othello_features.features(position)


boards = st.builds(
    lambda occupied, owners: Position(np.uint64(occupied & owners), np.uint64(occupied & ~owners)),
    st.one_of(
        st.integers(0, 2**64 - 1),
        # Few empty squares: full edges and small regions are rare otherwise.
        st.builds(lambda *masks: masks[0] | masks[1] | masks[2], *[st.integers(0, 2**64 - 1)] * 3),
    ),
    st.integers(0, 2**64 - 1),
)


@settings(max_examples=150, deadline=None)
@given(position=boards)
def test_plain_features_of_any_board_agree_with_the_oracle(othello_learning: Learning, position: Position) -> None:
    features = othello_learning.features
    names = [feature.name for feature in features.features]
    assert dict(zip(names, features.values_of(position).tolist(), strict=True)) == othello_features.features(position)


@settings(max_examples=100, deadline=None)
@given(position=boards, symmetry=st.integers(0, 7))
def test_symmetric_positions_have_permuted_values(
    othello_learning: Learning, position: Position, symmetry: int
) -> None:
    features = othello_learning.features
    assert features.symmetries is not None
    image = features.values_of(transform(position, symmetry))
    assert np.array_equal(features.values_of(position), image[features.symmetries[symmetry]])


def test_values_stay_in_their_ranges(othello_learning: Learning) -> None:
    features = othello_learning.features
    rng = np.random.default_rng(5)
    occupied = rng.integers(0, 2**64, 20_000, np.uint64) | rng.integers(0, 2**64, 20_000, np.uint64)
    occupied[:3] = np.array([0, 2**64 - 1, 0x00AA00AA00AA00AA], np.uint64)
    own = occupied & rng.integers(0, 2**64, 20_000, np.uint64)
    columns: Any = (own, occupied & ~own)
    values = features.values(Position(*columns))
    for place, feature in enumerate(features.features):
        assert feature.low <= values[:, place].min() <= values[:, place].max() <= feature.high, feature.name


def test_stable_edge_discs_by_hand(othello: Game, othello_learning: Learning) -> None:
    first_row = {"XXX-OOXX": (5, 0), "-XXXXXXX": (7, 0), "OXXXXXXX": (7, 1), "XXXXXXXX": (8, 0), "-XXXXXX-": (0, 0)}
    features = othello_learning.features
    for row, (own, opponent) in first_row.items():
        values = features.values_of(othello.parse_position(row + "-" * 56 + " X"))
        assert values[features.index("stable_edge_discs")] == own, row
        assert values[features.index("opponent_stable_edge_discs")] == opponent, row


def test_every_feature_says_what_it_is(othello_learning: Learning) -> None:
    for feature in othello_learning.features.features:
        assert feature.description.endswith(".")
        assert feature.group
