"""Kernels' operations on rows of bits, 512 bits at a time.

A row is a run of 64-bit words inside one flat array, its length a multiple of :data:`VECTOR_WORDS`. The
operations are LLVM vector code over ``<8 x i64>``, which every processor runs: one with 512-bit registers takes
a vector at a time, others take it in halves or quarters. Rows that start at a multiple of 64 bytes
(:func:`aligned_words`) never straddle two cache lines.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.kernels import kernel, llvm_call, pext, popcount, processor_has

VECTOR_WORDS = 8
"""Words of 64 bits in a vector."""

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, VECTOR_WORDS)
_WORD_BYTES = 8


HAS_VECTOR_POPCOUNT = processor_has("avx512vpopcntdq", "sve")
"""Whether one instruction counts the bits of each word of a vector."""


def aligned_words(count: int) -> NDArray[np.uint64]:
    """Zeroed uint64 array [count] that starts at a multiple of 64 bytes."""
    raw = np.zeros(count + VECTOR_WORDS - 1, np.uint64)
    skip = (-raw.ctypes.data // _WORD_BYTES) % VECTOR_WORDS
    return raw[skip : skip + count]


def resident_words(count: int) -> NDArray[np.uint64]:
    """Make the same for a hash table, and have the system give its memory now.

    Else it gives pages as they are first touched, 0.1 to 2 ms a megabyte of the first search's time.
    """
    words = aligned_words(count)
    words[:] = 0
    return words


def vectors_for(bits: int) -> int:
    """Vectors that hold so many bits, at least one."""
    return max(1, -(-bits // (VECTOR_WORDS * 64)))


def row_pointer(context: Any, builder: Any, kind: Any, array: Any, start: Any, row: Any = _VECTOR) -> Any:
    """Pointer to the row, by its LLVM type, that begins at an item of a contiguous array, for makers of intrinsics."""
    return builder.bitcast(item_pointer(context, builder, kind, array, start), row.as_pointer())


def _load(builder: Any, row: Any, place: Any) -> Any:
    # Rows are aligned to 64 bytes by their maker, but nothing breaks when they are not.
    return builder.load(builder.gep(row, [place]), align=_WORD_BYTES)


def _store(builder: Any, value: Any, row: Any, place: Any) -> None:
    builder.store(value, builder.gep(row, [place]), align=_WORD_BYTES)


def _bit_counts(builder: Any, vector: Any) -> Any:
    return llvm_call(builder, "llvm.ctpop.v8i64", _VECTOR, vector)


def _sum_of_words(builder: Any, vector: Any) -> Any:
    return llvm_call(builder, "llvm.vector.reduce.add.v8i64", _WORD, vector)


def _splat_shift(builder: Any, vector: Any, places: int) -> Any:
    return builder.shl(vector, ir.Constant(_VECTOR, [places] * VECTOR_WORDS))


def _carry_save(builder: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Sum bit and carry bit of three bits, in every place of the vectors."""
    half = builder.xor(a, b)
    return builder.xor(half, c), builder.or_(builder.and_(a, b), builder.and_(half, c))


