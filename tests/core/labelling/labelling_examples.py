"""Positions for tests of labels, and their exact values."""

from typing import Any

import numpy as np

from glem.core.game.game import Game
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from tests.core.positions.test_game_tree import random_games


def some_positions(game: Game, count: int, seed: int = 1) -> Positions:
    """Different positions of random games, from all stages."""
    every = positions_of_records(game, [random_games(game, 40, seed, choices=60)]).merge_duplicates()
    return every.select(np.sort(np.random.default_rng(seed).permutation(len(every))[:count]))


def exact_value(game: Game, position: Any) -> int:
    """Score of a position near the end, by looking at every game that is left."""
    moves = game.list_legal_moves(position)
    if not moves:
        return game.final_score(position)
    return max(-exact_value(game, game.play(position, move)) for move in moves)
