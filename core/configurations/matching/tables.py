"""What a set of configurations becomes before positions are matched with it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.matching.generalizations import Arcs, find_generalizations


class RelationLookup(NamedTuple):
    """From feature values to relations.

    The relation of feature ``features[u]`` with value ``lows[u] + k`` is ``relations[starts[u] + k]``, -1 if there is
    none, for ``k < starts[u + 1] - starts[u]``; other values have none. ``features``, ``lows``: int64 [U];
    ``starts``: int64 [U + 1]; ``relations``: int32 [starts[U]].
    """

    features: NDArray[np.int64]
    lows: NDArray[np.int64]
    starts: NDArray[np.int64]
    relations: NDArray[np.int32]


class Extensions(NamedTuple):
    """What each configuration lacks of its direct specializations, the commonest specialization first.

    An active configuration is most specific where none of its extensions holds, so that the specializations
    themselves need not be looked at.

    ``single[single_offsets[c] : single_offsets[c + 1]]`` (uint16) are the relations that alone make ``c`` another
    configuration: in a set closed under taking subsets there are no other extensions. ``several[several_offsets[c] :
    several_offsets[c + 1]]`` (uint32) are those of two and more relations, one after the other: each element is twice a
    relation, plus one at the end of an extension. The offsets are int64 [C + 1].
    """

    single_offsets: NDArray[np.int64]
    single: NDArray[np.uint16]
    several_offsets: NDArray[np.int64]
    several: NDArray[np.uint32]


class MatchingTables(NamedTuple):
    """All that kernels know of a set of configurations.

    Configuration ``c`` is ``relations[offsets[c] : offsets[c + 1]]`` (uint16; offsets int64 [C + 1]).
    """

    relations: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    lookup: RelationLookup
    extensions: Extensions


def _build_lookup(table: RelationTable) -> RelationLookup:
    features, owner = np.unique(table.features, return_inverse=True)
    values = np.asarray(table.values, np.int64)
    lows = np.full(len(features), np.iinfo(np.int64).max)
    highs = np.full(len(features), np.iinfo(np.int64).min)
    np.minimum.at(lows, owner, values)
    np.maximum.at(highs, owner, values)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(highs - lows + 1)])
    relations = np.full(starts[-1], -1, np.int32)
    relations[starts[owner] + values - lows[owner]] = np.arange(len(values))
    return RelationLookup(features.astype(np.int64), lows, starts, relations)


@kernel
def _scatter_extensions(
    order: Any, relations: Any, offsets: Any, arcs: Any, single_ends: Any, several_ends: Any, single: Any, several: Any
) -> None:
    """Write the extensions of all configurations, specializations in the given order."""
    for place in range(len(order)):
        special = order[place]
        first = offsets[special]
        end = offsets[special + 1]
        for arc in range(arcs.offsets[special], arcs.offsets[special + 1]):
            general = arcs.targets[arc]
            shared = offsets[general]
            shared_end = offsets[general + 1]
            alone = end - first - (shared_end - shared) == np.int64(1)
            cursor = single_ends[general] if alone else several_ends[general]
            for own in range(first, end):
                if shared < shared_end and relations[shared] == relations[own]:
                    shared += np.int64(1)
                    continue
                if alone:
                    single[cursor] = relations[own]
                else:
                    several[cursor] = np.uint32(2) * np.uint32(relations[own])
                cursor += np.int64(1)
            if alone:
                single_ends[general] = cursor
            else:
                several[cursor - 1] += np.uint32(1)
                several_ends[general] = cursor


def _build_extensions(
    relations: NDArray[np.uint16], offsets: NDArray[np.int64], match_counts: NDArray[np.int64], generalizations: Arcs
) -> Extensions:
    count = len(match_counts)
    sizes = np.diff(offsets)
    added = np.repeat(sizes, np.diff(generalizations.offsets)) - sizes[generalizations.targets]
    lengths = [
        np.bincount(generalizations.targets, np.where(added == 1, added, 0), minlength=count),
        np.bincount(generalizations.targets, np.where(added > 1, added, 0), minlength=count),
    ]
    single_offsets, several_offsets = (np.concatenate([[0], np.cumsum(each)]).astype(np.int64) for each in lengths)
    single = np.empty(single_offsets[-1], np.uint16)
    several = np.empty(several_offsets[-1], np.uint32)
    # The commonest specialization shows soonest that a configuration is not most specific.
    order = np.argsort(-match_counts, kind="stable")
    _scatter_extensions(
        order,
        relations,
        offsets,
        generalizations,
        single_offsets[:-1].copy(),
        several_offsets[:-1].copy(),
        single,
        several,
    )
    return Extensions(single_offsets, single, several_offsets, several)


def build_tables(configurations: ConfigurationSet) -> MatchingTables:
    """Build all tables; :class:`BadInputError` when two configurations are equal or one has more than 64 relations."""
    # To the compiler a read-only array is another type: its kernels would be compiled a second time.
    relations = np.require(configurations.relations, requirements="W")
    offsets = np.require(configurations.offsets, requirements="W")
    generalizations = find_generalizations(relations, offsets)
    return MatchingTables(
        relations,
        offsets,
        _build_lookup(configurations.table),
        _build_extensions(relations, offsets, configurations.match_counts, generalizations),
    )
