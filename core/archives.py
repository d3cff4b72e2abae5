"""Archives: ``.npz`` files of plain arrays with a JSON header, for what glem has learned.

The header names the format and its version and holds a checksum of the arrays. An archive is data: it is read with
``allow_pickle=False``, and every size is checked before memory is taken.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, GlemError
from glem.core.files import atomic_path

__all__ = ["ArchiveFormat"]

_log = logging.getLogger(__name__)

_LARGEST_HEADER = 16 << 20


@define(frozen=True)
class ArchiveFormat:
    """A kind of archive.

    Parameters
    ----------
    name
        What its header calls itself, for instance ``glem evaluation``.
    version
        Of the files that are written, and alone can be read.
    required
        Arrays that a file must hold.
    optional
        Arrays that it may hold.
    largest
        Most bytes of all members when unpacked.
    foreign
        Members of other kinds of files that are often mistaken for this kind, and what is said of them.
    """

    name: str
    version: int
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    largest: int = 4 << 30
    foreign: Mapping[str, str] = field(factory=dict)

    def write(
        self, path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Write a file atomically.

        Parameters
        ----------
        path
            Should end in ``.npz``.
        header
            JSON values; format, version and checksum are added.
        arrays
            By name.
        """
        marked = {"format": self.name, "version": self.version, **header, "sha256": _checksum(arrays)}
        text = np.frombuffer(json.dumps(marked).encode(), np.uint8)
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, header=text, **arrays)

    def read(self, path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Read the header and the arrays of a file.

        Raises
        ------
        BadInputError
            The file is missing, damaged, too large, of another kind or version; the text names it.
        """
        try:
            _log.info("reading %s", path)
            with zipfile.ZipFile(path) as archive:
                self._check_members(path, {info.filename: info.file_size for info in archive.infolist()})
            # Opened here: numpy leaves a file open that it cannot read.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = json.loads(arrays.pop("header").tobytes())
        except GlemError:
            raise
        except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
            raise BadInputError(f"{path}: {error.strerror}") from None
        except Exception as error:
            # Damaged archives raise what zipfile, zlib, numpy and json each think fit.
            raise BadInputError(f"{path}: no {self.name} file ({type(error).__name__}: {error})") from error
        if not isinstance(header, dict) or header.get("format") != self.name:
            raise BadInputError(f"{path}: its header is not that of a {self.name} file")
        if header.get("version") != self.version:
            raise BadInputError(f"{path}: format version {header.get('version')}, this glem reads {self.version}")
        if header.get("sha256") != _checksum(arrays):
            raise BadInputError(f"{path}: damaged, its checksum does not agree")
        return header, arrays

    def _check_members(self, path: Path, sizes: Mapping[str, int]) -> None:
        for name, words in self.foreign.items():
            if f"{name}.npy" in sizes:
                raise BadInputError(f"{path}: {words}")
        for name in ("header", *self.required):
            if f"{name}.npy" not in sizes:
                raise BadInputError(f"{path}: no {self.name} file (it holds no {name})")
        unknown = sorted(set(sizes) - {f"{name}.npy" for name in ("header", *self.required, *self.optional)})
        if unknown:
            raise BadInputError(f"{path}: no {self.name} file (it holds {unknown[0]})")
        if sizes["header.npy"] > _LARGEST_HEADER:
            raise BadInputError(f"{path}: the header is larger than {_LARGEST_HEADER} bytes")
        if sum(sizes.values()) > self.largest:
            raise BadInputError(f"{path}: more than {self.largest} bytes when unpacked")


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
