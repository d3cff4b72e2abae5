"""Kernels that match 512 positions at a time: one bit per position in rows of 512.

The row of a relation has the bits of the positions where it holds. A configuration's row is the AND of its relations'
rows, and it is *most specific* in those of its positions where no extension to another configuration of the set
holds. Rows are then turned round, 64 configurations at a time, into words of one position over 64 configurations.
"""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import kernel
from glem.core.compiling.vectors import VECTOR_WORDS
from glem.core.configurations.matching.lanes import (
    and_lanes,
    and_not_lanes,
    exchange_lanes,
    is_empty,
    load_lanes,
    or_lanes,
    store_lanes,
    xor_lanes,
)
from glem.core.configurations.matching.lists import sum_listed, write_word

BLOCK = 64 * VECTOR_WORDS
"""Positions in a block: the bits of one row."""

COUNTER_PLANES = 32
"""Bits of a counter of configurations: their indices are int32."""

WORD_STRIDE_PADDING = VECTOR_WORDS
"""Words by which the words of one position stand further apart than they are long.

Without it, the words that a transposition writes at a power-of-two distance share a few cache sets.
"""


@kernel
def fill_relation_rows(columns: Any, start: Any, count: Any, lookup: Any, rows: Any) -> None:
    """Set the bits of every relation's row for some positions.

    Parameters
    ----------
    columns
        int16 [F, N], feature values, feature by feature.
    start, count
        int64; the positions ``start .. start + count - 1`` become the places ``0 .. count - 1``.
    lookup
        :class:`~glem.core.configurations.matching.tables.RelationLookup`.
    rows
        uint64 [8 * R], overwritten.
    """
    rows[:] = np.uint64(0)
    for place in range(len(lookup.features)):
        feature = lookup.features[place]
        low = lookup.lows[place]
        first = lookup.starts[place]
        span = lookup.starts[place + 1] - first
        for position in range(count):
            offset = np.int64(columns[feature, start + position]) - low
            if offset >= np.int64(0) and offset < span:
                relation = np.int64(lookup.relations[first + offset])
                if relation >= np.int64(0):
                    word = np.int64(VECTOR_WORDS) * relation + (position >> np.int64(6))
                    rows[word] |= np.uint64(1) << np.uint64(position & np.int64(63))


@kernel
def _most_specific(row: Any, configuration: Any, relation_rows: Any, extensions: Any) -> Any:
    """Positions of a configuration's row where none of its extensions holds."""
    width = np.int64(VECTOR_WORDS)
    place = extensions.single_offsets[configuration]
    end = extensions.single_offsets[configuration + 1]
    while place < end and not is_empty(row):
        row = and_not_lanes(row, load_lanes(relation_rows, width * np.int64(extensions.single[place])))
        place += np.int64(1)
    place = extensions.several_offsets[configuration]
    end = extensions.several_offsets[configuration + 1]
    common = row
    while place < end and not is_empty(row):
        element = extensions.several[place]
        common = and_lanes(common, load_lanes(relation_rows, width * np.int64(element >> np.uint32(1))))
        if element & np.uint32(1) != np.uint32(0):
            row = and_not_lanes(row, common)
            common = row
        place += np.int64(1)
    return row


@kernel
def fill_rows(relation_rows: Any, tables: Any, first: Any, last: Any, most_specific: Any, rows: Any) -> None:
    """Write the rows of the configurations ``first .. last - 1``, then empty rows up to a multiple of 64.

    Parameters
    ----------
    relation_rows
        ``rows`` of :func:`fill_relation_rows`.
    tables
        :class:`~glem.core.configurations.matching.tables.MatchingTables`.
    first, last
        int64.
    most_specific
        Boolean: leave out positions where a specialization is active.
    rows
        uint64 [8 * n], with room.
    """
    width = np.int64(VECTOR_WORDS)
    target = np.int64(0)
    for configuration in range(first, last):
        place = tables.offsets[configuration]
        row = load_lanes(relation_rows, width * np.int64(tables.relations[place]))
        for other in range(place + 1, tables.offsets[configuration + 1]):
            row = and_lanes(row, load_lanes(relation_rows, width * np.int64(tables.relations[other])))
        if most_specific:
            row = _most_specific(row, configuration, relation_rows, tables.extensions)
        store_lanes(rows, target, row)
        target += width
    while target % (np.int64(64) * width) != np.int64(0):
        rows[target] = np.uint64(0)
        target += np.int64(1)


@kernel
def transpose_rows(rows: Any, groups: Any, words: Any, stride: Any) -> None:
    """Turn rows round: from configurations with a bit per position to positions with a bit per configuration.

    Eight 64 x 64 bit matrices at a time, by exchanging ever smaller quarters (Warren 2012, Hacker's Delight, 7-3).

    Parameters
    ----------
    rows
        uint64, rows of eight words.
    groups
        int64, how many times 64 rows to turn.
    words
        uint64 [512 * stride]; word ``p * stride + g`` becomes position ``p`` over the ``g``-th 64 rows.
    stride
        int64, at least ``groups``.
    """
    width = np.int64(VECTOR_WORDS)
    square = np.empty(BLOCK, np.uint64)
    for group in range(groups):
        source = np.int64(BLOCK) * np.int64(group)
        for row in range(32):
            place = width * np.int64(row)
            exchange_lanes(rows, source + place, square, place, np.int64(32), np.uint64(0x00000000FFFFFFFF))
        distance = np.int64(16)
        mask = np.uint64(0x0000FFFF0000FFFF)
        while distance > np.int64(0):
            corner = np.int64(0)
            while corner < np.int64(64):
                for row in range(corner, corner + distance):
                    place = width * np.int64(row)
                    exchange_lanes(square, place, square, place, distance, mask)
                corner += np.int64(2) * distance
            distance >>= np.int64(1)
            mask ^= mask << np.uint64(distance)
        for word in range(VECTOR_WORDS):
            for row in range(64):
                words[(64 * word + row) * stride + group] = square[VECTOR_WORDS * row + word]


