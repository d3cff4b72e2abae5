"""Sums of the weights of a position's active configurations, for evaluations in the search (GLEM, section 4.3).

It goes the way of :func:`glem.core.configurations.matching.single.match_one`: 64 configurations at a time, of which
those are struck off that have a relation which fails.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import trailing_zeros
from glem.core.compiling.vectors import VECTOR_WORDS
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.configurations.matching import ConfigurationMatcher

__all__ = ["ActiveTables", "build_active_tables", "sum_of_active"]

_ALL = ~np.uint64(0)
_NONE = np.uint64(0)


class ActiveTables(NamedTuple):
    """C configurations of R relations, in lines of 512, and their weights in K phases.

    Parameters
    ----------
    configurations, lines, relations
        int64: C, the number of lines, R.
    most_specific
        int64: 1 where configurations with an active specialization do not count.
    features, values
        int32 and int16 [R]: relation ``r`` says that feature ``features[r]`` has the value ``values[r]``.
    member_offsets, member_relations, member_words
        As in :class:`~glem.core.configurations.matching.single.Lines`: which configurations have which relation.
    extending_offsets, extending_relations, extending_words
        The same for relations that alone extend a configuration to another one of the set.
    several_offsets, several
        As in :class:`~glem.core.configurations.matching.tables.Extensions`: extensions of several relations.
    present, longer
        uint64 [8 * lines]: a bit for each configuration; for each that has extensions of several relations.
    weights
        int16 [K * C].
    """

    configurations: np.int64
    lines: np.int64
    relations: np.int64
    most_specific: np.int64
    features: NDArray[np.int32]
    values: NDArray[np.int16]
    member_offsets: NDArray[np.int64]
    member_relations: NDArray[np.uint16]
    member_words: NDArray[np.uint64]
    extending_offsets: NDArray[np.int64]
    extending_relations: NDArray[np.uint16]
    extending_words: NDArray[np.uint64]
    several_offsets: NDArray[np.int64]
    several: NDArray[np.uint32]
    present: NDArray[np.uint64]
    longer: NDArray[np.uint64]
    weights: NDArray[np.int16]


def build_active_tables(
    configurations: ConfigurationSet | None, weights: NDArray[np.int16], most_specific: bool
) -> ActiveTables:
    """Build the tables of some configurations with their weights, int16 [K, C]; of none where there are none."""
    empty = np.zeros(1, np.int64)
    no_words = np.zeros(0, np.uint64)
    none = np.int64(0)
    if configurations is None or len(configurations) == 0:
        sizes = (none, none, none, none, empty.astype(np.int32), empty.astype(np.int16))
        lines = (empty, empty.astype(np.uint16), no_words)
        return ActiveTables(*sizes, *lines, *lines, empty, empty.astype(np.uint32), no_words, no_words, weights.ravel())
    tables = ConfigurationMatcher(configurations).position_tables
    return ActiveTables(
        np.int64(len(configurations)),
        np.int64(len(tables.members.offsets) - 1),
        np.int64(len(configurations.table.features)),
        np.int64(most_specific),
        configurations.table.features.astype(np.int32),
        configurations.table.values.astype(np.int16),
        *tables.members,
        *tables.extending,
        tables.extensions.several_offsets,
        tables.extensions.several,
        tables.present,
        tables.longer,
        weights.ravel(),
    )


def _is_extended(configuration: np.int64, tables: ActiveTables, fails: Any) -> bool:
    """Whether an extension of several relations holds."""
    holds = True
    for place in range(tables.several_offsets[configuration], tables.several_offsets[configuration + 1]):
        element = tables.several[place]
        holds = holds and fails[element >> np.uint32(1)] == _NONE
        if element & np.uint32(1) != np.uint32(0):
            if holds:
                return True
            holds = True
    return False


def _found(word: np.int64, tables: ActiveTables, fails: Any) -> np.uint64:
    """Which of the 64 configurations of a word are active, and most specific where that is asked for."""
    line = word // np.int64(VECTOR_WORDS)
    within = word % np.int64(VECTOR_WORDS)
    left: np.uint64 = tables.present[word]
    entry = tables.member_offsets[line]
    end = tables.member_offsets[line + np.int64(1)]
    while entry < end and left != _NONE:
        having = tables.member_words[np.int64(VECTOR_WORDS) * entry + within]
        left &= ~(having & fails[tables.member_relations[entry]])
        entry += np.int64(1)
    if tables.most_specific != np.int64(0):
        entry = tables.extending_offsets[line]
        end = tables.extending_offsets[line + np.int64(1)]
        while entry < end and left != _NONE:
            extended = tables.extending_words[np.int64(VECTOR_WORDS) * entry + within]
            left &= ~(extended & ~fails[tables.extending_relations[entry]])
            entry += np.int64(1)
    return left


def sum_of_active(values: Any, tables: ActiveTables, phase: np.int64) -> np.int64:
    """Sum of the weights of the active configurations in a phase, for feature values int16 [F]."""
    fails = np.empty(tables.relations, np.uint64)
    for relation in range(tables.relations):
        holds = values[tables.features[relation]] == tables.values[relation]
        fails[relation] = _NONE if holds else _ALL
    total = np.int64(0)
    row = phase * tables.configurations
    for word in range(np.int64(VECTOR_WORDS) * tables.lines):
        left = _found(np.int64(word), tables, fails)
        several = tables.longer[word] if tables.most_specific != np.int64(0) else _NONE
        while left != _NONE:
            bit = trailing_zeros(left)
            left &= left - np.uint64(1)
            configuration = np.int64(64) * np.int64(word) + np.int64(bit)
            if (several >> np.uint64(bit)) & np.uint64(1) == _NONE or not _is_extended(configuration, tables, fails):
                total += np.int64(tables.weights[row + configuration])
    return total
