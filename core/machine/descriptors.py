"""What operating systems do differently with open files."""

import ctypes
import os
import stat
import sys
from pathlib import Path

_BLOCK = bytes(1 << 20)


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
    import msvcrt

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

    def has_input(descriptor: int) -> bool:
        """Whether reading would not wait: there is something, or the end."""
        return bool(select.select([descriptor], [], [], 0)[0])
