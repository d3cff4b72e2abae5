"""Sums of the weights of a position's active configurations, for evaluations in the search (GLEM, section 4.3).

It goes the way of :func:`glem.core.configurations.matching.single.match_one`: 64 configurations at a time, of which
those are struck off that have a relation which fails.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import trailing_zeros
from glem.core.compiling.vectors import VECTOR_WORDS
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.matching.single import NO_POSITION_TABLES, Lines, PositionTables, is_extended

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
    tables
        What the matching of one position knows of the configurations.
    weights
        int16 [K * C].
    """

    configurations: np.int64
    lines: np.int64
    relations: np.int64
    most_specific: np.int64
    features: NDArray[np.int32]
    values: NDArray[np.int16]
    tables: PositionTables
    weights: NDArray[np.int16]


def build_active_tables(
    configurations: ConfigurationSet | None, weights: NDArray[np.int16], most_specific: bool
) -> ActiveTables:
    """Build the tables of some configurations with their weights, int16 [K, C]; of none where there are none."""
    relations, tables = RelationTable([], []), NO_POSITION_TABLES
    if configurations is not None and len(configurations):
        # Most evaluations have none, and an engine starts sooner without what finds them.
        from glem.core.configurations.matching.matcher import ConfigurationMatcher

        relations, tables = configurations.table, ConfigurationMatcher(configurations).position_tables
    return ActiveTables(
        np.int64(weights.shape[1]),
        np.int64(len(tables.members.offsets) - 1),
        np.int64(len(relations)),
        np.int64(most_specific),
        relations.features,
        relations.values,
        tables,
        weights.ravel(),
    )


def _found(word: np.int64, tables: PositionTables, most_specific: np.int64, fails: Any) -> np.uint64:
    """Which of the 64 configurations of a word are active, and most specific where that is asked for."""
    line = word // np.int64(VECTOR_WORDS)
    left: np.uint64 = tables.present[word]
    left = _struck_off(left, word, tables.members, line, fails, _NONE)
    if most_specific != np.int64(0):
        left = _struck_off(left, word, tables.extending, line, fails, _ALL)
    return left


def _struck_off(left: np.uint64, word: np.int64, lines: Lines, line: np.int64, fails: Any, holding: np.uint64) -> Any:
    """Take away those of 64 configurations that have a relation which fails; or one that holds, if ``holding``."""
    within = word % np.int64(VECTOR_WORDS)
    entry = lines.offsets[line]
    end = lines.offsets[line + np.int64(1)]
    while entry < end and left != _NONE:
        left &= ~(lines.words[np.int64(VECTOR_WORDS) * entry + within] & (fails[lines.relations[entry]] ^ holding))
        entry += np.int64(1)
    return left


def sum_of_active(values: Any, active: ActiveTables, phase: np.int64) -> np.int64:
    """Sum of the weights of the active configurations in a phase, for feature values int16 [F]."""
    tables = active.tables
    fails = np.empty(active.relations, np.uint64)
    for relation in range(active.relations):
        holds = values[active.features[relation]] == active.values[relation]
        fails[relation] = _NONE if holds else _ALL
    total = np.int64(0)
    row = phase * active.configurations
    for word in range(np.int64(VECTOR_WORDS) * active.lines):
        left = _found(np.int64(word), tables, active.most_specific, fails)
        several = tables.longer[word] if active.most_specific != np.int64(0) else _NONE
        while left != _NONE:
            bit = trailing_zeros(left)
            left &= left - np.uint64(1)
            configuration = np.int64(64) * np.int64(word) + np.int64(bit)
            if (several >> np.uint64(bit)) & np.uint64(1) == _NONE or not is_extended(
                configuration, tables.extensions, fails
            ):
                total += np.int64(active.weights[row + configuration])
    return total
