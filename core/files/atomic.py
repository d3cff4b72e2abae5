"""Writing output files so that a reader never sees half of one, and a killed writer's half is cleared by the next."""

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

from glem.core.errors import BadInputError, GlemWarning, writing


class LocksWarning(GlemWarning):
    """A file system has no locks."""


def _machine() -> str:
    """Name this machine, since it was started, in eight digits: all its containers share its locks, no other does."""
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
    except OSError:
        import platform

        name = platform.node()
    return hashlib.sha256(name.encode()).hexdigest()[:8]


_MACHINE = _machine()
TEMPORARY = re.compile(rf"\..*\.glem-{_MACHINE}[0-9a-f]{{16}}(\.[^.]*)?")
"""Names of this machine's temporary files and folders; nothing else is called so.

Another machine may still write to its own, and its locks may not be seen here.
"""


def temporary_name(target: Path) -> Path:
    """Make up a name beside a path, hidden and with its suffix, by which :func:`clear_temporaries` knows it."""
    return target.with_name(f".{target.stem}.glem-{_MACHINE}{secrets.token_hex(8)}{target.suffix}")


def lock(descriptor: int, place: Path) -> bool:
    """Lock an open file, as long as it is open; False where another process has it.

    Where the file system has no locks, a :class:`LocksWarning` says so, and nothing keeps others out.

    Parameters
    ----------
    place
        What the lock is for, for the warning.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        # Some network file systems answer EACCES for EWOULDBLOCK.
        return False
    except OSError as error:
        warnings.warn(
            f"{place}: the file system has no locks ({error.strerror}), so let no other glem work there meanwhile",
            LocksWarning,
            stacklevel=3,
        )
    return True


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
    temporary, descriptor = _locked_temporary(target, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        with writing(target, temporary):
            yield temporary
            with temporary.open("rb+") as written:
                # A rename that survives a power cut before the data does would leave an empty file.
                os.fsync(written.fileno())
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(descriptor)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as a file in UTF-8, atomically; bytes of a file's name that are no text become escapes."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextlib.contextmanager
def temporary_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder beside ``path``, removed with all that is in it when the block ends.

    What killed writers left beside it is cleared.
    """
    target = Path(path)
    clear_temporaries(target.parent)
    folder, descriptor = _locked_temporary(target, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with writing(target, folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _locked_temporary(target: Path, flags: int) -> tuple[Path, int]:
    """Make a temporary file or folder; the lock on it tells others that its process lives."""
    while True:
        temporary = temporary_name(target)
        if flags & os.O_DIRECTORY:
            temporary.mkdir()
        try:
            descriptor = os.open(temporary, flags | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            if target.parent.is_dir() and flags & os.O_DIRECTORY:
                continue
            raise
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Another process may have cleared it before it was locked.
        if temporary.exists():
            return temporary, descriptor
        os.close(descriptor)


def clear_temporaries(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes of this machine left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [folder / entry.name for entry in entries if TEMPORARY.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _clear(path)


def _clear(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


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
