"""A stranger's functions that numba cannot compile: they run as plain Python, and one warning says so.

Nothing here imports numba: the command line and its workers use it before they know whether anything is compiled.
"""

import contextlib
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from glem.core.errors import GlemWarning

PlainReason = tuple[str, str]
"""Whose functions run as plain Python, and why."""

_warned: set[str] = set()
_lock = threading.Lock()
_collectors: list[list[PlainReason]] = []


class PlainRulesWarning(GlemWarning):
    """Functions of a game run as plain Python, slowly, because numba cannot compile one of them."""


class CarriesFunctions(ABC):
    """Base of values that carry a stranger's functions into compiled code.

    Where one of them cannot be compiled, the code that got the value runs as plain Python.
    """

    @property
    @abstractmethod
    def subject(self) -> str:
        """Whose functions they are, for the warning: a game's name."""

    @abstractmethod
    def carries(self, functions: Container[Callable[..., Any]]) -> bool:
        """Whether one of some functions is among them."""


def warn_of_plain_rules(reasons: Iterable[PlainReason]) -> None:
    """Warn once in a process of each subject with :class:`PlainRulesWarning`, or note it for who collects."""
    for subject, reason in reasons:
        with _lock:
            if subject in _warned:
                continue
            _warned.add(subject)
            if _collectors:
                _collectors[-1].append((subject, reason))
                continue
        warnings.warn(f"{subject} runs as plain Python, many times slower: {reason}", PlainRulesWarning, stacklevel=2)


@contextlib.contextmanager
def collected_reasons() -> Iterator[list[PlainReason]]:
    """Collect what this process would warn of, for the one that warns in its place."""
    reasons: list[PlainReason] = []
    with _lock:
        _collectors.append(reasons)
    try:
        yield reasons
    finally:
        with _lock:
            _collectors[:] = [others for others in _collectors if others is not reasons]
