"""A reader never sees half a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from glem.core.errors import BadInputError
from glem.core.files import atomic_path, check_writable
from glem.core.run_folder import folder_lock


def test_success_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".html"
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_keeps_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    with pytest.raises(error), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_only_files_are_replaced(tmp_path: Path) -> None:
    for target in (tmp_path, Path("/dev/null")):
        with pytest.raises(BadInputError, match="is no file"), atomic_path(target):
            pass
    with pytest.raises(BadInputError, match="does not exist"):
        check_writable(tmp_path / "missing" / "file")
    check_writable(tmp_path / "file")


def test_a_locked_folder_is_refused_until_it_is_free(tmp_path: Path) -> None:
    with folder_lock(tmp_path), pytest.raises(BadInputError, match=f"at work in {tmp_path}$"), folder_lock(tmp_path):
        pass
    with folder_lock(tmp_path):
        pass
