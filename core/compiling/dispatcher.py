"""The dispatcher of kernels, and their machine code on disk, which many processes share.

They do not all have the same games. So each specialization of a kernel is a file of its own, named by a digest of the
types that it was compiled for: nobody reads what was compiled for the classes of another game, which to read would
import that game.
"""

import contextlib
import gc
import hashlib
import importlib
import inspect
import os
import pickle
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import serialize, sigutils, types
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.entrypoints import init_all
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys
from numba.experimental import function_type  # noqa: F401 # by it numba knows functions that are arguments

from glem.core.compiling.code_digest import code_digest, constant_text, plain
from glem.core.machine.cache_folder import MachineCodeWarning
from glem.core.machine.locks import open_lock, try_lock

_ARRAY_FUNCTIONS = "numba.np.arraymath"
_LOOK = "ensure_blas"

_PYTHON = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
_DIGEST_BYTES = hashlib.sha256().digest_size
_said: set[str] = set()

_LONGEST_WAIT = 120.0
_WAIT = 0.01
"""Seconds between looks at a lock."""


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
        descriptor = open_lock(path, private=True)
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
            if try_lock(descriptor):
                return
        except OSError:
            # Where files cannot be locked, two processes may make the same.
            return
        time.sleep(_WAIT)


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


class _UnnamedError(Exception):
    """A value has no text that another process would give to an equal one."""


def _text(value: Any) -> str:
    """Text that is equal, in every process, for equal types of arguments and for equal values in closures alone."""
    if isinstance(value, types.Dispatcher):
        if not isinstance(value.dispatcher, KernelDispatcher):
            raise _UnnamedError
        value = value.dispatcher
    value = plain(value)
    if isinstance(value, types.Type):
        # By their keys numba tells types apart.
        kind = type(value)
        return f"{kind.__module__}.{kind.__qualname__}({_text(value.key)})"
    if isinstance(value, tuple):
        return f"{_text(type(value))}({','.join(map(_text, value))})"
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}-{code_digest(value)}"
    text = constant_text(value)
    # Classes of a notebook or in a function are others in the next process; numba names what it makes by addresses.
    is_fleeting = isinstance(value, type) and (value.__module__ == "__main__" or "<locals>" in value.__qualname__)
    if text is None or is_fleeting or "#" in text or "0x" in text:
        raise _UnnamedError
    return text


class KernelCache:
    """Machine code of a kernel on disk, read without all that a compiler needs: a tenth of a second in each process.

    It takes the place of numba's, and can only save time: what cannot be read is compiled anew.

    Parameters
    ----------
    function
        The plain function.
    folder
        Where the files lie: its name says what the code depends on beside the types of arguments and the processor.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self.cache_path = str(folder)
        self._function = function

    def file_of(self, sig: Any, codegen: Any) -> Path | None:
        """File of a specialization, there or not; None where no name would find it again."""
        try:
            closure = tuple(cell.cell_contents for cell in self._function.__closure__ or ())
            values = _text((*sigutils.normalize_signature(sig), closure))
        except _UnnamedError:
            return None
        text = f"{values} {codegen.magic_tuple()} {_PYTHON}"
        return Path(self.cache_path, f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.nbc")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """See numba's."""
        rtsys.initialize(target_context)
        # Machine code may call what another package's extension of numba names.
        init_all()  # type: ignore[no-untyped-call]
        file = self.file_of(sig, target_context.codegen())
        try:
            if file is None:
                return None
            content = file.read_bytes()
            parts = content[_DIGEST_BYTES:]
            if hashlib.sha256(parts).digest() != content[:_DIGEST_BYTES]:
                return None
            result = self.rebuilt(target_context, pickle.loads(parts))  # noqa: S301 - in a folder of the user's own
            # Classes are pickled by their names, which may mean others by now.
            return result if result.signature.args == sigutils.normalize_signature(sig)[0] else None
        except Exception:  # noqa: BLE001 # damaged, or of a class that is gone
            return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """See numba's."""
        file = self.file_of(sig, result.codegen)
        if file is None or not self.can_keep(result):
            return
        unfinished = file.with_suffix(f".{secrets.token_hex(8)}")
        try:
            # Without the source and the types of all variables, which are there for `inspect_types`.
            parts = serialize.dumps(result._replace(type_annotation="")._reduce())  # type: ignore[no-untyped-call]
            try:
                unfinished.write_bytes(hashlib.sha256(parts).digest() + parts)
                unfinished.replace(file)
            finally:
                unfinished.unlink(missing_ok=True)
        except pickle.PicklingError:
            pass  # of a function without a name
        except Exception as error:  # noqa: BLE001 # the code is there, and runs
            _say_nothing_is_kept(f"in {self.cache_path}", error)

    def can_keep(self, result: Any) -> bool:
        """Whether code may run in another process: it holds no addresses, nor pieces in object mode."""
        return not result.library.has_dynamic_globals and all(each.can_cache for each in result.lifted)

    def rebuilt(self, target_context: Any, parts: tuple[Any, ...]) -> Any:
        """Make what numba compiled out of what was kept."""
        return CompileResult._rebuild(target_context, *parts)


def _say_nothing_is_kept(what: str, error: Exception) -> None:
    """Warn, once in a process of each reason, that machine code is not kept."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or repr(error)
    if reason not in _said:
        _said.add(reason)
        warnings.warn(
            f"machine code is not kept {what}, each process makes it anew: {reason}", MachineCodeWarning, stacklevel=2
        )


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """numba's dispatcher, for functions that both Python and compiled code may call.

    One process makes a specialization, while others that share its cache wait for it.

    Parameters
    ----------
    function
        The plain function.
    options
        Of numba's jit.
    folder_of
        Called with the function and :attr:`purpose` when machine code is first looked for; gives the folder that keeps
        it, or None.
    """

    purpose = ""
    """Part of the cache folder's name: code that is made in different ways lies in different folders."""

    cache_class: type[KernelCache] = KernelCache
    """How the code is read and written."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        folder_of: Callable[[Callable[..., Any], str], Path | None],
        **pipeline: Any,
    ) -> None:
        super().__init__(py_func=function, targetoptions=options, **pipeline)
        self._folder_of = folder_of
        self._is_prepared = False
        self.keeps_translation = False
        """Whether what compiled code calls is kept on disk, not only what Python calls."""

    def _prepare_cache(self) -> None:
        if self._is_prepared:
            return
        self._is_prepared = True
        # Nothing is kept of a function typed at a prompt: no file shows what it depends on.
        if not Path(inspect.getfile(self.py_func)).exists():
            return
        try:
            folder = self._folder_of(self.py_func, self.purpose)
        except Exception as error:  # noqa: BLE001 # whatever it is, the kernel can be compiled
            _say_nothing_is_kept(f"of {self.py_func.__qualname__}", error)
        else:
            if folder is not None:
                self._cache = self.cache_class(self.py_func, folder)

    def _is_here(self, sig: Any) -> bool:
        return tuple(sigutils.normalize_signature(sig)[0]) in self.overloads

    def compile(self, sig: Any) -> Any:
        """See numba's Dispatcher."""
        if self._is_here(sig):
            return super().compile(sig)
        with _collecting_later():
            cache = self._cache
            file = cache.file_of(sig, self.targetctx.codegen()) if isinstance(cache, KernelCache) else None
            if file is not None and os.path.exists(file):  # noqa: PTH110 - Path's raises where nobody may look
                return super().compile(sig)
            load_compiler()
            with contextlib.nullcontext() if file is None else one_process(file.with_suffix(".making")):
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
