"""Sums of pattern weights: the vector code against the plain functions and the oracle."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled
from glem.core.evaluation.integers.accumulators import ROW_WORDS, SUMMED_TOGETHER, aligned_rows, change_row, sum_entries
from glem.core.evaluation.integers.pattern_sums import (
    BLOCK,
    add_multiples,
    build_pattern_tables,
    sum_of_patterns,
    unfolded_weights,
    values_in,
)
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import MAX_TABLE_SIZE, PatternSet
from tests.core.game.countdown_game import COUNTDOWN
from tests.oracles.evaluation import evaluation_sum

ROWS = 7
RANGES = [(-32768, 32767), (0, 0), (-5, 10), (32760, 32767), (-300, -298), (0, 3), (0, 3), (-1, 1), (2, 9)]
PHASES = 3


def write_nothing(position: Any, values: Any) -> None:
    values[0] = 0


def first_phase(position: Any) -> int:
    return 0


FEATURES = AtomicFeatures(
    COUNTDOWN,
    tuple(AtomicFeature(f"feature {place}", low, high, "Any.") for place, (low, high) in enumerate(RANGES)),
    write_nothing,
)
LEARNING = Learning(COUNTDOWN, FEATURES, Phases(COUNTDOWN, tuple("abc"), first_phase), {})


class Arrays(NamedTuple):
    words: Any
    rows: Any
    members: Any
    values: Any


def _arrays(seed: int) -> Arrays:
    generator = np.random.default_rng(seed)
    return Arrays(
        generator.integers(0, 1 << 16, 3 * BLOCK, dtype=np.uint16),
        generator.integers(0, 1 << 16, ROWS * BLOCK, dtype=np.uint16),
        generator.integers(0, 5, 9, dtype=np.int32),
        generator.integers(-(1 << 15), 1 << 15, 5, dtype=np.int16),
    )


def _assert_all_write_the_same(function: Any, arrays: Callable[[int], Any], seed: int, *integers: Any) -> None:
    """Compiled code leaves the words that the plain function leaves, on arrays and on borrowed ones."""
    plain, fast, lent = (arrays(seed) for _ in range(3))
    function(plain, *integers)
    compiled(function)(fast, *integers)
    compiled(function)(Borrowed(lent), *integers)
    for written in (fast, lent):
        np.testing.assert_array_equal(written.words, plain.words)


def _add(memory: Any, target: Any, row: Any, first: Any, count: Any) -> None:
    add_multiples(memory.words, target, memory.rows, row, memory.members, first, count, memory.values)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 5), st.integers(0, 2 * BLOCK), st.integers(0, 2), st.integers(0, 4), st.integers(0, 4))
def test_multiples_of_rows(seed: int, target: int, row: int, first: int, count: int) -> None:
    _assert_all_write_the_same(_add, _arrays, seed, *map(np.int64, (target, row, first, count)))


class Words(NamedTuple):
    words: Any


def _mark(memory: Any, first: Any, count: Any) -> Any:
    values = values_in(memory.words, first, count)
    values[0] = -2
    values[1:] = np.int16(7)
    return len(values)


def test_values_share_the_memory_of_words() -> None:
    """A game's function may use them as the array that it gets elsewhere."""
    plain, fast, lent = (Words(np.zeros(8, np.uint16)) for _ in range(3))
    for function, argument in ((_mark, plain), (compiled(_mark), fast), (compiled(_mark), Borrowed(lent))):
        assert function(argument, np.int64(3), np.int64(4)) == 4
    for marked in (plain, fast, lent):
        assert marked.words.tolist() == [0, 0, 0, (1 << 16) - 2, 7, 7, 7, 0]


class Memory(NamedTuple):
    tables: Any
    values: Any
    words: Any


def _sum(memory: Any, phase: Any, first: Any) -> Any:
    return sum_of_patterns(memory.values, memory.tables, phase, memory.words, first)


@st.composite
def pattern_sets(draw: st.DrawFn) -> PatternSet:
    """Up to 70 patterns, of more than one block, each of whatever features its table has room for."""
    patterns = []
    for number in range(draw(st.sampled_from([0, 1, 3, 4, 32, 33, 70]))):
        most = MAX_TABLE_SIZE if number == 0 else 256
        chosen: list[int] = []
        size = 1
        for feature in draw(st.permutations(range(len(RANGES)))):
            size *= FEATURES[feature].cardinality
            if size > most:
                size //= FEATURES[feature].cardinality
            elif len(chosen) < 4:
                chosen.append(feature)
        patterns.append(Pattern(f"pattern {number}", tuple(chosen)))
    # Sparse ones among them, which know any contents.
    for number in range(draw(st.integers(0, 3))):
        members = tuple(draw(st.permutations([2, 3, 5, 6, 7, 8]))[: draw(st.integers(1, 4))])
        size = int(np.prod([FEATURES[feature].cardinality for feature in members]))
        share, seed = draw(st.sampled_from([0.0, 0.5, 1.0])), draw(st.integers(0, 99))
        contents = np.flatnonzero(np.random.default_rng(seed).random(size) < share)
        place = draw(st.integers(0, len(patterns)))
        patterns.insert(place, Pattern(f"sparse {number}", members, tuple(contents.tolist())))
    return PatternSet(FEATURES, tuple(patterns))


