"""Kernels that match one position: the trie walked breadth first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.kernels import kernel, trailing_zeros
from glem.core.matching.tables import MatchingTables

__all__ = ["Scratch", "bit_indices", "match_one", "scratch_for", "sum_of_bits"]


class Scratch(NamedTuple):
    """Working memory of :func:`match_one`, for one thread.

    ``holds``: uint8 [R], zero between calls; ``nodes``: int32 [nodes + 1]; ``bits``: uint64 [ceil(C / 64)], the result:
    bit ``c`` says whether configuration ``c`` was found.
    """

    holds: NDArray[np.uint8]
    nodes: NDArray[np.int32]
    bits: NDArray[np.uint64]


def scratch_for(tables: MatchingTables) -> Scratch:
    """Working memory of the size that the tables ask for."""
    relations = int(tables.lookup.ranks.max(initial=-1)) + 1
    nodes = len(tables.trie.relation)
    words = -(-(len(tables.offsets) - 1) // 64)
    return Scratch(np.zeros(relations, np.uint8), np.empty(nodes + 1, np.int32), np.zeros(words, np.uint64))


@kernel
def _active_nodes(values: Any, lookup: Any, trie: Any, holds: Any, nodes: Any) -> Any:
    """Collect the trie nodes whose relations all hold in a position; their number.

    Level by level, without a branch on whether a relation holds: a node that fails is overwritten by the next.
    """
    for place in range(len(lookup.features)):
        offset = np.int64(values[lookup.features[place]]) - lookup.lows[place]
        if offset >= np.int64(0) and offset < lookup.starts[place + 1] - lookup.starts[place]:
            rank = lookup.ranks[lookup.starts[place] + offset]
            if rank >= np.int32(0):
                holds[rank] = np.uint8(1)
    nodes[0] = np.int32(0)
    count = np.int64(1)
    done = np.int64(0)
    while done < count:
        node = nodes[done]
        done += np.int64(1)
        for child in range(trie.first_child[node], trie.first_child[node + 1]):
            nodes[count] = np.int32(child)
            count += np.int64(holds[trie.relation[child]])
    holds[:] = np.uint8(0)
    return count


@kernel
def _set_bits(members: Any, count: Any, bits: Any) -> None:
    bits[:] = np.uint64(0)
    for place in range(count):
        member = members[place]
        bits[member >> np.int32(6)] |= np.uint64(1) << np.uint64(member & np.int32(63))


@kernel
def match_one(values: Any, tables: Any, most_specific: Any, scratch: Any) -> None:
    """Find the active configurations of one position, or only those without active specializations.

    Parameters
    ----------
    values
        int16 [F], the position's feature values.
    tables
        :class:`~glem.core.matching.tables.MatchingTables`.
    most_specific
        Boolean.
    scratch
        :class:`Scratch`; its ``bits`` are the result.
    """
    members = scratch.nodes
    bits = scratch.bits
    visited = _active_nodes(values, tables.lookup, tables.trie, scratch.holds, members)
    count = np.int64(0)
    for place in range(visited):
        configuration = tables.trie.configuration[members[place]]
        members[count] = configuration
        count += np.int64(configuration >= np.int32(0))
    _set_bits(members, count, bits)
    if most_specific:
        arcs = tables.specializations
        kept = np.int64(0)
        for place in range(count):
            configuration = members[place]
            alone = np.int64(1)
            for arc in range(arcs.offsets[configuration], arcs.offsets[configuration + 1]):
                special = arcs.targets[arc]
                if (bits[special >> np.int32(6)] >> np.uint64(special & np.int32(63))) & np.uint64(1) != np.uint64(0):
                    alone = np.int64(0)
                    break
            members[kept] = configuration
            kept += alone
        _set_bits(members, kept, bits)


@kernel
def bit_indices(bits: Any, indices: Any) -> Any:
    """Write the places of the set bits, ascending, into ``indices`` (int32); their number."""
    count = np.int64(0)
    for place in range(len(bits)):
        word = bits[place]
        base = np.int32(64 * place)
        while word != np.uint64(0):
            indices[count] = base + np.int32(trailing_zeros(word))
            count += np.int64(1)
            word &= word - np.uint64(1)
    return count


@kernel
def sum_of_bits(bits: Any, weights: Any) -> Any:
    """Sum, in float64, of the ``weights`` (float32) whose places have their bit set."""
    total = np.float64(0.0)
    for place in range(len(bits)):
        word = bits[place]
        part = np.float64(0.0)
        while word != np.uint64(0):
            part += np.float64(weights[64 * place + trailing_zeros(word)])
            word &= word - np.uint64(1)
        total += part
    return total
