"""Progress of long work: a replaceable display with a silent stand-in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["SILENT", "Progress", "Task"]


class Task(Protocol):
    """One long piece of work as its display sees it."""

    def advance(self, amount: float = 1) -> None:
        """Report that ``amount`` more units are done."""

    def note(self, text: str) -> None:
        """Show a short text beside the bar, the current error for instance."""


class Progress(Protocol):
    """Opens the display of one piece of work."""

    def __call__(self, description: str, total: float | None = None) -> AbstractContextManager[Task]:
        """Open a task of ``total`` units, or of an unknown number."""
        ...


class _SilentTask:
    def advance(self, amount: float = 1) -> None:
        pass

    def note(self, text: str) -> None:
        pass


@contextlib.contextmanager
def _silent(description: str, total: float | None = None) -> Iterator[Task]:
    yield _SilentTask()


SILENT: Progress = _silent
"""Shows nothing."""
