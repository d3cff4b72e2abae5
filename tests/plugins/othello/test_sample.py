import numpy as np

from glem.core.compiling.columns import position_at
from glem.core.features.learning import Learning
from glem.games.othello.solver import EndgameSolver
from glem.plugins.othello.sample import SAMPLE_FILE, sample_games


def test_the_sample_is_small_varied_and_exact_at_the_end(othello_learning: Learning) -> None:
    assert SAMPLE_FILE.stat().st_size < 1_500_000
    games = sample_games()
    assert len(games) == 5000
    assert len({games.moves_of(game).tobytes() for game in range(len(games))}) > 4990
    assert othello_learning.sample is not None
    positions = othello_learning.sample()
    assert len(positions) > 290_000
    empties = 64 - np.bitwise_count(positions.positions.own | positions.positions.opponent)
    chosen = np.random.default_rng(0).choice(np.flatnonzero((empties >= 8) & (empties <= 14)), 60)
    solver = EndgameSolver(table_mb=16)
    for row in chosen:
        assert solver.solve(position_at(positions.positions, row)).score == positions.label[row]
