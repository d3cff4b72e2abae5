"""The order of configurations from general to special, for sets of millions (GLEM, section 4.3).

:class:`~glem.core.configurations.dag.ConfigurationDAG` finds the same arcs in plain Python.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, popcount
from glem.core.errors import BadInputError

_LONGEST = 64
"""Relations in a configuration at most: a subset of them is one word of bits."""

_FIRST_CAPACITY = 4
"""Arcs a configuration to make room for at first."""


class Arcs(NamedTuple):
    """Arcs between configurations: from ``c`` to ``targets[offsets[c] : offsets[c + 1]]`` (int32; offsets int64)."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]


class _Trie(NamedTuple):
    """Trie of the configurations, numbered level by level, so that siblings stand together.

    Node 0 is the root. The children of node ``n`` are ``first_child[n] .. first_child[n + 1] - 1``, in ascending order
    of the ``relation`` that each adds. ``configuration`` is the index of the configuration that ends in the node, -1
    where the set holds only longer ones. ``first_child``: int64 [nodes + 1]; ``relation``: uint16 [nodes];
    ``configuration``: int32 [nodes].
    """

    first_child: NDArray[np.int64]
    relation: NDArray[np.uint16]
    configuration: NDArray[np.int32]


def _build_trie(relations: NDArray[np.uint16], offsets: NDArray[np.int64]) -> _Trie:
    radix = int(relations.max(initial=0)) + 1
    sizes = np.diff(offsets)
    node_of = np.zeros(len(sizes), np.int64)
    parents = [np.zeros(0, np.int64)]
    added = [np.zeros(1, np.uint16)]
    node_count = 1
    passing = np.arange(len(sizes))
    for depth in range(int(sizes.max(initial=0))):
        passing = passing[sizes[passing] > depth]
        steps = node_of[passing] * radix + relations[offsets[passing] + depth]
        nodes, place = np.unique(steps, return_inverse=True)
        node_of[passing] = node_count + place
        parents.append(nodes // radix)
        added.append((nodes % radix).astype(np.uint16))
        node_count += len(nodes)
    configuration = np.full(node_count, -1, np.int32)
    configuration[node_of] = np.arange(len(sizes), dtype=np.int32)
    doubled = np.flatnonzero(configuration[node_of] != np.arange(len(sizes)))
    if len(doubled):
        raise BadInputError(f"configurations {doubled[0]} and {configuration[node_of[doubled[0]]]} are equal")
    # Nodes are numbered in the order of their parents, so a node's children follow those of all earlier nodes.
    children = np.bincount(np.concatenate(parents), minlength=node_count)
    first_child = np.concatenate([np.zeros(1, np.int64), np.cumsum(children)]) + 1
    return _Trie(first_child, np.concatenate(added), configuration)


@kernel
def _child(trie: Any, node: Any, relation: Any) -> Any:
    """Child of a node that adds a relation, -1 if it has none (binary search)."""
    low = trie.first_child[node]
    end = trie.first_child[node + 1]
    high = end
    while low < high:
        middle = (low + high) >> np.int64(1)
        if trie.relation[middle] < relation:
            low = middle + np.int64(1)
        else:
            high = middle
    return low if low < end and trie.relation[low] == relation else np.int64(-1)


@kernel
def _grown(array: Any) -> Any:
    longer = np.empty(2 * len(array), array.dtype)
    # A slice assignment would take a second and a half to compile.
    for place in range(len(array)):
        longer[place] = array[place]
    return longer


@kernel
def _direct_subsets(trie: Any, relations: Any, found: Any) -> Any:
    """Largest proper subsets of a relation set among the configurations: their number, and a buffer that has them.

    A subset is one word of bits over the places of ``relations``. Subsets that lack one relation are looked up first;
    if all are configurations, as in a set closed under taking subsets, nothing else is a *direct* generalization.
    Otherwise the part of the trie that consists of subsets is walked, and the larger subsets hide the smaller.
    """
    size = np.int64(len(relations))
    count = np.int64(0)
    if size > len(found):
        found = np.empty(size, np.int32)
    prefix = np.int64(0)
    for left_out in range(size):
        node = prefix
        for place in range(left_out + 1, size):
            if node < np.int64(0):
                break
            node = _child(trie, node, relations[place])
        if node >= np.int64(0) and trie.configuration[node] >= np.int32(0):
            found[count] = trie.configuration[node]
            count += np.int64(1)
        prefix = _child(trie, prefix, relations[left_out])
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
            child = _child(trie, node, relations[place])
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
def _generalizations_from(trie: Any, relations: Any, offsets: Any, first: Any, counts: Any, targets: Any) -> Any:
    """Fill ``targets`` with direct generalizations from configuration ``first`` on; first one that did not fit."""
    found = np.empty(np.int64(16), np.int32)
    used = np.int64(0)
    for configuration in range(first, len(counts)):
        count, found = _direct_subsets(trie, relations[offsets[configuration] : offsets[configuration + 1]], found)
        if used + count > len(targets):
            return np.int64(configuration), used
        counts[configuration] = count
        for place in range(count):
            targets[used + place] = found[place]
        used += count
    return np.int64(len(counts)), used


def find_generalizations(relations: NDArray[np.uint16], offsets: NDArray[np.int64]) -> Arcs:
    """Direct generalizations of every configuration: its largest proper subsets in the set (GLEM, section 4.3).

    These are the arcs of the configuration DAG turned round, without those from the root: the transitive reduction of
    the subset order, whether or not the set is closed under taking subsets.

    Parameters
    ----------
    relations, offsets
        As in :class:`~glem.core.configurations.configurations.ConfigurationSet`.

    Raises
    ------
    BadInputError
        Two configurations are equal, or one has more than 64 relations.
    """
    sizes = np.diff(offsets)
    if sizes.max(initial=0) > _LONGEST:
        longest = int(sizes.argmax())
        raise BadInputError(f"configuration {longest} has {sizes[longest]} relations; {_LONGEST} are the most")
    trie = _build_trie(relations, offsets)
    counts = np.zeros(len(sizes), np.int64)
    capacity = max(_FIRST_CAPACITY * len(counts), 1 << 16)
    pieces = [np.empty(0, np.int32)]
    first = 0
    while first < len(counts):
        piece = np.empty(capacity, np.int32)
        following, used = _generalizations_from(trie, relations, offsets, np.int64(first), counts, piece)
        pieces.append(piece[:used].copy())
        if following == first:
            capacity *= 2
        first = int(following)
    return Arcs(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), np.concatenate(pieces))
