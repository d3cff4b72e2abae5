"""The index of numba's on-disk cache, as processes need it that share a cache and do not all have the same games.

A kernel that serves all games keeps one index, a pickle that names the position classes of every game the kernel was
compiled for. Where one of these games is no longer installed the index cannot be read, and numba would fail.

numba numbers the files of machine code: two processes that compile a kernel at the same time, each for a game of its
own, both take the next number, and one game would get the machine code of the other. Here the number follows from the
types that the code was compiled for.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["make_index_shareable", "one_process"]

_LONGEST_WAIT = 120.0
_WAIT = 0.01
"""Seconds between looks at a lock."""


def make_index_shareable(cache: Any) -> Any:
    """Let the index of a cache of numba be written by many processes; returns the cache.

    One that cannot be read is taken for an empty one.
    """
    file = cache._cache_file
    load_index = file._load_index

    def load_index_or_none() -> Any:
        try:
            return load_index()
        except Exception:  # noqa: BLE001 # reading it imports the modules that it names, with any outcome
            return {}

    def save(key: Any, data: Any) -> None:
        name = file._data_name(int.from_bytes(hashlib.sha256(file._dump(key)).digest()[:8]))
        # The index never names a file that is not there yet.
        file._save_data(name, data)
        with _alone_in(Path(file._cache_path)):
            overloads = file._load_index()
            overloads[key] = name
            file._save_index(overloads)

    file._load_index = load_index_or_none
    file.save = save
    return cache


@contextlib.contextmanager
def one_process(path: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same path, for two minutes at most.

    Whoever comes second then finds on disk what the first has made. The lock goes with its process.

    Parameters
    ----------
    path
        File to lock; made and left.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        _wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    last = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < last:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_WAIT)
        except OSError:
            # Where files cannot be locked, two processes may make the same.
            return
        else:
            return


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from writing an index meanwhile; where files cannot be locked, an entry may be lost."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
