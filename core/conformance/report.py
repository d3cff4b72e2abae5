"""What a conformance suite found: one result per promise."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from attrs import define, field

from glem.core.compiling.plain_python import PlainRulesWarning
from glem.core.errors import ConformanceError, GlemError
from glem.core.tasks.progress import SILENT, Progress

_Look = TypeVar("_Look", bound=Callable[..., None])

_SHOWN_FAILURES = 3
_OUT_OF_BOUNDS = re.compile(r"out of bounds for (u?int\d+)")
_CORE = Path(__file__).resolve().parents[1]


class BrokenPromise(Exception):  # noqa: N818 - never leaves this package, where it reads as what it is
    """Ends a check that cannot go on."""


class NotApplicable(Exception):  # noqa: N818 - never leaves this package either
    """Ends a check that does not apply: its text says why; without a text the report does not name the check."""


@define
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
    failures: list[str] = field(factory=list)
    failure_count: int = 0
    skipped: str = ""
    place: Callable[[], str] | None = field(default=None, init=False, repr=False, eq=False)
    """Describes the position that is being looked at, if one is: failures end in it."""

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


@define
class ConformanceReport:
    """All results of one examination, as they come in; prints itself as a table of lines.

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
    results: list[CheckResult] = field(factory=list)
    notes: list[str] = field(factory=list)

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
        lines = [f"{self.subject}: {'no broken promise found' if self.passed else 'breaks a promise'}"]
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

    def run(
        self,
        name: str,
        promise: str,
        look: Callable[[CheckResult], None],
        why_plain: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Run a check; whatever a plugin's code raises is a failure of it.

        Parameters
        ----------
        why_plain
            Of a check that needs compiled code: why the plugin's functions could not be compiled, so that it does not
            apply; None if they could. Asked before and after the check.
        """
        check = CheckResult(name, promise)
        try:
            if why_plain() is None:
                look(check)
        except NotApplicable as reason:
            check.skipped = str(reason)
            if not check.skipped:
                return
        except (BrokenPromise, GlemError) as error:
            check.fail(str(error))
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
            check.fail(f"{type(error).__name__}: {error}{_line_of(error)}{_hint_for(error)}")
        if plain := why_plain():
            check = CheckResult(name, promise, skipped=f"runs as plain Python: {plain}")
            self.note(f"runs as plain Python, many times slower: {plain}")
        check.cases = max(check.cases, check.failure_count)
        self.results.append(check)

    def examine(
        self, steps: Sequence[Callable[[ConformanceReport], None]], progress: Progress = SILENT
    ) -> ConformanceReport:
        """Take the steps of an examination one after the other, under a display of how far it is."""
        # The results say which functions run as plain Python; plain rules may wrap around as they do compiled.
        with (
            progress(f"check {self.subject}", len(steps)) as task,
            np.errstate(over="ignore"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore", PlainRulesWarning)
            for step in steps:
                step(self)
                task.advance()
        return self

    def note(self, text: str) -> None:
        """Add what is worth knowing and breaks no promise, once."""
        if text not in self.notes:
            self.notes.append(text)


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


class Suite:
    """Checks in the order in which they are entered."""

    def __init__(self) -> None:
        self._steps: list[Callable[..., None]] = []

    def promise(
        self, name: str, text: str, why_plain: Callable[..., str | None] = lambda *subject: None
    ) -> Callable[[_Look], _Look]:
        """Enter a check: a function of the result under way and the subject.

        Parameters
        ----------
        why_plain
            As of :meth:`ConformanceReport.run`, a function of the subject.
        """

        def enter(look: _Look) -> _Look:
            def take(report: ConformanceReport, *subject: Any) -> None:
                report.run(name, text, lambda check: look(check, *subject), lambda: why_plain(*subject))

            self._steps.append(take)
            return look

        return enter

    def step(self, take: _Look) -> _Look:
        """Enter a function of the report and the subject, which makes as many checks as it likes."""
        self._steps.append(take)
        return take

    def of(self, *subject: Any) -> list[Callable[[ConformanceReport], None]]:
        """Give the checks a subject: they become functions of the report alone."""
        return [lambda report, take=take: take(report, *subject) for take in self._steps]  # type: ignore[misc]
