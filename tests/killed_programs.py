"""Programs in processes of their own that are killed or interrupted when some of their work is done."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from glem.core.machine.programs import OWN_GROUP, kill_group

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""What no program can catch: on Windows SIGTERM is that."""

KILLED = {-KILL} if hasattr(signal, "SIGKILL") else {1, -9}
"""Exit statuses of a program that was killed; the last that of an emulated Windows."""

_LONGEST_SECONDS = 300


def end_program_when(
    command: list[str],
    condition: Callable[[], object],
    by: signal.Signals = KILL,
    *,
    workers_too: bool = True,
    folder: Path | None = None,
) -> tuple[int, str]:
    """Start a program, in a folder if one is given, and signal it and its workers as soon as the condition holds.

    What it prints goes into a file of the folder, ``printed``, where it is JSON.

    Returns
    -------
    int, str
        Exit status, negative where it is a signal, and what it wrote to standard error.
    """
    printed = os.devnull if folder is None or "--json" not in command else folder / "printed"
    with Path(printed).open("w") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True, **OWN_GROUP)
    try:
        deadline = time.monotonic() + _LONGEST_SECONDS
        while not condition() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        if process.poll() is None:
            if workers_too and by == KILL:
                kill_group(process.pid)
            elif workers_too:
                os.killpg(process.pid, by)
            else:
                process.send_signal(by)
        errors = process.communicate(timeout=_LONGEST_SECONDS)[1]
    finally:
        if process.poll() is None:
            kill_group(process.pid)
            process.communicate()
    return process.returncode, errors


def end_command_when(
    arguments: list[str],
    condition: Callable[[], object],
    by: signal.Signals = KILL,
    folder: Path | None = None,
) -> tuple[int, str]:
    """Do the same to ``glem`` with these arguments."""
    return end_program_when([sys.executable, "-m", "glem", *arguments], condition, by, folder=folder)


def is_alive(process: int) -> bool:
    """Whether a process runs; a zombie has ended, whoever its parent is."""
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_for_end(process: int) -> None:
    """Wait until a process has ended, twenty seconds at most."""
    deadline = time.monotonic() + 20
    while is_alive(process):
        assert time.monotonic() < deadline, f"process {process} was left behind"
        time.sleep(0.02)


@contextmanager
def program_at_work(text: str, *arguments: str) -> Iterator[str]:
    """Run Python code up to the first line that it prints, which is given; at the end of the block it is killed."""
    command = [sys.executable, "-c", text, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, killed_in_the_end(process):
        assert process.stdout is not None
        yield process.stdout.readline()
        process.kill()


@contextmanager
def killed_in_the_end(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Kill a process that a failed test would wait for, or that does not end within five minutes."""
    limit = threading.Timer(_LONGEST_SECONDS, process.kill)
    limit.start()
    try:
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        limit.cancel()
