"""Pattern evaluations of Othello for the search, updated from move to move.

The accumulator of a ply is one row of 64 words: for each pattern instance its table index (for a sparse one the indices
of its two halves), the digits of which are 0 for an empty square and 1 or 2 for a disc of either player. Whose discs
the digit 1 stands for does not change during a search, so that a move adds a row for the new disc and adds or subtracts
one for every disc it turns. The players take turns, passes included: at even plies the discs of digit 1 belong to the
side to move. Each pattern therefore has two tables, one for each of these readings, with the weights unfolded (an entry
for every index; a sparse pattern's hash tables have one for every index that is known).
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import popcount
from glem.core.compiling.operations import Operations, bound
from glem.core.evaluation.integers.accumulators import ROW_WORDS, aligned_rows, change_row, sum_entries
from glem.core.evaluation.integers.pattern_sums import dense_starts, unfolded_weights
from glem.core.evaluation.integers.recomputing import score_limit, search_unit
from glem.core.evaluation.integers.sparse_sums import SparseTables, build_sparse_tables, index_words, sum_of_sparse
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.features.evaluators import Evaluator
from glem.core.patterns.patterns import PatternSet
from glem.games.othello.rules import PASS, Position, mobility, neighbours
from glem.plugins.othello.phases import phase_of

_SQUARES = 64
_LINEAR = (
    "mobility",
    "opponent_mobility",
    "potential_mobility",
    "opponent_potential_mobility",
    "disc_difference",
    "parity",
)
"""Features that may enter linearly: those that take a few instructions."""
_LINEAR_COUNT = np.int64(len(_LINEAR))


class PatternTables(NamedTuple):
    """An evaluation as the functions below read it; K phases, I pattern instances, E entries of all tables together.

    Parameters
    ----------
    instances
        int64: I, that of dense instances, rounded up to a multiple of four; what is beyond I reads a weight of zero.
    entries
        int64: E.
    steps
        uint16 [65 * 64]: row ``s`` holds what a disc of digit 1 on square ``s`` adds to each index; the last row is the
        pass, all zeros.
    starts
        int32 [64]: where the table of each instance begins.
    weights
        int16 [K * 2 * E]: the tables of every phase, first as they are read where digit 1 is the side to move.
    bias
        int64 [K].
    linear
        int64 [K * 6]: weights of the features that may enter linearly.
    limit
        int64: greatest absolute score.
    sparse
        Sparse patterns, in both readings; the words of their halves stand behind those of the instances.
    """

    instances: np.int64
    entries: np.int64
    steps: NDArray[np.uint16]
    starts: NDArray[np.int32]
    weights: NDArray[np.int16]
    bias: NDArray[np.int64]
    linear: NDArray[np.int64]
    limit: np.int64
    sparse: SparseTables


# ----------------------------------------------------------------------------------------- the functions


def start(position: Position, data: PatternTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of a ply: all indices from the squares."""
    odd = np.int64(ply) & np.int64(1)
    target = np.int64(ROW_WORDS) * np.int64(ply)
    for word in range(ROW_WORDS):
        accumulators[target + word] = np.uint16(0)
    change_row(accumulators, target, target, data.steps, np.int64(PASS), np.int64(0), position.own, np.int64(1) + odd)
    change_row(
        accumulators, target, target, data.steps, np.int64(PASS), np.int64(0), position.opponent, np.int64(2) - odd
    )


