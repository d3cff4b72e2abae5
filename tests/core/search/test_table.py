"""The transposition table: packing, replacement, torn entries."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.compiling.kernels import compiled
from glem.core.search.table import (
    ANY_BOUND,
    ERAS,
    GREATEST_SCORE,
    LOWER_BOUND,
    UPPER_BOUND,
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    find_entry,
    new_table,
    pack_entry,
    store_entry,
)

MASK = np.uint64(0)
ERA = 3

entries = st.tuples(
    st.integers(1, ERAS - 1),
    st.integers(-GREATEST_SCORE, GREATEST_SCORE),
    st.integers(-1, 65534),
    st.integers(0, 255),
    st.sampled_from([LOWER_BOUND, UPPER_BOUND, ANY_BOUND]),
    st.integers(0, 63),
)


@given(entries)
def test_entries_give_back_what_was_packed(facts):
    _, score, move, depth, bound, _ = facts
    data = pack_entry(*(np.int64(fact) for fact in facts))
    assert data != 0
    assert (entry_score(data), entry_move(data), entry_depth(data), entry_bound(data)) == (score, move, depth, bound)


@pytest.fixture(params=["plain", "compiled"])
def table(request: pytest.FixtureRequest) -> Any:
    """Functions to store and to find, in both worlds, and one bucket."""
    wrap: Any = compiled if request.param == "compiled" else lambda function: function
    return wrap(store_entry), wrap(find_entry), new_table(0)


def entry(depth: int, age: int = 1, score: int = 5, era: int = ERA) -> np.uint64:
    return pack_entry(np.int64(era), np.int64(score), np.int64(7), np.int64(depth), np.int64(ANY_BOUND), np.int64(age))


def test_stored_entries_are_found(table):
    store, find, words = table
    for key in range(1, 5):
        store(words, MASK, np.uint64(key), entry(key))
    for key in range(1, 5):
        assert find(words, MASK, ERA, np.uint64(key)) == entry(key)
    assert find(words, MASK, ERA, np.uint64(9)) == 0
    # A key of zero is not found in an empty place.
    assert find(new_table(0), MASK, ERA, np.uint64(0)) == 0


def test_own_entries_are_overwritten_then_shallow_and_old_ones(table):
    store, find, words = table
    for key, depth, age in ((1, 9, 1), (2, 3, 1), (3, 5, 1), (4, 12, 1)):
        store(words, MASK, np.uint64(key), entry(depth, age))
    store(words, MASK, np.uint64(3), entry(1))
    assert find(words, MASK, ERA, np.uint64(3)) == entry(1)
    store(words, MASK, np.uint64(5), entry(4))
    assert find(words, MASK, ERA, np.uint64(3)) == 0
    # Three searches later, what was kept for its depth counts twelve plies less; ages wrap around.
    store(words, MASK, np.uint64(2), entry(3, age=4))
    store(words, MASK, np.uint64(6), entry(2, age=4))
    assert find(words, MASK, ERA, np.uint64(5)) == 0
    assert find(words, MASK, ERA, np.uint64(2)) == entry(3, age=4)
    store(words, MASK, np.uint64(7), entry(2, age=0))
    assert find(words, MASK, ERA, np.uint64(1)) == 0


def test_entries_of_another_era_count_as_empty(table):
    store, find, words = table
    for key in range(1, 5):
        store(words, MASK, np.uint64(key), entry(200, era=ERAS - 1))
    assert find(words, MASK, ERA, np.uint64(3)) == 0
    # Those that are worth more are overwritten, the first ones first, while those of the era stay.
    for key in (3, 9, 8, 7):
        store(words, MASK, np.uint64(key), entry(1))
    assert [find(words, MASK, ERA, np.uint64(key)) for key in (3, 9, 8, 7)] == [entry(1)] * 4
    assert find(words, MASK, ERAS - 1, np.uint64(3)) == 0


def test_torn_entries_are_not_found(table):
    store, find, words = table
    key, other = np.uint64(0x123456789), np.uint64(0x987654321)
    store(words, MASK, key, entry(3))
    written = words.copy()
    store(words, MASK, key, entry(8, score=-77))
    for place in range(0, 8, 2):
        torn = words.copy()
        torn[place] = written[place]
        assert find(torn, MASK, ERA, key) in (0, entry(8, score=-77))
    torn = written.copy()
    torn[1] = entry(8, score=-77)
    assert find(torn, MASK, ERA, key) == 0
    assert find(torn, MASK, ERA, other) == 0


@pytest.mark.parametrize("megabytes", [0, 1, 3, 16])
def test_sizes_are_powers_of_two_within_bounds(megabytes):
    words = new_table(megabytes)
    assert words.nbytes <= max(64, megabytes << 20) < max(64, 2 * words.nbytes) + 1
    assert (words.nbytes // 64).bit_count() == 1
    assert words.ctypes.data % 64 == 0
