"""Scores of an evaluator along lines of play, both ways: for the tests of evaluators."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.evaluators import Evaluator, start, static_score, update
from glem.core.game.game import Game
from tests.oracles.evaluation import evaluation_sum


class Memory(NamedTuple):
    data: Any
    accumulators: Any


def random_line(game: Game, generator: np.random.Generator) -> tuple[list[Any], list[int]]:
    """Positions of a random game to its end, and the moves between them."""
    positions, moves = [game.initial_position], []
    while legal := game.list_legal_moves(positions[-1]):
        moves.append(legal[generator.integers(len(legal))])
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


def _update(operations: Any, before: Any, move: Any, after: Any, memory: Any, ply: Any) -> None:
    update(operations, before, move, after, memory.data, memory.accumulators, ply)


def _score(operations: Any, position: Any, memory: Any, ply: Any) -> Any:
    return static_score(operations, position, memory.data, memory.accumulators, ply)


def tree_scores(
    evaluator: Evaluator, game: Game, root: Any, generator: np.random.Generator, depth: int, *, plain: bool
) -> tuple[list[Any], list[int]]:
    """Positions of a random tree and their scores, in the order of a search.

    Up to three moves of every position are made and taken back. Some positions are scored before their moves are made
    (to sort moves, say), some after all of them were taken back, some twice, some never.
    """
    fields = Memory(evaluator.data, evaluator.empty_accumulators(depth + 1))
    memory: Any = fields if plain else Borrowed(fields)
    change, score = (_update, _score) if plain else (compiled(_update), compiled(_score))
    begin = _begin if plain else compiled(_begin)
    operations = evaluator.operations
    positions, scores = [root], [int(begin(operations, root, memory, np.int64(0)))]

    def note(position: Any, ply: int) -> None:
        positions.append(position)
        scores.append(int(score(operations, position, memory, np.int64(ply))))

    def visit(before: Any, ply: int) -> None:
        first, last = generator.integers(2, size=2)
        if first:
            note(before, ply)
        if ply < depth:
            for move in generator.permutation(game.list_legal_moves(before))[:3]:
                after = game.play(before, int(move))
                change(operations, before, np.int64(move), after, memory, np.int64(ply))
                visit(after, ply + 1)
        if last:
            note(before, ply)

    visit(root, 0)
    return positions, scores


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
