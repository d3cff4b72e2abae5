"""Sums of the weights of sparse patterns, for evaluations in the search (GLEM, section 4.4 and Fig. 5).

Each half of an instance's features has an index of 16 bits, a word of its own beside those of dense instances: whoever
keeps or computes these keeps or computes them all alike. Two words and one lookup give the weight.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import inlined
from glem.core.evaluation.integers.accumulators import SUMMED_TOGETHER
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_table import join_tables

_UNUSED = np.uint32(0xFFFF0000)
_INDEX_VALUES = 1 << 16


class SparseTables(NamedTuple):
    """S instances of sparse patterns; E entries of all hash tables together, in K phases.

    Parameters
    ----------
    instances, size
        int64: S and E.
    starts
        int64 [S]: where the offsets of each instance's table begin.
    offsets
        int32: by i1 of all tables; plus i2, a place among the E. No words lead out of an array, whatever they are.
    entries
        uint32 [K * E]: the lock i1 in the upper half, the weight in 16 bits in the lower one, so that one look into
        the cache tells both; no i1 has the lock of unused entries.
    """

    instances: np.int64
    size: np.int64
    starts: NDArray[np.int64]
    offsets: NDArray[np.int32]
    entries: NDArray[np.uint32]


def index_words(patterns: PatternSet) -> tuple[list[tuple[int, ...]], int]:
    """List the features whose joint values the words of a position are indices of.

    Returns
    -------
    words, dense
        Features, the most significant first: one word for each dense instance, empty ones up to a multiple of
        :data:`.accumulators.SUMMED_TOGETHER`, of which there are ``dense`` together; then two for each sparse instance.
    """
    words = [instance.features for instance in patterns.instances if instance.pattern not in patterns.hash_tables]
    words += [()] * (-len(words) % SUMMED_TOGETHER)
    dense = len(words)
    for instance in patterns.instances:
        if instance.pattern in patterns.hash_tables:
            half = len(instance.features) // 2
            words += [instance.features[:half], instance.features[half:]]
    return words, dense


def build_sparse_tables(patterns: PatternSet, folded: NDArray[np.int16]) -> SparseTables:
    """Build the tables of the sparse patterns among some, with the weights of all, int16 [K, weight_count]."""
    sparse = [*patterns.hash_tables]
    tables = [patterns.hash_tables[place] for place in sparse]
    starts, offsets, locks, slots = join_tables(tables)
    own = [sparse.index(instance.pattern) for instance in patterns.instances if instance.pattern in sparse]
    weights = slots + np.repeat(patterns.weight_starts[sparse], [table.size for table in tables])
    used = locks >= 0
    entries = np.full((len(folded), len(locks) + _INDEX_VALUES if sparse else 0), _UNUSED)
    entries[:, np.flatnonzero(used)] = (locks[used].astype(np.uint32) << 16) | folded[:, weights[used]].view(np.uint16)
    return SparseTables(
        instances=np.int64(len(own)),
        size=np.int64(entries.shape[1]),
        starts=starts[own],
        offsets=np.pad(offsets, (0, _INDEX_VALUES)).astype(np.int32),
        entries=entries.ravel(),
    )


@inlined
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

    Returns
    -------
    int64
    """
    total = np.int64(0)
    row = phase * tables.size
    for instance in range(tables.instances):
        place = first + np.int64(2) * np.int64(instance)
        one, other = np.int64(words[place]), np.int64(words[place + np.int64(1)])
        start = np.int64(tables.starts[instance])
        entry = np.int64(tables.entries[row + np.int64(tables.offsets[start + one]) + other])
        # A mask, not a branch: no processor predicts which contents are known.
        known = -np.int64(entry >> np.int64(16) == one)
        total += np.int64(np.int16(entry & np.int64(0xFFFF))) & known
    return total
