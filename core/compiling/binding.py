"""Copies of dual functions that call other functions than those they name: one text, bound to many games."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

__all__ = ["bound"]


def bound(function: Callable[..., Any], **named: Callable[..., Any]) -> Callable[..., Any]:
    """Copy a dual function so that some global names in it stand for other functions.

    Each copy compiles with its own functions inside, under a digest of its own. A closure would do the same as plain
    Python, but its machine code could not be kept on disk.

    Parameters
    ----------
    function
        A module-level plain function.
    named
        Global names that it uses, and the dual functions that they stand for in the copy. Where functions that it
        calls use the names, these keep their meaning.

    Returns
    -------
    function
    """
    assert isinstance(function, FunctionType)
    copy = FunctionType(function.__code__, {**function.__globals__, **named}, function.__name__)
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return copy
