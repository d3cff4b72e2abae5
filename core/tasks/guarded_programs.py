"""Ends the programs that a process started when that process has ended, however it ended.

A program that reads its commands from a pipe should end when the pipe is closed, but one that hangs does not, nor does
what it started itself. So a small process of its own waits beside this one: when this one is gone, killed without
warning or not, it kills the process groups that are still there. It is this file, run as a program, and reads lines
``+GROUP`` and ``-GROUP`` until the end of its input.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from typing import Any

_WAIT_SECONDS = 5.0


def kill_group(group: int) -> None:
    """Kill all processes of a group; nothing happens where there are none any more."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def guard_group(group: int) -> None:
    """Have a process group killed as soon as this process has ended.

    Parameters
    ----------
    group
        Its number: that of a process which was started in a session of its own.
    """
    _guard.tell("+", group)


def release_group(group: int) -> None:
    """Forget a process group: its processes have ended."""
    _guard.tell("-", group)


class _Guard:
    """The guarding process of this process; started when there is something to guard."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()
        # A fork's groups are its own, and so is its guard.
        os.register_at_fork(after_in_child=self._forget)

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
            # What ends this process, Ctrl-C or the end of its terminal, must not end the guard.
            start_new_session=True,
            bufsize=0,
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
