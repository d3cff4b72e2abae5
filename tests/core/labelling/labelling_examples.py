"""Quick evaluations and positions for tests of labels, and tasks in worker processes that die."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np

from glem.core.game.game import Game
from glem.core.labelling import by_search as search_labels
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from glem.core.tasks.chunked_work import Arrays
from tests.core.positions.test_game_tree import random_games

__all__ = ["killed_once_then_labelled", "some_positions"]

_label_chunk = search_labels.label_chunk


def some_positions(game: Game, count: int, seed: int = 1) -> Positions:
    """Different positions of random games, from all stages."""
    every = positions_of_records(game, [random_games(game, 40, seed, choices=60)]).merge_duplicates()
    return every.select(np.sort(np.random.default_rng(seed).permutation(len(every))[:count]))


def killed_once_then_labelled(task: search_labels.LabelTask) -> Arrays:
    """Label positions; the first process that has the second task dies of it."""
    marker = Path(os.environ["GLEM_TEST_MARKER"])
    if task.first > 0 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _label_chunk(task)
