"""Finished parts of a search in a folder, so that a killed run goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glem.core.configurations.mining.mined import Part
from glem.core.errors import BadInputError
from glem.core.files.archives import ArchiveFormat
from glem.core.files.digests import arrays_digest
from glem.core.tasks.run_folder import claim_folder, remove_work

__all__ = ["MiningCheckpoint"]

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
        self.folder.mkdir(parents=True, exist_ok=True)
        claim_folder(
            self.folder, {**settings, "data": arrays_digest(data)}, mark="run.json", content="parts of a search"
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
        remove_work(self.folder)
