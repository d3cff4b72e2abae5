"""Othello's stages: any number of them, in files and in the search."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning, load_learning, with_phases
from glem.games.othello.rules import Position
from glem.plugins.othello.incremental import incremental_evaluator
from glem.plugins.othello.phases import PHASES, phases_of
from tests.core.evaluation.evaluator_scores import integer_sums, line_scores, random_line
from tests.core.evaluation.linear_evaluations import change_header
from tests.plugins.othello.test_incremental import random_evaluation


def bounds(name: str) -> tuple[int, int]:
    first, _, last = name.partition("-")
    return int(first), int(last or first)


@pytest.mark.parametrize("count", [1, 2, 7, 12, 13, 60, 61])
def test_every_disc_count_has_the_phase_that_names_it(count: int) -> None:
    phases = phases_of(count)
    ranges = [bounds(name) for name in phases.names]
    assert len(ranges) == count and ranges[0][0] == 4 and ranges[-1][1] == 64
    discs = np.arange(4, 65)
    boards = ((np.uint64(1) << np.minimum(discs, 63).astype(np.uint64)) - np.uint64(1)).astype(np.uint64)
    boards[-1] = ~np.uint64(0)
    columns: Any = (boards, np.zeros_like(boards))
    found = phases.of(Position(*columns)).tolist()
    for number, phase in zip(discs.tolist(), found, strict=True):
        assert ranges[phase][0] <= number <= ranges[phase][1]
    lengths = np.bincount(found)
    assert count == len(PHASES) or lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("count", [-1, 0, 62])
def test_other_numbers_are_refused(othello_learning: Learning, count: int) -> None:
    with pytest.raises(BadInputError, match=f"1 to 61 phases, got {count}"):
        with_phases(othello_learning, count)


def test_a_game_without_other_phases_says_so() -> None:
    with pytest.raises(BadInputError, match="chess has 7 phases and no other number"):
        with_phases(load_learning("chess"), 8)


def test_files_and_the_search_keep_the_phases(othello_learning: Learning, tmp_path: Path) -> None:
    learning = with_phases(othello_learning, 30)
    evaluation = random_evaluation(learning, ("corner_3x3",), ("mobility",))
    path = tmp_path / "thirty.npz"
    evaluation.save(path)
    loaded = LinearEvaluation.load(path)
    assert loaded.learning is with_phases(othello_learning, 30)
    evaluator = incremental_evaluator(loaded)
    assert evaluator is not None and evaluator.phase_count == 30
    positions, moves = random_line(learning.game, np.random.default_rng(2))
    expected = np.clip(integer_sums(evaluation, positions), -evaluator.limit, evaluator.limit)
    for plain in (True, False):
        np.testing.assert_array_equal(line_scores(evaluator, positions, moves, plain=plain), expected)
    change_header(path, {"phases": [f"{number}" for number in range(30)]})
    with pytest.raises(BadInputError, match="made for other phases"):
        LinearEvaluation.load(path)
