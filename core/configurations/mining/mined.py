"""What a search finds, in the order in which it found it: seven bytes a configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.configurations.configurations import ConfigurationSet, RelationTable


@define(frozen=True, eq=False)
class Part:
    """All configurations found below one first relation, in preorder.

    A configuration of ``d`` relations has those of the last configuration of ``d - 1`` relations before it, and
    ``relation`` besides.

    Parameters
    ----------
    relation
        uint16 array [C]: the relation that comes last in the order of the search.
    depth
        uint8 array [C]: number of relations.
    matches
        uint32 array [C]: positions matched.
    """

    relation: NDArray[np.uint16]
    depth: NDArray[np.uint8]
    matches: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.relation)

    def first(self, limit: int) -> Part:
        """At most ``limit`` configurations of this part; every one comes after those it extends."""
        return self if len(self) <= limit else Part(self.relation[:limit], self.depth[:limit], self.matches[:limit])


@define(frozen=True, eq=False)
class MinedConfigurations:
    """The result of a search before it becomes a :class:`~glem.core.configurations.configurations.ConfigurationSet`.

    Parameters
    ----------
    table
        The relations.
    parts
        One part per first relation that was searched, rarest first.
    position_count
        Number of positions that were counted.
    incomplete
        Why configurations are missing; empty when none are.
    """

    table: RelationTable
    parts: list[Part]
    position_count: int
    incomplete: str = ""

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def size_counts(self) -> NDArray[np.int64]:
        """Count the configurations of 0, 1, 2, ... relations: int64 array."""
        counts = np.zeros(256, np.int64)
        for part in self.parts:
            counts += np.bincount(part.depth, minlength=256)
        return counts[: int(np.flatnonzero(counts).max(initial=0)) + 1]

    def flatten(self) -> ConfigurationSet:
        """Lay the configurations out one after the other, in the order of the search."""
        sizes = self.size_counts()
        count = len(self)
        relations = np.empty(int(sizes @ np.arange(len(sizes))), np.uint16)
        offsets = np.zeros(count + 1, np.int64)
        match_counts = np.empty(count, np.int64)
        paths = np.zeros((len(sizes), len(sizes)), np.uint16)
        start = 0
        for part in self.parts:
            end = start + len(part)
            offsets[end] = offsets[start] + part.depth.sum(dtype=np.int64)
            _lay_out(part.relation, part.depth, paths, relations, offsets[start:end])
            match_counts[start:end] = part.matches
            start = end
        return ConfigurationSet(self.table, relations, offsets, match_counts, self.position_count, self.incomplete)


@kernel
def _lay_out(relation: Any, depth: Any, paths: Any, relations: Any, offsets: Any) -> None:
    """Write each configuration's relations in ascending order; ``paths[d]`` is the sorted prefix of ``d`` relations."""
    end = np.int64(offsets[0])
    count = relation.shape[0]
    for place in range(count):
        offsets[place] = end
        size = np.int64(depth[place])
        added = relation[place]
        prefix = paths[size - np.int64(1)]
        k = size - np.int64(1)
        while k > np.int64(0) and prefix[k - np.int64(1)] > added:
            relations[end + k] = prefix[k - np.int64(1)]
            k -= np.int64(1)
        relations[end + k] = added
        for j in range(k):
            relations[end + j] = prefix[j]
        if place + 1 < count and np.int64(depth[place + 1]) > size:
            for j in range(size):
                paths[size, j] = relations[end + j]
        end += size
