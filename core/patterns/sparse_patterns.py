"""Large patterns: counted over positions, kept in sparse hash tables (GLEM, section 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeatures, Relation
from glem.core.patterns.patterns import (
    Pattern,
    check_pattern,
    images_of,
    permuted_entries,
    relations_of,
    self_images,
)
from glem.core.patterns.sparse_table import SparseTable

MAX_COUNTED_ENTRIES = 1 << 28
"""Largest table of match counts that :meth:`SparsePatterns.count` makes: 2 GiB."""


@define(frozen=True, eq=False)
class SparsePatterns:
    """Large patterns whose valid configurations are known; they enter a design as configurations.

    As in a :class:`~glem.core.patterns.patterns.PatternSet`, the instances of a pattern share weights, and entries that
    a symmetry of the pattern exchanges share one. Both entries stand in the hash table, so that a lookup needs no
    canonical form.

    Parameters
    ----------
    features
        The game's atomic features.
    patterns
        The patterns.
    entries
        For each pattern the valid table indices, canonical (the smallest of their orbit) and ascending: int64 [V].
    match_counts
        For each pattern, positions in which each was seen: int64 [V].
    """

    features: AtomicFeatures
    patterns: tuple[Pattern, ...]
    entries: tuple[NDArray[np.int64], ...]
    match_counts: tuple[NDArray[np.int64], ...]
    tables: tuple[SparseTable, ...] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        starts = self.weight_starts
        tables = tuple(
            self._table(pattern, entries, int(start))
            for pattern, entries, start in zip(self.patterns, self.entries, starts, strict=False)
        )
        object.__setattr__(self, "tables", tables)

    @classmethod
    def count(
        cls,
        features: AtomicFeatures,
        names: Mapping[str, Sequence[str]],
        chunks: Callable[[], Iterable[NDArray[np.int16]]],
        minimum_matches: int,
    ) -> SparsePatterns:
        """Find the valid configurations of some patterns in some positions.

        Parameters
        ----------
        features
            The game's atomic features.
        names
            Pattern name to the names of its features.
        chunks
            Called once per pattern: feature values int16 [n, F], chunk by chunk.
        minimum_matches
            Positions in which a valid configuration is active at least, on any instance.

        Raises
        ------
        BadInputError
            A pattern with more than :data:`MAX_COUNTED_ENTRIES` configurations, or a bad one.
        """
        patterns = tuple(Pattern(name, tuple(features.index(member) for member in names[name])) for name in names)
        entries, match_counts = [], []
        for pattern in patterns:
            size = int(np.prod(check_pattern(features, pattern), dtype=object))
            if size > MAX_COUNTED_ENTRIES:
                raise BadInputError(
                    f"pattern {pattern.name!r} has {size:,} configurations, at most {MAX_COUNTED_ENTRIES:,}"
                )
            counts = np.zeros(size, np.int64)
            for values in chunks():
                # Every row counts once for each different index among its instances.
                indices = np.sort(_canonical_indices(features, pattern, values), axis=0)
                fresh = np.diff(indices, axis=0, prepend=-1) != 0
                np.add.at(counts, indices[fresh], 1)
            entries.append(np.flatnonzero(counts >= minimum_matches))
            match_counts.append(counts[entries[-1]])
        return cls(features, patterns, tuple(entries), tuple(match_counts))

    @property
    def weight_starts(self) -> NDArray[np.int64]:
        """int64 [P + 1]: first weight of each pattern."""
        return np.concatenate([[0], np.cumsum([len(entries) for entries in self.entries])]).astype(np.int64)

    @property
    def weight_count(self) -> int:
        """Number of weights of all patterns together."""
        return int(self.weight_starts[-1])

    def _table(self, pattern: Pattern, entries: NDArray[np.int64], start: int) -> SparseTable:
        cardinalities = [self.features[feature].cardinality for feature in pattern.features]
        keys, slots = entries, np.arange(start, start + len(entries))
        for image in self_images(self.features, pattern.features)[1:]:
            keys = np.concatenate([keys, permuted_entries(entries, pattern.features, image, cardinalities)])
            slots = np.concatenate([slots, np.arange(start, start + len(entries))])
        keys, kept = np.unique(keys, return_index=True)
        half = len(cardinalities) // 2
        second_count = int(np.prod(cardinalities[half:], dtype=np.int64))
        first_count = int(np.prod(cardinalities[:half], dtype=np.int64))
        return SparseTable.from_pairs(keys // second_count, keys % second_count, slots[kept], first_count, second_count)

    def active(self, values: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Find the valid configurations that are active in some positions.

        Parameters
        ----------
        values
            int16 [N, F].

        Returns
        -------
        row_starts, weights
            int64 [N + 1] and int32 [nnz]: CSR rows with ascending ids, as :meth:`Design.build` wants them. A weight
            that several instances share stands once for each.
        """
        found = []
        for pattern, table in zip(self.patterns, self.tables, strict=True):
            for image in images_of(self.features, pattern.features):
                index = _indices(self.features, image, values)
                found.append(table.lookup(index // table.second_count, index % table.second_count))
        columns = np.sort(np.array(found, np.int32).reshape(len(found), len(values)).T, axis=1)
        valid = columns >= 0
        row_starts = np.concatenate([[0], np.cumsum(valid.sum(axis=1))]).astype(np.int64)
        return row_starts, columns[valid]

    def describe(self, weight: int) -> tuple[str, tuple[Relation, ...]]:
        """Pattern name and relations, on the base instance, of the configuration behind a weight."""
        if not 0 <= weight < self.weight_count:
            raise BadInputError(f"weight {weight} is not among the {self.weight_count} of the patterns")
        place = int(np.searchsorted(self.weight_starts, weight, side="right")) - 1
        pattern = self.patterns[place]
        entry = int(self.entries[place][weight - self.weight_starts[place]])
        return pattern.name, relations_of(self.features, pattern, entry)


def _indices(features: AtomicFeatures, members: Sequence[int], values: NDArray[np.int16]) -> NDArray[np.int64]:
    """Mixed-radix index of some features' values in every row: int64 [N]."""
    index = np.zeros(len(values), np.int64)
    for place in members:
        feature, column = features[place], values[:, place]
        if len(values) and not feature.low <= column.min() <= column.max() <= feature.high:
            raise BadInputError(f"feature {feature.name!r} has values outside {feature.low}..{feature.high}")
        index = index * feature.cardinality + (column.astype(np.int64) - feature.low)
    return index


def _canonical_indices(features: AtomicFeatures, pattern: Pattern, values: NDArray[np.int16]) -> NDArray[np.int64]:
    """Canonical index of every instance in every row: int64 [I, N]."""
    orders = [
        [pattern.features.index(feature) for feature in image] for image in self_images(features, pattern.features)
    ]
    columns = [
        np.minimum.reduce([_indices(features, [image[place] for place in order], values) for order in orders])
        for image in images_of(features, pattern.features)
    ]
    return np.array(columns, np.int64).reshape(len(columns), len(values))
