"""Pattern evaluations of Othello for the search, updated from move to move.

The accumulator of a ply begins with a row of 64 words, or two: for each pattern instance of squares its table index
(for a sparse one the indices of its two halves), the digits of which are 0 for an empty square, 1 for a disc of the
side to move and 2 for one of the opponent. Others have them from the opponent's view, with 1 and 2 exchanged. The
players take turns, passes included, so that a move makes the rows of each view from those of the other: it adds a disc
of the other view, and adds or subtracts one for every disc that it turns. Between the views stand the values of
features that are no squares, and the indices of patterns of these, small tables; nothing of them is kept.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.compiling.operations import Operations, bound
from glem.core.evaluation.integers.accumulators import ROW_WORDS, aligned_rows, change_row, sum_entries
from glem.core.evaluation.integers.layer_sums import NO_LAYER, LayerTables, build_layer, layer_steps
from glem.core.evaluation.integers.pattern_sums import (
    BLOCK,
    build_pattern_tables,
    dense_starts,
    sum_of_patterns,
    unfolded_weights,
    values_in,
)
from glem.core.evaluation.integers.pattern_sums import PatternTables as SmallTables
from glem.core.evaluation.integers.quadratic_sums import (
    NO_QUADRATIC,
    QUADRATIC_STEPS,
    QuadraticTables,
    build_quadratic_tables,
    quadratic_score,
)
from glem.core.evaluation.integers.recomputing import score_limit, search_unit
from glem.core.evaluation.integers.sparse_sums import SparseTables, build_sparse_tables, index_words, sum_of_sparse
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.evaluation.quadratic import QuadraticEvaluation
from glem.core.features.evaluators import Evaluator
from glem.core.patterns.patterns import PatternSet
from glem.games.othello.rules import PASS, Position
from glem.plugins.othello.features import FEATURES, groups_of, write_counts
from glem.plugins.othello.phases import phase_of

_SQUARES = 64
_COUNTS = len(FEATURES) - _SQUARES
_MOST_WORDS = 2 * ROW_WORDS
_OTHER = _MOST_WORDS + ROW_WORDS
"""Where the rows from the opponent's view begin in an accumulator."""
_WIDTH = _OTHER + _MOST_WORDS
_VALUES = _MOST_WORDS - _SQUARES
"""Where the values of features stand, the squares' in thought: nobody asks for them, and indices are there."""
_FIRST_INDEX = _MOST_WORDS + BLOCK
"""Where the indices of small tables stand, behind the values of features that are no squares."""


class PatternTables(NamedTuple):
    """An evaluation as the functions below read it; K phases, I pattern instances, E entries of all tables together.

    Parameters
    ----------
    instances
        int64: I, that of dense instances, rounded up to a multiple of four; what is beyond I reads a weight of zero.
    entries
        int64: E.
    rows
        int64: rows of 64 words for each view, 1 or 2.
    steps
        uint16 [rows * 65 * 64]: for each of them, row ``s`` holds what a disc of digit 1 on square ``s`` adds to each
        index; the last row is the pass, all zeros.
    starts
        int32 [rows * 64]: where the table of each instance begins.
    weights
        int16 [K * E]: the tables of every phase, unfolded: an entry for every index.
    bias
        int64 [K].
    features
        int64: number of the game's features; 0 where no feature is read that is no square.
    asked
        int64: the groups of such features that are read, see :func:`~glem.plugins.othello.features.write_counts`.
    linear
        int64 [K * F]: weights of the F features that are no squares, as linear ones.
    small
        Patterns of features that are no squares.
    limit
        int64: greatest absolute score.
    sparse
        Sparse patterns; the words of their halves stand behind those of the instances.
    layer
        The hidden layer over the patterns of squares.
    quadratic
        The form of a quadratic evaluation, whose terms stand where indices of small tables do.
    """

    instances: np.int64
    entries: np.int64
    rows: np.int64
    steps: NDArray[np.uint16]
    starts: NDArray[np.int32]
    weights: NDArray[np.int16]
    bias: NDArray[np.int64]
    features: np.int64
    asked: np.int64
    linear: NDArray[np.int64]
    small: SmallTables
    limit: np.int64
    sparse: SparseTables
    layer: LayerTables
    quadratic: QuadraticTables


