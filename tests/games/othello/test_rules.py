"""Othello's rules against the naive ones, on positions of random games and on random boards."""

import random

import numpy as np
import pytest

from glem.core.compiling.kernels import compiled
from glem.core.game.game import Game
from glem.games.othello import OTHELLO, rules
from glem.games.othello.rules import INITIAL_POSITION, PASS, Position
from glem.games.othello.single import flips_one, mobility_one
from tests.oracles import othello_rules as oracle
from tests.oracles.othello_rules import position_of


def random_boards(count: int, seed: int) -> list[np.ndarray]:
    """Reachable or not, from empty to full: every run length and border occurs."""
    generator = np.random.default_rng(seed)
    # Squared, so that many are nearly full and have long runs.
    shares = generator.random((count, 2)) ** 2
    boards = []
    for empty, own in shares:
        occupied = generator.random(64) >= empty
        boards.append((np.where(generator.random(64) < own, 1, -1) * occupied).reshape(8, 8))
    return boards


def test_random_games_agree_with_the_naive_rules():
    generator = random.Random(3)
    passes = 0
    for _ in range(12):
        board, position = oracle.board_of(int(INITIAL_POSITION.own), int(INITIAL_POSITION.opponent)), INITIAL_POSITION
        while True:
            moves = OTHELLO.list_legal_moves(position)
            assert moves == oracle.legal_moves(board)
            assert rules.count_moves(position) == len(moves)
            assert rules.is_over(position) == (not moves)
            if not moves:
                assert rules.final_score(position) == oracle.final_score(board)
                break
            move = generator.choice(moves)
            passes += move == PASS
            board, position = oracle.play(board, move), rules.play(position, move)
            assert position == position_of(board)
    assert passes  # else the test says nothing about them


def _flips_one(own, opponent, square):
    return flips_one(own, opponent, square)


def _mobility_one(own, opponent):
    return mobility_one(own, opponent)


@pytest.mark.parametrize(
    ("mobility", "flips", "count"),
    [
        pytest.param(rules.mobility, rules.flips, 120, id="plain"),
        pytest.param(compiled(rules.mobility), compiled(rules.flips), 400, id="compiled"),
        pytest.param(compiled(_mobility_one), compiled(_flips_one), 400, id="one position at a time"),
    ],
)
def test_random_boards_agree_with_the_naive_rules(mobility, flips, count):
    for board in random_boards(count, 5):
        position = position_of(board)
        squares = int(mobility(position.own, position.opponent))
        assert [square for square in range(64) if squares >> square & 1] == oracle.placements(board)
        for square in np.flatnonzero(board.ravel() == 0):
            turned = int(flips(position.own, position.opponent, int(square)))
            assert turned == sum(1 << (8 * row + column) for row, column in oracle.turned_discs(board, int(square)))


def test_final_scores_and_passes():
    wiped_out = Position(np.uint64(0), np.uint64(0b111))
    assert rules.is_over(wiped_out)
    assert rules.final_score(wiped_out) == -64
    assert rules.final_score(Position(np.uint64(0b111), np.uint64(0))) == 64
    assert rules.final_score(Position(np.uint64(0b11), np.uint64(0b1100))) == 0
    # a1 own, b1 opponent's, the rest empty: c1 turns b1; the opponent cannot move and must pass.
    stuck = Position(np.uint64(0b10), np.uint64(0b01))
    assert OTHELLO.list_legal_moves(stuck) == [PASS]
    assert rules.play(stuck, PASS) == Position(np.uint64(0b01), np.uint64(0b10))


def test_a_known_game_ends_as_known(othello: Game):
    # The shortest game in which the loser keeps no disc: nine moves.
    position = othello.initial_position
    for name in ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"]:
        move = othello.parse_move(name)
        assert move in OTHELLO.list_legal_moves(position)
        position = rules.play(position, move)
    assert rules.is_over(position)
    assert rules.final_score(position) == -64


def test_symmetries_move_squares_as_they_move_boards():
    for symmetry in range(8):
        for square in range(64):
            image = rules.transform(Position(np.uint64(1 << square), np.uint64(0)), symmetry)
            assert int(image.own) == 1 << rules.transform_square(square, symmetry)
        assert rules.transform_square(PASS, symmetry) == PASS
