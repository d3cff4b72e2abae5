"""Quadratic evaluations in the search: exact integers, whatever the order in which they are summed.

A term is an integer of 16 bits: what it is worth times a power of two, the greatest at which it fits. Products of two
terms and a coefficient fill 64 bits.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import inlined
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.accumulators import SUMMED_TOGETHER, sum_entries
from glem.core.evaluation.integers.pattern_sums import values_in
from glem.core.evaluation.quadratic import QuadraticEvaluation

MOST_TERMS = 32
"""Terms that an evaluator has room for."""

QUADRATIC_STEPS = 1024.0
"""Steps of a score per label unit."""

_LARGEST_SCORE = 1e15
"""Steps, beyond which a cast would leave 64 bits; the evaluator's own limit is far below."""
_LARGEST_TERM = 32767
_LARGEST_SQUARE = (1 << 31) - 1
_LARGEST_TOTAL = 1 << 62


class QuadraticTables(NamedTuple):
    """A quadratic form of T terms, P of them patterns, in K phases.

    Parameters
    ----------
    terms, patterns
        int64: T and P; T is 0 in an evaluation that is linear.
    ends
        int64 [P + 1]: pattern ``p`` has the indices ``ends[p]`` to before ``ends[p + 1]``.
    linear, factors
        int32, int64 [T - P]: features, and what their values are multiplied with.
    slopes, squares, constants
        int64 [K * T], int32 [K * T * T], int64 [K].
    scale
        float64: steps of a score per unit of the form.
    """

    terms: np.int64
    patterns: np.int64
    ends: NDArray[np.int64]
    linear: NDArray[np.int32]
    factors: NDArray[np.int64]
    slopes: NDArray[np.int64]
    squares: NDArray[np.int32]
    constants: NDArray[np.int64]
    scale: np.float64


NO_QUADRATIC = QuadraticTables(
    np.int64(0),
    np.int64(0),
    np.zeros(1, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int64),
    np.float64(0.0),
)
"""What stands in the tables of a linear evaluation."""


@inlined
def quadratic_score(
    tables: QuadraticTables, values: Any, words: Any, first: np.int64, room: np.int64, patterns: Any, phase: np.int64
) -> np.int64:
    """Score of the terms of a position, in steps.

    Parameters
    ----------
    tables
        The form.
    values
        int16: feature values, by which :attr:`QuadraticTables.linear` finds its own.
    words, first, room
        uint16 array that holds the indices of the patterns from the word ``first`` (int64) on, and has room for T words
        from ``room`` (int64) on.
    patterns
        Has the fields ``starts``, ``weights`` and ``entries`` of :class:`.pattern_sums.PatternTables`.
    phase
        int64.
    """
    terms = values_in(words, room, tables.terms)
    table = phase * patterns.entries
    for place in range(tables.patterns):
        begin, end = tables.ends[place], tables.ends[np.int64(place) + np.int64(1)]
        terms[place] = np.int16(sum_entries(words, first, begin, end, patterns.starts, patterns.weights, table))
    for place in range(tables.terms - tables.patterns):
        value = np.int64(values[tables.linear[place]]) * tables.factors[place]
        terms[tables.patterns + np.int64(place)] = np.int16(value)
    total: np.int64 = tables.constants[phase]
    row = phase * tables.terms
    for place in range(tables.terms):
        pull = tables.slopes[row + np.int64(place)]
        start = (row + np.int64(place)) * tables.terms
        for other in range(tables.terms):
            pull += np.int64(tables.squares[start + np.int64(other)]) * np.int64(terms[other])
        total += pull * np.int64(terms[place])
    return np.int64(min(max(np.rint(np.float64(total) * tables.scale), -_LARGEST_SCORE), _LARGEST_SCORE))


def build_quadratic_tables(evaluation: QuadraticEvaluation) -> tuple[QuadraticTables, NDArray[np.int16]]:
    """Build the form of an evaluation.

    Returns
    -------
    tables, weights
        The form, and its patterns' weights, int16 [K, weight_count]; the indices are :func:`.dense_instances` with
        ``apart``.

    Raises
    ------
    BadInputError
        There are more than :data:`MOST_TERMS` terms.
    """
    learning, patterns = evaluation.learning, evaluation.patterns
    count = len(evaluation.terms)
    if count > MOST_TERMS:
        raise BadInputError(f"a quadratic evaluation in the search has at most {MOST_TERMS} terms, not {count}")
    weights = np.zeros(evaluation.pattern_weights.shape, np.int16)
    powers, ends = [], [0]
    if patterns is not None:
        spans = pairwise(patterns.weight_starts.tolist())
        for (start, end), instances in zip(spans, np.diff(patterns.group_starts).tolist(), strict=True):
            own = evaluation.pattern_weights[:, start:end]
            # Half a step of each instance for rounding.
            powers.append(_power(instances * float(np.abs(own).max()), _LARGEST_TERM - instances))
            weights[:, start:end] = np.rint(np.ldexp(own.astype(np.float64), powers[-1]))
            ends.append(ends[-1] + instances + -instances % SUMMED_TOGETHER)
    ranges = [max(abs(learning.features[place].low), abs(learning.features[place].high)) for place in evaluation.linear]
    # A linear term is the value itself: its weight goes into the form.
    powers += [max(_power(float(most), _LARGEST_TERM), 0) for most in ranges]
    units = np.ldexp(1.0, -np.array(powers, np.int64))
    units = np.broadcast_to(units, (len(evaluation.bias), count)).copy()
    units[:, count - len(evaluation.linear) :] *= evaluation.linear_weights
    squares = evaluation.squares * units[:, :, None] * units[:, None, :]
    slopes, constants = evaluation.slopes * units, evaluation.bias.astype(np.float64)
    greatest = (
        np.abs(constants) + _LARGEST_TERM * (np.abs(slopes) + _LARGEST_TERM * np.abs(squares).sum(axis=2)).sum(axis=1)
    ).max()
    power = _power(float(greatest), _LARGEST_TOTAL >> 1)
    if squares.any():
        power = min(power, _power(float(np.abs(squares).max()), _LARGEST_SQUARE))
    tables = QuadraticTables(
        terms=np.int64(count),
        patterns=np.int64(len(ends) - 1),
        ends=np.array(ends, np.int64),
        linear=np.array(evaluation.linear, np.int32),
        factors=np.left_shift(1, np.array(powers[len(ends) - 1 :], np.int64)),
        slopes=np.rint(np.ldexp(slopes, power)).astype(np.int64).ravel(),
        squares=np.rint(np.ldexp(squares, power)).astype(np.int32).ravel(),
        constants=np.rint(np.ldexp(constants, power)).astype(np.int64),
        scale=np.float64(math.ldexp(QUADRATIC_STEPS, -power)),
    )
    return tables, weights


def _power(greatest: float, most: int) -> int:
    """Return the greatest exponent of two by which a number stays within bounds; 0 for 0."""
    return math.floor(math.log2(most / greatest)) if greatest > 0 else 0
