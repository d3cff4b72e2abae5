"""How plain functions become compiled kernels, and the bit tricks that both worlds share.

Nothing else in glem calls :func:`numba.njit`. Two doors lead in:

``@kernel``
    for array code that is only ever run compiled;
``compiled(function)``
    for *dual* functions (rules of a game, generic search code), which also run as plain Python. The
    plain functions that a dual function names are compiled along with it, so authors decorate nothing
    (``@inlined`` is for speed).

Both keep their machine code on disk, in a folder named by a digest of everything that the kernel can reach
(:func:`glem.core.compiling.code_digest.code_digest`). An edit anywhere in there leads to another folder, so stale code
is never loaded.

Where the version of numba is known to it, kernels are linked as whole programs
(:mod:`glem.core.compiling.linking`). Elsewhere, which a :class:`MachineCodeWarning` says, and with ``GLEM_LINKING=0``
in the environment, numba compiles in its own way: slower, equal in results.

Generic code that reaches a game's function which numba cannot compile runs as plain Python instead, and
:class:`PlainRulesWarning` says so once.
"""

import contextlib
import multiprocessing
import os
import re
import shutil
import threading
import time
import types as python_types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.extending import overload as numba_overload

from glem.core.compiling.code_digest import code_digest, named_globals
from glem.core.compiling.failures import (
    explain_failures,
    give_way_to_plain_form,
    note_failures,
)
from glem.core.compiling.forwarding import F, compiled_as, is_primitive, primitive
from glem.core.machine.cache_folder import MachineCodeWarning, cache_folder

_LINKING_FITS = (0, 63), (0, 68)
"""First and last version of numba whose compiler the linking is known to fit."""


def _numbas_own(function: Callable[..., Any], options: dict[str, Any], _folder_of: Any) -> Any:
    """Leave a kernel to the public interface of numba; nothing of it is kept on disk."""
    return numba.jit(**options)(function)


LINKS = False
"""Whether kernels are linked as whole programs in this process."""

_dispatcher: Callable[..., Any] = _numbas_own
_overload_options: dict[str, Any] = {"forceinline": True}
_slower_as = ""
try:
    # What glem builds on lies deeper than numba's interface: another version may have other names for it.
    from glem.core.compiling.dispatcher import KernelDispatcher

    KernelDispatcher(_numbas_own, {}, lambda *_: None)
    _dispatcher = KernelDispatcher
    if os.environ.get("GLEM_LINKING") == "0":
        pass
    elif not _LINKING_FITS[0] <= numba.version_info.short <= _LINKING_FITS[1]:
        _slower_as = "glem links them with {}.{} to {}.{}".format(*_LINKING_FITS[0], *_LINKING_FITS[1])
    else:
        from glem.core.compiling.linking import OVERLOAD_OPTIONS, LinkingDispatcher

        LinkingDispatcher(_numbas_own, {}, lambda *_: None)
        _dispatcher, LINKS = LinkingDispatcher, True
        _overload_options |= OVERLOAD_OPTIONS
except (ImportError, AttributeError, TypeError) as _error:
    _slower_as = str(_error)
if _slower_as and multiprocessing.parent_process() is None:
    warnings.warn(
        f"numba {numba.__version__}: kernels compile more slowly, with equal results: {_slower_as}",
        MachineCodeWarning,
        stacklevel=2,
    )

ONE, ZERO = np.uint64(1), np.uint64(0)
"""What boards of 64 bits are shifted and compared with."""

_lock = threading.RLock()
_compiled: dict[Callable[..., Any], Any] = {}
_inlined: set[Callable[..., Any]] = set()
_kept: set[Callable[..., Any]] = set()

_CACHE_ENTRY = re.compile(r"\w+-[0-9a-f]{16}(-[a-z0-9.+]+)*")
_UNUSED_CACHE_DAYS = 30
_SECONDS_PER_DAY = 86400


def _folder_of(function: Callable[..., Any], purpose: str) -> Path | None:
    """Cache folder of one kernel, made if need be; None when nothing can be kept."""
    root = cache_folder()
    if root is None:
        return None
    # What numba's own cache key does not know: the code compiled under one choice must not be loaded under another, and
    # an index belongs to one version of numba, which would drop that of another.
    choices = ("-boundscheck" if numba.config.BOUNDSCHECK else "") + ("" if HAS_FAST_PEXT else "-nopext")
    folder = root / f"{function.__name__}-{code_digest(function)}{purpose}-numba{numba.__version__}{choices}"
    try:
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            _remove_unused(root)
        elif folder.stat().st_mtime < time.time() - _SECONDS_PER_DAY:
            os.utime(folder)
    except OSError:
        return None
    return folder


