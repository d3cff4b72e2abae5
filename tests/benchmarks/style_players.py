"""Players of Othello whose weights are known: what either learner finds of them, and whether it tells them apart.

``python -m tests.benchmarks.style_players``

Each of four players chooses by a softmax over 11 features' values; weights are learned from 600 games and asked about
200 others. A hit is a game whose moves fit the own weights better than another player's: by likelihood for the choice
model, by the sum of absolute errors for temporal differences. As a null control each player's weights are learned
twice, and the one half guesses against the other.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from glem.core.compiling.columns import rows_of
from glem.core.features.learning import load_learning
from glem.core.styles.chosen_moves import ChosenMoves, own_moves, starts_of_games
from glem.core.styles.temporal_difference import TemporalDifference, differences_of, learn_differences
from tests.core.styles.test_chosen_moves import NAMES, USUAL, games_of, learned, moves_of, weights_of

SPREAD = 1.0
HOW = TemporalDifference(scale=0.1, positive=False)


def positions_of(which: int, games: int, seed: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Features of positions with the player to move, and where each game begins."""
    learning = load_learning("othello")
    played = games_of((weights_of(which, SPREAD), USUAL), games, seed)
    rows = own_moves(played, np.ones(games, np.int8))
    features = learning.features.values(rows_of(played.positions, rows))
    return features[:, [learning.features.index(name) for name in NAMES]], starts_of_games(played.record[rows])


def differences(which: int, seed: int) -> NDArray[np.float64]:
    """Weights by temporal differences."""
    features, starts = positions_of(which, 600, seed)
    return learn_differences(features, starts, np.ones(len(NAMES)), np.zeros(len(NAMES), bool), HOW).weights


def hits_by_errors(which: int, seed: int, own: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Share of 200 games whose errors are smaller by the own weights."""
    features, starts = positions_of(which, 200, seed)
    apart = differences_of(features, starts, own, HOW.scale) - differences_of(features, starts, other, HOW.scale)
    return float((np.add.reduceat(np.nan_to_num(apart), starts[:-1]) < 0).mean())


def hits_by_moves(moves: ChosenMoves, own: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Share of games whose moves are likelier by the own weights."""
    return float((moves.by_game(own) > moves.by_game(other)).mean())


def main() -> None:
    players = (1, 2, 3, 4)
    print("player   rank correlation: choice model, temporal differences   null control: choice model, differences")
    found = {}
    for which in players:
        choice, error = learned(which, 10 * which, SPREAD).weights, differences(which, 10 * which)
        found[which] = choice, error
        true = weights_of(which, SPREAD)
        ranks = [float(np.corrcoef(rankdata(weights), rankdata(true))[0, 1]) for weights in (choice, error)]
        again = learned(which, 10 * which + 1, SPREAD).weights, differences(which, 10 * which + 1)
        moves = moves_of(which, 200, 10 * which + 5, SPREAD)
        null = hits_by_moves(moves, choice, again[0]), hits_by_errors(which, 10 * which + 5, error, again[1])
        print(f"{which:6} {ranks[0]:30.2f} {ranks[1]:22.2f} {null[0]:37.2f} {null[1]:12.2f}")
    print("pair   hits by the choice model   hits by temporal differences")
    for one, other in combinations(players, 2):
        pairs = (one, other), (other, one)
        moves_hits, error_hits = [], []
        for own, against in pairs:
            moves = moves_of(own, 200, 10 * own + 5, SPREAD)
            moves_hits.append(hits_by_moves(moves, found[own][0], found[against][0]))
            error_hits.append(hits_by_errors(own, 10 * own + 5, found[own][1], found[against][1]))
        print(f"{one}, {other} {moves_hits[0]:18.3f} {moves_hits[1]:6.3f} {error_hits[0]:20.3f} {error_hits[1]:6.3f}")


if __name__ == "__main__":
    main()
