"""Kernels that match one position: one bit per configuration in lines of 512.

A configuration is active unless it has a relation that fails. Every line keeps, for each relation that some of its
512 configurations have, which of them have it; taking away those of the relations that fail leaves the active ones.
In the same way it keeps which configurations a relation alone extends to others of the set: those of the relations
that hold are not most specific. Mined configurations come with like ones side by side, so most lines are empty soon.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import compiled, kernel, trailing_zeros
from glem.core.compiling.vectors import VECTOR_WORDS, aligned_words
from glem.core.configurations.matching.lanes import (
    and_lanes,
    and_not_lanes,
    is_empty,
    load_lanes,
    splat_lanes,
    store_lanes,
)
from glem.core.configurations.matching.lists import sum_listed, write_word
from glem.core.configurations.matching.tables import Extensions, MatchingTables, RelationLookup

LINE = 64 * VECTOR_WORDS
"""Configurations in a line."""


class Lines(NamedTuple):
    """Which configurations of every line have which relation, those of most configurations first.

    Entry ``e``, for ``offsets[line] <= e < offsets[line + 1]``, says by the words ``words[8 * e : 8 * e + 8]`` which
    configurations of the line have ``relations[e]``. ``offsets``: int64 [lines + 1]; ``relations``: uint16 [E];
    ``words``: uint64 [8 * E].
    """

    offsets: NDArray[np.int64]
    relations: NDArray[np.uint16]
    words: NDArray[np.uint64]


class PositionTables(NamedTuple):
    """All that :func:`match_one` knows of a set of configurations.

    ``members`` are the relations of the configurations, ``extending`` those that alone extend one to another;
    ``present`` (uint64 [8 * lines]) has a bit for every configuration, ``longer`` for those with
    :class:`~glem.core.configurations.matching.tables.Extensions` of several relations.
    """

    lookup: RelationLookup
    members: Lines
    extending: Lines
    extensions: Extensions
    present: NDArray[np.uint64]
    longer: NDArray[np.uint64]


def _no_position_tables() -> PositionTables:
    starts, words = np.zeros(1, np.int64), np.zeros(0, np.uint64)
    lines = Lines(starts, np.zeros(0, np.uint16), words)
    lookup = RelationLookup(starts[:0], starts[:0], starts, np.zeros(0, np.int32))
    extensions = Extensions(starts, np.zeros(0, np.uint16), starts, np.zeros(0, np.uint32))
    return PositionTables(lookup, lines, lines, extensions, words, words)


NO_POSITION_TABLES = _no_position_tables()
"""Those of no configurations, made without a kernel."""


class Scratch(NamedTuple):
    """Working memory of one thread.

    ``fails``: uint64 [R], all bits of a relation that does not hold, as all of them between calls; ``bits``: uint64
    [8 * lines], the result of :func:`match_one`; ``listed``: int32 [C + 64].
    """

    fails: NDArray[np.uint64]
    bits: NDArray[np.uint64]
    listed: NDArray[np.int32]

    @classmethod
    def for_tables(cls, tables: MatchingTables) -> Scratch:
        """Make working memory of the size that the tables ask for."""
        configurations = len(tables.offsets) - 1
        relations = int(tables.lookup.relations.max(initial=-1)) + 1
        return cls(
            np.full(relations, ~np.uint64(0)),
            aligned_words(-(-configurations // LINE) * VECTOR_WORDS),
            np.empty(configurations + 64, np.int32),
        )


@kernel
def _fill_lines(relations: Any, offsets: Any, counts: Any, starts: Any, lines: Any) -> None:
    """Write the entries of all lines; without room for them (``starts`` empty), only count them.

    ``counts`` (int64 [R]) is working memory, zero before and after; ``starts`` is ``lines.offsets``.
    """
    configurations = np.int64(len(offsets) - 1)
    slots = np.empty(len(counts), np.int64)
    used = np.empty(len(counts), np.int64)
    for line in range(len(lines.offsets) - 1):
        first = np.int64(LINE) * np.int64(line)
        last = min(first + np.int64(LINE), configurations)
        different = np.int64(0)
        for place in range(offsets[first], offsets[last]):
            relation = relations[place]
            if counts[relation] == np.int64(0):
                used[different] = relation
                different += np.int64(1)
            counts[relation] += np.int64(1)
        if len(starts) == 0:
            lines.offsets[line + 1] = lines.offsets[line] + different
        else:
            # Counting sort: an entry of many configurations may empty the line at once.
            ends = np.zeros(LINE + 2, np.int64)
            for place in range(different):
                ends[LINE - counts[used[place]] + 1] += 1
            for size in range(LINE + 1):
                ends[size + 1] += ends[size]
            for place in range(different):
                relation = used[place]
                entry = starts[line] + ends[LINE - counts[relation]]
                ends[LINE - counts[relation]] += 1
                lines.relations[entry] = relation
                slots[relation] = entry
            for configuration in range(first, last):
                word = (configuration - first) >> np.int64(6)
                bit = np.uint64(1) << np.uint64(configuration & np.int64(63))
                for place in range(offsets[configuration], offsets[configuration + 1]):
                    lines.words[np.int64(VECTOR_WORDS) * slots[relations[place]] + word] |= bit
        for place in range(different):
            counts[used[place]] = np.int64(0)


def _build_lines(relations: NDArray[np.uint16], offsets: NDArray[np.int64], relation_count: int) -> Lines:
    count = -(-(len(offsets) - 1) // LINE)
    counts = np.zeros(relation_count, np.int64)
    starts = np.zeros(count + 1, np.int64)
    _fill_lines(relations, offsets, counts, starts[:0], Lines(starts, np.empty(0, np.uint16), aligned_words(0)))
    lines = Lines(starts, np.empty(starts[-1], np.uint16), aligned_words(VECTOR_WORDS * int(starts[-1])))
    _fill_lines(relations, offsets, counts, starts, lines)
    return lines


def _bits_of(chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
    bits = aligned_words(-(-len(chosen) // LINE) * VECTOR_WORDS)
    packed = np.packbits(chosen, bitorder="little")
    bits.view(np.uint8)[: len(packed)] = packed
    return bits


def build_position_tables(tables: MatchingTables) -> PositionTables:
    """Build what :func:`match_one` needs: 64 bytes for each line and relation that meet."""
    extensions = tables.extensions
    relations = int(tables.lookup.relations.max(initial=-1)) + 1
    return PositionTables(
        tables.lookup,
        _build_lines(tables.relations, tables.offsets, relations),
        _build_lines(extensions.single, extensions.single_offsets, relations),
        extensions,
        _bits_of(np.ones(len(tables.offsets) - 1, bool)),
        _bits_of(np.diff(extensions.several_offsets) > 0),
    )


def is_extended(configuration: Any, extensions: Any, fails: Any) -> Any:
    """Whether an extension of several relations holds; dual, since the search asks too."""
    holds = True
    for place in range(extensions.several_offsets[configuration], extensions.several_offsets[configuration + 1]):
        element = extensions.several[place]
        holds = holds and fails[element >> np.uint32(1)] == np.uint64(0)
        if element & np.uint32(1) != np.uint32(0):
            if holds:
                return True
            holds = True
    return False


_is_extended = compiled(is_extended)


@kernel
def match_one(values: Any, tables: Any, most_specific: Any, scratch: Any) -> None:
    """Find the active configurations of one position, or only those without active specializations.

    Parameters
    ----------
    values
        int16 [F], the position's feature values.
    tables
        :class:`PositionTables`.
    most_specific
        Boolean.
    scratch
        :class:`Scratch`; bit ``c`` of its ``bits`` becomes whether configuration ``c`` is found.
    """
    fails = scratch.fails
    bits = scratch.bits
    lookup = tables.lookup
    for place in range(len(lookup.features)):
        offset = np.int64(values[lookup.features[place]]) - lookup.lows[place]
        if offset >= np.int64(0) and offset < lookup.starts[place + 1] - lookup.starts[place]:
            relation = lookup.relations[lookup.starts[place] + offset]
            if relation >= np.int32(0):
                fails[relation] = np.uint64(0)
    members = tables.members
    extending = tables.extending
    width = np.int64(VECTOR_WORDS)
    for line in range(len(members.offsets) - 1):
        first = width * np.int64(line)
        left = load_lanes(tables.present, first)
        entry = members.offsets[line]
        end = members.offsets[line + 1]
        while entry < end and not is_empty(left):
            failing = splat_lanes(fails[members.relations[entry]])
            left = and_not_lanes(left, and_lanes(load_lanes(members.words, width * entry), failing))
            entry += np.int64(1)
        if most_specific:
            entry = extending.offsets[line]
            end = extending.offsets[line + 1]
            while entry < end and not is_empty(left):
                failing = splat_lanes(fails[extending.relations[entry]])
                left = and_not_lanes(left, and_not_lanes(load_lanes(extending.words, width * entry), failing))
                entry += np.int64(1)
        store_lanes(bits, first, left)
    if most_specific:
        for place in range(len(bits)):
            word = bits[place] & tables.longer[place]
            while word != np.uint64(0):
                bit = trailing_zeros(word)
                if _is_extended(64 * place + bit, tables.extensions, fails):
                    bits[place] &= ~(np.uint64(1) << np.uint64(bit))
                word &= word - np.uint64(1)
    fails[:] = ~np.uint64(0)


@kernel
def list_bits(scratch: Any, bit_places: Any) -> Any:
    """List the places of the set ``bits``, ascending, in ``listed``; their number."""
    count = np.int64(0)
    end = np.int64(len(scratch.listed))
    for place in range(len(scratch.bits)):
        word = scratch.bits[place]
        if word != np.uint64(0):
            count = write_word(word, 64 * place, bit_places, scratch.listed, count, end)
    return count


@kernel
def sum_bits(scratch: Any, bit_places: Any, weights: Any) -> Any:
    """Sum in float64 the ``weights`` (float32 [C]) of the configurations whose ``bits`` are set."""
    return sum_listed(weights, scratch.listed, list_bits(scratch, bit_places))
