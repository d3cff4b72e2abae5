"""Opaque values that carry a set of plain functions into generic code, in both worlds.

An :class:`Operations` value names some plain functions, a game's rules for instance. Generic code calls
``play(rules, position, move)``: in plain Python that looks the function up; under numba the *type* of
``rules`` carries the name and a digest of the sources behind the functions, and an overload picks the
compiled function, so that calls inline, each set gets its own machine code, the on-disk cache hits in a
second process and an edited source compiles anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Mapping
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.datamodel import models
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numba.np.numpy_support import from_dtype

from glem.core.compiling.code_digest import code_digest, plain
from glem.core.compiling.failures import refuse_function, uncompilable_reason
from glem.core.compiling.forwarding import Callee, forward
from glem.core.compiling.kernels import compiled, keep_translation
from glem.core.compiling.plain_python import CarriesFunctions
from glem.core.errors import PluginError

_live: dict[tuple[str, str], Operations] = {}


class OperationsType(types.Opaque):  # type: ignore[misc]
    """Numba's type of an :class:`Operations` value: its name and the digest of its sources."""

    def __init__(self, name: str, digest: str) -> None:
        self.operations_name = name
        self.digest = digest
        super().__init__(name=f"Operations({name}, {digest})")

    @property
    def key(self) -> tuple[str, str]:
        """What equal types have in common, for numba."""
        return (self.operations_name, self.digest)


register_model(OperationsType)(models.OpaqueModel)


class Operations(CarriesFunctions):
    """A named set of plain functions, callable from generic code in plain Python and compiled.

    Generic code that reaches a function which numba cannot compile runs as plain Python.

    Parameters
    ----------
    name
        Unique name: a game's for its rules, with a hyphen and a word behind it for others of the game's functions.
    functions
        Operation name to plain module-level function. ``None`` means that the operation is absent.
    """

    def __init__(self, name: str, functions: Mapping[str, Callable[..., Any] | None]) -> None:
        self.name = name
        self.functions: dict[str, Callable[..., Any]] = {
            operation: function for operation, function in functions.items() if function is not None
        }
        self._type: OperationsType | None = None

    def __repr__(self) -> str:
        return f"Operations({self.name!r}: {', '.join(sorted(self.functions))})"

    def __getitem__(self, operation: str) -> Callable[..., Any]:
        try:
            return self.functions[operation]
        except KeyError:
            raise PluginError(
                f"{self.name} has no operation {operation!r}; it has: {', '.join(sorted(self.functions))}"
            ) from None

    def __contains__(self, operation: str) -> bool:
        return operation in self.functions

    def __reduce__(self) -> Any:
        return (Operations, (self.name, self.functions))

    @property
    def subject(self) -> str:
        """Name of the game whose functions they are."""
        game, _, purpose = self.name.rpartition("-")
        return game if game and purpose.isalpha() else self.name

    def carries(self, functions: Container[Callable[..., Any]]) -> bool:
        """Whether one of some functions is one of these."""
        return any(function in functions for function in self.functions.values())

    @property
    def plain_reasons(self) -> dict[str, str]:
        """Operation name to the reason why numba could not compile its function, as far as it has been tried."""
        reasons = {operation: uncompilable_reason(function) for operation, function in self.functions.items()}
        return {operation: reason for operation, reason in reasons.items() if reason is not None}

    @property
    def plain_reason(self) -> str | None:
        """Why code that calls some of the functions runs as plain Python; None as far as all compile."""
        return next(iter(self.plain_reasons.values()), None)

    @property
    def numba_type(self) -> OperationsType:
        """The type that numba sees; equal names and sources give equal types in every process."""
        if self._type is None:
            names = sorted(self.functions)
            # What is no Python function is never compiled.
            code = code_digest(*(self.functions[name] for name in names if _is_python(self.functions[name])))
            # One function may stand for two operations, and two may change places.
            places = ",".join(f"{name}:{getattr(self.functions[name], '__qualname__', '')}" for name in names)
            digest = hashlib.sha256(f"{code}|{places}".encode()).hexdigest()[:16]
            self._type = OperationsType(self.name, digest)
            _live[self._type.key] = self
        return self._type


@typeof_impl.register(Operations)  # type: ignore[untyped-decorator]
def _typeof_operations(value: Operations, _context: Any) -> OperationsType:
    return value.numba_type


@unbox(OperationsType)  # type: ignore[untyped-decorator]
def _unbox_operations(_typ: Any, _value: Any, context: Any) -> Any:
    return NativeValue(context.context.get_dummy_value())


def _function_of(operations_type: Any, operation: str) -> Any:
    if not isinstance(operations_type, OperationsType):
        return None
    operations = _live[operations_type.key]
    if operation not in operations:
        raise numba.TypingError(f"{operations.name} has no operation {operation!r}")
    function = operations[operation]
    if not _is_python(function):
        kind = type(function).__name__
        refuse_function(function, f"{operation} cannot be compiled: it is a {kind}, no function of a Python module")
    return keep_translation(compiled(function))


def _is_python(function: Any) -> bool:
    return isinstance(plain(function), FunctionType)


def has_operation(operations_type: Any, operation: str) -> bool:
    """Whether the operations of a numba type have the named one: lets an overload choose at compile time."""
    return isinstance(operations_type, OperationsType) and operation in _live[operations_type.key]


def generic_operation(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a stub ``name(operations, ...)`` into a generic operation; its body is what runs in plain Python."""
    name = stub.__name__

    def choose(operations: Any, *_: Any) -> Callee | None:
        function = _function_of(operations, name)
        return None if function is None else Callee(function, first=1)

    forward(stub, choose)
    return stub


def by_presence(
    operation: str, present: Callable[..., Any] | int, absent: Callable[..., Any] | int, kind: Any
) -> Callable[..., Any]:
    """Make a dual function ``(operations, ...)`` that does one of two things, chosen when it is compiled.

    Parameters
    ----------
    operation
        Decides by whether the operations have it.
    present, absent
        Dual functions or generic operations of the same arguments, or what such a function would always give.
    kind
        Type of the result, to which either is converted; None leaves it as it is.
    """

    def chosen(operations: Any, *arguments: Any) -> Any:
        function = present if operation in operations else absent
        result = function(operations, *arguments) if callable(function) else function
        return result if kind is None else kind(result)

    def choose(operations: Any, *_: Any) -> Callee:
        function: Any = present if has_operation(operations, operation) else absent
        return Callee(compiled(function), kind=None if kind is None else from_dtype(np.dtype(kind)))

    forward(chosen, choose)
    return chosen


def bound(function: Callable[..., Any], **named: Any) -> Callable[..., Any]:
    """Copy a dual function so that some global names in it stand for other functions or constants.

    Each copy compiles with its own functions inside, under a digest of its own. A closure would do the same as plain
    Python, but its machine code could not be kept on disk.

    Parameters
    ----------
    function
        A module-level plain function.
    named
        Global names that it uses, and the dual functions or constants that they stand for in the copy. Where
        functions that it calls use the names, these keep their meaning.

    Returns
    -------
    function
    """
    assert isinstance(function, FunctionType)
    copy = FunctionType(function.__code__, {**function.__globals__, **named}, function.__name__)
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return copy