@settings(deadline=None, max_examples=15)
@given(pattern_sets(), st.integers(0, 1 << 30), st.integers(0, PHASES - 1), st.integers(0, 3))
def test_sums_equal_the_oracle(patterns: PatternSet, seed: int, phase: int, first: int) -> None:
    """Any ranges of features, the whole of 16 bits included; extremes as often as anything between."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(-(1 << 15), 1 << 15, (PHASES, patterns.weight_count)).astype(np.float32)
    weights[:, patterns.null_weights] = 0
    evaluation = LinearEvaluation(LEARNING, np.zeros(PHASES, np.float32), patterns=patterns, pattern_weights=weights)
    tables = build_pattern_tables(patterns, weights.astype(np.int16))
    assert int(tables.instances) % 4 == 0
    for _ in range(4):
        values = np.array([generator.integers(low, high + 1) for low, high in RANGES], np.int16)
        extreme = generator.integers(3, size=len(RANGES))
        for place, bounds in enumerate(RANGES):
            if extreme[place] < 2:
                values[place] = bounds[extreme[place]]
        fields = Memory(tables, values, np.zeros(first + BLOCK * int(tables.blocks), np.uint16))
        expected = evaluation_sum(evaluation, values, phase)
        assert _sum(fields, np.int64(phase), np.int64(first)) == expected
        assert compiled(_sum)(Borrowed(fields), np.int64(phase), np.int64(first)) == expected


def test_values_out_of_range_read_no_other_memory() -> None:
    """An index has 16 bits, and so many weights lie behind the last table."""
    patterns = PatternSet(FEATURES, (Pattern("small", (1, 4)),))
    tables = build_pattern_tables(patterns, np.ones((PHASES, patterns.weight_count), np.int16))
    assert len(tables.weights) >= (PHASES - 1) * int(tables.entries) + int(tables.starts.max()) + (1 << 16)


def test_folded_weights_are_given_to_every_entry(othello_learning: Learning) -> None:
    features = othello_learning.features
    patterns = PatternSet.from_names(features, {"corner": ("a1", "b2"), "edge": ("a1", "b1", "c1")})
    folded = np.arange(2 * patterns.weight_count, dtype=np.int16).reshape(2, -1)
    weights, starts = unfolded_weights(patterns, folded)
    assert starts.tolist() == [0, 9, 36]
    assert weights.shape == (2, 37)
    assert weights[:, -1].tolist() == [0, 0]
    for place in range(2):
        for entry, weight in enumerate(patterns.fold(place)):
            column = patterns.weight_starts[place] + weight
            assert weights[:, starts[place] + entry].tolist() == folded[:, column].tolist()


TABLE_ROWS = 65
BITS = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 1 << 63, 2**64 - 1]))


class Tables(NamedTuple):
    words: Any
    table: Any
    starts: Any
    weights: Any


def _tables(seed: int) -> Tables:
    """Random rows, a table of rows, and tables of weights that every index stays within."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, 1 << 16, 4 * ROW_WORDS + 1, dtype=np.uint16)
    table = aligned_rows(2 * TABLE_ROWS)
    table[:] = generator.integers(0, 1 << 16, len(table), dtype=np.uint16)
    starts = generator.integers(0, 1 << 17, ROW_WORDS, dtype=np.int32)
    weights = generator.integers(-(1 << 15), 1 << 15, 1 << 18, dtype=np.int16)
    return Tables(words, table, starts, weights)


def _change(
    memory: Any, source: Any, target: Any, base: Any, first: Any, factor: Any, chosen: Any, others: Any
) -> None:
    change_row(memory.words, source, target, memory.table, base, first, factor, chosen, others)


def _sum_entries(memory: Any, first: Any, begin: Any, end: Any, table: Any) -> Any:
    return sum_entries(memory.words, first, begin, end, memory.starts, memory.weights, table)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 5),
    places=st.tuples(
        st.integers(0, 2 * ROW_WORDS),
        st.integers(0, 3 * ROW_WORDS + 1),
        st.integers(0, TABLE_ROWS),
        st.integers(0, TABLE_ROWS - 1),
    ),
    factor=st.integers(-3, 3),
    chosen=BITS,
    others=st.integers(-3, 3),
)
def test_changed_rows(seed: int, places: tuple[int, int, int, int], factor: int, chosen: int, others: int) -> None:
    """Rows may overlap and begin anywhere."""
    integers = (*map(np.int64, (*places, factor)), np.uint64(chosen), np.int64(others))
    _assert_all_write_the_same(_change, _tables, seed, *integers)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 5),
    first=st.integers(0, 2 * ROW_WORDS),
    places=st.tuples(*2 * (st.integers(0, ROW_WORDS // SUMMED_TOGETHER),)).map(sorted),
    table=st.integers(0, 1 << 16),
)
def test_sums_of_entries(seed: int, first: int, places: list[int], table: int) -> None:
    memory = _tables(seed)
    begin, end = (np.int64(SUMMED_TOGETHER * place) for place in places)
    integers = (np.int64(first), begin, end, np.int64(table))
    expected = _sum_entries(memory, *integers)
    for argument in (memory, Borrowed(memory)):
        assert compiled(_sum_entries)(argument, *integers) == expected


def test_rows_are_aligned() -> None:
    for count in (1, 7):
        rows = aligned_rows(count)
        assert (len(rows), rows.ctypes.data % (2 * ROW_WORDS)) == (count * ROW_WORDS, 0)
