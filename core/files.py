"""Writing output files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from glem.core.errors import BadInputError

__all__ = ["LOCK", "atomic_path", "check_writable", "folder_lock"]

LOCK = "lock"
"""Name of the file by which :func:`folder_lock` keeps others out."""


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that replaces it when the block ends without an error.

    The suffix of ``path`` is kept, since writers look at it. On an error, Ctrl-C included, the temporary
    file is removed and an older file at ``path`` stays as it was.

    Raises
    ------
    BadInputError
        Something other than a file is there: a folder or a device would be replaced.
    """
    target = Path(path)
    _check_regular(target)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            # A rename that survives a power cut before the data does would leave an empty file.
            os.fsync(written.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder of unfinished work; the lock ends with the process, however it ends.

    Raises
    ------
    BadInputError
        Another process has the folder.
    """
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInputError(f"another glem is at work in {folder}") from None
        yield
