"""The version, and the errors that glem raises on purpose; all derive from :class:`GlemError`."""

import contextlib
import inspect
import math
import os
import stat
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

__version__ = "0.1.0"

INTERFACE_VERSION = 1
"""Version of the game interface; a plugin states the one that it was written for."""

ABOVE_0, BELOW_1 = math.ulp(0.0), math.nextafter(1.0, 0.0)
"""Bounds of numbers that are greater than 0, or less than 1."""

_LONGEST_REASON = 200
_OWN = (AssertionError, ImportError, NameError, SystemError, TimeoutError)
_COMPILER = ("numba", "llvmlite")
_READERS = ("numpy", "pyarrow", "pandas", "polars")
_WRONG_CALL = "unexpected keyword argument"
"""Lists of a file give other mistakes of calls; its objects are checked by name."""


class GlemError(Exception):
    """Base of every error that glem raises on purpose; its text is meant for the user."""


class BadInputError(GlemError):
    """A file or argument is not what it should be; the text names file and record."""


class NotEnoughMemoryError(GlemError, MemoryError):
    """Something does not fit into memory; the text names it."""


class PluginError(GlemError):
    """A game plugin cannot be found, loaded or trusted; the text names the distribution."""


class ConformanceError(GlemError):
    """A plugin breaks a promise of the interface; the text shows the position."""


class GlemWarning(UserWarning):
    """Base of every warning that glem gives; commands show it as one line."""


def versions() -> str:
    """Name this glem and the interface version that it has, for errors."""
    return f"glem {__version__} with interface version {INTERFACE_VERSION}"


