"""Connect Four's rules against naive ones, published counts, and its search against brute force."""

import random

import numpy as np
import pytest

from glem.core.conformance import check_game
from glem.core.errors import BadInputError
from glem.core.game.game import Game, load_game
from glem.core.game.perft import perft
from glem.core.search.solver import solver_of
from tests.oracles import connect_four as oracle

PERFT = (1, 7, 49, 343, 2401, 16_807, 117_649, 823_536, 5_673_234, 39_394_572)
"""Published counts of move sequences; a game that has ended counts no more."""


@pytest.fixture(scope="module")
def game() -> Game:
    return load_game("connect_four")


def random_board(generator: random.Random, plies: int) -> oracle.Board:
    """Position of a random game that is not over after so many plies."""
    while True:
        board = oracle.empty_board()
        for _ in range(plies):
            moves = oracle.legal_moves(board)
            if not moves:
                break
            board = oracle.play(board, generator.choice(moves))
        if oracle.legal_moves(board) and sum(map(len, board)) == plies:
            return board


def test_keeps_its_promises(game: Game):
    report = check_game(game)
    assert report.passed, str(report)


def test_perft_agrees_with_the_published_counts(game: Game):
    assert tuple(perft(game, depth) for depth in range(10)) == PERFT


def test_random_games_agree_with_the_naive_rules(game: Game):
    generator = random.Random(1)
    results = set()
    for _ in range(60):
        board, position = oracle.empty_board(), game.initial_position
        while True:
            moves = oracle.legal_moves(board)
            assert game.list_legal_moves(position) == moves
            assert game.count_moves is not None and game.count_moves(position) == len(moves)
            assert game.is_over(position) == (not moves)
            assert game.format_position(position) == oracle.text_of(board)
            assert game.parse_position(oracle.text_of(board)) == position
            assert game.search_rules["plies_left"](position) == 42 - sum(map(len, board))
            if not moves:
                assert game.final_score(position) == oracle.final_score(board)
                results.add(game.final_score(position))
                break
            move = generator.choice(moves)
            board, position = oracle.play(board, move), game.play(position, move)
    assert -1 in results


def test_a_full_board_without_four_is_a_draw(game: Game):
    position = game.parse_position("OOXOXXOOXOXOXOOXOXOXOXXOXXOXOOXOOOXXXOXXOX X")
    assert game.is_over(position) and game.list_legal_moves(position) == [] and game.final_score(position) == 0


@pytest.mark.parametrize(
    ("cells", "is_won"),
    [
        ("a1 b1 c1 d1", True),
        ("d6 e6 f6 g6", True),
        ("a1 a2 a3 a4", True),
        ("g3 g4 g5 g6", True),
        ("a1 b2 c3 d4", True),
        ("a6 b5 c4 d3", True),
        ("d1 e2 f3 g4", True),
        ("d6 e5 f4 g3", True),
        # Around the edge of the board.
        ("a5 a6 b1 b2", False),
        ("f6 g6 a1 b1", False),
        ("e5 f6 g1 a2", False),
    ],
)
def test_lines_of_four(game: Game, cells: str, is_won: bool):
    bits = sum(1 << 7 * "abcdefg".index(name[0]) + int(name[1]) - 1 for name in cells.split())
    position = type(game.initial_position)(np.uint64(0), np.uint64(bits))
    assert game.is_over(position) == is_won
    assert game.final_score(position) == -is_won


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "42 cells"),
        ("X", "42 cells"),
        ("-" * 41 + "Z", "42 cells"),
        ("-" * 43, "42 cells"),
        ("-" * 41 + "O", "no game leads"),
        ("-" * 40 + "XX", "no game leads"),
        ("-" * 41 + "X X", "no game leads"),
        ("-" * 42 + " O", "no game leads"),
        ("-" * 42 + " X X", "no game leads"),
        ("-" * 28 + "OOO----" + "XXXXO--", "no game leads"),
        ("-" * 34 + "X" + "-" * 7, "above an empty cell"),
    ],
)
def test_texts_that_are_no_positions(game: Game, text: str, problem: str):
    with pytest.raises(BadInputError, match=problem):
        game.parse_position(text)


def test_a_side_to_move_may_be_left_out(game: Game):
    position = game.play(game.initial_position, 3)
    text = game.format_position(position)
    assert text == "-" * 38 + "X--- O"
    assert game.parse_position(text.removesuffix(" O").lower()) == position


@pytest.mark.parametrize("text", ["", "0", "8", "12", "a", "²"])
def test_texts_that_are_no_moves(game: Game, text: str):
    with pytest.raises(BadInputError, match="no column"):
        game.parse_move(text)


def test_moves_are_written_from_1_to_7(game: Game):
    assert [game.format_move(move) for move in range(7)] == list("1234567")
    assert [game.parse_move(text) for text in "1234567"] == list(range(7))


EMPTY_CELLS = {8: 60, 9: 30, 10: 10, 11: 3}
"""Number of endgames by the number of their empty cells."""


def test_the_solver_of_every_game_agrees_with_brute_force(game: Game):
    generator = random.Random(3)
    boards = [random_board(generator, 42 - empty) for empty, count in EMPTY_CELLS.items() for _ in range(count)]
    values = [oracle.solve(board) for board in boards]
    assert {-1, 0, 1} <= set(values)
    solver = solver_of(game, table_mb=1)
    for board, value in zip(boards, values, strict=True):
        text = oracle.text_of(board)
        solution = solver.solve(game.parse_position(text))
        assert solution.exact and solution.score == value, text
