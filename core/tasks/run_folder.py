"""Folders of unfinished work, by which a killed run continues: locked, marked with what they are for, then removed.

A mark in the folder holds the settings of the work. What has no mark, or that of other work, is refused and left as it
is; of a folder with the right one, only files that glem calls so are ever removed.
"""

import contextlib
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from glem.core.errors import BadInputError
from glem.core.files.atomic import TEMPORARY, clear_temporaries, temporary_name, write_text
from glem.core.machine.locks import is_at, lock, open_lock, remove_locked

_MARK = "work.json"
_LOCK = "lock"
_OWN = re.compile(
    r"lock|(work|run|candidates)\.json|(candidates|likelihood|network|solved)\.npz|(training|sizes|evaluation)-\w+\.np[yz]"
    r"|(labels|search|outcomes|exact|quick|thorough-\d+)-\d{6}\.npz|(fit|phase|newest|fitted|stage)-\d\d\.npz"
    r"|labelled-\d\d\.parquet|part-\d{5}\.npz|rows-\d{5}-\w+(-\w+\.npy|\.bin)"
)
"""What glem calls the files of unfinished work."""

PROCESS_SETTINGS: dict[str, Any] = {}
"""What all results of this process depend on besides; what is empty counts as absent."""

_MOST_SHOWN = 5
_LONGEST_SHOWN = 60
_ABSENT = object()

_held: set[tuple[str, int]] = set()
"""Folders that are locked, and the threads of this process that have them."""


@contextlib.contextmanager
def run_folder(
    folder: Path, settings: Mapping[str, Any] | None = None, *, keep: bool = False, mark: str = _MARK, **claim: str
) -> Iterator[Path]:
    """Have a folder of unfinished work to oneself; it is removed when the block ends without an error.

    On an error, Ctrl-C and a kill included, the finished parts stay for the same command to continue with; a folder
    without any is removed, lest it hinder a corrected command.

    Parameters
    ----------
    folder
        Made if absent; its parent exists.
    settings
        As for :func:`claim_folder`; None where what runs in the block claims the folder.
    keep
        Leave the finished parts there in any case.
    mark, claim
        As for :func:`claim_folder`.

    Raises
    ------
    BadInputError
        What :func:`claim_folder` and :func:`folder_lock` raise.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInputError(f"{folder} is no folder; unfinished work is kept there: remove it or name another output")
    own = not folder.exists() or (folder / mark).exists() or (folder / _LOCK).exists()
    folder.mkdir(exist_ok=True)
    try:
        with folder_lock(folder):
            if settings is not None:
                claim_folder(folder, settings, mark=mark, **claim)
            try:
                yield folder
            except BaseException:
                if folder.is_dir() and {path.name for path in folder.glob(claim.get("files", "[!.]*"))} <= {
                    mark,
                    _LOCK,
                }:
                    (folder / mark).unlink(missing_ok=True)
                raise
            if not keep and (folder / mark).exists():
                remove_work(folder)
    finally:
        if own:
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes and threads out of a folder; the lock ends with the process, however it ends.

    What killed processes left half written there is cleared.

    Raises
    ------
    BadInputError
        Another process or thread has the folder.
    """
    key = (os.path.realpath(folder), threading.get_ident())
    if key in _held:
        yield
        return
    path = folder / _LOCK
    descriptor = _lock(path)
    _held.add(key)
    try:
        clear_temporaries(folder)
        yield
    finally:
        _held.discard(key)
        close = partial(os.close, descriptor)
        if is_at(descriptor, path) and os.fstat(descriptor).st_size == 0:
            remove_locked(path, close)
        else:
            close()


def _lock(path: Path) -> int:
    while True:
        descriptor = open_lock(path)
        if not lock(descriptor, path.parent):
            os.close(descriptor)
            raise BadInputError(f"another glem is at work in {path.parent}")
        # Who had it before removes the file on leaving: a lock on that keeps nobody out.
        if is_at(descriptor, path):
            return descriptor
        os.close(descriptor)


def claim_folder(
    folder: Path,
    settings: Mapping[str, Any],
    *,
    mark: str = _MARK,
    files: str = "[!.]*",
    content: str = "unfinished work",
    remedy: str = "remove it",
) -> None:
    """Note in a folder what work it is for.

    Parameters
    ----------
    settings
        All that the results depend on, as JSON values.
    mark
        File of the note.
    files
        What the results are called there; by default anything counts as one.
    content, remedy
        What the folder holds and what is to be done about it, for the error.

    Raises
    ------
    BadInputError
        The folder is for other work, or holds what glem may not have put there.
    """
    note = folder / mark
    settings = {**settings, **{name: value for name, value in PROCESS_SETTINGS.items() if value}}
    text = json.dumps(settings, indent=1, sort_keys=True) + "\n"
    if note.exists():
        found = note.read_text(encoding="utf-8", errors="replace")
        if found != text:
            changes = text_differences(found, settings) or f"{mark} differs"
            raise BadInputError(
                f"{folder} holds {content} of other settings or input ({changes}); {remedy}, "
                "or repeat the command that began it"
            )
        return
    others = sorted(path.name for path in folder.glob(files) if path.name != _LOCK)
    if others:
        raise BadInputError(
            f"{folder} holds {others[0]}, but no {mark} that tells how it came about: it may not be glem's and is not "
            "touched; move it away or name another place"
        )
    write_text(note, text)


def remove_work(folder: Path) -> None:
    """Remove a claimed folder of finished work; files in it that are not glem's stay where they are."""
    files = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
    own = [path for path in files if _OWN.fullmatch(path.name) or TEMPORARY.fullmatch(path.name)]
    if len(own) == len(files):
        # Under another name at once: a kill leaves nothing that looks like unfinished work. Windows renames no folder
        # with an open file in it, such as its lock.
        doomed = temporary_name(folder)
        with contextlib.suppress(FileNotFoundError, PermissionError):
            folder.rename(doomed)
            shutil.rmtree(doomed, ignore_errors=True)
            return
    for path in sorted(own, key=lambda path: path.name == _MARK):
        with contextlib.suppress(PermissionError) if path.name == _LOCK else contextlib.nullcontext():
            path.unlink(missing_ok=True)
    for path in sorted(folder.rglob("*/"), reverse=True):
        with contextlib.suppress(OSError):
            path.rmdir()


def described_differences(found: Any, wanted: Any) -> str:
    """Text of the values in which two JSON values differ, ``players[1].limits.depth: 4, not 3``.

    Parameters
    ----------
    found, wanted
        Mappings, sequences and scalars as JSON has them.

    Returns
    -------
    str
        At most five differences; empty where there are none.
    """
    texts = [f"{path}: {_shown(one)}, not {_shown(other)}" for path, one, other in _differences("", found, wanted)]
    more = len(texts) - _MOST_SHOWN
    return "; ".join(texts[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def text_differences(found: str, wanted: Mapping[str, Any]) -> str:
    """Say in what a JSON text differs from the wanted settings; empty where it is no JSON or does not differ."""
    try:
        return described_differences(json.loads(found), json.loads(json.dumps(wanted)))
    except (ValueError, RecursionError):
        return ""


def _differences(path: str, found: Any, wanted: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for name in sorted({*found, *wanted}):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(inner, found.get(name, _ABSENT), wanted.get(name, _ABSENT))
    elif _is_list(found) and _is_list(wanted) and len(found) == len(wanted):
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            yield from _differences(f"{path}[{place}]", one, other)
    elif found != wanted:
        yield path or "all", found, wanted


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
