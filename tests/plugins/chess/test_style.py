"""The features of styles against python-chess: plain, compiled, on real positions, from both players' sides."""

import lzma
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_evaluation
from glem.core.features.learning import load_learning
from glem.core.positions.reading import read_records
from glem.core.positions.replay import replay
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board, to_board
from glem.games.chess.rules.playing import transform
from glem.plugins.chess.style import PAIRS, STYLE
from tests.oracles.chess_style import style_of
from tests.plugins.chess.test_features import some_boards

__all__ = ["some_boards"]

FEATURES = STYLE.features
NAMES = [feature.name for feature in FEATURES.features]


def test_there_are_as_many_as_in_the_paper() -> None:
    groups = [feature.group for feature in FEATURES.features]
    counts = {group: groups.count(group) for group in dict.fromkeys(groups)}
    assert counts == {"style": 13, "complexes": 9, "pawn_pairs": 112, "formations": 6}
    assert len(set(PAIRS)) == 112


def test_features_equal_the_oracle(some_boards: list[chess.Board]) -> None:
    positions = [from_board(board) for board in some_boards]
    expected = [style_of(board) for board in some_boards]
    assert sorted(expected[0]) == sorted(NAMES)
    wanted = np.array([[row[name] for name in NAMES] for row in expected])
    np.testing.assert_array_equal([FEATURES.values_of(position) for position in positions], wanted)
    for chosen in (positions, [transform(position, 1) for position in positions]):
        np.testing.assert_array_equal(FEATURES.values(CHESS.columns_of(chosen)), wanted)
    turned = [board.copy(stack=False) for board in some_boards]
    for board in turned:
        board.turn, board.ep_square = not board.turn, None
    np.testing.assert_array_equal(FEATURES.values(CHESS.columns_of([from_board(board) for board in turned])), -wanted)
    assert (np.abs(wanted) <= [feature.high for feature in FEATURES.features]).all()


def test_each_is_positive_in_its_example() -> None:
    for place, feature in enumerate(FEATURES.features):
        assert FEATURES.values_of(CHESS.parse_position(feature.example))[place] > 0, feature.name


@pytest.mark.shared
def test_features_of_real_positions_equal_the_oracle(shared: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    with lzma.open(shared / "chess" / "players" / "kramnik.pgn.xz") as source:
        file.write_bytes(source.read(600_000))
    records = next(iter(read_records(CHESS, file, skip_bad=True)))
    positions = replay(CHESS, records).positions
    chosen = np.random.default_rng(1).choice(len(positions[0]), 10_000, replace=False)
    positions = rows_of(positions, np.sort(chosen))
    values = FEATURES.values(positions)
    for row in range(10_000):
        expected = style_of(to_board(position_at(positions, row)))
        assert values[row].tolist() == [expected[name] for name in NAMES], row


def test_evaluations_of_the_set_are_saved_and_play(tmp_path: Path) -> None:
    phases = len(STYLE.phases)
    weights = np.tile(np.linspace(0.01, 0.02, 140, dtype=np.float32), (phases, 1))
    made: Any = LinearEvaluation(
        STYLE, np.zeros(phases, np.float32), LOGISTIC, linear=tuple(range(140)), linear_weights=weights
    )
    made.save(tmp_path / "style.npz")
    loaded: Any = load_evaluation(tmp_path / "style.npz", CHESS)
    assert loaded.learning is STYLE
    np.testing.assert_array_equal(loaded.linear_weights, weights)


def test_unknown_sets_are_refused() -> None:
    with pytest.raises(BadInputError, match="chess has no feature set 'styles'; it has: style"):
        load_learning("chess", "styles")
