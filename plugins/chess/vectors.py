"""Vectors of the evaluation in the search: a sum for every phase, products of terms and weights, hidden units.

The functions are dual; compiled, they are LLVM vector code, which every processor runs.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.kernels import llvm_call, overload_of, unannotated
from glem.core.evaluation.network import ONE_UNIT, SUMS

LANES = 8
"""Sums of 32 bits that are kept together, one for each phase; those beyond the last phase mean nothing."""
SUM_WORDS = 2 * LANES
"""Words of 16 bits that they take."""
TERMS_TOGETHER = SUMS
"""Terms that :func:`products` takes at a time."""

_SUM = ir.IntType(32)
_TERM = ir.IntType(16)
_SUMS = ir.VectorType(_SUM, LANES)
_TERMS = ir.VectorType(_TERM, TERMS_TOGETHER)
_WIDE = ir.VectorType(_SUM, TERMS_TOGETHER)
_WORD_BYTES = 2
_SUM_BYTES = 4
_SIGN = 1 << 31


def change_sums(
    words: Any, source: np.int64, target: np.int64, rows: Any, less: np.int64, less_too: np.int64, more: np.int64
) -> None:
    """Write the sums ``words[source:] - rows[less:] - rows[less_too:] + rows[more:]`` to ``words[target:]``.

    Parameters
    ----------
    words
        uint16 array that holds both sums, each given by the index of its first word (int64).
    rows
        int32 array of rows of :data:`LANES`, each given by the index of its first item (int64).
    """
    change = rows[more : more + LANES] - rows[less : less + LANES] - rows[less_too : less_too + LANES]
    sums = words[source : source + SUM_WORDS].view(np.int32) + change
    words[target : target + SUM_WORDS] = sums.view(np.uint16)


def _row_change(vector: Any, align: int) -> Any:
    """Make the intrinsic that adds one row of a table to a vector, and subtracts two others."""

    @intrinsic
    def operation(
        _typing_context: Any, words: Any, _source: Any, _target: Any, rows: Any, _less: Any, _less_too: Any, _more: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words_type, _, _, rows_type, *_ = signature.args
            words, source, target, rows, less, less_too, more = arguments

            def pointer(kind: Any, array: Any, place: Any) -> Any:
                return builder.bitcast(item_pointer(context, builder, kind, array, place), vector.as_pointer())

            def row(place: Any) -> Any:
                return builder.load(pointer(rows_type, rows, place), align=align)

            sums = builder.load(pointer(words_type, words, source), align=_WORD_BYTES)
            sums = builder.sub(builder.sub(builder.add(sums, row(more)), row(less)), row(less_too))
            builder.store(sums, pointer(words_type, words, target), align=_WORD_BYTES)
            return context.get_dummy_value()

        integer = types.int64
        return types.void(words, integer, integer, rows, integer, integer, integer), generate

    return operation


_change_sums = _row_change(_SUMS, _SUM_BYTES)
compiled_as(_change_sums)(change_sums)
_change_terms = _row_change(_TERMS, _WORD_BYTES)


def sum_of_lane(words: Any, first: np.int64, lane: np.int64) -> np.int64:
    """Give one of the sums that begin at the word ``first``."""
    place = first + np.int64(2) * lane
    total = np.int64(words[place]) | (np.int64(words[place + np.int64(1)]) << np.int64(16))
    return total - np.int64(2 * _SIGN) if total >= np.int64(_SIGN) else total


def products(words: Any, first: np.int64, other: np.int64, weights: Any, start: np.int64, count: np.int64) -> np.int64:
    """Sum of the products of differences of terms and weights; of every 32nd it is less than 2^31.

    Parameters
    ----------
    words
        uint16 array; the terms are its ``count`` words (int64, a multiple of :data:`TERMS_TOGETHER`) from ``first``
        (int64) on, read as int16, less those from ``other`` (int64) on.
    weights
        int16 array; the weights are those from ``start`` (int64) on.
    """
    terms = words[first : first + count].view(np.int16) - words[other : other + count].view(np.int16)
    return np.int64(terms.astype(np.int64) @ np.asarray(weights[start : start + count], np.int64))


def unit_products(words: Any, first: np.int64, weights: Any, start: np.int64, count: np.int64) -> np.int64:
    """Do as :func:`products` with squares of words clipped to 0 to :data:`~glem.core.evaluation.network.ONE_UNIT`."""
    units = words[first : first + count].view(np.int16).clip(0, ONE_UNIT).astype(np.int64)
    return np.int64(units * units @ np.asarray(weights[start : start + count], np.int64))


def _difference(builder: Any, terms: Any, others: Any) -> Any:
    return builder.sub(terms, others)


def _clipped_and_squared(builder: Any, units: Any) -> Any:
    least, most = (ir.Constant(_TERMS, [bound] * TERMS_TOGETHER) for bound in (0, ONE_UNIT))
    units = builder.select(builder.icmp_signed("<", units, least), least, units)
    units = builder.select(builder.icmp_signed(">", units, most), most, units)
    return builder.mul(units, units)


def _product_sum(term: Any, starts: int) -> Any:
    """Make the intrinsic that adds the products of weights and terms, each made of words behind so many starts."""

    @intrinsic
    def operation(_typing_context: Any, words: Any, _starts: Any, weights: Any, _start: Any, _count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words_type, _, weights_type, *_ = signature.args
            words, first, weights, start, count = arguments
            integer = count.type

            def load(kind: Any, array: Any, place: Any) -> Any:
                pointer = item_pointer(context, builder, kind, array, place)
                return builder.load(builder.bitcast(pointer, _TERMS.as_pointer()), align=_WORD_BYTES)

            begins = [builder.extract_value(first, number) for number in range(starts)]
            total = cgutils.alloca_once_value(builder, ir.Constant(_WIDE, None))
            blocks = cgutils.for_range_slice(builder, integer(0), count, integer(TERMS_TOGETHER), intp=integer)
            with blocks as (place, _):
                terms = term(builder, *(load(words_type, words, builder.add(begin, place)) for begin in begins))
                by = load(weights_type, weights, builder.add(start, place))
                product = builder.mul(builder.sext(terms, _WIDE), builder.sext(by, _WIDE))
                builder.store(builder.add(builder.load(total), product), total)
            whole = builder.sext(builder.load(total), ir.VectorType(integer, TERMS_TOGETHER))
            return llvm_call(builder, f"llvm.vector.reduce.add.v{TERMS_TOGETHER}i64", integer, whole)

        integer = types.int64
        return integer(words, types.UniTuple(integer, starts), weights, integer, integer), generate

    return operation


_products = _product_sum(_difference, 2)
_unit_products = _product_sum(_clipped_and_squared, 1)


@overload_of(products)
def _overload_products(words: Any, first: Any, other: Any, weights: Any, start: Any, count: Any) -> Any:
    return lambda words, first, other, weights, start, count: _products(words, (first, other), weights, start, count)


@overload_of(unit_products)
def _overload_unit_products(words: Any, first: Any, weights: Any, start: Any, count: Any) -> Any:
    return lambda words, first, weights, start, count: _unit_products(words, (first,), weights, start, count)


def change_rows(
    words: Any,
    source: np.int64,
    target: np.int64,
    rows: Any,
    less: np.int64,
    less_too: np.int64,
    more: np.int64,
    count: np.int64,
) -> None:
    """Do as :func:`change_sums` with rows of ``count`` words, a multiple of :data:`TERMS_TOGETHER`: int16 ``rows``."""
    change = rows[more : more + count] - rows[less : less + count] - rows[less_too : less_too + count]
    words[target : target + count] = words[source : source + count] + change.view(np.uint16)


@overload_of(change_rows)
def _overload_change_rows(
    words: Any, source: Any, target: Any, rows: Any, less: Any, less_too: Any, more: Any, count: Any
) -> Any:
    @unannotated
    def implementation(
        words: Any, source: Any, target: Any, rows: Any, less: Any, less_too: Any, more: Any, count: Any
    ) -> None:
        for place in range(0, count, TERMS_TOGETHER):
            _change_terms(words, source + place, target + place, rows, less + place, less_too + place, more + place)

    return implementation
