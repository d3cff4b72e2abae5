"""What a conformance suite found: one result per promise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from attrs import define, field

from glem.core.errors import ConformanceError, GlemError

__all__ = ["BrokenPromise", "CheckResult", "ConformanceReport", "Examination"]

_SHOWN_FAILURES = 3


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
    """All results of one examination; prints itself as a table of lines."""

    subject: str
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no promise was found broken."""
        return not any(result.failure_count for result in self.results)

    def require(self) -> None:
        """Raise :class:`ConformanceError` with all failures, if there are any."""
        if not self.passed:
            raise ConformanceError(str(self))

    def __str__(self) -> str:
        lines = [f"{self.subject}: {'keeps its promises' if self.passed else 'breaks a promise'}"]
        for result in self.results:
            if result.skipped:
                lines.append(f"  --   {result.name}: {result.skipped}")
            elif result.failure_count:
                lines.append(f"  FAIL {result.name}: {result.promise} ({result.failure_count} of {result.cases})")
                lines.extend("         " + text.replace("\n", "\n           ") for text in result.failures)
            else:
                lines.append(f"  ok   {result.name} ({result.cases})")
        return "\n".join(lines)


class BrokenPromise(Exception):  # noqa: N818 - never leaves this package, where it reads as what it is
    """Ends a check that cannot go on."""


@define
class OpenCheck:
    """A check under way."""

    cases: int = 0
    failures: list[str] = field(factory=list)
    failure_count: int = 0

    def fail(self, text: str) -> None:
        """Record a failure; only the first few texts are kept."""
        self.failure_count += 1
        if len(self.failures) < _SHOWN_FAILURES:
            self.failures.append(text)

    def expect(self, kept: Any, text: str) -> None:
        """Count a case and record a failure unless the promise was kept."""
        self.cases += 1
        if not kept:
            self.fail(text)


class Examination:
    """Collects the results of checks; whatever a plugin's code raises becomes a failure of the check under way."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self._results: list[CheckResult] = []

    @contextlib.contextmanager
    def check(self, name: str, promise: str) -> Iterator[OpenCheck]:
        """Open a check; an exception in the block is a failure of it."""
        check = OpenCheck()
        try:
            yield check
        except (BrokenPromise, GlemError) as error:
            check.fail(str(error))
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
            check.fail(f"{type(error).__name__}: {error}")
        cases = max(check.cases, check.failure_count)
        self._results.append(CheckResult(name, promise, cases, tuple(check.failures), check.failure_count))

    def skip(self, name: str, promise: str, reason: str) -> None:
        """Record that a check does not apply."""
        self._results.append(CheckResult(name, promise, skipped=reason))

    def report(self) -> ConformanceReport:
        """All results so far."""
        return ConformanceReport(self.subject, tuple(self._results))
