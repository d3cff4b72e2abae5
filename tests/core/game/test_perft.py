"""Perft: known counts, plain against compiled, threads, games that end early."""

from typing import Any

import numpy as np
import pytest

from glem.core.compiling.kernels import compiled
from glem.core.errors import BadInputError
from glem.core.game import perft as perft_module
from glem.core.game.game import Game
from glem.core.game.perft import perft
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.game.countdown_game import COUNTDOWN

# As the tables of Othello programs have them: a pass is a ply, a game that has ended counts once.
OTHELLO_COUNTS = [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800]


def test_othello_from_the_start(othello: Game):
    assert [perft(othello, depth) for depth in range(12)] == OTHELLO_COUNTS
    assert [perft(othello, depth, plain=True) for depth in range(7)] == OTHELLO_COUNTS[:7]
    assert perft(othello, 8, jobs=3) == OTHELLO_COUNTS[8]


def test_passes_and_early_ends_count_once(othello: Game):
    # Late positions, where sides are stuck and games end before the last ply.
    for seed in range(8):
        position = random_line(othello, np.random.default_rng(seed))[0][:53][-1]
        for depth in (2, 3, 4):
            assert perft(othello, depth, position) == perft(othello, depth, position, plain=True)


@pytest.mark.parametrize("depth", range(8))
@pytest.mark.parametrize("plain", [True, False])
def test_a_game_without_count_moves_whose_ended_games_do_not_count(depth, plain):
    # Compositions: ways to take 1 to 3 at a time from 9 without being done before the last ply.
    left = {9: 1}
    for _ in range(depth):
        following: dict[int, int] = {}
        for stones, ways in left.items():
            for taken in range(1, min(stones, 3) + 1):
                following[stones - taken] = following.get(stones - taken, 0) + ways
        left = following
    assert perft(COUNTDOWN, depth, plain=plain) == sum(left.values())


def test_bad_arguments(othello: Game):
    with pytest.raises(BadInputError, match="negative, got -1"):
        perft(othello, -1)
    with pytest.raises(BadInputError, match="at least one job"):
        perft(othello, 3, jobs=0)


def test_the_recursive_kernel_has_one_signature_per_game(othello: Game):
    # A second signature of a recursive kernel would crash the next process that loads it (numba 0.68).
    for depth in (2, 5, 8):
        perft(othello, depth)
    perft(COUNTDOWN, 4)
    twin: Any = compiled(perft_module._count_leaves)
    names = [str(signature[0]) for signature in twin.signatures]
    assert len(names) == len(set(names))


def test_the_command(terminal: Terminal):
    assert "8,200 leaves" in terminal("search", "perft", "othello", 6)
    assert '"leaves": 8200' in terminal("search", "perft", "othello", 6, "--json", "--jobs", 2)
    assert terminal("search", "perft", "nosuchgame", 3, status=2).count("\n") == 1
    assert "64 squares" in terminal("search", "perft", "othello", 3, "--position", "what", status=2)
