"""Rows of 16-bit words that a move changes as a whole: the accumulators of incremental evaluations.

The functions are dual; their arrays may be borrowed (:mod:`glem.core.compiling.borrowed`) where they run compiled. A
row is :data:`ROW_WORDS` words of a uint16 array, two cache lines. The compiled form is LLVM vector code over ``<64 x
i16>``, which every processor runs: one with AVX-512 takes a row in two registers, others in four or eight.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.kernels import trailing_zeros
from glem.core.configurations.matching.lanes import splat

ROW_WORDS = 64
"""Words of 16 bits in a row."""

SUMMED_TOGETHER = 4
"""Words that :func:`sum_entries` takes at a time."""

_LANE = ir.IntType(16)
_ROW = ir.VectorType(_LANE, ROW_WORDS)
_WORD = ir.IntType(64)
_LANE_BYTES = 2


def aligned_rows(count: int) -> NDArray[np.uint16]:
    """Zeroed uint16 array [count * ROW_WORDS] that starts at a multiple of a row's 128 bytes."""
    size = _LANE_BYTES * ROW_WORDS
    raw = np.zeros(size * (count + 1), np.uint8)
    skip = -raw.ctypes.data % size
    return raw[skip : skip + size * count].view(np.uint16)


def change_row(
    words: Any,
    source: np.int64,
    target: np.int64,
    table: Any,
    base: np.int64,
    first: np.int64,
    factor: np.int64,
    chosen: np.uint64,
    others: np.int64,
) -> None:
    """Write a row that is another plus multiples of rows of a table, all modulo 2^16.

    ``words[target:] = words[source:] + factor * table[first] + others * (sum of table[b] over the bits b of chosen)``,
    where ``table[b]`` is row ``base + b`` of the table.

    Parameters
    ----------
    words
        uint16 array that holds source and target, each given by the index of its first word (int64).
    table
        uint16 [rows * ROW_WORDS].
    base
        Row (int64) that counts as the first.
    first
        Row of the table (int64) that is added ``factor`` times (int64).
    chosen
        uint64: bit ``b`` asks for row ``b``, ``others`` (int64) times.
    """
    changed = words[source : source + ROW_WORDS] + np.uint16(factor % 65536) * _row(table, base + first)
    while chosen:
        changed += np.uint16(others % 65536) * _row(table, base + trailing_zeros(chosen))
        chosen &= chosen - np.uint64(1)
    words[target : target + ROW_WORDS] = changed


def _row(table: Any, row: np.int64 | int) -> Any:
    return table[ROW_WORDS * row : ROW_WORDS * (row + 1)]