def start(position: Position, data: PatternTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of a ply: all indices from the squares, in both views."""
    own = np.int64(_WIDTH) * np.int64(ply)
    other = own + np.int64(_OTHER)
    nothing, base = np.int64(0), np.int64(0)
    for _ in range(data.rows):
        for word in range(ROW_WORDS):
            accumulators[own + word] = np.uint16(0)
            accumulators[other + word] = np.uint16(0)
        change_row(accumulators, own, own, data.steps, base, np.int64(PASS), nothing, position.own, np.int64(1))
        change_row(accumulators, own, own, data.steps, base, np.int64(PASS), nothing, position.opponent, np.int64(2))
        change_row(accumulators, other, other, data.steps, base, np.int64(PASS), nothing, position.own, np.int64(2))
        change_row(
            accumulators, other, other, data.steps, base, np.int64(PASS), nothing, position.opponent, np.int64(1)
        )
        own += np.int64(ROW_WORDS)
        other += np.int64(ROW_WORDS)
        base += np.int64(PASS + 1)


def update(before: Position, move: int, after: Position, data: PatternTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of the next ply: the views change places, a disc is new, others change between 1 and 2."""
    own = np.int64(_WIDTH) * np.int64(ply)
    other = own + np.int64(_OTHER)
    turned = before.opponent ^ after.own
    next_own, next_other = own + np.int64(_WIDTH), other + np.int64(_WIDTH)
    base, square = np.int64(0), np.int64(move)
    change_row(accumulators, other, next_own, data.steps, base, square, np.int64(2), turned, np.int64(1))
    change_row(accumulators, own, next_other, data.steps, base, square, np.int64(1), turned, np.int64(-1))
    if data.rows > np.int64(1):
        row, base = np.int64(ROW_WORDS), np.int64(PASS + 1)
        change_row(
            accumulators, other + row, next_own + row, data.steps, base, square, np.int64(2), turned, np.int64(1)
        )
        change_row(
            accumulators, own + row, next_other + row, data.steps, base, square, np.int64(1), turned, np.int64(-1)
        )


def _pattern_sum(data: PatternTables, phase: np.int64, accumulators: Any, ply: int) -> np.int64:
    row = np.int64(_WIDTH) * np.int64(ply)
    total: np.int64 = data.bias[phase]
    # First those that wait for memory: the processor adds up the others meanwhile.
    if data.sparse.instances > np.int64(0):
        total += sum_of_sparse(accumulators, row + data.instances, data.sparse, phase)
    table = phase * data.entries
    return total + sum_entries(accumulators, row, np.int64(0), data.instances, data.starts, data.weights, table)


def _linear_sum(position: Position, data: PatternTables, phase: np.int64, accumulators: Any, ply: int) -> np.int64:
    """Sum of linear features and small tables."""
    total = np.int64(0)
    if data.features != np.int64(0):
        row = np.int64(_WIDTH) * np.int64(ply)
        values = values_in(accumulators, row + np.int64(_VALUES), data.features)
        write_counts(position, values, data.asked)
        # So many, not as many as there are weights: the loop unrolls, and values need not go through memory.
        for place in range(_COUNTS):
            weight = data.linear[np.int64(_COUNTS) * phase + np.int64(place)]
            total += weight * np.int64(values[np.int64(_SQUARES) + np.int64(place)])
        if data.small.instances > np.int64(0):
            total += sum_of_patterns(values, data.small, phase, accumulators, row + np.int64(_FIRST_INDEX))
    return total


def static_score(position: Position, data: PatternTables, accumulators: Any, ply: int) -> np.int64:
    """Score of patterns, linear features and small tables."""
    phase = np.int64(phase_of(position))
    total = _pattern_sum(data, phase, accumulators, ply) + _linear_sum(position, data, phase, accumulators, ply)
    return min(max(total, -data.limit), data.limit)


def layer_static_score(position: Position, data: PatternTables, accumulators: Any, ply: int) -> np.int64:
    """Score of a hidden layer, and of other terms where there are any."""
    phase, row = np.int64(phase_of(position)), np.int64(_WIDTH) * np.int64(ply)
    total = data.bias[phase] if data.entries == np.int64(0) else _pattern_sum(data, phase, accumulators, ply)
    total += _linear_sum(position, data, phase, accumulators, ply)
    total += layer_steps(accumulators, row, data.instances, data.starts, data.layer, phase)
    return min(max(total, -data.limit), data.limit)


def quadratic_static_score(position: Position, data: PatternTables, accumulators: Any, ply: int) -> np.int64:
    """Score of the terms of a quadratic evaluation."""
    row = np.int64(_WIDTH) * np.int64(ply)
    values = values_in(accumulators, row + np.int64(_VALUES), data.features)
    if data.features != np.int64(0):
        write_counts(position, values, data.asked)
    phase, room = np.int64(phase_of(position)), row + np.int64(_FIRST_INDEX)
    total = quadratic_score(data.quadratic, values, accumulators, row, room, data, phase)
    return min(max(total, -data.limit), data.limit)


@cache
def _operations(score: Callable[..., np.int64], phase: Callable[..., int]) -> Operations:
    bound_score = bound(score, phase_of=phase)
    return Operations(
        "othello-patterns", {"start": start, "update": update, "static_score": bound_score, "search_phase": phase}
    )


def incremental_evaluator(evaluation: LinearEvaluation) -> Evaluator | None:
    """Fast form of an evaluation for the search.

    Returns
    -------
    Evaluator or None
        Its score is the sum of the 16-bit weights of :meth:`LinearEvaluation.in_play`, within 64 discs under the
        identity link. None for an evaluation with configurations, with a sigmoid link, with squares among its linear
        features or beside other features in a pattern, with more than 128 instances of patterns of squares (a sparse
        one counts twice) or more than 32 of others.
    """
    patterns = evaluation.patterns or PatternSet(evaluation.learning.features, ())
    played = evaluation.in_play()
    phases = len(played.bias)
    folded = played.patterns.reshape(phases, -1)
    is_small = [min(pattern.features) >= _SQUARES for pattern in patterns.patterns]
    small, small_weights = _selected(patterns, folded, is_small)
    patterns, folded = _selected(patterns, folded, [not each for each in is_small])
    if (
        evaluation.configurations is not None
        or evaluation.link not in (IDENTITY, LOGISTIC)
        or not _covers(evaluation, patterns)
        or (evaluation.network is not None and len(small))
        or len(index_words(small)[0]) > BLOCK
    ):
        return None
    others = {*evaluation.linear, *(feature for instance in small.instances for feature in instance.features)}
    linear = np.zeros((phases, _COUNTS), np.int64)
    linear[:, np.array(evaluation.linear, np.intp) - _SQUARES] = played.linear
    data = _tables(evaluation, patterns, folded, others, score_limit(evaluation, played.scale))
    data = data._replace(
        bias=played.bias.astype(np.int64), linear=linear.ravel(), small=build_pattern_tables(small, small_weights)
    )
    name = "patterns and linear features" if others else "patterns"
    if evaluation.network is None:
        return _evaluator(evaluation, name, static_score, data, played.scale)
    if not folded.any():
        # Patterns without weights of their own are not added up.
        data, name = data._replace(entries=np.int64(0)), "hidden layer" + " and linear features" * bool(others)
    data = data._replace(layer=build_layer(evaluation, played.scale))
    return evolve(_evaluator(evaluation, name, layer_static_score, data, played.scale), keeps_scores=True)


def incremental_quadratic_evaluator(evaluation: QuadraticEvaluation) -> Evaluator | None:
    """Fast form of a quadratic evaluation in the search; None for what :func:`incremental_evaluator` does not cover."""
    patterns = evaluation.patterns or PatternSet(evaluation.learning.features, ())
    if not _covers(evaluation, patterns, apart=True):
        return None
    quadratic, folded = build_quadratic_tables(evaluation)
    limit = score_limit(evaluation, QUADRATIC_STEPS)
    data = _tables(evaluation, patterns, folded, {*evaluation.linear}, limit, apart=True)._replace(quadratic=quadratic)
    return _evaluator(evaluation, "quadratic evaluation", quadratic_static_score, data, QUADRATIC_STEPS)


def _covers(evaluation: LinearEvaluation, patterns: PatternSet, *, apart: bool = False) -> bool:
    """Whether the accumulators have room for some patterns, of squares alone, and no square is a linear feature."""
    words = index_words(patterns, apart=apart)[0]
    return (
        min(evaluation.linear, default=_SQUARES) >= _SQUARES
        and all(feature < _SQUARES for word in words for feature in word)
        and len(words) <= _MOST_WORDS
    )


def _tables(
    evaluation: LinearEvaluation,
    patterns: PatternSet,
    folded: NDArray[np.int16],
    others: Iterable[int],
    limit: int,
    *,
    apart: bool = False,
) -> PatternTables:
    """Make the tables of patterns of squares, where ``others`` are the features that are read besides."""
    words, dense = index_words(patterns, apart=apart)
    weights, table_starts = unfolded_weights(patterns, folded)
    phases = len(weights)
    rows = max(1, -(-len(words) // ROW_WORDS))
    nothing = PatternSet(patterns.features, ())
    return PatternTables(
        instances=np.int64(dense),
        entries=np.int64(weights.shape[-1]),
        rows=np.int64(rows),
        steps=_index_steps(words, rows),
        starts=dense_starts(patterns, table_starts, ROW_WORDS * rows, apart=apart),
        sparse=build_sparse_tables(patterns, folded),
        weights=weights.ravel(),
        bias=np.zeros(phases, np.int64),
        features=np.int64(len(evaluation.learning.features) if others else 0),
        asked=np.int64(groups_of(others)),
        linear=np.zeros(phases * _COUNTS, np.int64),
        small=build_pattern_tables(nothing, np.zeros((phases, 0), np.int16)),
        limit=np.int64(limit),
        layer=NO_LAYER,
        quadratic=NO_QUADRATIC,
    )


def _evaluator(
    evaluation: LinearEvaluation, name: str, score: Callable[..., np.int64], data: PatternTables, steps: float
) -> Evaluator:
    return Evaluator(
        name=name,
        operations=_operations(score, evaluation.learning.phases.phase_of),
        data=data,
        width=_WIDTH,
        phase_count=len(evaluation.bias),
        steps_per_unit=steps,
        limit=int(data.limit),
        unit=search_unit(evaluation),
        result_only=evaluation.link == LOGISTIC,
    )


def _selected(
    patterns: PatternSet, folded: NDArray[np.int16], chosen: Sequence[bool]
) -> tuple[PatternSet, NDArray[np.int16]]:
    """Select patterns with their weights."""
    kept = tuple(compress(patterns.patterns, chosen))
    return PatternSet(patterns.features, kept), folded[:, np.repeat(np.array(chosen, bool), patterns.weight_sizes)]


def _index_steps(words: Sequence[tuple[int, ...]], rows: int) -> NDArray[np.uint16]:
    """List what a disc of digit 1 adds to each index: the place value of its square."""
    steps = aligned_rows(rows * (PASS + 1))
    table = steps.reshape(rows, PASS + 1, ROW_WORDS)
    for place, squares in enumerate(words):
        for power, square in enumerate(reversed(squares)):
            table[place // ROW_WORDS, square, place % ROW_WORDS] = 3**power
    return steps
