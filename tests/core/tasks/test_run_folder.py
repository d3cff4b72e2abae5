"""Unfinished work is one process's at a time, and nothing is removed that glem did not make."""

import errno
import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from glem.core.errors import BadInputError
from glem.core.files.atomic import TEMPORARY, clear_temporaries, temporary_name
from glem.core.machine.locks import LocksWarning
from glem.core.tasks.journal import Journal
from glem.core.tasks.run_folder import (
    claim_folder,
    described_differences,
    folder_lock,
    remove_work,
    run_folder,
    text_differences,
)
from tests.killed_programs import program_at_work

SETTINGS = {"work": "some", "depth": 4}

_WORK = """
import sys, time
from pathlib import Path
from glem.core.files.atomic import atomic_path
from glem.core.tasks.run_folder import run_folder
with run_folder(Path(sys.argv[1]), {"work": "some", "depth": 4}) as folder:
    (folder / "labels-000000.npz").touch()
    with atomic_path(folder / "labels-000001.npz"):
        print("ready", flush=True)
        time.sleep(600)
"""
"""A process that has the folder, and is in the middle of writing a file there."""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_finished_work_is_removed_and_unfinished_work_stays(tmp_path: Path) -> None:
    work = tmp_path / "f.npz.work"
    with pytest.raises(KeyboardInterrupt), run_folder(work, SETTINGS):
        (work / "fit-00.npz").touch()
        raise KeyboardInterrupt
    assert names(work) == {"work.json", "fit-00.npz"}
    with run_folder(work, SETTINGS, keep=True):
        pass
    assert names(work) == {"work.json", "fit-00.npz"}
    with pytest.raises(BadInputError, match=r"unfinished work of other settings or input \(depth: 4, not 5\)"):
        claim_folder(work, {**SETTINGS, "depth": 5})
    with run_folder(work, SETTINGS):
        assert (work / "fit-00.npz").exists()
    assert names(tmp_path) == set()


def test_work_that_fails_before_its_first_result_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bad"), run_folder(tmp_path / "work", SETTINGS):
        raise ValueError("bad")
    assert names(tmp_path) == set()
    (tmp_path / "mine").mkdir()
    with pytest.raises(ValueError, match="bad"), run_folder(tmp_path / "mine", SETTINGS):
        raise ValueError("bad")
    assert names(tmp_path) == {"mine"}


def test_a_folder_without_a_mark_is_refused_and_left_alone(tmp_path: Path) -> None:
    work = tmp_path / "f.npz.work"
    work.mkdir()
    for name in ("thesis.txt", "lock"):
        (work / name).write_text("precious")
        with pytest.raises(BadInputError, match="it may not be glem's"), run_folder(work, SETTINGS):
            pass
    assert names(work) == {"thesis.txt", "lock"}
    assert (work / "lock").read_text() == "precious"
    (tmp_path / "unclaimed").mkdir()
    (tmp_path / "unclaimed" / "fit-00.npz").write_text("precious")
    with run_folder(tmp_path / "unclaimed"):
        pass
    assert names(tmp_path / "unclaimed") == {"fit-00.npz"}
    (tmp_path / "file.work").write_text("precious")
    with pytest.raises(BadInputError, match="is no folder"), run_folder(tmp_path / "file.work", SETTINGS):
        pass


def test_what_others_put_into_the_folder_stays(tmp_path: Path) -> None:
    work = tmp_path / "f.npz.work"
    with run_folder(work, SETTINGS):
        (work / "labels-03").mkdir()
        for name in ("labels-000000.npz", "labels-03/labels-000000.npz", "thesis.txt", ".hidden", "model-01.npz"):
            (work / name).touch()
    assert names(work) == {"thesis.txt", ".hidden", "model-01.npz"}


def test_a_second_process_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    work = tmp_path / "f.npz.work"
    with program_at_work(_WORK, str(work)):
        with pytest.raises(BadInputError, match=f"another glem is at work in {work}"), run_folder(work, SETTINGS):
            pass
        assert {"work.json", "labels-000000.npz"} < names(work)
        assert any(TEMPORARY.fullmatch(name) for name in names(work))
    with run_folder(work, SETTINGS, keep=True):
        assert names(work) == {"work.json", "labels-000000.npz", "lock"}
    assert names(work) == {"work.json", "labels-000000.npz"}


