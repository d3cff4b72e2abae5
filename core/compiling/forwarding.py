"""Compiled calls of one function that are calls of another.

An overload of numba's compiles a function around each such call, for each types of its arguments. In a search that was
a seventh of all that is compiled.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

F = TypeVar("F", bound=Callable[..., Any])

_primitives: set[Callable[..., Any]] = set()


def primitive(function: F) -> F:
    """Mark a plain function that has a compiled form of its own: its name is left alone in code that is compiled."""
    _primitives.add(function)
    return function


def is_primitive(function: Callable[..., Any]) -> bool:
    """Whether a plain function is marked so."""
    return function in _primitives


class Callee(NamedTuple):
    """What a compiled call is a call of."""

    function: Any
    """Known to numba; or a constant, which the call then gives."""

    first: int = 0
    """From which argument on the function gets them."""

    kind: Any = None
    """numba's type to which the result is converted, if it is."""


class _Forwarding(AbstractTemplate):
    """How numba types and lowers such calls."""

    choose: Callable[..., Callee | None]
    made: dict[tuple[Any, ...], Callable[..., Any]]

    def generic(self, args: tuple[Any, ...], _kws: Any) -> Any:
        """See numba's."""
        callee = self.choose(*args)
        if callee is None:
            return None
        passed = args[callee.first :]
        if callable(callee.function):
            target = self.context.resolve_value_type(callee.function)
            found = self.context.resolve_function_type(target, passed, {})
            given = found.return_type
        else:
            target = found = None
            given = numba.typeof(callee.function)
        result = callee.kind or given

        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            if found is None:
                value = context.get_constant(given, callee.function)
            else:
                triples = zip(values[callee.first :], passed, found.args, strict=True)
                taken = [context.cast(builder, each, kind, wanted) for each, kind, wanted in triples]
                value = context.get_function(target, found)(builder, taken)
            return context.cast(builder, value, given, result)

        self.made[args] = generate
        lower_builtin(generate, *args)(generate)
        return signature(result, *args)  # type: ignore[no-untyped-call]

    def get_impl_key(self, sig: Any) -> Any:
        """See numba's."""
        return self.made[sig.args]


def forward(stub: Callable[..., Any], choose: Callable[..., Callee | None]) -> None:
    """Let compiled calls of a plain function be calls of what is chosen by the types of their arguments."""
    template = type(stub.__name__, (_Forwarding,), {"key": stub, "choose": staticmethod(choose), "made": {}})
    infer_global(primitive(stub), types.Function(template))  # type: ignore[no-untyped-call]


def compiled_as(function: Any) -> Callable[[F], F]:
    """Let compiled calls of a plain function be calls of one that numba knows, an intrinsic say."""
    callee = Callee(function)

    def register(stub: F) -> F:
        forward(stub, lambda *_: callee)
        return stub

    return register
