"""A monotonic clock that compiled code reads in some 30 nanoseconds."""

import time
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from glem.core.compiling.forwarding import compiled_as

_CLOCK_MONOTONIC = 1
_BILLION = 1_000_000_000


def monotonic_nanoseconds() -> int:
    """Nanoseconds of :func:`time.monotonic_ns`, in both worlds."""
    return time.monotonic_ns()


@intrinsic
def _read_clock(_typing_context: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        word = ir.IntType(64)
        pair = ir.LiteralStructType([word, word])
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), pair.as_pointer()])
        read = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        moment = cgutils.alloca_once(builder, pair)
        builder.call(read, [ir.Constant(ir.IntType(32), _CLOCK_MONOTONIC), moment])
        seconds = builder.load(cgutils.gep_inbounds(builder, moment, 0, 0))
        rest = builder.load(cgutils.gep_inbounds(builder, moment, 0, 1))
        return builder.add(builder.mul(seconds, ir.Constant(word, _BILLION)), rest)

    return types.int64(), generate


compiled_as(_read_clock)(monotonic_nanoseconds)
