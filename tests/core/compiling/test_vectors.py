"""Vector operations on rows of bits against Python integers."""

import numpy as np
import pytest

from glem.core.compiling.kernels import kernel
from glem.core.compiling.vectors import (
    VECTOR_WORDS,
    aligned_words,
    compress_row,
    count_common,
    store_common,
    vectors_for,
)


@kernel
def _count(words, first, second, vectors):
    return count_common(words, first, second, vectors)


@kernel
def _store(words, first, second, target, vectors):
    return store_common(words, first, second, target, vectors)


def _random_words(count: int, seed: int) -> np.ndarray:
    words = aligned_words(count)
    generator = np.random.default_rng(seed)
    words[:] = generator.integers(0, 1 << 64, count, np.uint64) & generator.integers(0, 1 << 64, count, np.uint64)
    return words


def test_rows_are_aligned() -> None:
    for count in (1, 8, 1001):
        words = aligned_words(count)
        assert words.ctypes.data % 64 == 0 and len(words) == count and not words.any()


@pytest.mark.parametrize("vectors", [0, 1, 2, 3, 4, 5, 9, 40])
def test_count_and_store_common_bits(vectors: int) -> None:
    length = vectors * VECTOR_WORDS
    words = _random_words(3 * length + VECTOR_WORDS, vectors)
    first, second = words[:length].copy(), words[length : 2 * length].copy()
    expected = int(np.bitwise_count(first & second).sum())
    tail = words[3 * length :].copy()
    assert _count(words, np.int64(0), np.int64(length), np.int64(vectors)) == expected
    assert _store(words, np.int64(0), np.int64(length), np.int64(2 * length), np.int64(vectors)) == expected
    np.testing.assert_array_equal(words[2 * length : 3 * length], first & second)
    np.testing.assert_array_equal(words[3 * length :], tail)


@pytest.mark.parametrize(("words", "density"), [(8, 0.0), (8, 1.0), (24, 0.5), (24, 0.02), (160, 0.9), (160, 0.3)])
def test_projection_gathers_the_bits_under_the_mask(words: int, density: float) -> None:
    generator = np.random.default_rng(words)
    source = _random_words(words, 1)
    mask_bits = generator.random(words * 64) < density
    mask = np.packbits(mask_bits, bitorder="little").view(np.uint64)
    size = vectors_for(int(mask_bits.sum())) * VECTOR_WORDS
    target = np.full(size + 1, 7, np.uint64)
    compress_row(source, np.int64(0), mask, np.int64(0), np.int64(words), target, np.int64(0))
    kept = np.unpackbits(source.view(np.uint8), bitorder="little")[mask_bits]
    expected = np.zeros(size * 64, np.uint8)
    expected[: len(kept)] = kept
    np.testing.assert_array_equal(np.unpackbits(target[:size].view(np.uint8), bitorder="little"), expected)
    assert target[size] == 7
