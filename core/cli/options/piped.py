"""Input that comes through a pipe: commands read files more than once, so it is kept in a file meanwhile."""

import os
import queue
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, BinaryIO

import click

from glem.core.errors import BadInputError
from glem.core.files.addresses import is_address

_STANDARD_INPUT = "-"
_LONGEST_WAIT = 10.0
_PIECE = 1 << 20
_SUFFIXES = {
    b"PAR1": ".parquet",
    b"\x1f\x8b": ".gz",
    b"\xfd7zXZ": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
"""What readers go by, and a pipe does not have."""


class InputPath(click.Path):
    """Path of an input; for ``-`` and for a pipe, that of a file with what came through, until the command ends."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click's."""
        if is_address(value):
            if not value.lower().endswith(".parquet"):
                raise BadInputError(f"{value}: of files at addresses, those of positions (.parquet) alone are read")
            return value
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if str(path) == _STANDARD_INPUT:
            return _kept(sys.stdin.buffer, "standard-input")
        if path.is_fifo():
            with _opened(path) as stream:
                return _kept(stream, path.name)
        return str(path)


def _opened(path: Path) -> BinaryIO:
    """Open a pipe; this waits for the program at its other end."""
    opened: queue.Queue[BinaryIO | OSError] = queue.Queue()

    def wait() -> None:
        try:
            opened.put(path.open("rb"))  # whoever gets it closes it
        except OSError as error:
            opened.put(error)

    # A thread that nobody waits for, should the other end never be opened.
    threading.Thread(target=wait, daemon=True).start()
    try:
        found = opened.get(timeout=_LONGEST_WAIT)
    except queue.Empty:
        raise BadInputError(f"{path}: is a pipe, and no program writes to it") from None
    if isinstance(found, OSError):
        raise found
    return found


def _kept(stream: BinaryIO, name: str) -> str:
    # Imported here: the help of a command needs neither numpy nor what reads files.
    from glem.core.files.packed import MAX_BYTES

    folder = Path(click.get_current_context().find_root().with_resource(tempfile.TemporaryDirectory(prefix="glem-")))
    piece = stream.read(_PIECE)
    suffix = next((suffix for magic, suffix in _SUFFIXES.items() if piece.startswith(magic)), "")
    path = folder / f"{name}{suffix}"
    with path.open("wb") as file:
        while piece:
            file.write(piece)
            if file.tell() > MAX_BYTES:
                raise BadInputError(f"{name}: more than {MAX_BYTES:,} bytes through a pipe; write them to a file")
            piece = stream.read(_PIECE)
    return str(path)
