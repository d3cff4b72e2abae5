"""The rules for one position at a time against the rules, on positions of random games and on random boards."""

import numpy as np

from glem.core.compiling.kernels import compiled, kernel
from glem.games.othello import rules
from glem.games.othello.single import flips_one, mobility_one


@kernel
def all_flips(own, opponent, turned):
    """Flips of each position on each square: uint64 [N, 64]."""
    for row in range(own.size):
        for square in range(64):
            if (own[row] | opponent[row]) >> np.uint64(square) & np.uint64(1) == np.uint64(0):
                turned[row, square] = flips_one(own[row], opponent[row], square)


@kernel
def all_mobility(own, opponent, places):
    for row in range(own.size):
        places[row] = mobility_one(own[row], opponent[row])


def boards(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Boards reachable or not, from almost empty to full, among them many long runs."""
    generator = np.random.default_rng(seed)
    empty, own = generator.random((2, count, 1)) ** 2
    occupied = generator.random((count, 64)) >= empty
    mine = occupied & (generator.random((count, 64)) < own)
    places = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return (mine * places).sum(1, dtype=np.uint64), ((occupied & ~mine) * places).sum(1, dtype=np.uint64)


def test_flips_and_mobility_of_random_boards():
    own, opponent = boards(3000, 1)
    turned, places = np.zeros((own.size, 64), np.uint64), np.zeros(own.size, np.uint64)
    all_flips(own, opponent, turned)
    all_mobility(own, opponent, places)
    flips, mobility = compiled(rules.flips), compiled(rules.mobility)
    for row in range(own.size):
        assert places[row] == mobility(own[row], opponent[row])
        for square in np.flatnonzero(turned[row] != 0):
            assert turned[row, square] == flips(own[row], opponent[row], int(square))
        # A square turns discs exactly where the rules allow a move.
        assert sum(1 << int(square) for square in np.flatnonzero(turned[row])) == places[row]
