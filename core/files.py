"""Writing output files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["atomic_path"]


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that replaces it when the block ends without an error.

    The suffix of ``path`` is kept, since writers look at it. On an error, Ctrl-C included, the temporary
    file is removed and an older file at ``path`` stays as it was.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            # A rename that survives a power cut before the data does would leave an empty file.
            os.fsync(written.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
