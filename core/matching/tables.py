"""What a set of configurations becomes before positions are matched with it.

Relations are renumbered by *rank*, the rarest first, and every configuration lists its ranks in ascending order.
Three structures follow: a table from feature values to ranks, a trie over the ranked configurations, and the arcs
of the configuration DAG in both directions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError
from glem.core.kernels import kernel, popcount

__all__ = [
    "Arcs",
    "MatchingTables",
    "RankedConfigurations",
    "RelationLookup",
    "Trie",
    "build_lookup",
    "build_tables",
    "build_trie",
    "find_generalizations",
    "rank_relations",
    "reverse_arcs",
]

_LONGEST = 64
"""Relations in a configuration at most: a subset of them is one word of bits."""
_FIRST_CAPACITY = 4


class RankedConfigurations(NamedTuple):
    """Configurations with their relations renumbered by rank.

    Configuration ``c`` consists of the relations of ranks ``ranks[offsets[c] : offsets[c + 1]]``, ascending.
    ``ranks``: uint16 [T]; ``offsets``: int64 [C + 1]; ``rank_of``: int64 [R], from relation id to rank.
    """

    ranks: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    rank_of: NDArray[np.int64]


class RelationLookup(NamedTuple):
    """From feature values to ranks of relations.

    The relation of feature ``features[u]`` with value ``lows[u] + k`` has rank ``ranks[starts[u] + k]``, -1 if there is
    none, for ``k < starts[u + 1] - starts[u]``; other values have none. ``features``, ``lows``: int64 [U];
    ``starts``: int64 [U + 1]; ``ranks``: int32 [starts[U]].
    """

    features: NDArray[np.int64]
    lows: NDArray[np.int64]
    starts: NDArray[np.int64]
    ranks: NDArray[np.int32]


class Trie(NamedTuple):
    """Trie of the ranked configurations, numbered level by level, so that siblings stand together.

    Node 0 is the root. The children of node ``n`` are ``first_child[n] .. first_child[n + 1] - 1``, in ascending order
    of the rank ``relation`` that each adds. ``configuration`` is the index of the configuration that ends in the node,
    -1 where the set holds only longer ones. ``first_child``: int64 [nodes + 1]; ``relation``: uint16 [nodes];
    ``configuration``: int32 [nodes].
    """

    first_child: NDArray[np.int64]
    relation: NDArray[np.uint16]
    configuration: NDArray[np.int32]


class Arcs(NamedTuple):
    """Arcs between configurations: from ``c`` to ``targets[offsets[c] : offsets[c + 1]]`` (int32; offsets int64)."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]


class MatchingTables(NamedTuple):
    """All that the kernels know of a set of configurations; kernels of other modules may take it as an argument.

    ``ranks`` and ``offsets`` are :class:`RankedConfigurations`'; ``by_size`` (int32 [C]) lists the configurations in
    ascending order of size.
    """

    ranks: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    by_size: NDArray[np.int32]
    lookup: RelationLookup
    trie: Trie
    specializations: Arcs


def rank_relations(configurations: ConfigurationSet) -> RankedConfigurations:
    """Renumber relations, the rarest first.

    Siblings in a trie are tried one by one, and a node's siblings are tried when its parent is active. With the rarest
    relation first, a configuration's parent is the configuration without its *most common* relation: the one of its
    generalizations that is active least often.

    Raises
    ------
    BadInputError
        A configuration has more than 64 relations.
    """
    relation_count = len(configurations.table)
    sizes = configurations.sizes
    if sizes.max(initial=0) > _LONGEST:
        longest = int(sizes.argmax())
        raise BadInputError(f"configuration {longest} has {sizes[longest]} relations; {_LONGEST} are the most")
    owners = np.repeat(np.arange(len(sizes)), sizes)
    # No relation is rarer than a configuration that holds it; the relation on its own, where the set has it, is exact.
    matches = np.zeros(relation_count, np.int64)
    np.maximum.at(matches, configurations.relations, configurations.match_counts[owners])
    rank_of = np.empty(relation_count, np.int64)
    rank_of[np.argsort(matches, kind="stable")] = np.arange(relation_count)
    keys = owners * relation_count + rank_of[configurations.relations]
    keys.sort()
    ranks = (keys % max(relation_count, 1)).astype(np.uint16)
    # Kernels would be compiled a second time for a read-only array.
    return RankedConfigurations(ranks, np.require(configurations.offsets, requirements="W"), rank_of)


