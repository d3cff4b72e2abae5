"""How plain functions become compiled kernels, and the bit tricks that both worlds share.

Nothing else in glem calls :func:`numba.njit`. Two doors lead in:

``@kernel``
    for array code that is only ever run compiled;
``compiled(function)``
    for *dual* functions (rules of a game, generic search code), which also run as plain Python. The
    plain functions that a dual function names are compiled along with it, so authors decorate nothing.

Both keep their machine code on disk, in a folder named by a digest of every source file that the kernel
can reach: the function's own module and, transitively, what that module imports from its own package or
from glem. An edit anywhere in there leads to another folder, so stale code is never loaded; numba alone
would only look at the one file that defines the function.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import types as python_types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.extending import overload as numba_overload

__all__ = [
    "cache_folder",
    "compiled",
    "kernel",
    "leading_zeros",
    "mix",
    "pdep",
    "pext",
    "plain",
    "popcount",
    "source_digest",
    "trailing_zeros",
]

F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.RLock()
_module_files: dict[str, tuple[str, frozenset[str]]] = {}
_compiled: dict[Callable[..., Any], Any] = {}
_primitives: set[Callable[..., Any]] = set()

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<source>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]+)|import[ \t]+(?P<plain>[^\n]+))",
    re.MULTILINE,
)
_WORD = re.compile(r"[\w.]+")
_UNUSED_CACHE_DAYS = 30


# ---------------------------------------------------------------------------------------------- digests


def _module_file(name: str) -> Path | None:
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None and module is None:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return None
        file = spec.origin if spec is not None else None
    if file is None or not file.endswith(".py"):
        return None
    return Path(file)


def _imported_names(text: str, module: str, is_package: bool) -> set[str]:
    """Names of modules that a source text may import; names that are no modules are sorted out later."""
    found: set[str] = set()
    for match in _IMPORT.finditer(text):
        if match["plain"] is not None:
            found.update(part.split()[0] for part in match["plain"].split(",") if part.split())
            continue
        source = match["source"]
        if source.startswith("."):
            dots = len(source) - len(source.lstrip("."))
            base = module.split(".")
            base = base[: len(base) - dots + (1 if is_package else 0)]
            source = ".".join([*base, source[dots:]]).strip(".")
        found.add(source)
        found.update(f"{source}.{name}" for name in _WORD.findall(match["names"]) if "." not in name)
    return found


def _read_module(name: str) -> tuple[str, frozenset[str]] | None:
    """Digest of one module's source and the names it imports, read once in a process."""
    known = _module_files.get(name)
    if known is not None:
        return known
    file = _module_file(name)
    if file is None:
        return None
    try:
        content = file.read_bytes()
    except OSError:
        return None
    imports = _imported_names(content.decode("utf-8", "replace"), name, file.name == "__init__.py")
    roots = {"glem", name.split(".")[0]}
    kept = frozenset(imported for imported in imports if imported.split(".")[0] in roots)
    known = (hashlib.sha256(content).hexdigest(), kept)
    _module_files[name] = known
    return known


def source_digest(*modules: str) -> str:
    """Digest of the sources behind the named modules and of all they import from glem or their own package.

    Parameters
    ----------
    modules
        Full names of importable modules.

    Returns
    -------
    str
        16 hexadecimal digits. Equal sources give equal digests in every process and on every machine.
    """
    with _lock:
        seen: dict[str, str] = {}
        pending = list(modules)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            entry = _read_module(name)
            if entry is None:
                continue
            seen[name] = entry[0]
            pending.extend(entry[1])
    total = hashlib.sha256()
    for name in sorted(seen):
        total.update(f"{name}={seen[name]};".encode())
    return total.hexdigest()[:16]


# ---------------------------------------------------------------------------------------------- cache


