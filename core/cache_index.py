"""Reading the index of numba's on-disk cache in a process that lacks some of what it names.

A kernel that serves all games keeps one index, a pickle that names the position classes of every game the kernel was
compiled for. Where one of these games is no longer installed the index cannot be read, and numba would fail.
"""

from __future__ import annotations

from typing import Any

__all__ = ["forgive_unreadable_index"]


def forgive_unreadable_index(dispatcher: Any) -> Any:
    """Make a caching dispatcher of numba take an index that cannot be read for an empty one; returns the dispatcher."""
    file = dispatcher._cache._cache_file
    load_index = file._load_index

    def load_index_or_none() -> Any:
        try:
            return load_index()
        except Exception:  # noqa: BLE001 # reading it imports the modules that it names, with any outcome
            return {}

    file._load_index = load_index_or_none
    return dispatcher
