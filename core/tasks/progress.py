"""Progress of long work: a replaceable display, silent or in plain lines."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

_FIRST_SECONDS = 10.0
_MOST_SECONDS = 60.0


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


class Parts:
    """Shows pieces of work, in whatever threads, as units of one task.

    Parameters
    ----------
    task
        The task; every piece of work is one of its units.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End all pieces at their next report: nobody waits for them any more."""
        self._stopped.set()

    @contextlib.contextmanager
    def __call__(self, description: str, total: float | None = None) -> Iterator[Task]:
        """Open a piece; see :class:`Progress`."""
        part = _Part(self._task, total, self._stopped)
        yield part
        self._task.advance(1 - part.share)


class _Part:
    def __init__(self, task: Task, total: float | None, stopped: threading.Event) -> None:
        self._task, self._total, self._stopped = task, total, stopped
        self.share = 0.0

    def advance(self, amount: float = 1) -> None:
        if self._stopped.is_set():
            raise InterruptedError("stopped")
        share = min(amount / self._total, 1 - self.share) if self._total else 0.0
        self.share += share
        self._task.advance(share)

    def note(self, text: str) -> None:
        self._task.note(text)


class _LineTask:
    def __init__(self, description: str, total: float | None) -> None:
        self._description = description
        self._total = total
        self._done = 0.0
        self._note = ""
        self._began = time.monotonic()

    def advance(self, amount: float = 1) -> None:
        self._done += amount

    def note(self, text: str) -> None:
        self._note = text

    def line(self) -> str:
        seconds = time.monotonic() - self._began
        facts = []
        if self._total:
            share = min(self._done / self._total, 1.0)
            facts.append(f"{share:.0%}")
            if share > 0:
                facts.append(f"about {_duration(seconds / share - seconds)} left")
        elif self._done:
            facts.append(f"{self._done:,.0f} done")
        facts += [f"{_duration(seconds)} so far", self._note]
        return f"{self._description.strip()}: {', '.join(fact for fact in facts if fact)}"


class LineProgress:
    """Shows the task that was opened last in lines: after ten seconds, then ever less often, at last one a minute.

    Parameters
    ----------
    write
        Takes a line without its end; called from another thread.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._open: list[_LineTask] = []
        self._interval = _FIRST_SECONDS
        self._due = time.monotonic() + _FIRST_SECONDS

    @contextlib.contextmanager
    def __call__(self, description: str, total: float | None = None) -> Iterator[Task]:
        """Open a task; see :class:`Progress`."""
        task = _LineTask(description, total)
        with self._lock:
            self._open.append(task)
        ended = threading.Event()
        # A thread of its own, since work may take minutes between two reports.
        watch = threading.Thread(target=self._watch, args=(ended,), name="progress", daemon=True)
        watch.start()
        try:
            yield task
        finally:
            ended.set()
            watch.join()
            with self._lock:
                self._open.remove(task)

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(max(self._due - time.monotonic(), 0)):
            with self._lock:
                now = time.monotonic()
                if now < self._due or not self._open:
                    continue
                self._interval = min(2 * self._interval, _MOST_SECONDS)
                self._due = now + self._interval
                line = self._open[-1].line()
            self._write(line)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