def cache_folder() -> Path:
    """Folder that holds the machine code of all kernels.

    ``GLEM_CACHE_DIR`` if set, else ``NUMBA_CACHE_DIR``, else ``glem`` under ``XDG_CACHE_HOME`` or
    ``~/.cache``; a folder under the system's temporary one where that cannot be written.
    """
    chosen = os.environ.get("GLEM_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~").expanduser() / ".cache")
    folder = Path(home) / "glem" / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"glem-kernels-{os.getuid()}"
        return folder
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir()) / f"glem-kernels-{os.getuid()}"
    return folder


def _digest_folder(module: str) -> Path:
    # A process that checks array bounds must not load code that was compiled without the checks.
    suffix = ("-boundscheck" if numba.config.BOUNDSCHECK else "") + ("" if HAS_FAST_PEXT else "-nopext")
    root = cache_folder()
    folder = root / (source_digest(module) + suffix)
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _remove_unused(root)
    return folder


def _remove_unused(root: Path) -> None:
    oldest = time.time() - _UNUSED_CACHE_DAYS * 86400
    with contextlib.suppress(OSError):
        for folder in root.iterdir():
            if re.fullmatch(r"[0-9a-f]{16}(-[a-z]+)*", folder.name) and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def _jit(function: Callable[..., Any], *, inline: bool) -> Any:
    with _lock:
        previous = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(_digest_folder(function.__module__))
        try:
            # error_model="numpy": a division by zero gives inf or nan as in numpy, without a branch per division.
            return numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)
        finally:
            numba.config.CACHE_DIR = previous


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
        A module-level function; other kernels may be called by name.
    inline
        Always inline the machine code into callers (small helpers only).
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
        A module-level plain function, or an already compiled one (returned unchanged).

    Returns
    -------
    function
        A callable of the same arguments.
    """
    if not isinstance(function, python_types.FunctionType):
        return function
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
        twin = _jit(twin_source, inline=False)
        _compiled[function] = twin
        for name in _named_globals(function.__code__):
            value = function.__globals__.get(name)
            if value is function:
                namespace[name] = twin
            elif isinstance(value, python_types.FunctionType) and value not in _primitives:
                namespace[name] = compiled(value)
        return twin  # type: ignore[no-any-return]


def plain(function: F) -> F:
    """Plain Python function behind a kernel or a compiled twin; other functions are returned unchanged."""
    return getattr(function, "py_func", function)


def _named_globals(code: python_types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            names |= _named_globals(constant)
    return names


def unannotated(function: F) -> F:
    """Drop a function's annotations: numba compares an overload's signature with its implementation's, text and all."""
    function.__annotations__ = {}
    return function


def overload_of(stub: Callable[..., Any]) -> Callable[[F], F]:
    """Give a plain function its compiled form: :func:`numba.extending.overload` for annotated code."""

    def register(maker: F) -> F:
        numba_overload(primitive(stub))(unannotated(maker))
        return maker

    return register


def primitive(function: F) -> F:
    """Mark a plain function that numba knows by an overload, so that :func:`compiled` leaves its name alone."""
    _primitives.add(function)
    return function


# ---------------------------------------------------------------------------------------------- bits

_MASK = (1 << 64) - 1


