"""Features of chess against python-chess, in plain Python and compiled, and from both players' sides."""

import random
from typing import Any

import chess
import numpy as np
import pytest

from glem.core.compiling.columns import column_of_one
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board
from glem.games.chess.rules.playing import transform
from glem.plugins.chess.features.features import FEATURES
from glem.plugins.chess.material_balance import group_by_material
from glem.plugins.chess.phases import PHASES, phase_of
from tests.oracles.chess_features import features_of

_RARE = (
    "8/8/4k3/8/8/2B1K3/8/8 w - - 0 1",
    "8/8/4kb2/8/8/2B1K3/4P3/8 b - - 60 90",
    "8/8/4k1b1/8/8/2B1K3/4P3/8 b - - 3 90",
    "8/8/4k3/1N6/2n5/4K3/8/8 w - - 0 1",
    "8/1P6/8/8/8/6k1/8/K7 w - - 0 1",
    "8/1P6/8/8/8/6k1/8/K7 b - - 0 1",
    "8/8/8/4k3/8/8/P6P/K7 b - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1",
    "1rk4r/pppppppp/8/8/8/8/PPPPPPPP/1RK4R b HBhb - 0 1",
    "QQQQQQQQ/Q6k/8/8/8/8/7p/K7 w - - 0 1",
    "3r2k1/pp3ppp/8/3pP3/3P1N2/4n3/PP4PP/2R3K1 w - d6 0 1",
    "7K/8/8/8/8/8/8/k7 w - - 150 200",
)


@pytest.fixture(scope="module")
def some_boards() -> list[chess.Board]:
    """Positions of random games of all lengths, with many captures, and rare ones."""
    source = random.Random(3)
    found = [chess.Board(text, chess960=True) for text in _RARE]
    for _ in range(70):
        board = chess.Board()
        for _ in range(source.randrange(200)):
            moves = list(board.legal_moves)
            if not moves:
                break
            captures = [move for move in moves if board.is_capture(move)]
            board.push(source.choice(captures if captures and source.random() < 0.3 else moves))
        found.append(board)
    return found


@pytest.fixture(scope="module")
def plain_values(some_boards: list[chess.Board]) -> Any:
    return np.array([FEATURES.values_of(from_board(board)) for board in some_boards])


def test_features_equal_the_oracle(some_boards: list[chess.Board], plain_values: Any) -> None:
    names = [feature.name for feature in FEATURES.features]
    for board, values in zip(some_boards, plain_values, strict=True):
        expected = features_of(board)
        assert sorted(expected) == sorted(names)
        found = dict(zip(names, values.tolist(), strict=True))
        assert found == {name: expected[name] for name in names}, board.fen()


def test_values_lie_within_their_ranges(plain_values: Any) -> None:
    low = np.array([feature.low for feature in FEATURES.features])
    high = np.array([feature.high for feature in FEATURES.features])
    assert ((low <= plain_values) & (plain_values <= high)).all()


def test_compiled_features_are_the_plain_ones_from_both_sides(
    some_boards: list[chess.Board], plain_values: Any
) -> None:
    positions = [from_board(board) for board in some_boards]
    flipped = [transform(position, 1) for position in positions]
    for chosen in (positions, flipped):
        columns = CHESS.columns_of(chosen)
        np.testing.assert_array_equal(FEATURES.values(columns), plain_values)
        np.testing.assert_array_equal(PHASES.of(columns), [phase_of(position) for position in positions])


def test_phases_go_by_the_pieces_left() -> None:
    def phase(placement: str) -> str:
        return PHASES.names[phase_of(from_board(chess.Board(f"{placement} w - - 0 1")))]

    assert phase(chess.STARTING_BOARD_FEN) == "22-24"
    assert phase("r3k3/8/8/8/8/8/8/R3K3") == "3-5"
    assert phase("4k3/8/8/8/8/8/8/R3K3") == "0-2"
    assert phase("q3k3/8/8/8/8/8/8/Q3K3") == "6-9"
    assert phase("4k3/8/8/8/8/8/PPPP4/4K3") == "0-2"


@pytest.mark.parametrize(
    ("fen", "name"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "even"),
        ("rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "1 ahead"),
        ("rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", "1 behind"),
        ("r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1", "even"),
        ("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1", "4 and more behind"),
        ("r3k3/8/8/8/8/8/8/N3K3 w - - 0 1", "2 behind"),
    ],
)
def test_material_is_counted_from_the_side_to_move(fen: str, name: str) -> None:
    names, group = group_by_material(column_of_one(from_board(chess.Board(fen))))
    assert names[group[0]] == name
