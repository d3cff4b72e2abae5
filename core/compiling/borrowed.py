"""Arrays that compiled code reads and writes through bare pointers.

An array that travels through a recursive kernel costs: its reference count goes up and down at every call, and it is
passed as seven words. A search spends a quarter of its time so. :class:`Borrowed` packs a NamedTuple of arrays and
scalars into one block of pointers; kernels take the block's address, one word, and ``block.weights[i]`` is two loads.

Nothing is counted and nothing is checked: the Python object keeps the arrays alive for as long as it lives, indices
are not compared with the length, and a negative one does not count from the end. Dual functions get the plain
NamedTuple where they run as plain Python, so that the same mistakes are found there.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import NativeValue, intrinsic, register_model, typeof_impl, unbox

from glem.core.compiling.forwarding import compiled_as
from glem.core.errors import GlemError

_SLOT_BYTES = 8
_ANY_TYPE: Any = types.Any  # type: ignore[attr-defined]  # its module lists it under no name


class BorrowedType(types.Type):  # type: ignore[misc]
    """Numba's type of a :class:`Borrowed` value: that of the NamedTuple in it."""

    def __init__(self, fields: Any) -> None:
        self.fields = fields
        super().__init__(name=f"Borrowed({fields.name})")

    @property
    def key(self) -> Any:
        """What makes two such types equal."""
        return self.fields


class BorrowedArrayType(types.Type):  # type: ignore[misc]
    """Numba's type of an array inside a :class:`Borrowed` value: a pointer to its first item."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"BorrowedArray({dtype})")

    @property
    def key(self) -> Any:
        """What makes two such types equal."""
        return self.dtype


@register_model(BorrowedType)
@register_model(BorrowedArrayType)
class _PointerModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


class Borrowed:
    """A NamedTuple of arrays and scalars as compiled code borrows it.

    Inside a kernel an attribute is a scalar, an array without length (items can be read and written), or, for a
    NamedTuple in the NamedTuple, again such a block. Scalars are those at the time of packing.

    Parameters
    ----------
    fields
        NamedTuple of C-contiguous one-dimensional arrays, numpy scalars of at most 8 bytes, and such NamedTuples.

    Raises
    ------
    GlemError
        A field is none of these.
    """

    __slots__ = ("_numba_type_", "address", "block", "fields")

    def __init__(self, fields: Any) -> None:
        self.fields = fields
        self._numba_type_ = BorrowedType(typeof(fields))
        slots: list[Any] = []
        _pack(fields, type(fields).__name__, slots)
        self.block = np.zeros(max(1, len(slots)), np.uint64)
        for slot, value in enumerate(slots):
            self.block[slot : slot + 1].view(value.dtype)[0] = value
        self.address = self.block.ctypes.data

    @property
    def plain_form(self) -> Any:
        """What plain Python takes in its place: the NamedTuple."""
        return self.fields


def _pack(fields: Any, name: str, slots: list[Any]) -> None:
    """Append one scalar per slot: the value, or the address of an array's first item."""
    for label, value in zip(fields._fields, fields, strict=True):
        if hasattr(value, "_fields"):
            _pack(value, f"{name}.{label}", slots)
        elif isinstance(value, np.ndarray) and value.ndim == 1 and value.flags.c_contiguous:
            slots.append(np.uint64(value.ctypes.data))
        elif isinstance(value, np.generic) and value.itemsize <= _SLOT_BYTES:
            slots.append(value)
        else:
            raise GlemError(f"{name}.{label} cannot be borrowed: it is no contiguous row, no numpy scalar: {value!r}")


def _slots(kind: Any) -> int:
    """Slots that a field of a numba type takes."""
    return sum(_slots(inner) for inner in kind.types) if isinstance(kind, types.BaseTuple) else 1


@typeof_impl.register(Borrowed)  # type: ignore[untyped-decorator]
def _typeof_borrowed(value: Borrowed, _context: Any) -> BorrowedType:
    return value._numba_type_


@unbox(BorrowedType)  # type: ignore[untyped-decorator]
def _unbox_borrowed(_kind: Any, value: Any, context: Any) -> Any:
    address = context.pyapi.object_getattr_string(value, "address")
    pointer = context.pyapi.long_as_voidptr(address)
    context.pyapi.decref(address)
    return NativeValue(pointer)