@kernel
def _sum_and_carry(a: Any, b: Any, c: Any) -> Any:
    """Sum bit and carry bit of three bits in every place (carry-save adder)."""
    half = xor_lanes(a, b)
    return xor_lanes(half, c), or_lanes(and_lanes(a, b), and_lanes(half, c))


@kernel
def count_rows(rows: Any, count: Any, planes: Any) -> None:
    """Count in every position how many rows have its bit, 512 counters of one bit per plane.

    Eight rows at a time pass through carry-save adders and leave one row of eights (Harley and Seal; Warren 2012,
    Hacker's Delight, 5-1), which is added with a carry that soon dies out.

    Parameters
    ----------
    rows
        uint64, rows of eight words.
    count
        int64, the number of rows, a multiple of 8.
    planes
        uint64 [8 * :data:`COUNTER_PLANES`], added to: row ``k`` has the bit of value ``2**k`` of each position's count.
    """
    width = np.int64(VECTOR_WORDS)
    ones = load_lanes(planes, np.int64(0))
    twos = load_lanes(planes, width)
    fours = load_lanes(planes, np.int64(2) * width)
    for group in range(count >> np.int64(3)):
        row = np.int64(8) * width * np.int64(group)
        ones, two_a = _sum_and_carry(ones, load_lanes(rows, row), load_lanes(rows, row + width))
        row += np.int64(2) * width
        ones, two_b = _sum_and_carry(ones, load_lanes(rows, row), load_lanes(rows, row + width))
        twos, four_a = _sum_and_carry(twos, two_a, two_b)
        row += np.int64(2) * width
        ones, two_a = _sum_and_carry(ones, load_lanes(rows, row), load_lanes(rows, row + width))
        row += np.int64(2) * width
        ones, two_b = _sum_and_carry(ones, load_lanes(rows, row), load_lanes(rows, row + width))
        twos, four_b = _sum_and_carry(twos, two_a, two_b)
        fours, carry = _sum_and_carry(fours, four_a, four_b)
        plane = np.int64(3) * width
        while not is_empty(carry):
            sums = load_lanes(planes, plane)
            store_lanes(planes, plane, xor_lanes(sums, carry))
            carry = and_lanes(sums, carry)
            plane += width
    store_lanes(planes, np.int64(0), ones)
    store_lanes(planes, width, twos)
    store_lanes(planes, np.int64(2) * width, fours)


@kernel
def read_counts(planes: Any, counts: Any) -> None:
    """Write each position's count (int64 [n]) from the ``planes`` of :func:`count_rows`."""
    for position in range(len(counts)):
        count = np.int64(0)
        for plane in range(COUNTER_PLANES):
            word = planes[VECTOR_WORDS * plane + (position >> np.int64(6))]
            count += np.int64((word >> np.uint64(position & np.int64(63))) & np.uint64(1)) << np.int64(plane)
        counts[position] = count


@kernel
def write_indices(
    words: Any, stride: Any, groups: Any, first: Any, bit_places: Any, cursors: Any, ends: Any, indices: Any
) -> None:
    """Append the configurations of each position to its list.

    Parameters
    ----------
    words, stride, groups
        As for :func:`transpose_rows`.
    first
        int64, the configuration of the first bit.
    bit_places
        :data:`~glem.core.configurations.matching.lists.BIT_PLACES`.
    cursors
        int64 [n], where each position's list goes on; moved.
    ends
        int64 [n], where each position's list will end once all configurations are written.
    indices
        int32, the lists.
    """
    for position in range(len(cursors)):
        cursor = cursors[position]
        end = ends[position]
        for group in range(groups):
            word = words[position * stride + group]
            if word != np.uint64(0):
                cursor = write_word(word, first + 64 * group, bit_places, indices, cursor, end)
        cursors[position] = cursor


@kernel
def add_sums(
    words: Any, stride: Any, groups: Any, first: Any, bit_places: Any, weights: Any, phases: Any, listed: Any, sums: Any
) -> None:
    """Add to each position's sum the weights of its configurations.

    Parameters
    ----------
    words, stride, groups, first, bit_places
        As for :func:`write_indices`.
    weights
        float32 [P, C].
    phases
        uint8 [n], the row of ``weights`` that each position takes.
    listed
        int32 [at least 64 * (groups + 1)], working memory.
    sums
        float64 [n], added to.
    """
    for position in range(len(sums)):
        count = np.int64(0)
        for group in range(groups):
            word = words[position * stride + group]
            if word != np.uint64(0):
                count = write_word(word, first + 64 * group, bit_places, listed, count, np.int64(len(listed)))
        sums[position] += sum_listed(weights[phases[position]], listed, count)
