"""What a conformance suite found: one result per promise."""

from __future__ import annotations

import contextlib
import re
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field

from glem.core.compiling.plain_python import PlainRulesWarning
from glem.core.errors import ConformanceError, GlemError
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["BrokenPromise", "CheckResult", "ConformanceReport", "Examination", "OpenCheck", "examine"]

_SHOWN_FAILURES = 3
_OUT_OF_BOUNDS = re.compile(r"out of bounds for (u?int\d+)")
_CORE = Path(__file__).resolve().parents[1]


@define(frozen=True)
class CheckResult:
    """One promise and how it was kept.

    Parameters
    ----------
    name
        Short name, e.g. ``moves compiled``.
    promise
        The promise in words.
    cases
        How many positions, moves or values were looked at.
    failures
        Texts of the first few failures, each showing the position.
    failure_count
        Number of all failures.
    skipped
        Why the check does not apply, or empty.
    """

    name: str
    promise: str
    cases: int = 0
    failures: tuple[str, ...] = ()
    failure_count: int = 0
    skipped: str = ""


@define(frozen=True)
class ConformanceReport:
    """All results of one examination; prints itself as a table of lines.

    Parameters
    ----------
    subject
        What was examined.
    results
        One for each promise.
    notes
        What is worth knowing and breaks no promise.
    """

    subject: str
    results: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no promise was found broken; nor is one where nothing was looked at, see :attr:`not_looked_at`."""
        return not any(result.failure_count for result in self.results)

    @property
    def not_looked_at(self) -> str:
        """Why nothing was looked at; empty if something was."""
        reasons = [result.skipped for result in self.results]
        return reasons[0] if reasons and all(reasons) else ""

    def require(self) -> None:
        """Raise :class:`ConformanceError` with all failures, if there are any."""
        if not self.passed:
            raise ConformanceError(str(self))

    def __str__(self) -> str:
        if self.not_looked_at:
            return f"{self.subject}: not looked at: {self.not_looked_at}"
        lines = [f"{self.subject}: {'keeps its promises' if self.passed else 'breaks a promise'}"]
        for result in self.results:
            if result.skipped:
                lines.append(f"  --   {result.name}: {result.skipped}")
            elif result.failure_count:
                lines.append(f"  FAIL {result.name}: {result.promise} ({result.failure_count} of {result.cases})")
                lines.extend("         " + text.replace("\n", "\n           ") for text in result.failures)
            else:
                lines.append(f"  ok   {result.name} ({result.cases})")
        lines.extend(f"  note {note}" for note in self.notes)
        return "\n".join(lines)


class BrokenPromise(Exception):  # noqa: N818 - never leaves this package, where it reads as what it is
    """Ends a check that cannot go on."""


@define
class OpenCheck:
    """A check under way.

    Parameters
    ----------
    cases, failures, failure_count
        So far.
    place
        Describes the position that is being looked at, if one is: failures end in it.
    """

    cases: int = 0
    failures: list[str] = field(factory=list)
    failure_count: int = 0
    place: Callable[[], str] | None = None

    def fail(self, text: str) -> None:
        """Record a failure; only the first few texts are kept."""
        self.failure_count += 1
        if len(self.failures) < _SHOWN_FAILURES:
            self.failures.append(text if self.place is None else f"{text}, {self.place()}")

    def expect(self, kept: Any, text: str) -> None:
        """Count a case and record a failure unless the promise was kept."""
        self.cases += 1
        if not kept:
            self.fail(text)

    def result(self, name: str, promise: str) -> CheckResult:
        """Close the check."""
        return CheckResult(name, promise, max(self.cases, self.failure_count), tuple(self.failures), self.failure_count)


def _line_of(error: Exception) -> str:
    """Deepest line outside of glem's core that an error passed through."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = Path(frame.f_code.co_filename)
        if path.is_absolute() and not path.resolve().is_relative_to(_CORE):
            return f" ({path.name}, line {line})"
    return ""


def _hint_for(error: Exception) -> str:
    """Advice for what happens where Python's own integers meet numpy's."""
    found = _OUT_OF_BOUNDS.search(str(error)) if isinstance(error, OverflowError) else None
    if found is None:
        return ""
    kind = f"np.{found[1]}(...)"
    return f"; constants and shifts that meet a np.{found[1]} are {kind}, as in {kind.replace('...', '1')} << {kind}"


class Examination:
    """Collects the results of checks; whatever a plugin's code raises becomes a failure of the check under way."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self._results: list[CheckResult] = []
        self._notes: list[str] = []

    @contextlib.contextmanager
    def check(self, name: str, promise: str) -> Iterator[OpenCheck]:
        """Open a check; an exception in the block is a failure of it."""
        check = OpenCheck()
        with _caught(check):
            yield check
        self._results.append(check.result(name, promise))

    def compare_compiled(
        self, name: str, promise: str, body: Callable[[OpenCheck], None], why_plain: Callable[[], str | None]
    ) -> None:
        """Run a check that needs compiled code; where numba cannot compile the plugin's functions, it does not apply.

        Parameters
        ----------
        name, promise, body
            The check.
        why_plain
            Why the functions could not be compiled, None if they could; asked before and after the check.
        """
        check = OpenCheck()
        if why_plain() is None:
            with _caught(check):
                body(check)
        reason = why_plain()
        if reason is None:
            self._results.append(check.result(name, promise))
        else:
            self.skip(name, promise, f"runs as plain Python: {reason}")
            self.note(f"runs as plain Python, many times slower: {reason}")

    def skip(self, name: str, promise: str, reason: str) -> None:
        """Record that a check does not apply."""
        self._results.append(CheckResult(name, promise, skipped=reason))

    def note(self, text: str) -> None:
        """Add what is worth knowing and breaks no promise, once."""
        if text not in self._notes:
            self._notes.append(text)

    def report(self) -> ConformanceReport:
        """All results so far."""
        return ConformanceReport(self.subject, tuple(self._results), tuple(self._notes))


@contextlib.contextmanager
def _caught(check: OpenCheck) -> Iterator[None]:
    try:
        yield
    except (BrokenPromise, GlemError) as error:
        check.fail(str(error))
    except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
        check.fail(f"{type(error).__name__}: {error}{_line_of(error)}{_hint_for(error)}")


def examine(examination: Examination, steps: Sequence[Callable[[], None]], progress: Progress = SILENT) -> None:
    """Take the steps of an examination one after the other, under a display of how far it is."""
    # The report says which functions run as plain Python; plain rules may wrap around as they do compiled.
    with (
        progress(f"check {examination.subject}", len(steps)) as task,
        np.errstate(over="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", PlainRulesWarning)
        for step in steps:
            step()
            task.advance()
