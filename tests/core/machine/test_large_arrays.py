"""Arrays that lie in files where memory is short."""

import errno
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.errors import GlemError
from glem.core.machine import large_arrays, memory
from glem.core.machine.large_arrays import is_in_file, let_go, new_array, pieces, scratch_folder, taken


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_arrays, "memory_left", lambda: 1 << 12)
    monkeypatch.setattr(large_arrays, "_LEAST", 0)


@pytest.mark.usefixtures("_short")
def test_a_large_array_lies_in_a_file_and_keeps_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert scratch_folder() == tmp_path
    array = new_array((3, 5000), np.uint16)
    assert is_in_file(array)
    assert type(array) is np.ndarray
    expected = np.arange(15000, dtype=np.uint16).reshape(3, 5000)
    array[:] = expected
    for _ in range(2):
        let_go(array, array[1], np.zeros(3))
        np.testing.assert_array_equal(array, expected)
    if sys.platform != "win32":
        assert not any(tmp_path.iterdir()), "the file has no name"
    assert not is_in_file(new_array(10, np.uint8))
    assert new_array(0, np.uint8).shape == (0,)


@pytest.mark.usefixtures("_short")
def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(large_arrays, "reserve", full)
    with pytest.raises(GlemError, match=r"no room for 0\.0 GB \(.*No space left on device\); TMPDIR names another"):
        new_array(5000, np.uint8)


@given(st.integers(0, 60), st.integers(1, 20), st.integers(0, 1 << 30), st.booleans())
def test_rows_are_taken_as_numpy_does(count: int, piece: int, seed: int, is_short: bool) -> None:
    random = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(large_arrays, "PIECE", piece)
        patched.setattr(large_arrays, "memory_left", lambda: 0 if is_short else 1 << 40)
        patched.setattr(large_arrays, "_LEAST", 0)
        array = new_array(count, np.int64)
        assert is_in_file(array) == bool(is_short and count)
        array[:] = random.integers(-9, 9, count)
        numbers = random.integers(0, max(count, 1), 30 if count else 0)
        for rows in (random.random(count) < 0.5, numbers, slice(2, 40, 3)):
            np.testing.assert_array_equal(taken(array, rows), array[rows])
        assert [row for part in pieces(count, array) for row in range(count)[part]] == list(range(count))


def test_what_the_user_allows_is_kept_until_it_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = memory.memory_limit()
    memory.promise_memory(1 << 29)
    try:
        assert memory.memory_limit() == 1 << 29
        assert memory.memory_left() < 1 << 29
    finally:
        memory.promise_memory(None)
    assert memory.memory_limit() == whole
