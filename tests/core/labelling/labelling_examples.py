"""Quick evaluations and positions for tests of labels, and tasks in worker processes that die."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.cli import main
from glem.core.game.game import Game
from glem.core.labelling import by_search as search_labels
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from glem.core.tasks.chunked_work import Arrays, PositionsTask
from tests.core.positions.test_game_tree import random_games

_label_chunk = search_labels.label_chunk


def some_positions(game: Game, count: int, seed: int = 1) -> Positions:
    """Different positions of random games, from all stages."""
    every = positions_of_records(game, [random_games(game, 40, seed, choices=60)]).merge_duplicates()
    return every.select(np.sort(np.random.default_rng(seed).permutation(len(every))[:count]))


def run(arguments: list[str]) -> None:
    """Run a command that succeeds, in this process."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0


def exact_value(game: Game, position: Any) -> int:
    """Score of a position near the end, by looking at every game that is left."""
    buffer = np.zeros(game.max_moves, np.int32)
    moves = buffer[: game.legal_moves(position, buffer, 0)].tolist()
    if not moves:
        return game.final_score(position)
    return max(-exact_value(game, game.play(position, move)) for move in moves)


def killed_once_then_labelled(task: PositionsTask[tuple[Game, search_labels.SearchLabelling]]) -> Arrays:
    """Label positions; the first process that has the second task dies of it."""
    marker = Path(os.environ["GLEM_TEST_MARKER"])
    if task.first > 0 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _label_chunk(task)
