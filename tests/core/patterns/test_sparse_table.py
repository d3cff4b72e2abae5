"""Sparse hash tables and large patterns against dictionaries."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.patterns import sparse_patterns
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_patterns import valid_contents
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


def slots_of(table: SparseTable, first: Any, second: Any) -> list[int]:
    """Slots of some pairs, -1 for those that the table does not have (GLEM, Fig. 5)."""
    place = table.offsets[first] + second
    found: list[int] = np.where(table.locks[place] == first, table.slots[place], -1).tolist()
    return found


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
    assert slots_of(table, every_first, every_second) == expected


def test_a_full_table_grows_as_needed() -> None:
    first, second = np.divmod(np.arange(50 * 40), 40)
    table = SparseTable.from_pairs(first, second, np.arange(2000), 50, 40)
    assert table.size == 2000
    assert slots_of(table, first, second) == list(range(2000))


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


def counted(learning: Learning, values: Any, path: Path, minimum: int) -> PatternSet:
    """Dense and sparse patterns of a file."""
    path.write_text(f"two rows: {' '.join(TWO_ROWS)}\nedge: {' '.join(TWO_ROWS[:8])}\nL: {' '.join(TWO_ROWS[:11])}\n")
    return PatternSet.named(learning, path, lambda: [values[:250], values[250:]], minimum)


def test_patterns_equal_dictionaries(othello_learning: Learning, tmp_path: Path) -> None:
    values = squares(othello_learning, 600, 1)
    patterns = counted(othello_learning, values, tmp_path / "patterns.txt", 5)
    assert [*patterns.hash_tables] == [0, 2]
    valid: dict[int, list[tuple[int, ...]]] = {}
    for place, names in ((0, TWO_ROWS), (2, TWO_ROWS[:11])):
        counts = Counter(content for row in values for content in {*canonical(othello_learning, row, names)})
        valid[place] = sorted(content for content in counts if counts[content] >= 5)
        assert 12 < len(valid[place]) == patterns.weight_sizes[place] - 1 < len(counts)
        described = [patterns.describe(patterns.weight_starts[place] + weight) for weight in range(len(valid[place]))]
        found = [tuple(relation.value for relation in relations) for _, relations in described]
        assert found == valid[place]
        assert patterns.describe(patterns.weight_starts[place + 1] - 1) == (patterns.patterns[place].name, ())
    noise = np.random.default_rng(2).integers(0, 3, (200, 64))
    everything = np.concatenate([values, np.pad(noise, ((0, 0), (0, values.shape[1] - 64)))]).astype(np.int16)
    indices = patterns.indices(everything)
    for place, names in ((0, TWO_ROWS), (2, TWO_ROWS[:11])):
        weights = {content: weight for weight, content in enumerate(valid[place])}
        own = [number for number, instance in enumerate(patterns.instances) if instance.pattern == place]
        for row, found_weights in zip(everything, indices[own].T.tolist(), strict=True):
            contents = canonical(othello_learning, row, names)
            assert found_weights == [weights.get(content, len(weights)) for content in contents]
    # Dense patterns beside them are what they are alone.
    alone = PatternSet.from_names(othello_learning.features, {"edge": TWO_ROWS[:8]})
    own = [number for number, instance in enumerate(patterns.instances) if instance.pattern == 1]
    np.testing.assert_array_equal(indices[own], alone.indices(everything))


def test_only_as_many_contents_as_16_bits_number_are_kept(
    othello_learning: Learning, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    values = squares(othello_learning, 600, 1)
    whole = counted(othello_learning, values, tmp_path / "patterns.txt", 3).patterns[0].contents
    monkeypatch.setattr(sparse_patterns, "MAX_CONTENTS", 7)
    most = counted(othello_learning, values, tmp_path / "patterns.txt", 3).patterns[0].contents
    assert whole is not None and most is not None and len(most) == 7 and {*most} < {*whole}
    pattern = Pattern("two rows", tuple(map(othello_learning.features.index, TWO_ROWS)))
    monkeypatch.undo()
    counts = [len(valid_contents(othello_learning.features, pattern, [values], minimum)) for minimum in range(1, 99)]
    least = max(minimum for minimum, count in enumerate(counts, 1) if count >= 7)
    assert {*valid_contents(othello_learning.features, pattern, [values], least + 1)} <= {*most}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ((3, 2), "not ascending"),
        ((-1, 2), "out of range"),
        ((3**16,), "out of range"),
        (tuple(range(1 << 16)), "too many"),
        ((3**15,), "not the smallest of their images"),
    ],
)
def test_contents_that_cannot_be(othello_learning: Learning, contents: tuple[int, ...], message: str) -> None:
    members = tuple(map(othello_learning.features.index, TWO_ROWS))
    with pytest.raises(BadInputError, match=message):
        PatternSet(othello_learning.features, (Pattern("bad", members, contents),))


def test_too_large_a_pattern_is_refused(othello_learning: Learning) -> None:
    names = [feature.name for feature in othello_learning.features.features[:22]]
    pattern = Pattern("big", tuple(map(othello_learning.features.index, names)))
    with pytest.raises(BadInputError, match=r"one half of its features has 177,147 joint values, at most 65,535"):
        valid_contents(othello_learning.features, pattern, [], 5)
    with pytest.raises(BadInputError, match="it must be sparse, and only a fit"):
        PatternSet.from_names(othello_learning.features, {"two rows": TWO_ROWS})