def _lock_that_fails(error: int) -> Callable[..., None]:
    def fail(*_: Any) -> None:
        raise OSError(error, os.strerror(error))

    return fail


@pytest.mark.parametrize("missing", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL])
def test_work_goes_on_with_a_warning_where_the_file_system_has_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int
) -> None:
    monkeypatch.setattr("glem.core.machine.locks._take", _lock_that_fails(missing))
    with pytest.warns(LocksWarning, match="has no locks"), run_folder(tmp_path / "work", SETTINGS) as work:
        (work / "fit-00.npz").touch()
    with pytest.warns(LocksWarning, match="has no locks"), Journal(tmp_path / "journal", "work", SETTINGS) as journal:
        journal.append({"a": 1})
    assert names(tmp_path) == {"journal"}


@pytest.mark.parametrize("taken", [errno.EWOULDBLOCK, errno.EACCES])
def test_a_lock_that_another_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    monkeypatch.setattr("glem.core.machine.locks._take", _lock_that_fails(taken))
    with pytest.raises(BadInputError, match="another glem is at work"), run_folder(tmp_path / "work", SETTINGS):
        pass
    with pytest.raises(BadInputError, match="another glem is writing"):
        Journal(tmp_path / "journal", "work", SETTINGS)


def test_what_another_machine_may_still_write_stays(tmp_path: Path) -> None:
    """Its locks are not seen here on every file system that both share."""
    elsewhere = {f".{name}.glem-{'0' * 24}.npz" for name in ("fit-00", "labels-000001")}
    work = tmp_path / "f.npz.work"
    with run_folder(work, SETTINGS):
        for name in (*elsewhere, temporary_name(work / "fit-01.npz").name, "fit-00.npz"):
            (work / name).touch()
        clear_temporaries(work)
        assert names(work) == {"work.json", "lock", "fit-00.npz", *elsewhere}
    assert names(work) == elsewhere
    with run_folder(work, {**SETTINGS, "depth": 5}):
        pass


def test_another_thread_is_refused_and_the_same_one_is_not(tmp_path: Path) -> None:
    with folder_lock(tmp_path), folder_lock(tmp_path), ThreadPoolExecutor(1) as other, pytest.raises(BadInputError):
        other.submit(folder_lock(tmp_path).__enter__).result()
    assert names(tmp_path) == set()


def test_a_kill_while_finished_work_is_removed_hinders_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "f.npz.work"
    with run_folder(work, SETTINGS, keep=True):
        (work / "fit-00.npz").touch()
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", lambda *_, **__: None)
        remove_work(work)
    assert not work.exists()
    assert len(names(tmp_path)) == 1
    with run_folder(work, {**SETTINGS, "depth": 5}):
        pass
    assert len(names(tmp_path)) == 1
    with folder_lock(tmp_path):
        assert names(tmp_path) == {"lock"}


@pytest.mark.parametrize(
    ("found", "wanted", "text"),
    [
        ({"a": [1, "b", None]}, {"a": [1, "b", None]}, ""),
        (
            {"players": [{"depth": 4}, {"depth": 2}], "seed": 1, "same": "x"},
            {"players": [{"depth": 3}, {"depth": 2}], "seed": 1, "same": "x", "window": 0.5},
            r"players\[0\]\.depth: 4, not 3; window: nothing, not 0\.5",
        ),
        ({"names": ["player"] * 20}, {"names": []}, r'names: \["player", "player".*\.\.\., not \[\]'),
        (dict.fromkeys("abcdefgh", 0), dict.fromkeys("abcdefgh", 1), "(.: 0, not 1; ){5}and 3 more"),
    ],
)
def test_leaves_that_differ_are_named_by_their_paths(found: dict[str, Any], wanted: dict[str, Any], text: str) -> None:
    assert re.fullmatch(text, described_differences(found, wanted))


def test_texts_are_compared_as_json() -> None:
    assert text_differences(json.dumps({"depth": 4}), {"depth": (1, 2)}) == "depth: 4, not [1, 2]"
    assert text_differences("no json", {"depth": 4}) == ""
    assert text_differences("[" * 100_000, {}) == ""
