"""What becomes of a compilation that fails: one line that says why, or plain Python in place of machine code.

Generic code gets a game's functions from outside. Where one of these is what numba cannot compile, the generic code
that reached it runs as plain Python, and one warning says so (:mod:`glem.core.compiling.plain_python`); any other
failure is an error.
"""

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from glem.core.compiling.plain_python import CarriesFunctions, warn_of_plain_rules
from glem.core.errors import PluginError

_uncompilable: dict[Callable[..., Any], str] = {}
_plain_forms: dict[tuple[Any, ...], Callable[..., Any]] = {}
_attempt = threading.local()
_attempts = threading.RLock()

_CORE = __name__.rpartition(".")[0]

# Parts of numba's accounts of a failed compilation.
_CALLEE = re.compile(r"type\(\w*Dispatcher\(<function (\w+) at")
_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_STAGE = re.compile(
    r">>>|Failed in|No implementation of|There are \d+ cand|- Of which|Overload (in|of)|With argument|Rejected as"
    r"|TypingError: Failed|- Resolution|During"
)

_UNTYPED_RECURSION = "cannot type infer runaway recursion"


class UncompilableError(PluginError):
    """numba cannot compile a function; the text names it and says why in one line, the cause has numba's account."""


def explain_failures(dispatcher: Any) -> Any:
    """Make a failed compilation of a numba function raise :class:`UncompilableError` instead of numba's pages."""
    compile_for_arguments = dispatcher._compile_for_args

    def compile_or_explain(*arguments: Any, **named: Any) -> Any:
        try:
            return compile_for_arguments(*arguments, **named)
        except (NumbaError, UnsupportedBytecodeError, NotImplementedError, LookupError, AssertionError) as error:
            failure: _Failure | None = next(iter(getattr(error, "glem_failures", ())), None)
            # Only numba's own errors tell in their text which function it was.
            is_bare = not isinstance(error, NumbaError)
            function = failure.function if failure is not None and is_bare else dispatcher.py_func
            raise UncompilableError(_explanation(function, error)) from error

    # numba's call path looks this name up on the instance, so that the fast path of a compiled call stays as it is.
    dispatcher._compile_for_args = compile_or_explain
    return dispatcher


class _Failure(NamedTuple):
    function: Callable[..., Any]
    error: Exception


def note_failures(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Note when a twin cannot be compiled for the code that calls it; the innermost of them is noted first."""
    call_template = dispatcher.get_call_template

    def noting(arguments: Any, named: Any) -> Any:
        failures = _failures()
        before = len(failures)
        try:
            return call_template(arguments, named)
        except Exception as error:
            if len(failures) == before:
                # numba remembers failures: the second time it raises the same error without looking further in.
                failures.extend(getattr(error, "glem_failures", []))
            failures.append(_Failure(function, error))
            error.glem_failures = tuple(failures[before:])  # type: ignore[attr-defined]  # an attribute of our own
            raise

    dispatcher.get_call_template = noting


def _failures() -> list[_Failure]:
    """Failures of the compilation under way in this thread."""
    if not hasattr(_attempt, "failures"):
        _attempt.failures = []
    return _attempt.failures  # type: ignore[no-any-return]


def give_way_to_plain_form(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Let a twin that reaches a stranger's function which cannot be compiled run as the plain function."""
    compile_or_explain = dispatcher._compile_for_args

    def plain_form(*arguments: Any) -> Any:
        # Compiled code wraps around and divides by zero without a word.
        with np.errstate(all="ignore"):
            return function(*(getattr(argument, "plain_form", argument) for argument in arguments))

    def compile_or_give_way(*arguments: Any, **named: Any) -> Any:
        carried = [argument for argument in arguments if isinstance(argument, CarriesFunctions)]
        if not carried:
            return compile_or_explain(*arguments, **named)
        key = (function, *(numba.typeof(value) for value in carried))
        if key in _plain_forms:
            return _plain_forms[key]
        # One at a time: numba raises a failure that it remembers without saying again where it lies.
        with _attempts:
            known = _plain_forms.get(key)
            if known is not None:
                return known
            failures = _failures()
            failures.clear()
            try:
                return compile_or_explain(*arguments, **named)
            except (OSError, MemoryError):
                raise  # which no other form of a function would mend
            except Exception as error:
                found: Sequence[_Failure] = failures or getattr(error.__cause__, "glem_failures", [])
                # What fails inside glem alone is a mistake of glem: to hide it would make everything slow.
                culprit = next((failure for failure in found if not _is_core(failure.function)), None)
                if culprit is None:
                    raise
                for failed, its_error in found:
                    if failed not in _uncompilable:
                        _uncompilable[failed] = _explanation(failed, its_error)
                reason = _uncompilable[culprit.function]
                chain = {failure.function for failure in found}
                owner = next((value for value in carried if value.carries(chain)), carried[0])
                _plain_forms[key] = plain_form
        warn_of_plain_rules([(owner.subject, reason)])
        # numba calls whatever callable it is given here.
        return plain_form

    dispatcher._compile_for_args = compile_or_give_way


def _is_core(function: Callable[..., Any]) -> bool:
    return function.__module__ == _CORE or function.__module__.startswith(f"{_CORE}.")


def refuse_function(function: Callable[..., Any], reason: str) -> NoReturn:
    """Say, while code that calls it is being compiled, that a function cannot be."""
    _uncompilable.setdefault(function, reason)
    error = numba.TypingError(reason)
    _failures().append(_Failure(function, error))
    raise error


def uncompilable_reason(function: Callable[..., Any]) -> str | None:
    """Why a dual function could not be compiled; None as long as nothing is known against it."""
    return _uncompilable.get(function)


def _explanation(function: Callable[..., Any], error: Exception) -> str:
    """One line out of numba's account, which tells of the callers first and of the innermost place last."""
    account = str(error) or repr(error)
    inner = _CALLEE.search(account)
    name = inner[1] if inner is not None else f"{function.__module__}.{function.__qualname__}"
    lines = [line.strip() for line in account.splitlines()]
    reason = ""
    for line in lines:
        if line.startswith(">>>") and "Operations(" not in line:
            reason = f"numba knows no {line.removeprefix('>>> ')}"
        elif line and not _STAGE.match(line):
            reason = line.removesuffix(" Raised from None").rstrip(".")
        if reason:
            break
    if isinstance(error, KeyError) and _are_types(error.args):
        reason = (
            f"it is a recursion, and calls itself with {account}, other types than it was called with; make each "
            "argument the type that it was (a shift of a np.uint32 gives a uint64)"
        )
    elif reason == _UNTYPED_RECURSION:
        reason = "numba cannot type its recursion; let a return that calls nothing come first, and give its type"
    places = ((Path(match["file"]), match["line"]) for match in _PLACE.finditer(account))
    place = next((f" ({file}:{line})" for file, line in places if not _passes_on(file)), "")
    begin = getattr(function, "__code__", None)
    if not place and inner is None and begin is not None:
        place = f" ({begin.co_filename}:{begin.co_firstlineno})"
    return f"{name} cannot be compiled: {reason or lines[0]}{place}"


def _are_types(arguments: tuple[Any, ...]) -> bool:
    """Whether a key that numba has not found is a signature: of a recursion, the only one that it has not yet made."""
    return any(isinstance(key, tuple) and all(isinstance(each, types.Type) for each in key) for key in arguments)


_CALLER = Path(__file__).with_name("columns.py")


def _passes_on(file: Path) -> bool:
    """Whether a place in numba's account is one that only calls the code in question."""
    full = file.resolve()
    return full.is_relative_to(Path(numba.__file__).parent) or full == _CALLER
