"""Configurations: conjunctions of relations, many of them in flat arrays (GLEM, section 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.features import AtomicFeatures, Relation

__all__ = ["ConfigurationSet", "RelationTable"]


@define(frozen=True, eq=False)
class RelationTable:
    """Relations ``feature == value``; the row is the relation's id.

    Parameters
    ----------
    features
        int32 [R]: feature indices.
    values
        int16 [R]. Rows are in ascending order of (feature, value).
    """

    features: NDArray[np.int32]
    values: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.features)


@define(frozen=True, eq=False)
class ConfigurationSet:
    """Configurations over one table of relations.

    Parameters
    ----------
    table
        The relations.
    relations
        uint16 [T]: relation ids of all configurations, ascending inside each.
    offsets
        int64 [C + 1]: configuration ``c`` is ``relations[offsets[c]:offsets[c + 1]]``.
    match_counts
        int64 [C]: positions in which each is active.
    position_count
        Number of positions that were looked at.
    """

    table: RelationTable
    relations: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    match_counts: NDArray[np.int64]
    position_count: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def relations_of(self, configuration: int) -> NDArray[np.uint16]:
        """Relation ids of one configuration."""
        return self.relations[self.offsets[configuration] : self.offsets[configuration + 1]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of relations of each configuration: int64 [C]."""
        return np.diff(self.offsets)

    def select(self, chosen: NDArray[Any]) -> ConfigurationSet:
        """Configurations of a mask [C] or of indices, in that order."""
        indices = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < len(self):
            raise BadInputError(f"an index is outside of 0..{len(self) - 1}")
        sizes = self.sizes[indices]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[indices], sizes)
        return ConfigurationSet(
            self.table, self.relations[places], offsets, self.match_counts[indices], self.position_count
        )

    def describe(self, configuration: int, features: AtomicFeatures) -> str:
        """Text of a configuration, e.g. ``a1=own b2=empty``."""
        return " ".join(
            features.describe(Relation(int(self.table.features[relation]), int(self.table.values[relation])))
            for relation in self.relations_of(configuration)
        )