def build_lookup(table: RelationTable, rank_of: NDArray[np.int64]) -> RelationLookup:
    """Table from feature values to ranks of relations."""
    features, owner = np.unique(table.features, return_inverse=True)
    values = np.asarray(table.values, np.int64)
    lows = np.full(len(features), np.iinfo(np.int64).max)
    highs = np.full(len(features), np.iinfo(np.int64).min)
    np.minimum.at(lows, owner, values)
    np.maximum.at(highs, owner, values)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(highs - lows + 1)])
    ranks = np.full(starts[-1], -1, np.int32)
    ranks[starts[owner] + values - lows[owner]] = rank_of
    return RelationLookup(features.astype(np.int64), lows, starts, ranks)


def build_trie(ranked: RankedConfigurations) -> Trie:
    """Build the trie level by level.

    Raises
    ------
    BadInputError
        Two configurations are equal.
    """
    ranks, offsets, rank_of = ranked
    radix = max(len(rank_of), 1)
    sizes = np.diff(offsets)
    node_of = np.zeros(len(sizes), np.int64)
    parents = [np.zeros(0, np.int64)]
    relations = [np.zeros(1, np.uint16)]
    node_count = 1
    passing = np.arange(len(sizes))
    for depth in range(int(sizes.max(initial=0))):
        passing = passing[sizes[passing] > depth]
        steps = node_of[passing] * radix + ranks[offsets[passing] + depth]
        nodes, place = np.unique(steps, return_inverse=True)
        node_of[passing] = node_count + place
        parents.append(nodes // radix)
        relations.append((nodes % radix).astype(np.uint16))
        node_count += len(nodes)
    configuration = np.full(node_count, -1, np.int32)
    configuration[node_of] = np.arange(len(sizes), dtype=np.int32)
    taken = configuration[node_of] != np.arange(len(sizes))
    if taken.any():
        one = int(np.flatnonzero(taken)[0])
        raise BadInputError(f"configurations {one} and {configuration[node_of[one]]} are equal")
    # Nodes are numbered in the order of their parents, so a node's children follow those of all earlier nodes.
    children = np.bincount(np.concatenate(parents), minlength=node_count)
    first_child = np.concatenate([np.zeros(1, np.int64), np.cumsum(children)]) + 1
    return Trie(first_child, np.concatenate(relations), configuration)


@kernel
def _child(trie: Any, node: Any, rank: Any) -> Any:
    """Child of a node that adds a relation, -1 if it has none (binary search)."""
    low = trie.first_child[node]
    end = trie.first_child[node + 1]
    high = end
    while low < high:
        middle = (low + high) >> np.int64(1)
        if trie.relation[middle] < rank:
            low = middle + np.int64(1)
        else:
            high = middle
    return low if low < end and trie.relation[low] == rank else np.int64(-1)


@kernel
def _grown(array: Any) -> Any:
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def _direct_subsets(trie: Any, ranks: Any, found: Any) -> Any:
    """Largest proper subsets of a relation set among the configurations: their number, and a buffer that has them.

    A subset is one word of bits over the places of ``ranks``. Subsets that lack one relation are looked up first; if
    all are configurations, as in a set closed under taking subsets, nothing else is a *direct* generalization.
    Otherwise the part of the trie that consists of subsets is walked, and the larger subsets hide the smaller.
    """
    size = np.int64(len(ranks))
    count = np.int64(0)
    if size > len(found):
        found = np.empty(size, np.int32)
    prefix = np.int64(0)
    for left_out in range(size):
        node = prefix
        for place in range(left_out + 1, size):
            if node < np.int64(0):
                break
            node = _child(trie, node, ranks[place])
        if node >= np.int64(0) and trie.configuration[node] >= np.int32(0):
            found[count] = trie.configuration[node]
            count += np.int64(1)
        prefix = _child(trie, prefix, ranks[left_out])
    if count == size:
        return count, found

    masks = np.empty(64, np.uint64)
    nodes = np.empty(64, np.int64)
    candidates = np.int64(0)
    # Depth first: (node, subset so far, first place still to try).
    stack_nodes = np.empty(size * size + 1, np.int64)
    stack_masks = np.empty(size * size + 1, np.uint64)
    stack_places = np.empty(size * size + 1, np.int64)
    stack_nodes[0] = np.int64(0)
    stack_masks[0] = np.uint64(0)
    stack_places[0] = np.int64(0)
    top = np.int64(1)
    while top > np.int64(0):
        top -= np.int64(1)
        node = stack_nodes[top]
        mask = stack_masks[top]
        first = stack_places[top]
        if trie.configuration[node] >= np.int32(0) and np.int64(popcount(mask)) < size:
            if candidates == len(masks):
                masks = _grown(masks)
                nodes = _grown(nodes)
            masks[candidates] = mask
            nodes[candidates] = node
            candidates += np.int64(1)
        for place in range(first, size):
            child = _child(trie, node, ranks[place])
            if child >= np.int64(0):
                stack_nodes[top] = child
                stack_masks[top] = mask | (np.uint64(1) << np.uint64(place))
                stack_places[top] = np.int64(place + 1)
                top += np.int64(1)

    count = np.int64(0)
    kept = np.empty(candidates, np.uint64)
    for relations_left in range(size - 1, -1, -1):
        for candidate in range(candidates):
            mask = masks[candidate]
            if np.int64(popcount(mask)) != np.int64(relations_left):
                continue
            hidden = False
            for larger in range(count):
                if mask & ~kept[larger] == np.uint64(0):
                    hidden = True
                    break
            if not hidden:
                if count == len(found):
                    found = _grown(found)
                kept[count] = mask
                found[count] = trie.configuration[nodes[candidate]]
                count += np.int64(1)
    return count, found


@kernel
def _generalizations_from(trie: Any, ranks: Any, offsets: Any, first: Any, counts: Any, targets: Any) -> Any:
    """Fill ``targets`` with direct generalizations from configuration ``first`` on; first one that did not fit."""
    found = np.empty(np.int64(16), np.int32)
    used = np.int64(0)
    for configuration in range(first, len(counts)):
        count, found = _direct_subsets(trie, ranks[offsets[configuration] : offsets[configuration + 1]], found)
        if used + count > len(targets):
            return np.int64(configuration), used
        counts[configuration] = count
        for place in range(count):
            targets[used + place] = found[place]
        used += count
    return np.int64(len(counts)), used


def find_generalizations(ranked: RankedConfigurations, trie: Trie) -> Arcs:
    """Direct generalizations of every configuration: its largest proper subsets in the set (GLEM, section 4.3).

    These are the arcs of the configuration DAG turned round, without those from the root: the transitive reduction of
    the subset order, whether or not the set is closed under taking subsets.
    """
    counts = np.zeros(len(ranked.offsets) - 1, np.int64)
    capacity = max(_FIRST_CAPACITY * len(counts), 1 << 16)
    pieces = []
    first = 0
    while first < len(counts):
        piece = np.empty(capacity, np.int32)
        following, used = _generalizations_from(trie, ranked.ranks, ranked.offsets, np.int64(first), counts, piece)
        pieces.append(piece[:used].copy())
        if following == first:
            capacity *= 2
        first = int(following)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Arcs(offsets, np.concatenate(pieces) if pieces else np.zeros(0, np.int32))


@kernel
def _scatter_sources(order: Any, offsets: Any, targets: Any, cursors: Any, sources: Any) -> None:
    for place in range(len(order)):
        source = order[place]
        for arc in range(offsets[source], offsets[source + 1]):
            target = targets[arc]
            sources[cursors[target]] = source
            cursors[target] += 1


def reverse_arcs(arcs: Arcs, match_counts: NDArray[np.int64]) -> Arcs:
    """Arcs turned round, each list in descending order of ``match_counts``.

    The commonest direct specialization comes first: it shows soonest that a configuration is not most specific.
    """
    order = np.argsort(-match_counts, kind="stable").astype(np.int32)
    counts = np.bincount(arcs.targets, minlength=len(match_counts))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    sources = np.empty(len(arcs.targets), np.int32)
    _scatter_sources(order, arcs.offsets, arcs.targets, offsets[:-1].copy(), sources)
    return Arcs(offsets, sources)


def build_tables(configurations: ConfigurationSet) -> MatchingTables:
    """Build all tables; :class:`BadInputError` when two configurations are equal or one has more than 64 relations."""
    ranked = rank_relations(configurations)
    lookup = build_lookup(configurations.table, ranked.rank_of)
    trie = build_trie(ranked)
    specializations = reverse_arcs(find_generalizations(ranked, trie), configurations.match_counts)
    by_size = np.argsort(np.diff(ranked.offsets), kind="stable").astype(np.int32)
    return MatchingTables(ranked.ranks, ranked.offsets, by_size, lookup, trie, specializations)
