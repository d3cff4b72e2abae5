"""What operating systems do differently with open files."""

import os
import stat
import sys
import time
from pathlib import Path

_BLOCK = bytes(1 << 20)
_PATIENCE, _PAUSE = 1.0, 0.02
"""Seconds."""


def sync_folder(folder: Path) -> None:
    """Make sure that a new file's name is on the disk too; Windows does that by itself."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def reserve(descriptor: int, size: int) -> None:
    """Make an empty file so many bytes long, with room on the disk for them.

    Raises
    ------
    OSError
        The disk is full.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    while size > 0:
        size -= os.write(descriptor, memoryview(_BLOCK)[:size])


if sys.platform == "win32":
    import ctypes
    import msvcrt

    def replace_file(source: Path, target: Path) -> None:
        """See below; whoever looks at files, against viruses or to find them, may have one open for a moment."""
        last = time.perf_counter() + _PATIENCE
        while True:
            try:
                source.replace(target)
            except PermissionError:
                if time.perf_counter() > last:
                    raise
                time.sleep(_PAUSE)
            else:
                return

    def has_input(descriptor: int) -> bool:
        """See below; at a terminal False."""
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return True
        waiting = ctypes.c_ulong()
        is_pipe = ctypes.windll.kernel32.PeekNamedPipe(
            ctypes.c_void_p(msvcrt.get_osfhandle(descriptor)), None, 0, None, ctypes.byref(waiting), None
        )
        # A pipe whose other end is closed is none any more.
        return waiting.value > 0 if is_pipe else not os.isatty(descriptor)

else:
    import select

    def replace_file(source: Path, target: Path) -> None:
        """Give a file the name of another, which is gone then."""
        source.replace(target)

    def has_input(descriptor: int) -> bool:
        """Whether reading would not wait: there is something, or the end."""
        return bool(select.select([descriptor], [], [], 0)[0])