def _pointer(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    return builder.bitcast(item_pointer(context, builder, kind, array, start), _ROW.as_pointer())


def _sum_over_bits(builder: Any, bits: Any, row_of: Callable[[Any], Any]) -> Any:
    """Emit the sum of the rows ``row_of(b)`` over the set bits of a word."""
    one = ir.Constant(_WORD, 1)
    kind = ir.FunctionType(_WORD, [_WORD, ir.IntType(1)])
    trailing = builder.module.declare_intrinsic("llvm.cttz", [_WORD], kind)
    total = cgutils.alloca_once_value(builder, ir.Constant(_ROW, [0] * ROW_WORDS))
    left = cgutils.alloca_once_value(builder, bits)
    condition, body, done = (builder.append_basic_block(name) for name in ("condition", "add_row", "done"))
    builder.branch(condition)
    builder.position_at_end(condition)
    builder.cbranch(cgutils.is_not_null(builder, builder.load(left)), body, done)
    builder.position_at_end(body)
    word = builder.load(left)
    row = row_of(builder.call(trailing, [word, ir.Constant(ir.IntType(1), 1)]))
    builder.store(builder.add(builder.load(total), row), total)
    builder.store(builder.and_(word, builder.sub(word, one)), left)
    builder.branch(condition)
    builder.position_at_end(done)
    return builder.load(total)


@intrinsic
def _change_row(
    _typing_context: Any,
    words: Any,
    _source: Any,
    _target: Any,
    table: Any,
    _base: Any,
    _first: Any,
    _factor: Any,
    _chosen: Any,
    _others: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words_type, _, _, table_type, *_ = signature.args
        words, source, target, table, base, first, factor, chosen, others = arguments
        width = ir.Constant(_WORD, ROW_WORDS)

        def load(kind: Any, array: Any, start: Any) -> Any:
            # Rows are aligned to 64 bytes by most makers, but nothing breaks when they are not.
            return builder.load(_pointer(context, builder, kind, array, start), align=_LANE_BYTES)

        def table_row(row: Any) -> Any:
            return load(table_type, table, builder.mul(builder.add(base, row), width))

        total = _sum_over_bits(builder, chosen, table_row)
        changed = builder.add(
            load(words_type, words, source),
            builder.add(
                builder.mul(table_row(first), splat(builder, _ROW, builder.trunc(factor, _LANE))),
                builder.mul(total, splat(builder, _ROW, builder.trunc(others, _LANE))),
            ),
        )
        builder.store(changed, _pointer(context, builder, words_type, words, target), align=_LANE_BYTES)
        return context.get_dummy_value()

    integers = types.int64, types.int64, types.int64
    signature = types.void(words, types.int64, types.int64, table, *integers, types.uint64, types.int64)
    return signature, generate


compiled_as(_change_row)(change_row)


def sum_entries(
    words: Any, first: np.int64, begin: np.int64, end: np.int64, starts: Any, weights: Any, table: np.int64
) -> np.int64:
    """Sum the table entries that a row of indices names.

    Parameters
    ----------
    words, first
        uint16 array; the indices are its words from ``first`` (int64) on.
    begin, end
        int64, multiples of :data:`SUMMED_TOGETHER`: the indices from ``begin`` to before ``end`` are summed.
    starts
        int32 [end at least]: where the table of each index begins.
    weights
        int16 array of all tables.
    table
        Added to all places in ``weights`` (int64).
    """
    return np.int64(sum(int(weights[table + int(starts[k]) + int(words[first + k])]) for k in range(begin, end)))


@intrinsic
def _sum_entries(
    _typing_context: Any, words: Any, _first: Any, _begin: Any, _end: Any, starts: Any, weights: Any, _table: Any
) -> Any:
    # Written out because LLVM would otherwise gather the weights into vectors, at twice the time.
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words_type, _, _, _, starts_type, weights_type, _ = signature.args
        words, first, begin, end, starts, weights, table = arguments
        base = item_pointer(context, builder, weights_type, weights, table)
        total = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 0))
        step = ir.Constant(_WORD, SUMMED_TOGETHER)
        with cgutils.for_range_slice(builder, begin, end, step, _WORD) as (place, _):
            indices = item_pointer(context, builder, words_type, words, builder.add(first, place))
            together = builder.load(builder.bitcast(indices, _WORD.as_pointer()), align=_LANE_BYTES)
            table_starts = item_pointer(context, builder, starts_type, starts, place)
            partial = builder.load(total)
            for k in range(SUMMED_TOGETHER):
                shifted = builder.lshr(together, ir.Constant(_WORD, 8 * _LANE_BYTES * k))
                index = builder.zext(builder.trunc(shifted, _LANE), _WORD)
                start = builder.sext(builder.load(builder.gep(table_starts, [ir.Constant(_WORD, k)])), _WORD)
                weight = builder.load(builder.gep(base, [builder.add(start, index)]))
                partial = builder.add(partial, builder.sext(weight, _WORD))
            builder.store(partial, total)
        return builder.load(total)

    signature = types.int64(words, types.int64, types.int64, types.int64, starts, weights, types.int64)
    return signature, generate


compiled_as(_sum_entries)(sum_entries)
