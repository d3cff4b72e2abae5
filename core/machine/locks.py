"""Locks on files, which end with the process that has them, however it ends.

On Windows a locked byte cannot be read, and a journal is read while it is written. Of the libraries for this,
portalocker locks the beginning of the file, and filelock wants another file beside each. Here a byte behind the end of
any file is locked there.
"""

import contextlib
import hashlib
import os
import platform
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from glem.core.errors import GlemWarning

if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = (1 << 31) - 2

    def _take(descriptor: int) -> None:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


LONGEST_WAIT = 0.5
"""Seconds that a thread should wait for another at a time: on Windows nothing interrupts it, Ctrl-C included."""


class LocksWarning(GlemWarning):
    """A file system has no locks."""


def _machine() -> str:
    """Name this machine, since it was started, in eight digits: all its containers share its locks, no other does."""
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
    except OSError:
        name = platform.node()
    return hashlib.sha256(name.encode()).hexdigest()[:8]


MACHINE = _machine()
"""Eight hexadecimal digits that processes share which see each other's locks."""


def open_lock(path: Path, *, private: bool = False) -> int:
    """Open a file to lock it, made if absent; gives its descriptor, which no program that is started inherits."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600 if private else 0o666)


def try_lock(descriptor: int) -> bool:
    """Lock an open file, as long as it is open; False where another process has it.

    Raises
    ------
    OSError
        The file system has no locks.
    """
    try:
        _take(descriptor)
    except (BlockingIOError, PermissionError):
        # Windows and some network file systems answer EACCES for EWOULDBLOCK.
        return False
    return True


def lock(descriptor: int, place: Path) -> bool:
    """Lock an open file as :func:`try_lock` does.

    Where the file system has no locks, a :class:`LocksWarning` says so, and nothing keeps others out.

    Parameters
    ----------
    place
        What the lock is for, for the warning.
    """
    try:
        return try_lock(descriptor)
    except OSError as error:
        warnings.warn(
            f"{place}: the file system has no locks ({error.strerror}), so let no other glem work there meanwhile",
            LocksWarning,
            stacklevel=3,
        )
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one of that name: who had its lock before may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def remove_locked(path: Path, close: Callable[[], object]) -> None:
    """Remove a file that is locked, and close it: whoever waits for the lock finds that the file is gone."""
    if sys.platform == "win32":
        close()
        # Open files cannot be removed: if another process has it by now, it stays.
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    else:
        path.unlink(missing_ok=True)
        close()
