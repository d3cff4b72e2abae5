"""Patterns: sets of atomic features whose joint values index a table of weights (GLEM, section 4.4).

An entry of a pattern's table is a configuration: all features of the pattern with certain values. A pattern
stands for all its images under the board symmetries, its *instances*; they share one table. Where a symmetry
maps a pattern onto itself, it exchanges entries of the table, and each such orbit of entries shares one weight
(*folding*), so that an evaluation gives a position and its image the same value.

A pattern with too large a table is *sparse*: only the contents that enough positions have get weights. Behind these
stands one more, the *null weight* of all other contents, which is 0 and stays so: a sparse pattern's instance has
exactly one active weight, as a dense one's has, and whoever fits or sums weights need not tell them apart.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError, check_regular, described
from glem.core.features.features import AtomicFeatures, Relation
from glem.core.features.learning import Learning
from glem.core.patterns.pattern import (
    Instance,
    Pattern,
    check_pattern,
    exchanged_entries,
    images_of,
    relations_of,
)
from glem.core.patterns.pattern_file import read_pattern_file
from glem.core.patterns.sparse_patterns import table_of, valid_contents
from glem.core.patterns.sparse_table import SparseTable, join_tables
from glem.core.tasks.counts import counted

MAX_TABLE_SIZE = 1 << 16
"""Entries that a dense table may have, so that an index fits into 16 bits; larger patterns are sparse."""

MINIMUM_MATCHES = 75
"""Positions at least that have a content of a sparse pattern with a weight, by default (GLEM, section 6)."""

_BLOCK = 2048


def _fold(features: AtomicFeatures, base: tuple[int, ...], size: int) -> NDArray[np.int64]:
    """Rank of the orbit of each table entry under the symmetries that map the pattern onto itself: int64 [size]."""
    smallest = exchanged_entries(features, base, np.arange(size)).min(axis=0)
    return np.unique(smallest, return_inverse=True)[1].astype(np.int64)


class _Tables(NamedTuple):
    """Patterns as the kernel sees them: the features of each instance, their ranges, folded tables and hash tables.

    ``middles`` is where the second half of a sparse instance's features begins, and the first feature of a dense one;
    ``offset_starts`` is -1 for these.
    """

    members: NDArray[np.int64]
    member_starts: NDArray[np.int64]
    middles: NDArray[np.int64]
    lows: NDArray[np.int64]
    cardinalities: NDArray[np.int64]
    folds: NDArray[np.uint16]
    fold_starts: NDArray[np.int64]
    offset_starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    locks: NDArray[np.int32]
    slots: NDArray[np.int32]
    nulls: NDArray[np.uint16]


@kernel
def _fill_indices(
    values: Any,
    tables: Any,
    targets: Any,
    indices: Any,
) -> None:
    """Write the folded index of every instance: instance by instance over blocks of rows, which vectorizes."""
    members, member_starts, folds, fold_starts = tables.members, tables.member_starts, tables.folds, tables.fold_starts
    count = values.shape[1]
    index = np.empty(_BLOCK, np.int32)
    first = np.empty(_BLOCK, np.int32)
    for start in range(0, count, _BLOCK):
        end = min(start + _BLOCK, count)
        for instance in range(indices.shape[0]):
            index[: end - start] = 0
            for place in range(member_starts[instance], member_starts[instance + 1]):
                if place == tables.middles[instance]:
                    first[: end - start] = index[: end - start]
                    index[: end - start] = 0
                feature = members[place]
                low = np.int32(tables.lows[feature])
                cardinality = np.int32(tables.cardinalities[feature])
                column = values[feature]
                for row in range(start, end):
                    index[row - start] = index[row - start] * cardinality + (np.int32(column[row]) - low)
            fold_start = fold_starts[instance]
            out = indices[instance]
            offset_start = tables.offset_starts[instance]
            if offset_start < 0:
                for row in range(start, end):
                    out[targets[row]] = folds[fold_start + index[row - start]]
                continue
            for row in range(start, end):
                hashed = tables.offsets[offset_start + first[row - start]] + index[row - start]
                found = tables.locks[hashed] == first[row - start]
                out[targets[row]] = np.uint16(tables.slots[hashed]) if found else tables.nulls[instance]


@kernel
def count_matches(indices: Any, group_starts: Any, offsets: Any, weights: Any, matches: Any, squares: Any) -> None:
    """Add, for every weight, the rows in which it is active and the sum of its squared multiplicities.

    Parameters
    ----------
    indices
        uint16 [I, n]: weight within the pattern of every instance and row.
    group_starts
        int64 [P + 1]: first instance of every pattern.
    offsets
        int64 [I]: first weight of each instance's pattern.
    weights
        float32 [n]: weight of each row.
    matches, squares
        float64 arrays to add to: sum of the row weights w with h > 0, and of w h^2, where h is the number of
        instances of a pattern that share the weight in a row.
    """
    same = np.empty(_BLOCK, np.uint16)
    earlier = np.empty(_BLOCK, np.uint16)
    for block in range(0, weights.shape[0], _BLOCK):
        rows = min(block + _BLOCK, weights.shape[0]) - block
        for group in range(group_starts.shape[0] - 1):
            for instance in range(group_starts[group], group_starts[group + 1]):
                mine = indices[instance, block : block + rows]
                same[:rows] = 0
                earlier[:rows] = 0
                for other in range(group_starts[group], group_starts[group + 1]):
                    theirs = indices[other, block : block + rows]
                    if other < instance:
                        for row in range(rows):
                            earlier[row] += np.uint16(mine[row] == theirs[row])
                    for row in range(rows):
                        same[row] += np.uint16(mine[row] == theirs[row])
                offset = offsets[instance]
                for row in range(rows):
                    weight = np.float64(weights[block + row])
                    squares[offset + mine[row]] += weight * same[row]
                    if earlier[row] == 0:
                        matches[offset + mine[row]] += weight


@define(frozen=True, eq=False, repr=False)
class PatternSet:
    """Patterns, dense and sparse, their symmetric instances and their folded weights.

    Parameters
    ----------
    features
        The game's atomic features.
    patterns
        Distinct names, each with at most :data:`MAX_TABLE_SIZE` table entries or with contents.

    Attributes
    ----------
    instances
        All instances, pattern by pattern.
    table_sizes
        int64 [P]: entries of each pattern's dense table, 0 for a sparse pattern.
    hash_tables
        By number of the pattern, the table of each sparse one.
    weight_sizes, weight_starts
        int64 [P], [P + 1]: weights of each pattern after folding, null weights included, and where they begin among
        all.

    Raises
    ------
    BadInputError
        Two patterns of one name, a feature twice in a pattern, a table that is too large, contents that cannot be, or
        a symmetry that exchanges features of different ranges.
    """

    features: AtomicFeatures
    patterns: tuple[Pattern, ...]
    instances: tuple[Instance, ...] = field(init=False, repr=False)
    table_sizes: NDArray[np.int64] = field(init=False, repr=False)
    hash_tables: dict[int, SparseTable] = field(init=False, repr=False)
    weight_sizes: NDArray[np.int64] = field(init=False, repr=False)
    weight_starts: NDArray[np.int64] = field(init=False, repr=False)
    _folds: tuple[NDArray[np.int64], ...] = field(init=False, repr=False)
    _tables: _Tables = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if len({pattern.name for pattern in self.patterns}) != len(self.patterns):
            raise BadInputError("two patterns have one name")
        folds, sizes = [], []
        hash_tables: dict[int, SparseTable] = {}
        instances: list[Instance] = []
        for place, pattern in enumerate(self.patterns):
            size = math.prod(check_pattern(self.features, pattern))
            if pattern.contents is not None:
                hash_tables[place] = table_of(self.features, pattern)
                folds.append(np.zeros(0, np.int64))
                sizes.append(len(pattern.contents) + 1)
            elif size > MAX_TABLE_SIZE:
                raise BadInputError(
                    f"pattern {pattern.name!r} has {size:,} table entries, a dense table at most {MAX_TABLE_SIZE:,}: "
                    "it must be sparse, and only a fit (`glem fit`, `glem discover`) finds the contents that occur"
                )
            else:
                folds.append(_fold(self.features, pattern.features, size))
                sizes.append(int(folds[-1].max()) + 1)
            instances.extend(Instance(place, image) for image in images_of(self.features, pattern.features))
        self._set("instances", tuple(instances))
        self._set("table_sizes", np.array([len(fold) for fold in folds], np.int64))
        self._set("hash_tables", hash_tables)
        self._set("weight_sizes", np.array(sizes, np.int64))
        self._set("weight_starts", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        self._set("_folds", tuple(folds))
        table_starts = np.concatenate([[0], np.cumsum(self.table_sizes)]).astype(np.int64)
        pattern_of = np.array([instance.pattern for instance in instances], np.int64)
        members = [feature for instance in instances for feature in instance.features]
        member_starts = np.cumsum([0, *(len(instance.features) for instance in instances)])
        offset_starts, offsets, locks, slots = join_tables([*hash_tables.values()])
        starts_of = dict(zip(hash_tables, offset_starts.tolist(), strict=True))
        halves = [len(instance.features) // 2 * (instance.pattern in hash_tables) for instance in instances]
        self._set(
            "_tables",
            _Tables(
                np.array(members, np.int64),
                member_starts.astype(np.int64),
                (member_starts[:-1] + np.array(halves, np.int64)).astype(np.int64),
                np.array([feature.low for feature in self.features.features], np.int64),
                np.array([feature.cardinality for feature in self.features.features], np.int64),
                np.concatenate([np.zeros(0, np.int64), *folds]).astype(np.uint16),
                table_starts[pattern_of] if len(instances) else np.zeros(0, np.int64),
                np.array([starts_of.get(instance.pattern, -1) for instance in instances], np.int64),
                offsets,
                locks,
                slots,
                (self.weight_sizes[pattern_of] - 1).astype(np.uint16) if instances else np.zeros(0, np.uint16),
            ),
        )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def from_names(cls, features: AtomicFeatures, names: Mapping[str, Sequence[str]]) -> PatternSet:
        """Pattern set from feature names.

        Parameters
        ----------
        features
            The game's atomic features.
        names
            Pattern name to the names of its features; one instance each, the symmetric ones follow.

        Raises
        ------
        BadInputError
            An unknown feature, or what :class:`PatternSet` raises.
        """
        return cls(features, tuple(_patterns_of(features, names)))

    @classmethod
    def named(
        cls,
        learning: Learning,
        name: str | os.PathLike[str] | Mapping[str, Sequence[str]],
        chunks: Callable[[], Iterable[NDArray[np.int16]]] | None = None,
        minimum_matches: int = MINIMUM_MATCHES,
    ) -> PatternSet:
        """Make one of the pattern sets of a game, that of a file (:func:`.read_pattern_file`), or one of feature names.

        Parameters
        ----------
        learning
            What the game gives to learning.
        name
            Name of the set, the file, or a mapping as :meth:`from_names` takes it.
        chunks
            Called for every pattern with too large a table: feature values int16 [n, F], chunk by chunk, of the
            positions to learn from. Without it such a pattern is refused.
        minimum_matches
            Positions at least that have a content of such a pattern with a weight (GLEM, section 4.4).

        Raises
        ------
        BadInputError
            The game has none of that name and there is no such file, or it is a bad one.
        """
        if not isinstance(name, str | os.PathLike | Mapping):
            raise BadInputError(
                "patterns are the name of a set, a file, or a mapping of names to names of features, got "
                f"{described(name)}"
            )
        names = name if isinstance(name, Mapping) else learning.pattern_sets.get(os.fspath(name))
        if names is None:
            assert not isinstance(name, Mapping)
            check_regular(name)
            if not Path(name).is_file():
                known = ", ".join(learning.pattern_sets) or "none"
                raise BadInputError(
                    f"{learning.game.name} has no pattern set {os.fspath(name)!r}, nor is there such a file; "
                    f"it has: {known}"
                )
            names = read_pattern_file(learning.features, name)
        features = learning.features
        patterns = _patterns_of(features, names)
        for place, pattern in enumerate(patterns):
            if chunks is not None and math.prod(check_pattern(features, pattern)) > MAX_TABLE_SIZE:
                contents = valid_contents(features, pattern, chunks(), minimum_matches)
                patterns[place] = evolve(pattern, contents=contents)
        return cls(features, tuple(patterns))

    @property
    def names(self) -> dict[str, list[str]]:
        """Pattern name to the names of its features."""
        return {
            pattern.name: [self.features[feature].name for feature in pattern.features] for pattern in self.patterns
        }

    def __len__(self) -> int:
        return len(self.patterns)

    def __repr__(self) -> str:
        return (
            f"PatternSet({self.features.game.name}: {counted(len(self.patterns), 'pattern')}, "
            f"{counted(self.weight_count, 'weight')})"
        )

    @property
    def weight_count(self) -> int:
        """Number of weights of all patterns together."""
        return int(self.weight_starts[-1])

    @property
    def group_starts(self) -> NDArray[np.int64]:
        """int64 [P + 1]: first instance of each pattern."""
        counts = np.bincount([instance.pattern for instance in self.instances], minlength=len(self.patterns))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @property
    def column_offsets(self) -> NDArray[np.int64]:
        """int64 [I]: first weight of each instance's pattern."""
        return self.weight_starts[np.array([instance.pattern for instance in self.instances], np.intp)]

    def fold(self, pattern: int) -> NDArray[np.int64]:
        """Weight, within a dense pattern, of each entry of its table: int64 [table size]."""
        return self._folds[pattern]

    def weight_of(self, pattern: int, entry: int) -> int:
        """Weight, within a dense or sparse pattern, of one table index, found without its hash table."""
        own = self.patterns[pattern]
        if own.contents is None:
            return int(self._folds[pattern][entry])
        canonical = int(exchanged_entries(self.features, own.features, np.array([entry])).min())
        place = bisect_left(own.contents, canonical)
        return place if own.contents[place : place + 1] == (canonical,) else len(own.contents)

    @property
    def null_weights(self) -> NDArray[np.int64]:
        """Weights, among all, that stand for all contents of a sparse pattern without a weight: always 0."""
        return self.weight_starts[1:][[*self.hash_tables]] - 1

    def indices(self, values: NDArray[np.int16], *, targets: NDArray[np.int64] | None = None) -> NDArray[np.uint16]:
        """Find the active entry of every instance in every position.

        Parameters
        ----------
        values
            int16 [N, F], best feature by feature (Fortran order) as :meth:`AtomicFeatures.values` returns it.
        targets
            int64 [N]: a permutation, the row of the result for each position; by default its own.

        Returns
        -------
        indices
            uint16 [I, N]: weight within its pattern (:attr:`column_offsets` leads to the weight among all).

        Raises
        ------
        BadInputError
            The shape is wrong or a value is outside its feature's range.
        """
        columns = self._checked(values)
        count = columns.shape[1]
        if targets is None:
            targets = np.arange(count, dtype=np.int64)
        indices = np.empty((len(self.instances), count), np.uint16)
        _fill_indices(columns, self._tables, np.ascontiguousarray(targets, np.int64), indices)
        return indices

    def transform(self, positions: Any) -> Any:
        """Design matrix of positions, for fits of your own: how many instances of each weight are active.

        Parameters
        ----------
        positions
            N positions, as :meth:`AtomicFeatures.values` takes them.

        Returns
        -------
        scipy.sparse.csr_matrix
            float32 [N, :attr:`weight_count`]. Its product with weights is the patterns' part of an evaluation.
        """
        from scipy.sparse import csr_matrix

        indices = self.indices(self.features.values(positions))
        weights = (indices + self.column_offsets[:, None]).T
        starts = np.arange(len(weights) + 1) * len(self.instances)
        found = csr_matrix(
            (np.ones(weights.size, np.float32), weights.ravel(), starts), (len(weights), self.weight_count)
        )
        found.sum_duplicates()
        return found

    def _checked(self, values: NDArray[np.int16]) -> NDArray[np.int16]:
        """Values feature by feature, after a look at the ranges: an index outside its table would corrupt memory."""
        if values.ndim != 2 or values.shape[1] != len(self.features):
            raise BadInputError(f"feature values are {values.shape}, expected [N, {len(self.features)}]")
        columns = np.ascontiguousarray(values.T, np.int16)
        if columns.shape[1]:
            for place in sorted({feature for pattern in self.instances for feature in pattern.features}):
                feature = self.features[place]
                low, high = int(columns[place].min()), int(columns[place].max())
                if low < feature.low or high > feature.high:
                    raise BadInputError(
                        f"feature {feature.name!r} has values {low}..{high}, its range is {feature.low}..{feature.high}"
                    )
        return columns

    def describe(self, weight: int) -> tuple[str, tuple[Relation, ...]]:
        """Pattern name and relations, on the base instance, of the first configuration behind a weight."""
        if not 0 <= weight < self.weight_count:
            raise BadInputError(f"weight {weight} is not among the {self.weight_count} of the patterns")
        place = int(np.searchsorted(self.weight_starts, weight, side="right")) - 1
        pattern, within = self.patterns[place], int(weight - self.weight_starts[place])
        if pattern.contents is None:
            entry = int(np.argmax(self._folds[place] == within))
        elif within < len(pattern.contents):
            entry = pattern.contents[within]
        else:
            return pattern.name, ()
        return pattern.name, relations_of(self.features, pattern, entry)


def _patterns_of(features: AtomicFeatures, names: Mapping[str, Sequence[str]]) -> list[Pattern]:
    patterns = []
    for name, given in names.items():
        members = given.split() if isinstance(given, str) else given
        if not isinstance(members, Sequence) or not all(isinstance(member, str) for member in members):
            raise BadInputError(f"pattern {name!r} needs the names of its features, got {described(given)}")
        patterns.append(Pattern(name, tuple(map(features.index, members))))
    return patterns
