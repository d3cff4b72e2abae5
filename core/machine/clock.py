"""A monotonic clock that compiled code reads in some 30 nanoseconds."""

import ctypes
import sys
import time
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_BILLION = 1_000_000_000
_WORD = ir.IntType(64)


def monotonic_nanoseconds() -> int:
    """Nanoseconds of a clock that goes on steadily, whatever is set; in both worlds."""
    # On Windows the clock that Python calls monotonic goes by steps of 16 milliseconds; elsewhere the two are one.
    return time.perf_counter_ns()


if sys.platform == "win32":
    _TICKS, _FREQUENCY = "glem_QueryPerformanceCounter", "glem_QueryPerformanceFrequency"
    for _name in (_TICKS, _FREQUENCY):
        _function = getattr(ctypes.windll.kernel32, _name.removeprefix("glem_"))
        llvm.add_symbol(_name, ctypes.cast(_function, ctypes.c_void_p).value)

    def _generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [_WORD.as_pointer()])
        read = []
        for name in (_TICKS, _FREQUENCY):
            place = cgutils.alloca_once(builder, _WORD)
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [place])
            read.append(builder.load(place))
        ticks, frequency = read
        billion = ir.Constant(_WORD, _BILLION)
        rest = builder.sdiv(builder.mul(builder.srem(ticks, frequency), billion), frequency)
        return builder.add(builder.mul(builder.sdiv(ticks, frequency), billion), rest)

else:
    # Python's own is that of macOS which stands still while the machine sleeps.
    _CLOCK = getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC)

    def _generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        pair = ir.LiteralStructType([_WORD, _WORD])
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), pair.as_pointer()])
        read = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        moment = cgutils.alloca_once(builder, pair)
        builder.call(read, [ir.Constant(ir.IntType(32), _CLOCK), moment])
        seconds = builder.load(cgutils.gep_inbounds(builder, moment, 0, 0))
        rest = builder.load(cgutils.gep_inbounds(builder, moment, 0, 1))
        return builder.add(builder.mul(seconds, ir.Constant(_WORD, _BILLION)), rest)


@intrinsic
def read_clock(_typing_context: Any) -> Any:
    """Compiled form of :func:`monotonic_nanoseconds`."""
    return types.int64(), _generate
