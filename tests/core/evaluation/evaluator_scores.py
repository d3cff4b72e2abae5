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


def _update(operations: Any, before: Any, move: Any, after: Any, memory: Any, ply: Any) -> None:
    update(operations, before, move, after, memory.data, memory.accumulators, ply)


def _score(operations: Any, position: Any, memory: Any, ply: Any) -> Any:
    return static_score(operations, position, memory.data, memory.accumulators, ply)


class _Scores:
    """Scores in the accumulators of one search, plain or compiled."""

    def __init__(self, evaluator: Evaluator, plies: int, *, plain: bool) -> None:
        fields = Memory(evaluator.data, evaluator.empty_accumulators(plies))
        self._memory: Any = fields if plain else Borrowed(fields)
        self._operations = evaluator.operations
        functions: list[Any] = [_begin, _update, _score]
        self._begin, self._update, self._score = functions if plain else map(compiled, functions)

    def begin(self, position: Any, ply: int) -> int:
        return int(self._begin(self._operations, position, self._memory, np.int64(ply)))

    def update(self, before: Any, move: int, after: Any, ply: int) -> None:
        self._update(self._operations, before, np.int64(move), after, self._memory, np.int64(ply))

    def score(self, position: Any, ply: int) -> int:
        return int(self._score(self._operations, position, self._memory, np.int64(ply)))


def line_scores(
    evaluator: Evaluator, positions: Sequence[Any], moves: Sequence[int], *, plain: bool, first: int = 0
) -> list[int]:
    """Scores of the positions of a line: from scratch at ply ``first`` of the accumulators, then move by move."""
    scorer = _Scores(evaluator, first + len(positions), plain=plain)
    scores = [scorer.begin(positions[0], first)]
    for ply, (move, before, after) in enumerate(zip(moves, positions, positions[1:], strict=False), first):
        scorer.update(before, move, after, ply)
        scores.append(scorer.score(after, ply + 1))
    return scores


def tree_scores(
    evaluator: Evaluator, game: Game, root: Any, generator: np.random.Generator, depth: int, *, plain: bool
) -> tuple[list[Any], list[int]]:
    """Positions of a random tree and their scores, in the order of a search.

    Up to three moves of every position are made and taken back. Some positions are scored before their moves are made
    (to sort moves, say), some after all of them were taken back, some twice, some never.
    """
    scorer = _Scores(evaluator, depth + 1, plain=plain)
    positions, scores = [root], [scorer.begin(root, 0)]

    def note(position: Any, ply: int) -> None:
        positions.append(position)
        scores.append(scorer.score(position, ply))

    def visit(before: Any, ply: int) -> None:
        first, last = generator.integers(2, size=2)
        if first:
            note(before, ply)
        if ply < depth:
            for move in generator.permutation(game.list_legal_moves(before))[:3]:
                after = game.play(before, int(move))
                scorer.update(before, move, after, ply)
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
