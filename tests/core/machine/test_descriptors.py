"""Open files, whatever the system."""

import os
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

from glem.core.machine.descriptors import has_input, replace_file, reserve, sync_folder
from tests.system import IS_WINDOWS


def test_input_is_what_has_come_or_its_end() -> None:
    reader, writer = os.pipe()
    try:
        assert not has_input(reader)
        os.write(writer, b"go\n")
        assert has_input(reader)
        os.read(reader, 10)
        assert not has_input(reader)
    finally:
        os.close(writer)
    assert has_input(reader)
    os.close(reader)


def test_a_file_has_input(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("go\n")
    with (tmp_path / "script").open("rb", buffering=0) as file:
        assert has_input(file.fileno())


@pytest.mark.parametrize("is_missing", [False, True])
@pytest.mark.parametrize("size", [1, (1 << 20) + 3])
def test_room_is_taken_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_missing: bool, size: int
) -> None:
    if is_missing:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with (tmp_path / "file").open("wb") as file:
        reserve(file.fileno(), size)
    found = (tmp_path / "file").stat()
    assert found.st_size == size
    assert found.st_blocks * 512 >= size


@pytest.mark.parametrize("seconds", [0.1, 2.0])
def test_a_file_that_somebody_looks_at_is_replaced_when_he_has_done(tmp_path: Path, seconds: float) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "new").write_text("new")
    file = (tmp_path / "old").open()
    timer = threading.Timer(seconds, file.close)
    timer.start()
    waits_in_vain = IS_WINDOWS and seconds > 1
    with pytest.raises(PermissionError) if waits_in_vain else nullcontext():
        replace_file(tmp_path / "new", tmp_path / "old")
    timer.cancel()
    file.close()
    assert (tmp_path / "old").read_text() == ("old" if waits_in_vain else "new")


def test_a_folder_is_synced(tmp_path: Path) -> None:
    sync_folder(tmp_path)
    assert tmp_path.is_dir()
