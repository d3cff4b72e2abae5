"""Machine code on disk: damaged, not to be written, waited for."""

import errno
import multiprocessing
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import pytest
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from glem.core.compiling import dispatcher, kernels
from glem.core.compiling.dispatcher import load_compiler, one_process
from glem.core.compiling.kernels import kernel
from glem.core.machine.cache_folder import MachineCodeWarning


def doubled(value: Any) -> Any:
    return value + value


def hits(function: Any) -> int:
    """How often a kernel was found on disk."""
    return sum(function.stats.cache_hits.values())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(dispatcher, "_said", set())
    return tmp_path


def with_digest(parts: object) -> bytes:
    """What is whole, and no machine code."""
    return sha256(pickle.dumps(parts)).digest() + pickle.dumps(parts)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[:-9], id="cut"),
        pytest.param(lambda _: b"", id="emptied"),
        pytest.param(lambda content: content[:999] + bytes([content[999] ^ 4]) + content[1000:], id="a bit"),
        pytest.param(lambda _: with_digest((1, 2)), id="of another form"),
        pytest.param(lambda _: sha256(b"cmissing\nClass\n.").digest() + b"cmissing\nClass\n.", id="of a class gone"),
    ],
)
def test_damaged_machine_code_is_made_anew(damage: Callable[[bytes], bytes], cache: Path) -> None:
    assert kernel(doubled)(4) == 8
    (file,) = cache.rglob("*.nbc")
    file.write_bytes(damage(file.read_bytes()))
    again, later = kernel(doubled), kernel(doubled)
    assert (again(4), hits(again)) == (8, 0)
    assert (later(4), hits(later)) == (8, 1)


def fail(error: Exception) -> Callable[..., NoReturn]:
    def failing(*_: Any) -> NoReturn:
        raise error

    return failing


@pytest.mark.parametrize(
    ("owner", "name"),
    [(kernels, "_folder_of"), (Path, "write_bytes"), (Path, "replace"), (dispatcher.serialize, "dumps")],
)
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), ValueError("something else")])
def test_what_cannot_be_kept_is_compiled_and_one_line_says_so(
    owner: Any, name: str, error: Exception, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, fail(error))
    with pytest.warns(
        MachineCodeWarning, match=r"machine code is not kept .*: (No space left|something else)"
    ) as caught:
        assert kernel(doubled)(4) == 8
        assert kernel(doubled)(4.5) == 9
    assert len(caught) == 1
    assert not [file for file in cache.rglob("*") if file.is_file() and file.suffix != ".making"]


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
        assert (first.exitcode != 0) == killed


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
