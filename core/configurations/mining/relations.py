"""Rows of bits of relations: which positions each relation holds in (GLEM, section 4.2)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.compiling.vectors import VECTOR_WORDS, aligned_words, vectors_for
from glem.core.configurations.configurations import RelationTable
from glem.core.errors import BadInputError


@define(frozen=True, eq=False)
class RelationRows:
    """The relations that hold often enough, and the positions where each of them holds.

    Parameters
    ----------
    table
        The relations.
    counts
        int64 array [R]: positions in which each relation holds.
    words
        uint64 array [R * row_words]: bit ``k`` of relation ``r`` is bit ``k % 64`` of word ``r * row_words + k // 64``.
    row_words
        Words of a row, a multiple of 8; the bits after the last position are 0.
    position_count
        Number of positions.
    """

    table: RelationTable
    counts: NDArray[np.int64]
    words: NDArray[np.uint64]
    row_words: int
    position_count: int

    @classmethod
    def pack(
        cls,
        values: NDArray[np.int16],
        minimum_matches: int,
        features: NDArray[np.intp],
        permutation: NDArray[np.intp] | None = None,
        jobs: int = 1,
    ) -> RelationRows:
        """Find the relations of some features that hold in at least ``minimum_matches`` positions.

        Parameters
        ----------
        values
            int16 array [N, F] of feature values; feature by feature in memory is fastest.
        minimum_matches
            At least 1.
        features
            Sorted indices of the features to take.
        permutation
            Optional order [N] in which to number the positions.
        jobs
            Threads.
        """
        frequent = [_frequent_values(values[:, feature], minimum_matches) for feature in features]
        table = RelationTable(
            np.repeat(np.asarray(features, np.int32), [len(found) for found in frequent]),
            np.concatenate([np.zeros(0, np.int16), *frequent]),
        )
        return cls.of_table(values, table, permutation, jobs)

    @classmethod
    def of_table(
        cls,
        values: NDArray[np.int16],
        table: RelationTable,
        permutation: NDArray[np.intp] | None = None,
        jobs: int = 1,
    ) -> RelationRows:
        """Rows of given relations, in the order of the table, however often they hold."""
        position_count = len(values)
        row_words = vectors_for(position_count) * VECTOR_WORDS
        words = aligned_words(len(table) * row_words)
        counts = np.zeros(len(table), np.int64)

        def fill(feature: int) -> None:
            start, end = np.searchsorted(table.features, [feature, feature + 1])
            wanted = table.values[start:end].astype(np.int64)
            low = int(wanted[0])
            slots = np.full(int(wanted[-1]) - low + 1, -1, np.int64)
            slots[wanted - low] = np.arange(start, end)
            column = values[:, feature] if permutation is None else values[permutation, feature]
            _pack_column(
                np.ascontiguousarray(column, np.int16), np.int64(low), slots, np.int64(row_words), words, counts
            )

        with ThreadPoolExecutor(jobs) as pool:
            # Features have rows of their own, so that the threads write to different words.
            for _ in pool.map(fill, np.unique(table.features)):
                pass
        return cls(table, counts, words, row_words, position_count)


def checked_values(values: Any) -> NDArray[np.int16]:
    """Feature values as an int16 array [N, F] in their own memory order.

    Raises
    ------
    BadInputError
        No matrix, no integers, or integers outside int16.
    """
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise BadInputError(f"feature values must be an integer matrix [N, F], not {array.dtype} {array.shape}")
    if array.dtype != np.int16:
        if array.size and (array.min() < -32768 or array.max() > 32767):
            raise BadInputError("a feature value does not fit int16")
        array = array.astype(np.int16)
    return array


def checked_features(features: Any, count: int) -> NDArray[np.intp]:
    """Sorted distinct feature indices; all when None is given; :class:`BadInputError` for others than 0 to F - 1."""
    if features is None:
        return np.arange(count, dtype=np.intp)
    chosen = np.unique(np.asarray(features, dtype=np.intp))
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= count):
        raise BadInputError(f"features must be indices from 0 to {count - 1}, got {chosen[0]}..{chosen[-1]}")
    return chosen


def _frequent_values(column: NDArray[np.int16], minimum: int) -> NDArray[np.int16]:
    low = int(column.min(initial=32767))
    counts = np.bincount(column.astype(np.int32) - low)
    return (np.flatnonzero(counts >= minimum) + low).astype(np.int16)


@kernel
def _pack_column(column: Any, low: Any, slots: Any, row_words: Any, words: Any, counts: Any) -> None:
    for start in range(0, column.shape[0], 64):
        word = start // 64
        for bit in range(min(64, column.shape[0] - start)):
            value = np.int64(column[start + bit]) - low
            if value < np.int64(0) or value >= slots.shape[0]:
                continue
            slot = slots[value]
            if slot >= np.int64(0):
                words[slot * row_words + word] |= np.uint64(1) << np.uint64(bit)
                counts[slot] += np.int64(1)