def _count_rows(builder: Any, vectors: Any, produce: Callable[[Any], Any]) -> Any:
    """Emit the count of the bits of the vectors ``produce(0..vectors-1)``."""
    zero = ir.Constant(_VECTOR, [0] * VECTOR_WORDS)
    total = cgutils.alloca_once_value(builder, zero)
    if HAS_VECTOR_POPCOUNT:
        with cgutils.for_range(builder, vectors) as loop:
            counts = _bit_counts(builder, produce(loop.index))
            builder.store(builder.add(builder.load(total), counts), total)
        return _sum_of_words(builder, builder.load(total))
    # Harley and Seal: carry-save adders turn four vectors into one to count (Warren 2012, Hacker's Delight, 5-1).
    four = ir.Constant(_WORD, 4)
    ones = cgutils.alloca_once_value(builder, zero)
    twos = cgutils.alloca_once_value(builder, zero)
    blocks = builder.udiv(vectors, four)
    with cgutils.for_range(builder, blocks) as loop:
        first = builder.mul(loop.index, four)
        rows = [produce(builder.add(first, ir.Constant(_WORD, step))) for step in range(4)]
        low, carry_one = _carry_save(builder, builder.load(ones), rows[0], rows[1])
        low, carry_two = _carry_save(builder, low, rows[2], rows[3])
        middle, fours = _carry_save(builder, builder.load(twos), carry_one, carry_two)
        builder.store(low, ones)
        builder.store(middle, twos)
        builder.store(builder.add(builder.load(total), _bit_counts(builder, fours)), total)
    quadruple = _splat_shift(builder, builder.load(total), 2)
    double = _splat_shift(builder, _bit_counts(builder, builder.load(twos)), 1)
    counted = builder.add(quadruple, builder.add(double, _bit_counts(builder, builder.load(ones))))
    builder.store(counted, total)
    with cgutils.for_range_slice(builder, builder.mul(blocks, four), vectors, ir.Constant(_WORD, 1), _WORD) as (
        place,
        _,
    ):
        builder.store(builder.add(builder.load(total), _bit_counts(builder, produce(place))), total)
    return _sum_of_words(builder, builder.load(total))


@intrinsic
def count_common(_typing_context: Any, words: Any, first: Any, second: Any, vectors: Any) -> Any:
    """Count the bits that two rows of one array have in common.

    ``count_common(words, first, second, vectors) -> int64``: ``words`` is a C-contiguous uint64 array, ``first`` and
    ``second`` are the indices of the rows' first words, ``vectors`` is their length in vectors.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [row_pointer(context, builder, signature.args[0], arguments[0], arguments[k]) for k in (1, 2)]
        return _count_rows(
            builder, arguments[3], lambda at: builder.and_(_load(builder, rows[0], at), _load(builder, rows[1], at))
        )

    return types.int64(words, types.int64, types.int64, types.int64), generate


@intrinsic
def store_common(_typing_context: Any, words: Any, first: Any, second: Any, target: Any, vectors: Any) -> Any:
    """Store the bits that two rows have in common as a third row of the same array, and count them.

    ``store_common(words, first, second, target, vectors) -> int64``, with arguments as for :func:`count_common`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [row_pointer(context, builder, signature.args[0], arguments[0], arguments[k]) for k in (1, 2, 3)]

        def produce(at: Any) -> Any:
            common = builder.and_(_load(builder, rows[0], at), _load(builder, rows[1], at))
            _store(builder, common, rows[2], at)
            return common

        return _count_rows(builder, arguments[4], produce)

    return types.int64(words, types.int64, types.int64, types.int64, types.int64), generate


@kernel
def compress_row(
    words: Any, source: Any, mask_words: Any, mask: Any, count: Any, target_words: Any, target: Any
) -> None:
    """Keep the bits of a row under a mask, moved together: a row's projection on the bits of another.

    Parameters
    ----------
    words, source
        uint64 array and int64 index of the row's first word.
    mask_words, mask
        The same of the mask.
    count
        int64 number of words of either.
    target_words, target
        uint64 array and int64 index of the first word of the result, which takes as many whole vectors as the mask
        has bits for (:func:`vectors_for`), all of them written.
    """
    gathered = np.uint64(0)
    fill = np.int64(0)
    place = np.int64(target)
    for k in range(count):
        chosen = mask_words[mask + k]
        if chosen == np.uint64(0):
            continue
        bits = pext(words[source + k], chosen)
        width = np.int64(popcount(chosen))
        gathered |= bits << np.uint64(fill)
        fill += width
        if fill >= np.int64(64):
            target_words[place] = gathered
            place += np.int64(1)
            fill -= np.int64(64)
            # What did not fit; fill = 0 would shift by 64, which LLVM leaves undefined.
            gathered = bits >> np.uint64(width - fill) if fill > np.int64(0) else np.uint64(0)
    if fill > np.int64(0):
        target_words[place] = gathered
        place += np.int64(1)
    while place == target or (place - target) % np.int64(VECTOR_WORDS) != np.int64(0):
        target_words[place] = np.uint64(0)
        place += np.int64(1)