def _unary_intrinsic(name: str, with_flag: bool) -> Any:
    @intrinsic
    def operation(_typing_context: Any, _word: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            i64 = ir.IntType(64)
            parameters = [i64, ir.IntType(1)] if with_flag else [i64]
            function = builder.module.declare_intrinsic(name, [i64], ir.FunctionType(i64, parameters))
            values = [arguments[0], ir.Constant(ir.IntType(1), 0)] if with_flag else [arguments[0]]
            return builder.call(function, values)

        return types.int64(types.uint64), generate

    return operation


_popcount = _unary_intrinsic("llvm.ctpop", with_flag=False)
_cttz = _unary_intrinsic("llvm.cttz", with_flag=True)
_ctlz = _unary_intrinsic("llvm.ctlz", with_flag=True)


def popcount(word: np.uint64) -> int:
    """Count the set bits of a 64-bit word."""
    return int(word).bit_count()


def trailing_zeros(word: np.uint64) -> int:
    """Index of the lowest set bit, 0 to 63; 64 for zero."""
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


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
    source, remaining, result, place = int(word), int(mask), 0, 0
    while remaining:
        low = remaining & -remaining
        if source & low:
            result |= 1 << place
        place += 1
        remaining ^= low
    return np.uint64(result)


def pdep(word: np.uint64, mask: np.uint64) -> np.uint64:
    """Scatter the low bits of ``word`` to the set bits of ``mask``."""
    source, remaining, result = int(word), int(mask), 0
    while remaining:
        low = remaining & -remaining
        if source & 1:
            result |= low
        source >>= 1
        remaining ^= low
    return np.uint64(result)


@overload_of(popcount)
def _overload_popcount(word: Any) -> Any:
    return lambda word: _popcount(np.uint64(word))


@overload_of(trailing_zeros)
def _overload_trailing_zeros(word: Any) -> Any:
    return lambda word: _cttz(np.uint64(word))


@overload_of(leading_zeros)
def _overload_leading_zeros(word: Any) -> Any:
    return lambda word: _ctlz(np.uint64(word))


@overload_of(mix)
def _overload_mix(word: Any) -> Any:
    @unannotated
    def implementation(word: Any) -> Any:
        value = np.uint64(word)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return value ^ (value >> np.uint64(31))

    return implementation


def _host_has_fast_pext() -> bool:
    """Whether ``pext`` and ``pdep`` exist and are fast here; AMD before Zen 3 has them in slow microcode."""
    import llvmlite.binding as llvm

    # numba's own cache key holds the processor's name and features, from which this answer follows; the
    # environment variable changes the code without changing them, hence the folder's suffix.
    if os.environ.get("GLEM_NO_PEXT"):
        return False
    if llvm.get_host_cpu_name() in {"znver1", "znver2", "bdver4"}:
        return False
    return bool(llvm.get_host_cpu_features().get("bmi2", False))


HAS_FAST_PEXT = _host_has_fast_pext()
"""Whether the compiled :func:`pext` and :func:`pdep` are single instructions in this process."""


def _binary_intrinsic(name: str) -> Any:
    @intrinsic
    def operation(_typing_context: Any, _word: Any, _mask: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            i64 = ir.IntType(64)
            function = builder.module.globals.get(name)
            if function is None:
                function = ir.Function(builder.module, ir.FunctionType(i64, [i64, i64]), name=name)
            return builder.call(function, arguments)

        return types.uint64(types.uint64, types.uint64), generate

    return operation


_pext = _binary_intrinsic("llvm.x86.bmi.pext.64")
_pdep = _binary_intrinsic("llvm.x86.bmi.pdep.64")


@overload_of(pext)
def _overload_pext(word: Any, mask: Any) -> Any:
    if HAS_FAST_PEXT:
        return lambda word, mask: _pext(np.uint64(word), np.uint64(mask))

    @unannotated
    def implementation(word: Any, mask: Any) -> Any:
        result = np.uint64(0)
        place = np.uint64(1)
        remaining = np.uint64(mask)
        while remaining != np.uint64(0):
            low = remaining & (~remaining + np.uint64(1))
            if np.uint64(word) & low != np.uint64(0):
                result |= place
            place = place << np.uint64(1)
            remaining ^= low
        return result

    return implementation


@overload_of(pdep)
def _overload_pdep(word: Any, mask: Any) -> Any:
    if HAS_FAST_PEXT:
        return lambda word, mask: _pdep(np.uint64(word), np.uint64(mask))

    @unannotated
    def implementation(word: Any, mask: Any) -> Any:
        result = np.uint64(0)
        place = np.uint64(1)
        remaining = np.uint64(mask)
        while remaining != np.uint64(0):
            low = remaining & (~remaining + np.uint64(1))
            if np.uint64(word) & place != np.uint64(0):
                result |= low
            place = place << np.uint64(1)
            remaining ^= low
        return result

    return implementation
