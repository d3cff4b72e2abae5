"""The dispatcher of kernels, and the index of numba's on-disk cache, which many processes share.

They do not all have the same games. A kernel that serves all games keeps one index, a pickle that names the position
classes of every game the kernel was compiled for. Where one of these games is no longer installed the index cannot be
read, and numba would fail.

numba numbers the files of machine code: two processes that compile a kernel at the same time, each for a game of its
own, both take the next number, and one game would get the machine code of the other. Here the number follows from the
types that the code was compiled for.
"""

import contextlib
import fcntl
import gc
import hashlib
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import sigutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.entrypoints import init_all
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys
from numba.experimental import function_type  # noqa: F401 # by it numba knows functions that are arguments

_ARRAY_FUNCTIONS = "numba.np.arraymath"
_LOOK = "ensure_blas"

_LONGEST_WAIT = 120.0
_WAIT = 0.01
"""Seconds between looks at a lock."""


def make_index_shareable(cache: Any) -> Any:
    """Let the index of a cache of numba be written by many processes; returns the cache.

    One that cannot be read is taken for an empty one.

    Raises
    ------
    AttributeError
        This version of numba keeps its files in another way.
    """
    file = cache._cache_file
    load_index, save_index, save_data = file._load_index, file._save_index, file._save_data
    dump, data_name, folder = file._dump, file._data_name, Path(cache.cache_path)

    def load_index_or_none() -> Any:
        try:
            return load_index()
        except Exception:  # noqa: BLE001 # reading it imports the modules that it names, with any outcome
            return {}

    def save(key: Any, data: Any) -> None:
        name = data_name(int.from_bytes(hashlib.sha256(dump(key)).digest()[:8]))
        # The index never names a file that is not there yet.
        save_data(name, data)
        with _alone_in(folder):
            overloads = load_index_or_none()
            overloads[key] = name
            save_index(overloads)

    file._load_index = load_index_or_none
    file.save = save
    return cache


@contextlib.contextmanager
def one_process(path: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same path, for two minutes at most.

    Whoever comes second then finds on disk what the first has made. The lock goes with its process.

    Parameters
    ----------
    path
        File to lock; made and left.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        _wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    last = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < last:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_WAIT)
        except OSError:
            # Where files cannot be locked, two processes may make the same.
            return
        else:
            return


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from writing an index meanwhile; where files cannot be locked, an entry may be lost."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def load_compiler() -> None:
    """Load what numba's compiler needs and machine code does not, which numba does where it first compiles."""
    with global_compiler_lock:
        with contextlib.suppress(ImportError, AttributeError):
            _import_without_scipy()
        cpu_target.target_context.refresh()


def _import_without_scipy() -> None:
    """Import numba's array functions, which look whether there is a BLAS by importing the linear algebra of scipy.

    That takes a tenth of a second, and hardly a kernel multiplies matrices. glem has scipy; where numba compiles a
    product it looks again.
    """
    if _ARRAY_FUNCTIONS in sys.modules:
        return
    linalg = importlib.import_module("numba.np.linalg")
    look = getattr(linalg, _LOOK)
    setattr(linalg, _LOOK, lambda: None)
    try:
        setattr(importlib.import_module(_ARRAY_FUNCTIONS), _LOOK, look)
    finally:
        setattr(linalg, _LOOK, look)


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*arguments, **named)


# CPython maps memory for 16 kB of frames and gives it back whenever the depth of calls crosses its end, which in a
# compiler is all the time. A frame that asks for half a megabyte gets a megabyte at once, and those above it the rest.
_with_room = FunctionType(_call.__code__.replace(co_stacksize=1 << 16), {}, "_with_room")


@contextlib.contextmanager
def _collecting_later() -> Iterator[None]:
    """Leave garbage alone meanwhile: a compiler makes much that lives on, and looking through it takes time.

    It is an eighth of the compiler's; what is left lying comes to some 80 MB.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class KernelCacheImplementation(CompileResultCacheImpl):  # type: ignore[misc]
    """What kernels are kept on disk."""

    def reduce(self, data: Any) -> Any:
        """See numba's, which keeps the source with the types of all variables, for ``inspect_types``."""
        return super().reduce(data._replace(type_annotation=""))


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Machine code of kernels on disk, read without all that a compiler needs: a tenth of a second in each process."""

    _impl_class = KernelCacheImplementation

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """See numba's."""
        rtsys.initialize(target_context)
        # Machine code may call what another package's extension of numba names.
        init_all()  # type: ignore[no-untyped-call]
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """numba's dispatcher, for functions that both Python and compiled code may call.

    One process makes a specialization, while others that share its cache wait for it.

    Parameters
    ----------
    function
        The plain function.
    options
        Of numba's jit.
    kept_in
        Called with the function and :attr:`purpose` when machine code is first looked for. Gives a context in which
        numba makes its cache, and whether it can make one.
    """

    purpose = ""
    """Part of the cache folder's name: code that is made in different ways lies in different folders."""

    cache_class: type = KernelCache
    """How the code is read and written."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        kept_in: Callable[[Callable[..., Any], str], AbstractContextManager[bool]],
        **pipeline: Any,
    ) -> None:
        super().__init__(py_func=function, targetoptions=options, **pipeline)
        self._kept_in = kept_in
        self._is_prepared = False
        self.keeps_translation = False
        """Whether what compiled code calls is kept on disk, not only what Python calls."""

    def _prepare_cache(self) -> None:
        if self._is_prepared:
            return
        self._is_prepared = True
        # Nothing is kept of a function typed at a prompt, which has no file whose changes numba could see, nor where a
        # version of numba writes its files in another way.
        with self._kept_in(self.py_func, self.purpose) as can_keep, contextlib.suppress(RuntimeError, AttributeError):
            if can_keep:
                self._cache = make_index_shareable(self.cache_class(self.py_func))

    def _is_here(self, sig: Any) -> bool:
        return tuple(sigutils.normalize_signature(sig)[0]) in self.overloads

    def _key_on_disk(self, sig: Any) -> tuple[Any, bool]:
        """Key of a specialization on disk, and whether it is there; None and False where nothing is kept."""
        if not isinstance(self._cache, FunctionCache):
            return None, False
        key = self._cache._index_key(sig, self.targetctx.codegen())
        return key, key in self._cache._cache_file._load_index()

    def compile(self, sig: Any) -> Any:
        """See numba's Dispatcher."""
        if self._is_here(sig):
            return super().compile(sig)
        with _collecting_later():
            key, is_there = self._key_on_disk(sig)
            if is_there:
                return super().compile(sig)
            load_compiler()
            if key is None:
                return super().compile(sig)
            name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
            with one_process(Path(self._cache.cache_path) / f"making-{name}"):
                return super().compile(sig)

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        """See numba's Dispatcher: a first call from Python."""
        self._prepare_cache()
        return _with_room(super()._compile_for_args, arguments, named)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See numba's Dispatcher: typing of a call in compiled code.

        A literal argument does not make a specialization of its own: each would be typed and translated anew, with all
        that it calls, and LLVM knows the constant where it matters.
        """
        kinds = tuple(types.unliteral(each) for each in args)
        if self._compiling_counter:
            # A recursion with other types: numba would compile it, and crash where it reads that from disk.
            raise KeyError(kinds)
        if self.keeps_translation:
            self._prepare_cache()
        return super().get_call_template(kinds, kws)

    def __reduce__(self) -> str:
        # By its name, as a function: numba would make another one of the function's code.
        return str(self.py_func.__qualname__)