def _field_type(kind: Any) -> Any:
    if isinstance(kind, types.BaseNamedTuple):
        return BorrowedType(kind)
    return BorrowedArrayType(kind.dtype) if isinstance(kind, types.Array) else kind


@infer_getattr
class _BorrowedAttributes(AttributeTemplate):
    key = BorrowedType

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        return _field_type(kind.fields[kind.fields.fields.index(name)]) if name in kind.fields.fields else None


@lower_getattr_generic(BorrowedType)  # type: ignore[no-untyped-call, untyped-decorator]
def _load_attribute(context: Any, builder: Any, kind: Any, block: Any, name: str) -> Any:
    place = kind.fields.fields.index(name)
    slot = sum(_slots(inner) for inner in kind.fields.types[:place])
    pointer = builder.gep(block, [ir.Constant(ir.IntType(64), slot * _SLOT_BYTES)])
    field = kind.fields.types[place]
    if isinstance(field, types.BaseTuple):
        return pointer
    loaded = _field_type(field)
    stored = context.get_data_type(loaded)
    value = builder.load(builder.bitcast(pointer, stored.as_pointer()), align=_SLOT_BYTES)
    # No kernel writes the block: LLVM may keep what it has loaded, whatever is stored in between.
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def item_pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Pointer to an item of a borrowed or of a common contiguous array, for the makers of intrinsics.

    ``kind`` is the numba type of the array, ``array`` and ``place`` are the LLVM values.
    """
    if isinstance(kind, BorrowedArrayType):
        first = builder.bitcast(array, context.get_data_type(kind.dtype).as_pointer())
    else:
        first = context.make_array(kind)(context, builder, array).data
    return builder.gep(first, [place])


@infer_global(operator.getitem)  # type: ignore[no-untyped-call]
class _BorrowedItem(AbstractTemplate):
    def generic(self, arguments: Any, _named: Any) -> Any:
        array, place = arguments
        if isinstance(array, BorrowedArrayType) and isinstance(place, types.Integer):
            return signature(array.dtype, array, types.intp)  # type: ignore[no-untyped-call]
        return None


@infer_global(operator.setitem)  # type: ignore[no-untyped-call]
class _BorrowedStore(AbstractTemplate):
    def generic(self, arguments: Any, _named: Any) -> Any:
        array, place, _value = arguments
        if isinstance(array, BorrowedArrayType) and isinstance(place, types.Integer):
            return signature(types.none, array, types.intp, array.dtype)  # type: ignore[no-untyped-call]
        return None


@lower_builtin(operator.getitem, BorrowedArrayType, types.intp)  # type: ignore[no-untyped-call, untyped-decorator]
def _load_item(context: Any, builder: Any, kind: Any, arguments: Any) -> Any:
    array, place = arguments
    return context.unpack_value(builder, kind.args[0].dtype, item_pointer(context, builder, kind.args[0], array, place))


@lower_builtin(operator.setitem, BorrowedArrayType, types.intp, _ANY_TYPE)  # type: ignore[no-untyped-call, untyped-decorator]
def _store_item(context: Any, builder: Any, kind: Any, arguments: Any) -> Any:
    array, place, value = arguments
    context.pack_value(builder, kind.args[0].dtype, value, item_pointer(context, builder, kind.args[0], array, place))
    return context.get_dummy_value()


def load_shared(array: Any, place: int) -> Any:
    """Read an item that another thread may write at any time: compiled code reads it anew at every call."""
    return array[place]


@intrinsic
def _load_atomically(_typing_context: Any, array: Any, _place: Any) -> Any:
    if not isinstance(array, BorrowedArrayType | types.Array):
        return None

    def generate(context: Any, builder: Any, kind: Any, arguments: Any) -> Any:
        pointer = item_pointer(context, builder, kind.args[0], *arguments)
        return builder.load_atomic(pointer, "monotonic", context.get_abi_sizeof(pointer.type.pointee))

    return array.dtype(array, types.intp), generate


compiled_as(_load_atomically)(load_shared)
