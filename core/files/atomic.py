"""Writing output files so that a reader never sees half of one, and a killed writer's half is cleared by the next."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from glem.core.errors import BadInputError, writing
from glem.core.machine.descriptors import replace_file
from glem.core.machine.locks import MACHINE, is_at, open_lock, remove_locked, try_lock

TEMPORARY = re.compile(rf"(?:\..+)?\.glem-({MACHINE}-[0-9a-f]{{16}})(?:\.[^.]*)?")
"""Names of this machine's temporary files and folders, and of their locks; nothing else is called so.

Another machine may still write to its own, and its locks may not be seen here.
"""


def temporary_name(target: Path) -> Path:
    """Make up a name beside a path, hidden and with its suffix, by which :func:`clear_temporaries` knows it."""
    return target.with_name(f".{target.stem}.glem-{MACHINE}-{secrets.token_hex(8)}{target.suffix}")


def _lock_of(temporary: Path) -> Path:
    """File whose lock tells that somebody writes to a temporary one.

    It is a file of its own: a folder cannot be locked on every system, nor an open file be renamed.
    """
    match = TEMPORARY.fullmatch(temporary.name)
    assert match is not None
    return temporary.with_name(f".glem-{match[1]}.lock")


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that replaces it when the block ends without an error.

    The suffix of ``path`` is kept, since writers look at it. On an error, Ctrl-C included, the temporary
    file is removed and an older file at ``path`` stays as it was. What killed writers left in the folder is cleared.

    Raises
    ------
    BadInputError
        Something other than a file is there: a folder or a device would be replaced.
    """
    target = Path(path)
    _check_regular(target)
    clear_temporaries(target.parent)
    with _locked_temporary(target) as temporary:
        try:
            with writing(target, temporary):
                temporary.touch(exist_ok=False)
                yield temporary
                with temporary.open("rb+") as written:
                    # A rename that survives a power cut before the data does would leave an empty file.
                    os.fsync(written.fileno())
                replace_file(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as a file in UTF-8, atomically; bytes of a file's name that are no text become escapes."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextlib.contextmanager
def temporary_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder beside ``path``, removed with all that is in it when the block ends.

    What killed writers left beside it is cleared.
    """
    target = Path(path)
    clear_temporaries(target.parent)
    with _locked_temporary(target) as folder:
        try:
            with writing(target, folder):
                folder.mkdir()
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked_temporary(target: Path) -> Iterator[Path]:
    """Make up a temporary name; a lock tells others that its process lives."""
    while True:
        temporary = temporary_name(target)
        path = _lock_of(temporary)
        with writing(target, path):
            descriptor = open_lock(path)
        is_ours = True
        with contextlib.suppress(OSError):
            is_ours = try_lock(descriptor)
        # Another process may have cleared it before it was locked, or be about to.
        if is_ours and is_at(descriptor, path):
            break
        os.close(descriptor)
    try:
        yield temporary
    finally:
        remove_locked(path, partial(os.close, descriptor))


def clear_temporaries(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes of this machine left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [folder / entry.name for entry in entries if TEMPORARY.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _clear(path)


def _clear(path: Path) -> None:
    lock = _lock_of(path)
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        # Whoever writes makes it first and removes it last.
        _remove(path)
        return
    is_ours = False
    try:
        is_ours = try_lock(descriptor)
        if is_ours and path != lock:
            _remove(path)
    finally:
        close = partial(os.close, descriptor)
        if is_ours:
            remove_locked(lock, close)
        else:
            close()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _check_regular(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise BadInputError(f"{path} is no file: a folder or a device is not replaced")


def check_writable(path: str | os.PathLike[str]) -> None:
    """Make sure, before long work, that its result can be written.

    Raises
    ------
    BadInputError
        The folder of ``path`` does not exist or cannot be written.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        raise BadInputError(f"{os.fspath(path)}: the folder {os.fspath(folder)} does not exist")
    if not os.access(folder, os.W_OK):
        raise BadInputError(f"{os.fspath(path)}: the folder {os.fspath(folder)} cannot be written")
    _check_regular(Path(path))
