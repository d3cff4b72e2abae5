"""Scores of an evaluator along lines of play, both ways: for the tests of evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from glem.core.borrowing import Borrowed
from glem.core.evaluation import LinearEvaluation
from glem.core.game import Game
from glem.core.kernels import compiled
from glem.core.search.evaluators import Evaluator, start, static_score, update
from tests.oracles.evaluation import evaluation_sum


class Memory(NamedTuple):
    data: Any
    accumulators: Any


def random_line(game: Game, generator: np.random.Generator) -> tuple[list[Any], list[int]]:
    """Positions of a random game to its end, and the moves between them."""
    buffer = np.zeros(game.max_moves, np.int32)
    positions, moves = [game.initial_position], []
    while count := game.legal_moves(positions[-1], buffer, 0):
        moves.append(int(buffer[generator.integers(count)]))
        positions.append(game.play(positions[-1], moves[-1]))
    return positions, moves


def _begin(operations: Any, position: Any, memory: Any, ply: Any) -> Any:
    start(operations, position, memory.data, memory.accumulators, ply)
    return static_score(operations, position, memory.data, memory.accumulators, ply)


def _step(operations: Any, before: Any, move: Any, after: Any, memory: Any, ply: Any) -> Any:
    update(operations, before, move, after, memory.data, memory.accumulators, ply)
    return static_score(operations, after, memory.data, memory.accumulators, ply + np.int64(1))


def line_scores(
    evaluator: Evaluator, positions: Sequence[Any], moves: Sequence[int], *, plain: bool, first: int = 0
) -> list[int]:
    """Scores of the positions of a line: from scratch at ply ``first`` of the accumulators, then move by move."""
    fields = Memory(evaluator.data, evaluator.empty_accumulators(first + len(positions)))
    memory: Any = fields if plain else Borrowed(fields)
    begin, step = (_begin, _step) if plain else (compiled(_begin), compiled(_step))
    scores = [int(begin(evaluator.operations, positions[0], memory, np.int64(first)))]
    for place, move in enumerate(moves):
        before, after = positions[place : place + 2]
        ply = np.int64(first + place)
        scores.append(int(step(evaluator.operations, before, np.int64(move), after, memory, ply)))
    return scores


def integer_sums(evaluation: LinearEvaluation, positions: Sequence[Any]) -> list[int]:
    """Sums of the 16-bit weights by the oracle of evaluations."""
    played = evaluation.as_played()
    scale = evaluation.in_play().scale
    learning = evaluation.learning
    sums = []
    for position in positions:
        phase = int(learning.phases.phase_of(position))
        total = evaluation_sum(played, learning.features.values_of(position), phase) * scale
        assert total == round(total)
        sums.append(round(total))
    return sums
