"""Sums of the pattern weights of a position from its feature values, for evaluations in the search (GLEM, section 4.4).

A table index is a number in mixed radix: the sum of the digits of an instance's features, each times its place value.
So the indices of :data:`BLOCK` instances are a vector of feature values times a matrix of place values, one row of
words a feature, without a branch. Nothing is kept from move to move: an update would have to find out which features
a move has changed, for every position, also for those that are never evaluated.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.kernels import inlined
from glem.core.compiling.vectors import aligned_words
from glem.core.configurations.matching.lanes import splat
from glem.core.evaluation.integers.accumulators import sum_entries
from glem.core.evaluation.integers.sparse_sums import (
    SparseTables,
    build_sparse_tables,
    dense_instances,
    index_words,
    sum_of_sparse,
)
from glem.core.patterns.patterns import PatternSet

BLOCK = 32
"""Instances whose indices are computed together; words of 16 bits in 64 bytes."""

_INDEX_VALUES = 1 << 16
_LANE = ir.IntType(16)
_ROW = ir.VectorType(_LANE, BLOCK)
_WORD = ir.IntType(64)
_LANE_BYTES = 2


class PatternTables(NamedTuple):
    """I pattern instances in B blocks, and their weights in K phases; E entries of all tables together.

    Parameters
    ----------
    blocks, entries
        int64: B and E.
    instances
        int64: I, that of dense instances, rounded up to a multiple of :data:`.accumulators.SUMMED_TOGETHER`; what is
        beyond I reads a weight of zero.
    members, member_starts
        int32: block ``b`` has the features ``members[member_starts[b] : member_starts[b + 1]]``.
    places
        uint16: for each block a row of :data:`BLOCK` words, the indices where all its features are 0, then one for
        each of its features, the place value in each instance; all modulo 2^16.
    starts
        int32 [B * BLOCK]: where the table of each instance begins.
    weights
        int16 [K * E + 2^16]: unfolded, one for every index. No index leads out of the array, whatever the features are.
    sparse
        Sparse patterns; their instances are not among the I, and the words of their halves stand behind those of the I.
    """

    blocks: np.int64
    entries: np.int64
    instances: np.int64
    members: NDArray[np.int32]
    member_starts: NDArray[np.int32]
    places: NDArray[np.uint16]
    starts: NDArray[np.int32]
    weights: NDArray[np.int16]
    sparse: SparseTables


def values_in(words: Any, first: np.int64, count: np.int64) -> Any:
    """Part of an array of words as an int16 array [count] that shares its memory, from the word ``first`` on."""
    return words[first : first + count].view(np.int16)


@intrinsic
def _values_in(_typing_context: Any, words: Any, _first: Any, _count: Any) -> Any:
    kind = types.Array(types.int16, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words, first, count = arguments
        data = item_pointer(context, builder, signature.args[0], words, first)
        array = context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, _LANE_BYTES)
        # Without an owner: the search's memory outlives every evaluation.
        populate_array(array, data, shape=[count], strides=[size], itemsize=size, meminfo=None)  # type: ignore[no-untyped-call]
        return array._getvalue()

    return kind(words, types.int64, types.int64), generate


compiled_as(_values_in)(values_in)


def add_multiples(
    words: Any, target: np.int64, rows: Any, row: np.int64, members: Any, first: np.int64, count: np.int64, values: Any
) -> None:
    """Write a row that is another plus a multiple of each of the rows behind it, all modulo 2^16.

    ``words[target:] = rows[row] + sum of values[members[first + k]] * rows[row + 1 + k] over k < count``.

    Parameters
    ----------
    words
        uint16 array that gets the row from the word ``target`` (int64) on.
    rows
        uint16 [rows * BLOCK].
    row
        The row (int64) that the others are added to.
    members
        int32 array; those ``count`` (int64) from ``first`` (int64) on are used.
    values
        int16 array.
    """
    total = rows[BLOCK * row : BLOCK * (row + 1)].copy()
    for place in range(count):
        factor = np.uint16(int(values[members[first + place]]) % _INDEX_VALUES)
        total += factor * rows[BLOCK * (row + 1 + place) : BLOCK * (row + 2 + place)]
    words[target : target + BLOCK] = total


@intrinsic
def _add_multiples(
    _typing_context: Any,
    words: Any,
    _target: Any,
    rows: Any,
    _row: Any,
    members: Any,
    _first: Any,
    _count: Any,
    values: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words_type, _, rows_type, _, members_type, _, _, values_type = signature.args
        words, target, rows, row, members, first, count, values = arguments
        place_in_rows = builder.mul(row, ir.Constant(_WORD, BLOCK))
        source = builder.bitcast(item_pointer(context, builder, rows_type, rows, place_in_rows), _ROW.as_pointer())
        chosen = item_pointer(context, builder, members_type, members, first)
        total = cgutils.alloca_once_value(builder, builder.load(source, align=_LANE_BYTES))
        with cgutils.for_range(builder, count, intp=_WORD) as loop:
            feature = builder.sext(builder.load(builder.gep(chosen, [loop.index])), _WORD)
            factor = builder.load(item_pointer(context, builder, values_type, values, feature))
            behind = builder.gep(source, [builder.add(loop.index, ir.Constant(_WORD, 1))])
            product = builder.mul(builder.load(behind, align=_LANE_BYTES), splat(builder, _ROW, factor))
            builder.store(builder.add(builder.load(total), product), total)
        pointer = item_pointer(context, builder, words_type, words, target)
        builder.store(builder.load(total), builder.bitcast(pointer, _ROW.as_pointer()), align=_LANE_BYTES)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(words, integer, rows, integer, members, integer, integer, values), generate


compiled_as(_add_multiples)(add_multiples)


@inlined
def write_indices(values: Any, tables: PatternTables, words: Any, first: np.int64) -> None:
    """Write the indices of all pattern instances; arguments are those of :func:`sum_of_patterns`."""
    for block in range(tables.blocks):
        begin = np.int64(tables.member_starts[block])
        end = np.int64(tables.member_starts[np.int64(block) + np.int64(1)])
        add_multiples(
            words,
            first + np.int64(BLOCK) * np.int64(block),
            tables.places,
            begin + np.int64(block),
            tables.members,
            begin,
            end - begin,
            values,
        )


@inlined
def sum_of_patterns(values: Any, tables: PatternTables, phase: np.int64, words: Any, first: np.int64) -> np.int64:
    """Sum of the weights of all pattern instances in a phase.

    Parameters
    ----------
    values
        int16 [F]: feature values.
    tables
        The patterns.
    phase
        int64.
    words, first
        uint16 array with room for B * :data:`BLOCK` indices from the word ``first`` (int64) on.
    """
    write_indices(values, tables, words, first)
    table = phase * tables.entries
    total = sum_entries(words, first, np.int64(0), tables.instances, tables.starts, tables.weights, table)
    if tables.sparse.instances > np.int64(0):
        total += sum_of_sparse(words, first + tables.instances, tables.sparse, phase)
    return total


def build_pattern_tables(patterns: PatternSet, folded: NDArray[np.int16], *, apart: bool = False) -> PatternTables:
    """Build the tables of some patterns with their weights, int16 [K, weight_count]; see :func:`.dense_instances`."""
    words, dense = index_words(patterns, apart=apart)
    blocks = [words[first : first + BLOCK] for first in range(0, len(words), BLOCK)]
    members = [sorted({feature for word in block for feature in word}) for block in blocks]
    weights, table_starts = unfolded_weights(patterns, folded)
    return PatternTables(
        blocks=np.int64(len(blocks)),
        entries=np.int64(weights.shape[1]),
        instances=np.int64(dense),
        members=np.array([feature for block in members for feature in block], np.int32),
        member_starts=np.cumsum([0, *map(len, members)]).astype(np.int32),
        places=_place_values(patterns, blocks, members),
        starts=dense_starts(patterns, table_starts, len(blocks) * BLOCK, apart=apart),
        sparse=build_sparse_tables(patterns, folded),
        weights=np.concatenate([weights.ravel(), np.zeros(_INDEX_VALUES, np.int16)]),
    )


def _place_values(
    patterns: PatternSet, blocks: Sequence[Sequence[tuple[int, ...]]], members: Sequence[Sequence[int]]
) -> NDArray[np.uint16]:
    """Rows of :attr:`PatternTables.places`."""
    count = len(blocks) + sum(map(len, members))
    places = aligned_words(count * BLOCK * _LANE_BYTES // 8).view(np.uint16)
    rows = places.reshape(count, BLOCK)
    first = 0
    for block, features in zip(blocks, members, strict=True):
        for lane, word in enumerate(block):
            value, lowest = 1, 0
            for feature in reversed(word):
                rows[first + 1 + features.index(feature), lane] = value % _INDEX_VALUES
                lowest += value * patterns.features[feature].low
                value *= patterns.features[feature].cardinality
            rows[first, lane] = -lowest % _INDEX_VALUES
        first += 1 + len(features)
    return places


def unfolded_weights(patterns: PatternSet, folded: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Give every table entry its weight.

    Parameters
    ----------
    patterns
        P patterns.
    folded
        int16 [K, weight_count].

    Returns
    -------
    weights, table_starts
        int16 [K, E + 1], the last entry zero; int64 [P + 1], where the table of each pattern begins. Those of sparse
        patterns are empty.
    """
    starts = np.concatenate([[0], np.cumsum(patterns.table_sizes)]).astype(np.int64)
    weights = np.zeros((len(folded), int(starts[-1]) + 1), np.int16)
    for place in range(len(patterns)):
        weights[:, starts[place] : starts[place + 1]] = folded[:, patterns.weight_starts[place] + patterns.fold(place)]
    return weights, starts


def dense_starts(
    patterns: PatternSet, table_starts: NDArray[np.int64], count: int, *, apart: bool = False
) -> NDArray[np.int32]:
    """Where the table of each of the :func:`.dense_instances` begins: int32 [count]; others lead to a weight of 0."""
    starts = np.full(count, table_starts[-1], np.int32)
    for place, instance in enumerate(dense_instances(patterns, apart=apart)):
        if instance is not None:
            starts[place] = table_starts[instance.pattern]
    return starts
