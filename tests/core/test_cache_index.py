"""The index of the on-disk cache when many write it at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numba
import pytest

from glem.core.cache_index import make_index_shareable

SOURCE = "def doubled(value):\n    return value + value\n"
WRITERS = 6
ROUNDS = 20


def as_another_process(folder: Path) -> Any:
    """The same kernel on the same folder, as a dispatcher of its own."""
    path = folder / "source.py"
    path.write_text(SOURCE)
    namespace: dict[str, Any] = {}
    exec(compile(SOURCE, str(path), "exec"), namespace)
    return make_index_shareable(numba.njit(cache=True)(namespace["doubled"]))


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
