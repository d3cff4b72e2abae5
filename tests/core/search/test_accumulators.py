"""Rows of 16-bit words: the vector code against the plain functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled
from glem.core.evaluation.integers.accumulators import ROW_WORDS, SUMMED_TOGETHER, aligned_rows, change_row, sum_entries

ROWS = 65
BITS = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 1 << 63, 2**64 - 1]))


class Arrays(NamedTuple):
    words: Any
    table: Any
    starts: Any
    weights: Any


def arrays(seed: int) -> Arrays:
    """Random rows, a table of rows, and tables of weights that every index stays within."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, 1 << 16, 4 * ROW_WORDS + 1, dtype=np.uint16)
    table = aligned_rows(ROWS)
    table[:] = generator.integers(0, 1 << 16, len(table), dtype=np.uint16)
    starts = generator.integers(0, 1 << 17, ROW_WORDS, dtype=np.int32)
    weights = generator.integers(-(1 << 15), 1 << 15, 1 << 18, dtype=np.int16)
    return Arrays(words, table, starts, weights)


def _change(memory: Any, source: Any, target: Any, first: Any, factor: Any, chosen: Any, others: Any) -> None:
    change_row(memory.words, source, target, memory.table, first, factor, chosen, others)


def _sum(memory: Any, first: Any, count: Any, table: Any) -> Any:
    return sum_entries(memory.words, first, count, memory.starts, memory.weights, table)


@pytest.mark.parametrize("borrowed", [True, False])
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 5),
    source=st.integers(0, 2 * ROW_WORDS),
    target=st.integers(0, 3 * ROW_WORDS + 1),
    first=st.integers(0, ROWS - 1),
    factor=st.integers(-3, 3),
    chosen=BITS,
    others=st.integers(-3, 3),
)
def test_changed_rows(
    borrowed: bool, seed: int, source: int, target: int, first: int, factor: int, chosen: int, others: int
) -> None:
    """Rows may overlap and begin anywhere."""
    plain, fast = arrays(seed), arrays(seed)
    integers = (
        np.int64(source),
        np.int64(target),
        np.int64(first),
        np.int64(factor),
        np.uint64(chosen),
        np.int64(others),
    )
    _change(plain, *integers)
    compiled(_change)(Borrowed(fast) if borrowed else fast, *integers)
    np.testing.assert_array_equal(fast.words, plain.words)


@pytest.mark.parametrize("borrowed", [True, False])
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 5),
    first=st.integers(0, 2 * ROW_WORDS),
    count=st.integers(0, ROW_WORDS // SUMMED_TOGETHER),
    table=st.integers(0, 1 << 16),
)
def test_sums_of_entries(borrowed: bool, seed: int, first: int, count: int, table: int) -> None:
    memory = arrays(seed)
    integers = (np.int64(first), np.int64(SUMMED_TOGETHER * count), np.int64(table))
    expected = _sum(memory, *integers)
    assert compiled(_sum)(Borrowed(memory) if borrowed else memory, *integers) == expected


def test_rows_are_aligned() -> None:
    for count in (1, 7):
        rows = aligned_rows(count)
        assert (len(rows), rows.ctypes.data % (2 * ROW_WORDS)) == (count * ROW_WORDS, 0)
