"""Sums of the weights of sparse patterns, for evaluations in the search (GLEM, section 4.4 and Fig. 5).

Each half of an instance's features has an index of 16 bits, a word of its own beside those of dense instances: whoever
keeps or computes these keeps or computes them all alike. Two words and one lookup give the weight.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.kernels import overload_of
from glem.core.evaluation.integers.accumulators import SUMMED_TOGETHER
from glem.core.patterns.pattern import Instance
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_table import join_tables

_UNUSED = np.uint32(0x0000FFFF)
_INDEX_VALUES = 1 << 16
_TOGETHER = 2
"""Instances whose four words are one load."""
_WORD, _HALF, _LANE = ir.IntType(64), ir.IntType(32), ir.IntType(16)


class SparseTables(NamedTuple):
    """S instances of sparse patterns; E entries of all hash tables together, in K phases.

    Parameters
    ----------
    instances, size
        int64: S, rounded up to an even number; what is beyond S reads unused entries. E.
    starts
        int64 [S]: where the offsets of each instance's table begin.
    offsets
        int32: by i1 of all tables; plus i2, a place among the E. No words lead out of an array, whatever they are.
    entries
        uint32 [K * E]: the weight in 16 bits in the upper half, the lock i1 in the lower one, so that one look into
        the cache tells both; no i1 has the lock of unused entries.
    """

    instances: np.int64
    size: np.int64
    starts: NDArray[np.int64]
    offsets: NDArray[np.int32]
    entries: NDArray[np.uint32]


def dense_instances(patterns: PatternSet, *, apart: bool = False) -> list[Instance | None]:
    """List the dense instances, with None up to a multiple of :data:`.accumulators.SUMMED_TOGETHER`.

    If ``apart``, also behind the instances of each pattern, so that these can be summed by themselves.
    """
    found: list[Instance | None] = []
    for place, (begin, end) in enumerate(pairwise(patterns.group_starts.tolist())):
        if place not in patterns.hash_tables:
            found += patterns.instances[begin:end]
        if apart:
            found += [None] * (-len(found) % SUMMED_TOGETHER)
    return found + [None] * (-len(found) % SUMMED_TOGETHER)


def index_words(patterns: PatternSet, *, apart: bool = False) -> tuple[list[tuple[int, ...]], int]:
    """List the features whose joint values the words of a position are indices of.

    Returns
    -------
    words, dense
        Features, the most significant first: one word for each of the :func:`dense_instances`, of which there are
        ``dense`` together; then two for each sparse instance, for an even number of them.
    """
    words = [() if instance is None else instance.features for instance in dense_instances(patterns, apart=apart)]
    dense = len(words)
    for instance in patterns.instances:
        if instance.pattern in patterns.hash_tables:
            half = len(instance.features) // 2
            words += [instance.features[:half], instance.features[half:]]
    words += [()] * ((dense - len(words)) % (2 * _TOGETHER))
    return words, dense


def build_sparse_tables(patterns: PatternSet, folded: NDArray[np.int16]) -> SparseTables:
    """Build the tables of the sparse patterns among some, with the weights of all, int16 [K, weight_count]."""
    sparse = [*patterns.hash_tables]
    tables = [patterns.hash_tables[place] for place in sparse]
    starts, offsets, locks, slots = join_tables(tables)
    own = [sparse.index(instance.pattern) for instance in patterns.instances if instance.pattern in sparse]
    weights = slots + np.repeat(patterns.weight_starts[sparse], [table.size for table in tables])
    own_starts = [*starts[own], *[len(offsets)] * (-len(own) % _TOGETHER)]
    used = locks >= 0
    entries = np.full((len(folded), len(locks) + _INDEX_VALUES if sparse else 0), _UNUSED)
    entries[:, np.flatnonzero(used)] = (folded[:, weights[used]].view(np.uint16).astype(np.uint32) << 16) | locks[
        used
    ].astype(np.uint32)
    return SparseTables(
        instances=np.int64(len(own_starts)),
        size=np.int64(entries.shape[1]),
        starts=np.array(own_starts, np.int64),
        offsets=np.pad(offsets, (0, _INDEX_VALUES), constant_values=len(locks)).astype(np.int32),
        entries=entries.ravel(),
    )


def sum_of_sparse(words: Any, first: np.int64, tables: SparseTables, phase: np.int64) -> np.int64:
    """Sum of the weights of all sparse instances.

    Parameters
    ----------
    words, first
        uint16 array: i1 and i2 of each instance from the word ``first`` (int64) on.
    tables
        The patterns.
    phase
        int64.
    """
    total = np.int64(0)
    row = phase * tables.size
    for instance in range(tables.instances):
        one, other = (int(word) for word in words[first + 2 * instance : first + 2 * instance + 2])
        entry = tables.entries[row + int(tables.offsets[int(tables.starts[instance]) + one]) + other]
        if entry & 0xFFFF == one:
            total += np.int64((entry >> 16).astype(np.uint16).view(np.int16))
    return total


@overload_of(sum_of_sparse)
def _overload_sum_of_sparse(words: Any, first: Any, tables: Any, phase: Any) -> Any:
    return lambda words, first, tables, phase: _sum_of_sparse(
        words, first, tables.instances, tables.starts, tables.offsets, tables.entries, phase * tables.size
    )


@intrinsic
def _sum_of_sparse(
    _typing_context: Any, words: Any, _first: Any, _count: Any, starts: Any, offsets: Any, entries: Any, _row: Any
) -> Any:
    # Written out because LLVM would load the words of an instance one by one, and might gather vectors of entries.
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words_type, _, _, starts_type, offsets_type, entries_type, _ = signature.args
        words, first, count, starts, offsets, entries, row = arguments
        base = item_pointer(context, builder, entries_type, entries, row)
        total = cgutils.alloca_once_value(builder, ir.Constant(_HALF, 0))
        step = ir.Constant(_WORD, _TOGETHER)
        with cgutils.for_range_slice(builder, ir.Constant(_WORD, 0), count, step, _WORD) as (instance, _):
            place = builder.add(first, builder.mul(instance, ir.Constant(_WORD, 2)))
            pair = builder.bitcast(item_pointer(context, builder, words_type, words, place), _WORD.as_pointer())
            together = builder.load(pair, align=2)
            own = item_pointer(context, builder, starts_type, starts, instance)
            partial = builder.load(total)
            for k in range(_TOGETHER):
                one, other = (
                    builder.and_(builder.lshr(together, ir.Constant(_WORD, shift)), ir.Constant(_WORD, 0xFFFF))
                    for shift in (32 * k, 32 * k + 16)
                )
                start = builder.load(builder.gep(own, [ir.Constant(_WORD, k)]))
                found = item_pointer(context, builder, offsets_type, offsets, builder.add(start, one))
                offset = builder.sext(builder.load(found), _WORD)
                entry = builder.load(builder.gep(base, [builder.add(offset, other)]))
                # No branch: no processor predicts which contents are known.
                is_known = builder.icmp_unsigned("==", builder.trunc(entry, _LANE), builder.trunc(one, _LANE))
                weight = builder.ashr(entry, ir.Constant(_HALF, 16))
                partial = builder.add(partial, builder.select(is_known, weight, ir.Constant(_HALF, 0)))
            builder.store(partial, total)
        return builder.sext(builder.load(total), _WORD)

    signature = types.int64(words, types.int64, types.int64, starts, offsets, entries, types.int64)
    return signature, generate
