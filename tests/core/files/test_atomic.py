"""A reader never sees half a file."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.features.learning import load_learning
from glem.core.files.archives import ArchiveFormat
from glem.core.files.atomic import atomic_path, check_writable, clear_temporaries, temporary_folder, write_text
from glem.core.positions.files import write_positions
from glem.core.tasks.journal import Journal, read_journal
from tests.killed_programs import program_at_work
from tests.system import not_on_windows

_KILLS = int(os.environ.get("GLEM_TEST_KILLS", "12"))


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


def _append(path: Path) -> None:
    with Journal(path, "work", {"a": str(path)}) as journal:
        # What a write leaves in the buffer meets the full disk again when the file is closed.
        for _ in range(200):
            journal.append({"name": str(path), "text": "x" * 100})
    assert next(read_journal(path, "work")[1])["name"] == str(path)


def _write_sample(path: Path) -> None:
    sample = load_learning("othello").sample
    assert sample is not None
    write_positions(path, sample())


WRITERS = pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.txt", lambda path: write_text(path, f"{path}" * 10_000)),
        ("a.npz", lambda path: ArchiveFormat("glem a", 1, ()).write(path, {"a": str(path)}, {"a": np.arange(100_000)})),
        ("a.parquet", _write_sample),
        ("a.jsonl", _append),
    ],
)


@not_on_windows
@WRITERS
def test_a_name_that_is_no_text_is_written_to(tmp_path: Path, name: str, write: Callable[[Path], None]) -> None:
    path = tmp_path / os.fsdecode(b"\xff" + name.encode())
    write(path)
    assert list(tmp_path.iterdir()) == [path]


@not_on_windows
@WRITERS
def test_a_full_disk_is_told_with_the_file(tmp_path: Path, name: str, write: Callable[[Path], None]) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write(tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path / name)
    assert not set(tmp_path.iterdir()) - {tmp_path / "a.jsonl"}


def test_an_error_within_a_temporary_folder_names_the_file(tmp_path: Path) -> None:
    target = tmp_path / "a.parquet"
    with (
        pytest.raises(OSError, match="No space left") as caught,
        temporary_folder(target) as folder,
        atomic_path(folder / "0.parquet"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(target)


def test_only_files_are_replaced(tmp_path: Path) -> None:
    for target in (tmp_path, Path(os.devnull)):
        with pytest.raises(BadInputError, match="is no file"), atomic_path(target):
            pass
    with pytest.raises(BadInputError, match="does not exist"):
        check_writable(tmp_path / "missing" / "file")
    check_writable(tmp_path / "file")


_WRITE = """
import sys, time
from pathlib import Path
from glem.core.files.atomic import atomic_path, temporary_folder, write_text
target = Path(sys.argv[1])
with atomic_path(target) as temporary, temporary_folder(target) as folder:
    temporary.write_text("half")
    (folder / "copy").write_text("all data")
    print("ready", flush=True)
    time.sleep(600)
"""


def test_temporaries_of_dead_processes_are_cleared_and_no_others(tmp_path: Path) -> None:
    target = tmp_path / "positions.parquet"
    foreign = {
        ".positions-0123abcd.parquet",
        ".positions.glem-draft.parquet",
        "positions.glem-0123456789abcdef.parquet",
    }
    for name in foreign:
        (tmp_path / name).write_text("precious")
    with program_at_work(_WRITE, str(target)):
        live = {path.name for path in tmp_path.iterdir()} - foreign
        assert len(live) == 4  # and their locks
        clear_temporaries(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == live | foreign
    with atomic_path(tmp_path / "another.txt") as temporary:
        temporary.write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {"another.txt", *foreign}


_WRITE_ON = """
import itertools, sys
from pathlib import Path
from glem.core.files.atomic import atomic_path, temporary_folder
from glem.core.tasks.journal import Journal
folder = Path(sys.argv[1])
with Journal(folder / f"{sys.argv[2]}.jsonl", "work", {}) as journal:
    for number in itertools.count(len(list(journal.records())) + 1):
        with temporary_folder(folder / "data.parquet") as inner, atomic_path(folder / "shared.txt") as temporary:
            (inner / "copy").write_text("all data")
            temporary.write_text(str(number) * 1000)
        journal.append({"number": number})
        print(number, flush=True)
"""


def test_kills_of_two_writers_lose_nothing(tmp_path: Path) -> None:
    """Each clears what the other's last life has left, and nothing that it writes now."""
    random = np.random.default_rng(1)
    last = {"one": 0, "two": 0}
    shortest = 0.2
    for _ in range(_KILLS // len(last)):
        writers = {
            name: subprocess.Popen(
                [sys.executable, "-c", _WRITE_ON, tmp_path, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for name in last
        }
        time.sleep(random.uniform(shortest, shortest + 0.4))
        for name, writer in writers.items():
            writer.kill()
            printed, errors = writer.communicate()
            assert errors == b""
            last[name] = int((printed.splitlines() or [last[name]])[-1])
        for name, number in last.items():
            journal = tmp_path / f"{name}.jsonl"
            # It may have been killed within its first line.
            is_begun = journal.exists() and b"\n" in journal.read_bytes()
            found = [record["number"] for record in read_journal(journal, "work")[1]] if is_begun else []
            # What was written and not yet said may be there too.
            assert found == list(range(1, len(found) + 1))
            assert number <= len(found) <= number + 1
            last[name] = len(found)
        if min(last.values()) == 0:
            # A busy machine has hardly started them by then.
            shortest += 0.4
        if (tmp_path / "shared.txt").exists():
            text = (tmp_path / "shared.txt").read_text()
            assert text == text[: len(text) // 1000] * 1000
    assert min(last.values()) > 0
    write_text(tmp_path / "shared.txt", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"one.jsonl", "two.jsonl", "shared.txt"}


def test_a_lock_that_another_process_has_is_not_taken_for_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who clears it has it for a moment, and removes it then."""
    answers = [True, False]
    monkeypatch.setattr("glem.core.files.atomic.try_lock", lambda _: answers.pop())
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("whole")
        assert not answers
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_a_temporary_folder_goes_with_its_block(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bad"), temporary_folder(tmp_path / "positions.parquet") as folder:
        (folder / "copy").write_text("all data")
        raise ValueError("bad")
    assert list(tmp_path.iterdir()) == []
