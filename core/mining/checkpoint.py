"""Finished parts of a search in a folder, so that a killed run goes on where it was."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glem.core.digests import arrays_digest
from glem.core.files import atomic_path
from glem.core.mining.mined import Part
from glem.core.run_folder import claim_folder, remove_work

__all__ = ["MiningCheckpoint"]


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
            # Opened here: numpy leaves a file open that it cannot read.
            with self._file(first).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                part = Part(arrays["relation"], arrays["depth"], arrays["matches"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        kinds = (part.relation.dtype, part.depth.dtype, part.matches.dtype)
        shapes = {part.relation.shape, part.depth.shape, part.matches.shape}
        return (
            part
            if kinds == (np.dtype(np.uint16), np.dtype(np.uint8), np.dtype(np.uint32)) and shapes == {(len(part),)}
            else None
        )

    def store(self, first: int, part: Part) -> None:
        """Write a finished part, whole or not at all."""
        with atomic_path(self._file(first)) as temporary, temporary.open("wb") as file:
            np.savez(file, relation=part.relation, depth=part.depth, matches=part.matches)

    def remove(self) -> None:
        """Remove the folder's files and the folder, when the result is safe elsewhere."""
        remove_work(self.folder)
