"""Sparse hash tables and large patterns against dictionaries."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.patterns.sparse_patterns import SparsePatterns
from glem.core.patterns.sparse_table import SparseTable

FIRST_COUNT, SECOND_COUNT = 9, 70


def first_fit(pairs: list[tuple[int, int]], first_count: int, second_count: int) -> tuple[list[int], int]:
    """Offsets by GLEM section 4.4, read literally, and the table's size."""
    rows: dict[int, list[int]] = {}
    for first, second in pairs:
        rows.setdefault(first, []).append(second)
    offsets = [0] * first_count
    claimed: set[int] = set()
    for first in sorted(rows, key=lambda row: (-len(rows[row]), row)):
        offset = 0
        while any(offset + second in claimed for second in rows[first]):
            offset += 1
        offsets[first] = offset
        claimed.update(offset + second for second in rows[first])
    return offsets, max(offsets, default=0) + second_count


pairs_of_indices = st.lists(
    st.tuples(st.integers(0, FIRST_COUNT - 1), st.integers(0, SECOND_COUNT - 1)), unique=True, max_size=200
)


@settings(deadline=None)  # the first example compiles the kernels
@given(pairs_of_indices)
def test_table_equals_the_dictionary_and_the_literal_first_fit(pairs: list[tuple[int, int]]) -> None:
    first = np.array([pair[0] for pair in pairs], np.int64)
    second = np.array([pair[1] for pair in pairs], np.int64)
    table = SparseTable.from_pairs(first, second, np.arange(len(pairs)), FIRST_COUNT, SECOND_COUNT)
    offsets, size = first_fit(pairs, FIRST_COUNT, SECOND_COUNT)
    assert table.offsets.tolist() == offsets
    assert table.size == size
    assert len(table) == len(pairs)
    every_first, every_second = np.divmod(np.arange(FIRST_COUNT * SECOND_COUNT), SECOND_COUNT)
    slots = {pair: slot for slot, pair in enumerate(pairs)}
    expected = [slots.get(pair, -1) for pair in zip(every_first.tolist(), every_second.tolist(), strict=True)]
    assert table.lookup(every_first, every_second).tolist() == expected


def test_a_full_table_grows_as_needed() -> None:
    first, second = np.divmod(np.arange(50 * 40), 40)
    table = SparseTable.from_pairs(first, second, np.arange(2000), 50, 40)
    assert table.size == 2000
    np.testing.assert_array_equal(table.lookup(first, second), np.arange(2000))


TWO_ROWS = ("a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "a2", "b2", "c2", "d2", "e2", "f2", "g2", "h2")


def squares(learning: Learning, count: int, seed: int) -> Any:
    """Feature values whose two edge rows repeat, so that some configurations have many matches."""
    generator = np.random.default_rng(seed)
    kinds = generator.choice(3, size=(6, 64), p=(0.6, 0.2, 0.2))
    values = np.zeros((len(learning.features), count), np.int16)
    values[:64] = kinds[generator.integers(0, 6, count)].T
    noise = generator.random((64, count)) < 0.01
    values[:64][noise] = generator.integers(0, 3, int(noise.sum()))
    return values.T


def canonical(learning: Learning, row: Any, square_names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Contents of the pattern on each of the board's 4 edges, each as the smaller of its two readings."""
    assert learning.features.symmetries is not None
    base = [learning.features.index(name) for name in square_names]
    readings: dict[frozenset[int], list[tuple[int, ...]]] = {}
    for symmetry in learning.features.symmetries:
        members = [int(symmetry[feature]) for feature in base]
        readings.setdefault(frozenset(members), []).append(tuple(int(row[member]) for member in members))
    return [min(found) for found in readings.values()]


def test_patterns_equal_dictionaries(othello_learning: Learning) -> None:
    names = {"two rows": TWO_ROWS, "edge": TWO_ROWS[:8], "corner": ("a1", "b1", "a2", "b2")}
    values = squares(othello_learning, 600, 1)
    patterns = SparsePatterns.count(othello_learning.features, names, lambda: [values[:250], values[250:]], 5)
    contents_of = [
        [(name, contents) for name in names for contents in canonical(othello_learning, row, names[name])]
        for row in values
    ]
    counts = Counter(pair for contents in contents_of for pair in set(contents))
    valid = sorted((pair for pair in counts if counts[pair] >= 5), key=lambda pair: ([*names].index(pair[0]), pair[1]))
    assert 12 < len(valid) == patterns.weight_count < len(counts)
    assert np.concatenate(patterns.match_counts).tolist() == [counts[pair] for pair in valid]
    described = [patterns.describe(weight) for weight in range(len(valid))]
    assert [(name, tuple(relation.value for relation in relations)) for name, relations in described] == valid
    weight_of = {pair: weight for weight, pair in enumerate(valid)}
    row_starts, found = patterns.active(values)
    for contents, start, end in zip(contents_of, row_starts, row_starts[1:], strict=False):
        assert found[start:end].tolist() == sorted(weight_of[pair] for pair in contents if pair in weight_of)


def test_too_large_a_pattern_is_refused(othello_learning: Learning) -> None:
    names = [feature.name for feature in othello_learning.features.features[:20]]
    with pytest.raises(BadInputError, match="3,486,784,401 configurations"):
        SparsePatterns.count(othello_learning.features, {"big": names}, list, 5)
