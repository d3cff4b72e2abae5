"""Progress in lines of text, for those who read them later."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np
import pytest
from numba.core.event import install_listener

from glem.core import progress
from glem.core.cli.compilations import Compilations
from glem.core.kernels import compiled
from glem.core.progress import line_progress


def wait_for_lines(lines: list[str], count: int) -> None:
    deadline = time.monotonic() + 60
    while len(lines) < count and time.monotonic() < deadline:
        time.sleep(0.002)
    assert len(lines) >= count


def test_short_work_is_silent() -> None:
    lines: list[str] = []
    with line_progress(lines.append)("count", 10) as task:
        task.advance(10)
    assert not lines


def test_long_work_tells_how_far_it_is_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_MOST_SECONDS", 0.02)
    lines: list[str] = []
    show = line_progress(lines.append)
    with show("everything", 4) as whole:
        whole.advance(1)
        wait_for_lines(lines, 2)
        assert lines[0].startswith("everything: 25%, about 0 s left, 0 s so far")
        with show("a part") as part:
            part.advance(1_500)
            part.note("all well")
            wait_for_lines(lines, len(lines) + 2)
            assert lines[-1] == "a part: 1,500 done, 0 s so far, all well"
        wait_for_lines(lines, len(lines) + 2)
        assert lines[-1].startswith("everything: 25%")
    ended = len(lines)
    time.sleep(0.1)
    assert len(lines) == ended


def test_lines_come_ever_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_MOST_SECONDS", 0.4)
    times: list[float] = []
    began = time.monotonic()
    with line_progress(lambda _line: times.append(time.monotonic() - began))("count"):
        time.sleep(1.3)
    # Due after 0.05, 0.15, 0.35, 0.75 and 1.15 s.
    assert times[0] >= 0.05
    assert 2 <= len(times) <= 5
    assert times[-1] - times[-2] > 0.1


def test_a_kernel_is_told_when_it_is_compiled_and_not_when_it_is_there(caplog: pytest.LogCaptureFixture) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec("def inner(number):\n    return number + 1\ndef told(number):\n    return inner(number)\n", namespace)
    with caplog.at_level(logging.INFO), install_listener("numba:compile", Compilations(logging.getLogger("glem"))):
        for _ in range(2):
            assert compiled(namespace["told"])(np.int64(1)) == 2
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("compiled __main__.told in ")
