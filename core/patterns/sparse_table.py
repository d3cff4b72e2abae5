"""Where the data of a large pattern's configurations is kept: sparse hash tables (GLEM, section 4.4).

A large pattern has more possible configurations than memory, but only those that match enough positions are valid.
Its features are split into two halves with the mixed-radix indices i1 and i2. ``offset[i1] + i2`` is the place of
the configuration in the hash table, where the lock tells whether it is there: it must equal i1 (Fig. 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel, trailing_zeros


@kernel
def _place_rows(first_rows: Any, row_starts: Any, seconds: Any, offsets: Any, occupied: Any) -> Any:
    """Give each i1 the least offset at which none of its entries is taken; the words used, or -1 for too few.

    64 offsets are tried at a time: bit b of a shifted word of the occupancy says whether offset ``64 w + b`` collides.
    """
    top = np.int64(0)
    for place in range(first_rows.shape[0]):
        first = first_rows[place]
        start, stop = row_starts[first], row_starts[first + 1]
        word = np.int64(0)
        while True:
            taken = np.uint64(0)
            for entry in range(start, stop):
                position = word * 64 + seconds[entry]
                if (position >> 6) + 1 >= occupied.shape[0]:
                    return np.int64(-1)
                shift = np.uint64(position & 63)
                taken |= occupied[position >> 6] >> shift
                if shift != np.uint64(0):
                    taken |= occupied[(position >> 6) + 1] << (np.uint64(64) - shift)
                if taken == ~np.uint64(0):
                    break
            if taken != ~np.uint64(0):
                offset = word * 64 + trailing_zeros(~taken)
                break
            word += 1
        offsets[first] = offset
        for entry in range(start, stop):
            position = offset + seconds[entry]
            occupied[position >> 6] |= np.uint64(1) << np.uint64(position & 63)
            top = max(top, position)
    return top


@define(frozen=True, eq=False)
class SparseTable:
    """The hash table of GLEM, Fig. 5.

    Parameters
    ----------
    offsets
        int32 [number of i1]: 0 for an i1 without valid configurations.
    locks, slots
        int32 [table size]: the i1 that an entry belongs to, -1 for unused ones, and where its data is kept.
    """

    offsets: NDArray[np.int32]
    locks: NDArray[np.int32]
    slots: NDArray[np.int32]

    @classmethod
    def from_pairs(
        cls,
        firsts: NDArray[np.integer],
        seconds: NDArray[np.integer],
        slots: NDArray[np.integer],
        first_count: int,
        second_count: int,
    ) -> SparseTable:
        """Build the table: offsets by first fit, the most frequent i1 first (ties: the smaller i1).

        Parameters
        ----------
        firsts, seconds
            i1 and i2 of the valid configurations [V], in their ranges, no pair twice.
        slots
            Where the data of each is kept, at least 0; several configurations may share a slot.
        first_count, second_count
            Numbers of possible i1 and i2.
        """
        first = np.ascontiguousarray(firsts, np.int64)
        second = np.ascontiguousarray(seconds, np.int64)
        order = np.lexsort((second, first))
        counts = np.bincount(first, minlength=first_count)
        row_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        by_frequency = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())].astype(np.int64)
        offsets = np.zeros(first_count, np.int64)
        # First fit never needs more than one offset per collision: V taken entries and the span of i2.
        words = 4 + (2 * len(first) + 2 * second_count) // 64
        while True:
            offsets[:] = 0
            top = int(_place_rows(by_frequency, row_starts, second[order], offsets, np.zeros(words, np.uint64)))
            if top >= 0:
                break
            words *= 2
        size = int(offsets.max(initial=0)) + second_count
        locks = np.full(size, -1, np.int32)
        table = np.full(size, -1, np.int32)
        places = offsets[first] + second
        locks[places] = first
        table[places] = slots
        return cls(offsets.astype(np.int32), locks, table)

    def __len__(self) -> int:
        return int((self.locks >= 0).sum())

    @property
    def size(self) -> int:
        """Entries of the hash table, used or not."""
        return len(self.locks)


def join_tables(
    tables: Sequence[SparseTable],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Lay several tables one after the other.

    Returns
    -------
    starts, offsets, locks, slots
        int64 [tables], where the offsets of each table begin; int64, which lead into the locks and slots of all.
    """
    starts = np.cumsum([0, *(len(table.offsets) for table in tables)])[:-1].astype(np.int64)
    places = np.cumsum([0, *(table.size for table in tables)])
    offsets = [table.offsets + place for table, place in zip(tables, places, strict=False)]
    locks, slots = ([getattr(table, part) for table in tables] for part in ("locks", "slots"))
    nothing = np.zeros(0, np.int32)
    return (
        starts,
        np.concatenate([nothing, *offsets]).astype(np.int64),
        np.concatenate([nothing, *locks]),
        np.concatenate([nothing, *slots]),
    )
