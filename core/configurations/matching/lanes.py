"""Rows of 512 bits as values in kernels: load, combine, store, without a loop over words.

A row is eight 64-bit words, LLVM's ``<8 x i64>``: one register where the processor has 512-bit ones, two or four
elsewhere. :mod:`glem.core.compiling.vectors` works on long rows of bits in memory; here a row is short and stays in a
register while a kernel decides what to do with it. These functions exist in compiled code only.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from glem.core.compiling.vectors import VECTOR_WORDS, row_pointer

_WORD = ir.IntType(64)
_LANES = ir.VectorType(_WORD, VECTOR_WORDS)
_WORD_BYTES = 8
_INDEX = ir.IntType(32)
_INDICES = ir.VectorType(_INDEX, 8)


class LanesType(types.Type):  # type: ignore[misc]  # numba is untyped
    """Numba's type of 512 bits held as a value."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


_lanes = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]  # numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _LANES)


def splat(builder: Any, kind: Any, value: Any) -> Any:
    """Emit a vector of one type whose lanes all hold a value."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INDEX, kind.count), [0] * kind.count))


@intrinsic
def load_lanes(_typing_context: Any, words: Any, first: Any) -> Any:
    """``load_lanes(words, first)``: the eight words of a C-contiguous uint64 array from index ``first`` (int64) on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = row_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.load(place, align=_WORD_BYTES)

    return _lanes(words, types.int64), generate


@intrinsic
def store_lanes(_typing_context: Any, words: Any, first: Any, lanes: Any) -> Any:
    """``store_lanes(words, first, lanes)``: write eight words into a uint64 array from index ``first`` (int64) on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = row_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store(arguments[2], place, align=_WORD_BYTES)
        return context.get_dummy_value()

    return types.void(words, types.int64, _lanes), generate


@intrinsic
def splat_lanes(_typing_context: Any, word: Any) -> Any:
    """``splat_lanes(word)``: eight times the same word (uint64)."""
    return _lanes(types.uint64), lambda _context, builder, _signature, arguments: splat(builder, _LANES, *arguments)


def _bitwise(combine: Callable[[Any, Any, Any], Any]) -> Any:
    """Make the function of two rows that combines their words."""

    @intrinsic
    def combined(_typing_context: Any, a: Any, b: Any) -> Any:
        return _lanes(_lanes, _lanes), lambda _context, builder, _signature, arguments: combine(builder, *arguments)

    return combined


and_lanes = _bitwise(lambda builder, a, b: builder.and_(a, b))
"""``and_lanes(a, b)``: the bits that both have."""
or_lanes = _bitwise(lambda builder, a, b: builder.or_(a, b))
"""``or_lanes(a, b)``: the bits that one of the two has."""
xor_lanes = _bitwise(lambda builder, a, b: builder.xor(a, b))
"""``xor_lanes(a, b)``: the bits that exactly one of the two has."""
and_not_lanes = _bitwise(lambda builder, a, b: builder.and_(a, builder.not_(b)))
"""``and_not_lanes(a, b)``: the bits of ``a`` that ``b`` lacks."""


@intrinsic
def is_empty(_typing_context: Any, lanes: Any) -> Any:
    """``is_empty(lanes)``: whether no bit is set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(64 * VECTOR_WORDS)
        return builder.icmp_unsigned("==", builder.bitcast(arguments[0], wide), ir.Constant(wide, 0))

    return types.boolean(_lanes), generate


@intrinsic
def exchange_lanes(
    _typing_context: Any, source: Any, source_first: Any, target: Any, target_first: Any, distance: Any, mask: Any
) -> Any:
    """One step of a bit transposition, eight matrices at once.

    ``exchange_lanes(source, i, target, j, distance, mask)`` takes the rows of eight words at the indices ``i`` and
    ``i + 8 * distance`` (int64) of ``source``, exchanges the bits of the first under ``mask << distance`` with those
    of the second under ``mask`` (uint64), and writes the two rows to ``j`` and ``j + 8 * distance`` of ``target``.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source_type, _, target_type, *_ = signature.args
        source, source_first, target, target_first, distance, mask = arguments
        gap = builder.mul(distance, ir.Constant(_WORD, VECTOR_WORDS))
        shift = splat(builder, _LANES, distance)

        def row(kind: Any, array: Any, first: Any) -> Any:
            return row_pointer(context, builder, kind, array, first)

        upper = builder.load(row(source_type, source, source_first), align=_WORD_BYTES)
        lower = builder.load(row(source_type, source, builder.add(source_first, gap)), align=_WORD_BYTES)
        changed = builder.and_(builder.xor(builder.lshr(upper, shift), lower), splat(builder, _LANES, mask))
        upper = builder.xor(upper, builder.shl(changed, shift))
        lower = builder.xor(lower, changed)
        builder.store(upper, row(target_type, target, target_first), align=_WORD_BYTES)
        builder.store(lower, row(target_type, target, builder.add(target_first, gap)), align=_WORD_BYTES)
        return context.get_dummy_value()

    signature = types.void(source, types.int64, target, types.int64, types.int64, types.uint64)
    return signature, generate


@intrinsic
def write_byte_indices(_typing_context: Any, indices: Any, first: Any, base: Any, places: Any, byte: Any) -> Any:
    """Write ``base`` plus the place of each set bit of a byte, and beyond them as much as makes eight.

    ``write_byte_indices(indices, first, base, places, byte)``: eight elements of the int32 array ``indices`` from
    index ``first`` (int64) on become ``base`` (int32) plus row ``byte`` (int64) of the uint8 table ``places`` [256, 8],
    which names the set bits of each byte in ascending order.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        indices_type, _, _, places_type, _ = signature.args
        indices, first, base, places, byte = arguments
        bytes_of_row = ir.VectorType(ir.IntType(8), 8)
        row = builder.mul(byte, ir.Constant(_WORD, 8))
        found = builder.load(row_pointer(context, builder, places_type, places, row, bytes_of_row), align=1)
        values = builder.add(builder.zext(found, _INDICES), splat(builder, _INDICES, base))
        builder.store(values, row_pointer(context, builder, indices_type, indices, first, _INDICES), align=4)
        return context.get_dummy_value()

    return types.void(indices, types.int64, types.int32, places, types.int64), generate