def update(before: Position, move: int, after: Position, data: PatternTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of the next ply: a new disc, and turned ones that change between digits 1 and 2."""
    odd = np.int64(ply) & np.int64(1)
    source = np.int64(ROW_WORDS) * np.int64(ply)
    turned = before.opponent ^ after.own
    change_row(
        accumulators,
        source,
        source + np.int64(ROW_WORDS),
        data.steps,
        np.int64(move),
        np.int64(1) + odd,
        turned,
        np.int64(2) * odd - np.int64(1),
    )


def _pattern_sum(data: PatternTables, phase: np.int64, accumulators: Any, ply: int) -> np.int64:
    table = (np.int64(2) * phase + (np.int64(ply) & np.int64(1))) * data.entries
    row = np.int64(ROW_WORDS) * np.int64(ply)
    total: np.int64 = data.bias[phase]
    # First those that wait for memory: the processor adds up the others meanwhile.
    if data.sparse.instances > np.int64(0):
        total += sum_of_sparse(accumulators, row + data.instances, data.sparse, phase, np.int64(ply) & np.int64(1))
    return total + sum_entries(accumulators, row, data.instances, data.starts, data.weights, table)


def _linear_sum(position: Position, data: PatternTables, phase: np.int64) -> np.int64:
    own = position.own
    opponent = position.opponent
    empty = ~(own | opponent)
    row = _LINEAR_COUNT * phase
    total: np.int64 = data.linear[row] * np.int64(popcount(mobility(own, opponent)))
    total += data.linear[row + 1] * np.int64(popcount(mobility(opponent, own)))
    total += data.linear[row + 2] * np.int64(popcount(empty & neighbours(opponent)))
    total += data.linear[row + 3] * np.int64(popcount(empty & neighbours(own)))
    total += data.linear[row + 4] * (np.int64(popcount(own)) - np.int64(popcount(opponent)))
    total += data.linear[row + 5] * (np.int64(popcount(empty)) & np.int64(1))
    return total


def pattern_score(position: Position, data: PatternTables, accumulators: Any, ply: int) -> np.int64:
    """Score of patterns alone."""
    total = _pattern_sum(data, np.int64(phase_of(position)), accumulators, ply)
    return min(max(total, -data.limit), data.limit)


def pattern_and_linear_score(position: Position, data: PatternTables, accumulators: Any, ply: int) -> np.int64:
    """Score of patterns and linear features."""
    phase = np.int64(phase_of(position))
    total = _pattern_sum(data, phase, accumulators, ply) + _linear_sum(position, data, phase)
    return min(max(total, -data.limit), data.limit)


@cache
def _operations(phase: Callable[..., int], with_linear: bool) -> Operations:
    score = bound(pattern_and_linear_score if with_linear else pattern_score, phase_of=phase)
    functions: dict[str, Callable[..., Any]] = {"start": start, "update": update, "static_score": score}
    return Operations(
        "othello-patterns-and-linear" if with_linear else "othello-patterns", {**functions, "search_phase": phase}
    )


# -------------------------------------------------------------------------------------------- the tables


def incremental_evaluator(evaluation: LinearEvaluation) -> Evaluator | None:
    """Fast form of an evaluation for the search.

    Parameters
    ----------
    evaluation
        Of Othello.

    Returns
    -------
    Evaluator or None
        Its score is the sum of the 16-bit weights of :meth:`LinearEvaluation.in_play`, within 64 discs under the
        identity link. None for an evaluation with configurations, with patterns of other features than squares or
        of more than 64 instances (a sparse one counts twice), with other linear features than {mobility,
        opponent_mobility, potential_mobility, opponent_potential_mobility, disc_difference, parity}, or with a sigmoid
        link.
    """
    if not _covers(evaluation):
        return None
    names = [evaluation.learning.features[feature].name for feature in evaluation.linear]
    played = evaluation.in_play()
    phases = len(played.bias)
    patterns = evaluation.patterns
    if patterns is None:
        patterns = PatternSet(evaluation.learning.features, ())
    linear = np.zeros((phases, len(_LINEAR)), np.int64)
    for place, name in enumerate(names):
        linear[:, _LINEAR.index(name)] += played.linear[:, place]
    weights, table_starts = _unfolded(patterns, played.patterns.reshape(phases, -1))
    words, dense = index_words(patterns)
    limit = score_limit(evaluation, played.scale)
    data = PatternTables(
        instances=np.int64(dense),
        entries=np.int64(weights.shape[-1]),
        steps=_index_steps(words),
        starts=dense_starts(patterns, table_starts, ROW_WORDS),
        sparse=build_sparse_tables(patterns, played.patterns.reshape(phases, -1), (None, _exchanged)),
        weights=weights.ravel(),
        bias=played.bias.astype(np.int64),
        linear=linear.ravel(),
        limit=np.int64(limit),
    )
    return Evaluator(
        name="patterns and linear features" if names else "patterns",
        operations=_operations(evaluation.learning.phases.phase_of, bool(names)),
        data=data,
        width=ROW_WORDS,
        phase_count=phases,
        steps_per_unit=played.scale,
        limit=limit,
        unit=search_unit(evaluation),
        result_only=evaluation.link == LOGISTIC,
    )


def _covers(evaluation: LinearEvaluation) -> bool:
    if evaluation.configurations is not None or evaluation.link not in (IDENTITY, LOGISTIC):
        return False
    if any(evaluation.learning.features[feature].name not in _LINEAR for feature in evaluation.linear):
        return False
    instances = evaluation.patterns.instances if evaluation.patterns is not None else ()
    if any(feature >= _SQUARES for instance in instances for feature in instance.features):
        return False
    return evaluation.patterns is None or len(index_words(evaluation.patterns)[0]) <= ROW_WORDS


def _index_steps(words: Sequence[tuple[int, ...]]) -> NDArray[np.uint16]:
    """List what a disc of digit 1 adds to each index: the place value of its square."""
    steps = aligned_rows(PASS + 1)
    rows = steps.reshape(PASS + 1, ROW_WORDS)
    for place, squares in enumerate(words):
        for power, square in enumerate(reversed(squares)):
            rows[square, place] = 3**power
    return steps


def _unfolded(patterns: PatternSet, folded: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Weights [K, 2, E] of every index in both readings, and where the patterns' tables begin, int64 [P + 1].

    The last entry is zero and belongs to no pattern.
    """
    weights, starts = unfolded_weights(patterns, folded)
    both = np.stack([weights, weights], axis=1)
    for place, size in enumerate(patterns.table_sizes.tolist()):
        indices = _exchanged(np.arange(size), len(patterns.patterns[place].features))
        both[:, 1, starts[place] : starts[place + 1]] = weights[:, starts[place] + indices]
    return both, starts


def _exchanged(indices: NDArray[np.int64], squares: int) -> NDArray[np.int64]:
    """Exchange the digits 1 and 2 in indices of so many squares."""
    digits = np.stack(np.unravel_index(indices, (3,) * squares))
    return np.asarray(np.ravel_multi_index(tuple((-digits) % 3), (3,) * squares), np.int64)
