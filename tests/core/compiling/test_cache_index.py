"""The index of the on-disk cache when many write it at the same time."""

import multiprocessing
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numba
import pytest
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from glem.core.compiling.cache_index import load_compiler, make_index_shareable, one_process

SOURCE = "def doubled(value):\n    return value + value\n"
WRITERS = 6
ROUNDS = 20


def as_another_process(folder: Path) -> Any:
    """The same kernel on the same folder, as a dispatcher of its own."""
    path = folder / "source.py"
    if not path.exists():  # Older versions of numba take a file that is written again for another.
        path.write_text(SOURCE)
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(SOURCE, str(path), "exec"), namespace)
    kernel = numba.njit(cache=True)(namespace["doubled"])
    make_index_shareable(kernel._cache)
    return kernel


def test_what_is_saved_at_the_same_moment_is_all_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    as_another_process(tmp_path)(1)  # Makes the folder.
    files = [as_another_process(tmp_path)._cache._cache_file for _ in range(WRITERS)]
    together = Barrier(WRITERS)

    def write(writer: int) -> None:
        for number in range(ROUNDS):
            together.wait(timeout=300)
            files[writer].save((number, writer), f"code {number} of {writer}")

    with ThreadPoolExecutor(WRITERS) as executor:
        list(executor.map(write, range(WRITERS)))
    found = as_another_process(tmp_path)._cache._cache_file
    for number in range(ROUNDS):
        for writer in range(WRITERS):
            assert found.load((number, writer)) == f"code {number} of {writer}"
    kernel = as_another_process(tmp_path)
    assert kernel(1) == 2
    assert sum(kernel.stats.cache_hits.values()) == 1


def hold(path: Path, entered: Any, seconds: float) -> None:
    with one_process(path):
        entered.set()
        time.sleep(seconds)


@pytest.mark.parametrize("killed", [False, True])
def test_the_second_process_waits_until_the_first_has_left_or_died(tmp_path: Path, killed: bool) -> None:
    context = multiprocessing.get_context("spawn")
    entered = context.Event()
    first = context.Process(target=hold, args=(tmp_path / "making", entered, 600 if killed else 0.5))
    first.start()
    assert entered.wait(60)
    if killed:
        first.kill()
    with one_process(tmp_path / "making"):
        # It ends after it has left, or is about to.
        first.join(60)
        assert first.exitcode == (-signal.SIGKILL if killed else 0)


def test_where_no_lock_can_be_made_nobody_waits(tmp_path: Path) -> None:
    with one_process(tmp_path / "missing" / "making"):
        assert not list(tmp_path.iterdir())


def test_kernels_import_no_linear_algebra_and_matrices_are_multiplied_nevertheless(tmp_path: Path) -> None:
    program = """
import sys
import numba
import numpy as np
from glem.core.compiling.kernels import compiled, popcount

def bits(board):
    return popcount(board)

assert compiled(bits)(np.uint64(7)) == 3
assert "scipy.linalg" not in sys.modules
matrix = np.arange(4.0).reshape(2, 2)
assert (numba.njit(lambda one, other: one @ other)(matrix, matrix) == matrix @ matrix).all()
assert "scipy.linalg" in sys.modules
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_only_one_thread_loads_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = []
    monkeypatch.setattr(cpu_target.target_context, "refresh", lambda: locked.append(global_compiler_lock.is_locked()))
    load_compiler()
    assert locked == [True]
