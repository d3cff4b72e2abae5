"""Connect Four's features against naive ones."""

import random

import pytest

from glem.core.conformance import check_learning
from glem.core.errors import PluginError
from glem.core.features.features import AtomicFeatures
from glem.core.features.learning import Learning, Phases, load_learning
from glem.core.game.game import load_game
from glem.core.patterns.patterns import PatternSet
from tests.oracles import connect_four as oracle


@pytest.fixture(scope="module")
def learning() -> Learning:
    return load_learning("connect_four")


def content(board: oracle.Board, column: int, row: int) -> str:
    disc = oracle.cell(board, column, row)
    if disc == "-":
        return "playable" if len(board[column]) == row else "empty"
    return "own" if disc == oracle.side_to_move(board) else "opponent"


def expected_values(board: oracle.Board) -> dict[str, int | str]:
    own = oracle.side_to_move(board)
    opponent = "XO"[own == "X"]
    wins = {"": oracle.winning_cells(board, own), "opponent_": oracle.winning_cells(board, opponent)}
    values: dict[str, int | str] = {
        "abcdefg"[column] + str(row + 1): content(board, column, row) for column in range(7) for row in range(6)
    }
    for side, cells in wins.items():
        values[f"{side}wins"] = sum(len(board[column]) == row for column, row in cells)
        values[f"{side}odd_threats"] = sum(row % 2 == 0 for _, row in cells)
        values[f"{side}even_threats"] = sum(row % 2 == 1 for _, row in cells)
    values["parity"] = "odd" if sum(map(len, board)) % 2 else "even"
    values["lines"] = oracle.open_lines(board, own) - oracle.open_lines(board, opponent)
    return values


def found_values(features: AtomicFeatures, text: str) -> dict[str, int | str]:
    values = features.values_of(load_game("connect_four").parse_position(text))
    return {
        feature.name: feature.value_name(int(value)) if feature.value_names else int(value)
        for feature, value in zip(features.features, values, strict=True)
    }


def test_keeps_its_promises(learning: Learning):
    report = check_learning(learning)
    assert report.passed, str(report)


def test_features_agree_with_naive_ones(learning: Learning):
    generator = random.Random(1)
    for _ in range(8):
        board = oracle.empty_board()
        while True:
            assert found_values(learning.features, oracle.text_of(board)) == expected_values(board)
            moves = oracle.legal_moves(board)
            if not moves:
                break
            board = oracle.play(board, generator.choice(moves))


def test_patterns_cover_every_line_of_four(learning: Learning):
    patterns = PatternSet.from_names(learning.features, learning.pattern_sets["lines"])
    covered = [{learning.features[place].name for place in instance.features} for instance in patterns.instances]
    for line in oracle.LINES:
        names = {"abcdefg"[column] + str(row + 1) for column, row in line}
        assert any(names <= cells for cells in covered), names


def test_cells_lie_as_boards_are_drawn(learning: Learning):
    assert [learning.features[cell].name for cell in (0, 6, 35, 41)] == ["a6", "g6", "a1", "g1"]
    assert [learning.features[cell].cell for cell in range(42)] == list(range(42))


def test_a_full_board_has_the_last_phase(learning: Learning):
    full = learning.game.parse_position("XXOXOOOOXXOXXXXOOXOXOOXXOOXOXOXXXOXOOXOOXO X")
    assert learning.phases.names[learning.phases.phase_of(full)] == "36-41"


def test_a_phase_that_there_is_not_is_told_with_its_position(learning: Learning):
    def phase_of(position):
        return 7

    phases = Phases(learning.game, learning.phases.names, phase_of)
    with pytest.raises(PluginError, match=r"phase_of gives 7, expected 0 to 6, for the position -{42} X"):
        phases.of(learning.game.columns_of([learning.game.initial_position]))