def _remove_unused(root: Path) -> None:
    oldest = time.time() - _UNUSED_CACHE_DAYS * _SECONDS_PER_DAY
    with contextlib.suppress(OSError):
        for folder in root.iterdir():
            if _CACHE_ENTRY.fullmatch(folder.name) and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def _jit(function: Callable[..., Any], *, inline: bool) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    # error_model="numpy": a division by zero gives inf or nan as in numpy, without a branch per division.
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "forceinline": inline, "boundscheck": None}
    return explain_failures(_dispatcher(function, options, _folder_of))


def keep_translation(function: Any) -> Any:
    """Keep on disk what other kernels link of a compiled function; returns the function.

    It pays for functions that many kernels call, or that call much: the operations of a game.
    """
    if hasattr(function, "keeps_translation"):
        function.keeps_translation = True
    return function


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, inline: bool = False) -> Callable[[F], F]: ...
def kernel(function: Any = None, *, inline: bool = False) -> Any:
    """Compile array code on its first call and keep the machine code on disk.

    The kernel trusts its arguments: a thin function around it checks and explains. It holds no lock on the
    interpreter while it runs. ``kernel.py_func`` is the plain function.

    Parameters
    ----------
    function
        A module-level function; other kernels may be called by name, if they stand above it or in a module of
        their own.
    inline
        Always inline the machine code into callers (small functions only).
    """
    if function is None:
        return lambda later: _jit(later, inline=inline)
    return _jit(function, inline=inline)


def compiled(function: F) -> F:
    """Compiled twin of a dual function; the plain function stays as it is.

    Module-level plain functions that ``function`` names are compiled along with it, recursively, including
    ``function`` itself when it is recursive. They must be named directly (``from .board import flips``), not
    through a module (``board.flips``). The twin of one function is made once in a process.

    Parameters
    ----------
    function
        A module-level plain function, or one that numba knows already (returned unchanged).

    Returns
    -------
    function
        A callable of the same arguments. Its first call raises :class:`UncompilableError` when numba cannot
        compile the function or one that it reaches. Where the fault lies in a function that came in with an
        :class:`~glem.core.compiling.operations.Operations` value, the plain function runs instead, with one
        :class:`PlainRulesWarning`. Under ``NUMBA_DISABLE_JIT=1`` it is the plain function.
    """
    if not isinstance(function, python_types.FunctionType) or is_primitive(function) or numba.config.DISABLE_JIT:
        return function  # pyright: ignore[reportReturnType]  # narrowed to what it cannot name
    with _lock:
        known = _compiled.get(function)
        if known is not None:
            return known  # type: ignore[no-any-return]
        namespace = dict(function.__globals__)
        twin_source = python_types.FunctionType(
            function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
        )
        twin_source.__module__ = function.__module__
        twin_source.__qualname__ = function.__qualname__
        twin_source.__doc__ = function.__doc__
        twin_source.__kwdefaults__ = function.__kwdefaults__
        twin = _jit(twin_source, inline=function in _inlined)
        twin.keeps_translation = function in _kept
        note_failures(twin, function)
        give_way_to_plain_form(twin, function)
        _compiled[function] = twin
        for name in named_globals(function.__code__):
            value = function.__globals__.get(name)
            if value is function:
                namespace[name] = twin
            elif isinstance(value, python_types.FunctionType):
                namespace[name] = compiled(value)
        return twin  # type: ignore[no-any-return]


def inlined(function: F) -> F:
    """Mark a small dual function whose machine code is always copied into its compiled callers.

    LLVM copies what it deems small. A loop whose body calls anything is never vectorized, so mark the
    functions that a batch runs once per row, and write them without early returns or loops of varying length.
    """
    _inlined.add(function)
    return function


