"""How much memory is there for this process: the machine's, or what its container and job may take of it."""

import contextlib
from pathlib import Path, PurePosixPath

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_MMAP_THRESHOLD = -3
_LEAST_MAPPED = 1 << 23


def give_back_arrays() -> None:
    """Let the memory of large arrays go back to the system when they are freed, where the C library is GNU's.

    Otherwise it keeps room for arrays of up to 32 MB in the heap of each thread, once one was freed: a gigabyte and
    more, between smaller ones that are still in use. For processes of glem's own.
    """
    import ctypes

    with contextlib.suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LEAST_MAPPED)


_promised: list[int] = []


def promise_memory(most: int | None) -> None:
    """Set how many bytes this process may hold; None takes it back."""
    _promised[:] = [] if most is None else [most]


def memory_limit() -> int:
    """Bytes that this process may hold.

    What the user allows, the machine's memory, or the limit of a control group that it is in: the least of these.
    """
    import psutil

    limits: list[int] = [psutil.virtual_memory().total, *_promised]
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text("utf-8", "replace").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            # Version 2 has one tree for everything, version 1 one of each kind.
            folder, name = (_GROUPS / "memory", "memory.limit_in_bytes") if controllers else (_GROUPS, "memory.max")
            own = PurePosixPath(path.lstrip("/"))
            for group in (own, *own.parents):
                # In a container the path may be that of the machine outside, and the root is its own group.
                with contextlib.suppress(OSError, ValueError):
                    limits.append(int((folder / group / name).read_text("ascii")))
    return min(limits)


def memory_left() -> int:
    """Bytes of :func:`memory_limit` that this process does not hold yet."""
    import psutil

    own = psutil.Process().memory_info()
    # What is mapped from files can be read again. Not every system says how much that is.
    held: int = own.rss - getattr(own, "shared", 0)
    return max(memory_limit() - held, 0)


def shortage(needed: float) -> str:
    """Say how much memory is missing where so many bytes are needed: ``3.2 GB needed, 1.5 GB left``; else ``""``."""
    left = memory_left()
    return f"{needed / 1e9:.1f} GB needed, {left / 1e9:.1f} GB left" if needed > left else ""
