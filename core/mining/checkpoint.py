"""Finished parts of a search in a folder, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glem.core.archives import ArchiveFormat
from glem.core.digests import arrays_digest
from glem.core.errors import BadInputError, reading
from glem.core.files import atomic_path
from glem.core.mining.mined import Part
from glem.core.settings import described_differences

__all__ = ["MiningCheckpoint"]

_HEADER = "run.json"
_COLUMNS = ("relation", "depth", "matches")
_PART = ArchiveFormat("glem part of a search", version=1, required=_COLUMNS, largest=1 << 40, packed=False)


class MiningCheckpoint:
    """Folder with one file per finished part and a header that says which run they belong to.

    Parameters
    ----------
    folder
        Made if absent.
    settings
        What the result depends on, for people; compared with the folder's.
    data
        Arrays that the result depends on; their digest is compared.

    Raises
    ------
    BadInputError
        The folder holds the parts of another run, or something else.
    """

    def __init__(self, folder: str | os.PathLike[str], settings: Mapping[str, Any], data: tuple[Any, ...]) -> None:
        self.folder = Path(folder)
        # Through JSON once, so that a tuple equals the list that comes back from the file.
        wanted = json.loads(json.dumps({**settings, "data": arrays_digest(data)}))
        header = self.folder / _HEADER
        if header.exists():
            self._compare(header, wanted)
            return
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise BadInputError(f"{self.folder} is neither empty nor the checkpoint of a search; choose another folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(header) as temporary:
            temporary.write_text(json.dumps(wanted, indent=1))

    def _compare(self, header: Path, wanted: Mapping[str, Any]) -> None:
        with reading(header, "settings of a search"):
            changes = described_differences(json.loads(header.read_text("utf-8")), wanted)
        if changes:
            raise BadInputError(
                f"{self.folder} holds the parts of another run: {changes}; remove it or choose another folder"
            )

    def _file(self, first: int) -> Path:
        return self.folder / f"part-{first:05d}.npz"

    def load(self, first: int) -> Part | None:
        """Return the finished part of the first relation at this place of the search's order; None when there is none.

        A damaged file counts as none: the part is searched again.
        """
        try:
            columns = _PART.read(self._file(first))[1]
        except BadInputError:
            return None
        return Part(**columns)

    def store(self, first: int, part: Part) -> None:
        """Write a finished part, whole or not at all."""
        _PART.write(self._file(first), {}, {name: getattr(part, name) for name in _COLUMNS})

    def remove(self) -> None:
        """Remove the folder's files and the folder, when the result is safe elsewhere."""
        for file in self.folder.glob("part-*.npz"):
            file.unlink(missing_ok=True)
        (self.folder / _HEADER).unlink(missing_ok=True)
        self.folder.rmdir()
