"""Progress in lines of text, for those who read them later."""

import logging
import re
import time
from typing import Any

import numpy as np
import pytest
from numba.core.event import install_listener

from glem.core.cli.compilations import Compilations
from glem.core.compiling.kernels import compiled
from glem.core.tasks import progress
from glem.core.tasks.progress import LineProgress


def wait_for_lines(lines: list[str], count: int) -> None:
    deadline = time.monotonic() + 60
    while len(lines) < count and time.monotonic() < deadline:
        time.sleep(0.002)
    assert len(lines) >= count


def test_short_work_is_silent() -> None:
    lines: list[str] = []
    with LineProgress(lines.append)("count", 10) as task:
        task.advance(10)
    assert not lines


def test_long_work_tells_how_far_it_is_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_MOST_SECONDS", 0.02)
    lines: list[str] = []
    show = LineProgress(lines.append)
    with show("everything", 4) as whole:
        whole.advance(1)
        # As below, two more lines: a line may have been made before what was done last, and written after it.
        wait_for_lines(lines, len(lines) + 2)
        assert re.fullmatch(r"everything: 25%, about \d+ s left, \d+ s so far", lines[-1])
        with show("a part") as part:
            part.advance(1_500)
            part.note("all well")
            wait_for_lines(lines, len(lines) + 2)
            assert re.fullmatch(r"a part: 1,500 done, \d+ s so far, all well", lines[-1])
        wait_for_lines(lines, len(lines) + 2)
        assert lines[-1].startswith("everything: 25%")
    ended = len(lines)
    time.sleep(0.1)
    assert len(lines) == ended


def test_lines_come_ever_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.02)
    monkeypatch.setattr(progress, "_MOST_SECONDS", 0.1)
    times: list[float] = []

    def note_time(_line: str) -> None:
        times.append(time.monotonic())

    began = time.monotonic()
    with LineProgress(note_time)("count"):
        while len(times) < 5 and time.monotonic() < began + 60:
            time.sleep(0.002)
    # Due after 0.02 s, then 0.04, 0.08, 0.1 and 0.1 s later; a slow machine is later, never earlier.
    waits = np.diff([began, *times])
    assert (np.cumsum(waits) >= np.cumsum([0.02, 0.04, 0.08, 0.1, 0.1]) - 0.005).all()


def test_a_kernel_is_told_when_it_is_compiled_and_not_when_it_is_there(caplog: pytest.LogCaptureFixture) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec("def inner(number):\n    return number + 1\ndef told(number):\n    return inner(number)\n", namespace)
    with caplog.at_level(logging.INFO), install_listener("numba:compile", Compilations(logging.getLogger("glem"))):
        for _ in range(2):
            assert compiled(namespace["told"])(np.int64(1)) == 2
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("compiled __main__.told in ")


def test_parts_are_units_of_their_task() -> None:
    done, notes = list[float](), list[str]()

    class Told:
        def advance(self, amount: float = 1) -> None:
            done.append(amount)

        def note(self, text: str) -> None:
            notes.append(text)

    parts = progress.Parts(Told())
    with parts("one", 4) as part:
        part.advance(3)
        part.note("ends early")
    with parts("of unknown length") as part:
        part.advance(1_000)
    with parts("longer than expected", 2) as part:
        part.advance(1)
        part.advance(2)
    assert done == [0.75, 0.25, 0, 1, 0.5, 0.5, 0]
    assert notes == ["ends early"]