def check_regular(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe or a device, which may never give anything, never end, and is not there to be read again.

    Raises
    ------
    BadInputError
        The text says what it is.
    """
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        what = "a pipe" if stat.S_ISFIFO(mode) else "a device"
        raise BadInputError(f"{os.fspath(path)}: is {what}, a file is needed here")


def described(given: Any) -> str:
    """Name what a function was given in place of what it needs, by its type."""
    kind = type(given).__name__
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    shape = f" of shape {given.shape}" if kind == "ndarray" else ""
    return f"{article} {kind}{shape}"


def likely(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Ask whether the nearest of some names was meant, ``did you mean 'x'?``; where none is near, say otherwise."""
    import difflib

    near = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def check_arguments(given: Any, **allowed: tuple[Any, ...]) -> None:
    """Refuse arguments that are none of their closed words, or no number within their bounds.

    Parameters
    ----------
    given
        The arguments by name, or what has them as attributes. None stands for no choice and is passed over.
    allowed
        For each name the words, or the least number and, where there is one, the greatest. An int as the least asks for
        whole numbers.

    Raises
    ------
    BadInputError
        Names the argument, what it is and what it may be.
    """
    for name, known in allowed.items():
        value = given[name] if isinstance(given, Mapping) else getattr(given, name)
        if value is None:
            continue
        if isinstance(known[0], str):
            if not isinstance(value, str) or value not in known:
                raise BadInputError(f"{name} is {value!r}, expected {', '.join(known[:-1])} or {known[-1]}")
            continue
        least, most = known[0], known[1] if len(known) > 1 else math.inf
        is_whole = isinstance(least, int)
        is_number = isinstance(value, Integral if is_whole else Real) and not isinstance(value, bool)
        if not is_number or not least <= value <= most or value == math.inf:
            low, high = (f"{bound:,}".removesuffix(".0") for bound in (least, most))
            bounds = "above 0" if least == ABOVE_0 else f"of at least {low}"
            bounds += "" if most == math.inf else " and below 1" if most == BELOW_1 else f" and at most {high}"
            raise BadInputError(f"{name} is {value!r}, expected a {'whole ' if is_whole else ''}number {bounds}")


_ALLOWED: dict[str, tuple[Any, ...]] = {
    "adjudicate": (0,),
    "depth": (1,),
    "jobs": (1,),
    "lines": (1,),
    "nodes": (1,),
    "opening_plies": (0,),
    "per_game": (1,),
    "seconds": (ABOVE_0,),
    "seed": (0, (1 << 32) - 1),
    "test_size": (0.0, 1.0),
    "workers": (1,),
}
"""What arguments may be that mean the same in all functions of ``import glem``, as of :func:`check_arguments`."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def checked(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Check the arguments of a function before it begins: its work may take hours before they matter."""
    signature = inspect.signature(function)

    @wraps(function)
    def checking(*args: _Arguments.args, **more: _Arguments.kwargs) -> _Result:
        try:
            given = signature.bind(*args, **more).arguments
        except TypeError:
            # The call says more.
            return function(*args, **more)
        # Workers may be a number, or an object that has it.
        known = {name: getattr(value, name, value) for name, value in given.items() if name in _ALLOWED}
        check_arguments(known, **{name: _ALLOWED[name] for name in known})
        return function(*args, **more)

    return checking


@contextlib.contextmanager
def reading(place: str | os.PathLike[str], what: str = "") -> Iterator[None]:
    """Turn whatever damage raises while something of a stranger is read into a :class:`BadInputError` that names it.

    Every reader of a file stands in such a block: zipfile, zlib, numpy, pyarrow and json each raise what they think
    fit where bytes are damaged, and so does code that finds another type than it expects. What no data can cause, such
    as a function that a library lacks, passes through as it is.

    Parameters
    ----------
    place
        The file, perhaps with line or record.
    what
        What it should be, without an article.

    Raises
    ------
    BadInputError
        It cannot be read, is no file, or is not what it should be.
    NotEnoughMemoryError
        It does not fit into memory.
    """
    if not isinstance(place, str | os.PathLike):
        raise BadInputError(f"the path of a file is needed, got {described(place)}")
    name = os.fspath(place)
    check_regular(place)
    try:
        yield
    except GlemError as error:
        if name in str(error) or isinstance(error, MemoryError):
            raise
        raise BadInputError(f"{name}: {error}") from error
    except MemoryError as error:
        raise NotEnoughMemoryError(f"{name}: not enough memory to read it{_reason(error)}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise BadInputError(f"{name}: cannot be read: {error.strerror or error}") from error
        if _is_no_damage(error):
            raise
        kind = type(error).__name__
        raise BadInputError(
            f"{name}: damaged, or no {what or 'file of the expected kind'} ({kind}{_reason(error)})"
        ) from error


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], temporary: str | os.PathLike[str] = "") -> Iterator[None]:
    """Name a file in errors of the system that name none, such as that the disk is full, or its temporary stand-in."""
    try:
        yield
    except OSError as error:
        hidden = os.fspath(temporary)
        if error.filename is None or (hidden and os.fsdecode(error.filename).startswith(hidden)):
            error.filename = os.fspath(path)
        raise


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    return f": {lines[0][:_LONGEST_REASON]}" if lines else ""


def _is_no_damage(error: Exception) -> bool:
    """Whether code is wrong, or what it runs on, and not what it reads."""
    if isinstance(error, AttributeError):
        # Values of JSON lack attributes where another type was expected; modules and objects of ours should not.
        return not isinstance(error.obj, dict | list | str | int | float | None)
    if isinstance(error, TypeError) and _WRONG_CALL in str(error):
        return True
    if isinstance(error, ZeroDivisionError | RecursionError):
        # Readers of libraries fail so at some bytes; our own check what they divide by and how deep they go.
        *_, (innermost, _) = traceback.walk_tb(error.__traceback__)
        package = str(innermost.f_globals.get("__name__")).partition(".")[0]
        return package not in _READERS and package not in sys.stdlib_module_names
    is_compilers = type(error).__module__.partition(".")[0] in _COMPILER
    return isinstance(error, (*_OWN, GlemWarning)) or type(error) is RuntimeError or is_compilers
