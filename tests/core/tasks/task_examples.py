"""Tasks for worker processes, in a module that those can import."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil


def square(number: int) -> int:
    return number * number


def square_after_kills(job: tuple[int, str, int]) -> int:
    """Square a number; the first so many calls with the same marker file die of SIGKILL instead."""
    number, marker, deaths = job
    if marker:
        path = Path(marker)
        died = len(path.read_text()) if path.exists() else 0
        if died < deaths:
            with path.open("a") as file:
                file.write("x")
            psutil.Process().kill()
    return number * number


def fail_on_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


def sleep_long(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)


def imported_by_program(path: str) -> str:
    """Run a Python program, which imports what lies beside it, and return what it writes."""
    return subprocess.run([sys.executable, path], check=True, capture_output=True, text=True).stdout.strip()