def direct(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Machine code of a dual function for arguments of the types of these, without numba's search for it in each call.

    With named tuples that search takes ten times as long as a short call. What was never called is left to numba.
    """
    twin = compiled(function)
    overloads = getattr(twin, "overloads", None)
    made = overloads.get(tuple(numba.typeof(each) for each in arguments)) if overloads else None
    return twin if made is None else made.entry_point


def kept(function: F) -> F:
    """Mark a large dual function that several kernels call: its translation is kept on disk for the others.

    What :class:`~glem.core.compiling.operations.Operations` carry is kept without it.
    """
    _kept.add(function)
    return function


def unannotated(function: F) -> F:
    """Drop a function's annotations: numba compares an overload's signature with its implementation's, text and all."""
    function.__annotations__ = {}
    return function


def overload_of(stub: Callable[..., Any]) -> Callable[[F], F]:
    """Give a plain function its compiled form: :func:`numba.extending.overload` for annotated code."""

    def register(maker: F) -> F:
        numba_overload(primitive(stub), jit_options=_overload_options)(unannotated(maker))
        return maker

    return register


_MASK = (1 << 64) - 1


def llvm_call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Emit a call of a function that LLVM knows by its full name, such as ``llvm.ctpop.i64``, for makers of intrinsics.

    ``result`` is the LLVM type of what it gives, ``arguments`` are LLVM values.
    """
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


_WORD = ir.IntType(64)
_DEFINED_FOR_ZERO = ir.Constant(ir.IntType(1), 0)


def _word_intrinsic(name: str, result: Any, *flags: Any) -> Any:
    """Make the function of words that LLVM knows by a name."""

    @intrinsic
    def operation(_typing_context: Any, *words: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return llvm_call(builder, name, _WORD, *arguments, *flags)

        return result(*(types.uint64 for _ in words)), generate

    return operation


_popcount = _word_intrinsic("llvm.ctpop.i64", types.int64)
_cttz = _word_intrinsic("llvm.cttz.i64", types.int64, _DEFINED_FOR_ZERO)
_ctlz = _word_intrinsic("llvm.ctlz.i64", types.int64, _DEFINED_FOR_ZERO)


@compiled_as(_popcount)
def popcount(word: np.uint64) -> int:
    """Count the set bits of a 64-bit word."""
    return int(word).bit_count()


@compiled_as(_cttz)
def trailing_zeros(word: np.uint64) -> int:
    """Index of the lowest set bit, 0 to 63; 64 for zero."""
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


@compiled_as(_ctlz)
def leading_zeros(word: np.uint64) -> int:
    """Count the zero bits above the highest set bit; 64 for zero."""
    return 64 - int(word).bit_length()


def mix(word: np.uint64) -> np.uint64:
    """Scatter a 64-bit word over all 64 bits, one to one (the finalizer of splitmix64, Steele et al. 2014)."""
    value = int(word)
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return np.uint64(value ^ (value >> 31))


def pext(word: np.uint64, mask: np.uint64) -> np.uint64:
    """Gather the bits of ``word`` under ``mask`` into the low bits."""
    return _moved(np.uint64(word), np.uint64(mask), True)


def pdep(word: np.uint64, mask: np.uint64) -> np.uint64:
    """Scatter the low bits of ``word`` to the set bits of ``mask``."""
    return _moved(np.uint64(word), np.uint64(mask), False)


@inlined
def _moved(word: np.uint64, mask: np.uint64, gathers: bool) -> np.uint64:
    """Gather or scatter one bit after the other."""
    moved, place = ZERO, ONE
    while mask != ZERO:
        low = mask & (~mask + ONE)
        source, target = (low, place) if gathers else (place, low)
        if word & source != ZERO:
            moved |= target
        place <<= ONE
        mask ^= low
    return moved


@overload_of(mix)
def _overload_mix(word: Any) -> Any:
    @unannotated
    def implementation(word: Any) -> Any:
        value = np.uint64(word)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return value ^ (value >> np.uint64(31))

    return implementation


_IS_FOR_ANOTHER = numba.config.CPU_NAME not in (None, "", "host") or numba.config.CPU_FEATURES is not None
"""Whether the user compiles for another processor than the one at hand."""


def processor_has(*features: str) -> bool:
    """Whether the processor that code is made for has one of some features, by LLVM's names.

    numba's own cache key holds the processor's name and features, from which this answer follows.
    """
    if _IS_FOR_ANOTHER:
        found = set((numba.config.CPU_FEATURES or "").split(","))
    else:
        found = {f"+{name}" for name, is_there in llvm.get_host_cpu_features().items() if is_there}
    return not found.isdisjoint(f"+{feature}" for feature in features)


# AMD before Zen 3 has them in slow microcode. The environment variable changes the code without changing numba's key,
# hence the folder's suffix.
HAS_FAST_PEXT = (
    processor_has("bmi2")
    and not os.environ.get("GLEM_NO_PEXT")
    and (_IS_FOR_ANOTHER or llvm.get_host_cpu_name() not in {"znver1", "znver2", "bdver4"})
)
"""Whether the compiled :func:`pext` and :func:`pdep` are single instructions in this process."""

if HAS_FAST_PEXT:
    compiled_as(_word_intrinsic("llvm.x86.bmi.pext.64", types.uint64))(pext)
    compiled_as(_word_intrinsic("llvm.x86.bmi.pdep.64", types.uint64))(pdep)
else:
    _move: Any = compiled(_moved)

    @overload_of(pext)
    def _overload_pext(word: Any, mask: Any) -> Any:
        return unannotated(lambda word, mask: _move(np.uint64(word), np.uint64(mask), True))

    @overload_of(pdep)
    def _overload_pdep(word: Any, mask: Any) -> Any:
        return unannotated(lambda word, mask: _move(np.uint64(word), np.uint64(mask), False))
