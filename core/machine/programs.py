"""Programs that a process starts: in a group of their own, which ends with the process, however that ended.

A program that reads its commands from a pipe should end when the pipe is closed, but one that hangs does not, nor does
what it started itself. So a small process of its own waits beside this one: when this one is gone, killed without
warning or not, it kills the process groups that are still there. It is this file, run as a program, and reads lines
``+GROUP`` and ``-GROUP`` until the end of its input.
"""

import atexit
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypedDict

_WAIT_SECONDS = 5.0
_LOOK_SECONDS = 1.0


class _OwnGroup(TypedDict, total=False):
    creationflags: int
    start_new_session: bool


OWN_GROUP: _OwnGroup
"""What :class:`subprocess.Popen` is called with for a program that is to have a group of its own.

Ctrl-C in the terminal, or its end, is for this process alone then, which ends the program.
"""
if sys.platform == "win32":
    OWN_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
else:
    OWN_GROUP = {"start_new_session": True}


def after_fork(function: Callable[[], object]) -> None:
    """Have a function called in each process that is a fork of this one, where the system forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def split_command(text: str) -> list[str]:
    """Divide a command into words, as a shell does; on Windows a backslash is part of a path.

    Raises
    ------
    ValueError
        A quote has no end.
    """
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters = True, ""
    if sys.platform == "win32":
        words.escape = ""
    return list(words)


def kill_group(group: int) -> None:
    """Kill all processes of a group; nothing happens where there are none any more.

    On Windows these are a process and all that it and its children have started, as long as it lives itself.
    """
    if sys.platform == "win32":
        # Not by a library: the guard runs without any.
        command = ["taskkill", "/F", "/T", "/PID", str(group)]
        with contextlib.suppress(OSError):
            subprocess.run(command, capture_output=True, check=False, creationflags=subprocess.CREATE_NO_WINDOW)  # noqa: S603 - Windows' own
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def guard_group(group: int) -> None:
    """Have a process group killed as soon as this process has ended.

    Parameters
    ----------
    group
        Its number: that of a process which was started with :data:`OWN_GROUP`.
    """
    _guard.tell("+", group)


def release_group(group: int) -> None:
    """Forget a process group: its processes have ended."""
    _guard.tell("-", group)


class ProcessorWatch:
    """Tells what a program's process has taken since it was last asked, so that thinking between moves counts too."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._family: list[Any] = []
        self._looked = 0.0
        self._seen = 0.0

    def spent(self, process: int | None) -> float | None:
        """Seconds of a process and of its children since the last call; None where there is no such process.

        A child counts from within a second of its start, with all that it has taken by then.
        """
        if process is None:
            return None
        now = time.monotonic()
        if process != self._process or now - self._looked > _LOOK_SECONDS:
            self._family, self._looked = _family(process), now
        found = _seconds(self._family)
        if found is None:
            return None
        before = self._seen if process == self._process else 0.0
        self._process, self._seen = process, found
        return max(found - before, 0.0)


def processor_seconds(process: int) -> float | None:
    """Processor time that a process and its children have taken; None where there is no such process."""
    return _seconds(_family(process))


def _family(process: int) -> list[Any]:
    import psutil

    try:
        parent = psutil.Process(process)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return []


def _seconds(family: list[Any]) -> float | None:
    import psutil

    seconds = None
    for member in family:
        # Those that have ended and were waited for are counted by their parents, but on Windows and macOS.
        with contextlib.suppress(psutil.Error):
            taken = member.cpu_times()
            seconds = (seconds or 0.0) + sum(taken[:4])
    return seconds


class _Guard:
    """The guarding process of this process; started when there is something to guard."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()
        # A fork's groups are its own, and so is its guard.
        after_fork(self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def tell(self, sign: str, group: int) -> None:
        with self._lock:
            known = group in self._groups
            if (sign == "+") == known:
                return
            if sign == "+":
                self._groups.add(group)
            else:
                self._groups.discard(group)
            process = self._process
            try:
                if process is None or process.stdin is None:
                    raise BrokenPipeError
                if process.stdin.closed:
                    # At the end of this process: the guard knows already.
                    return
                process.stdin.write(f"{sign}{group}\n".encode())
            except BrokenPipeError:
                self._restart()

    def _restart(self) -> None:
        if self._process is None:
            atexit.register(self._end)
        else:
            self._process.wait()
        if not self._groups:
            self._process = None
            return
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this file
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            **OWN_GROUP,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("".join(f"+{group}\n" for group in sorted(self._groups)).encode())

    def _end(self) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_WAIT_SECONDS)


def _serve(lines: Any) -> None:
    """Remember groups until the input ends, then kill those that are left."""
    groups: set[int] = set()
    for line in lines:
        text = line.strip()
        if not text[1:].isdecimal():
            continue
        (groups.add if text[0] == "+" else groups.discard)(int(text[1:]))
    for group in groups:
        kill_group(group)


if __name__ == "__main__":
    _serve(sys.stdin)
else:
    _guard = _Guard()
