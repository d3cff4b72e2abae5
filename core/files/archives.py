"""Archives: ``.npz`` files of plain arrays with a JSON header, for what glem has learned.

The header names the format and its version and holds a checksum of the arrays. An archive is data: it is read with
``allow_pickle=False``, and every size is checked before memory is taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.files.atomic import atomic_path
from glem.core.files.json_values import parse_json
from glem.core.files.made import made

_log = logging.getLogger(__name__)

_LARGEST = 4 << 30
_LARGEST_HEADER = 16 << 20
_ENCRYPTED = 1
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


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
        Arrays that it may hold; None for any.
    largest
        Most bytes of all members when unpacked.
    foreign
        Members of other kinds of files that are often mistaken for this kind, and what is said of them.
    packed
        Whether written files are compressed.
    """

    name: str
    version: int
    required: tuple[str, ...]
    optional: tuple[str, ...] | None = ()
    largest: int = _LARGEST
    foreign: Mapping[str, str] = field(factory=dict)
    packed: bool = True

    def write(
        self, path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Write a file atomically.

        Parameters
        ----------
        path
            Should end in ``.npz``.
        header
            JSON values; format, version, checksum and the command that makes the file are added.
        arrays
            By name.
        """
        own = {"format": self.name, "version": self.version}
        marked = {**own, **header, **made(path), "sha256": _checksum(arrays)}
        text = np.frombuffer(json.dumps(marked).encode(), np.uint8)
        members: dict[str, Any] = {"header": text, **arrays}
        compression = zipfile.ZIP_DEFLATED if self.packed else zipfile.ZIP_STORED
        # Like numpy.savez, which before version 2.2 leaves the archive open on a full disk.
        with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w", compression) as archive:
            for name, values in members.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)

    def read(
        self, path: Path, check: Callable[[Any, Mapping[str, tuple[int, ...]]], None] = lambda *_: None
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Read the header and the arrays of a file.

        Parameters
        ----------
        check
            Called with the header and the shapes of the arrays before one is unpacked; raises :class:`BadInputError`.

        Raises
        ------
        BadInputError
            The file is missing, damaged, too large, of another kind or version; the text names it.
        """
        _log.info("reading %s", path)
        with _opened(path, f"{self.name} file", self.largest) as members:
            self._check_members(members)
            header = json.loads(members.pop("header").read().tobytes())
            if not isinstance(header, dict) or header.get("format") != self.name:
                raise BadInputError(f"{path}: its header is not that of a {self.name} file")
            if header.get("version") != self.version:
                raise BadInputError(f"{path}: format version {header.get('version')}, this glem reads {self.version}")
            check(header, {name: member.shape for name, member in members.items()})
            arrays = {name: member.read() for name, member in members.items()}
        if header.get("sha256") != _checksum(arrays):
            raise BadInputError(f"{path}: damaged, its checksum does not agree")
        return header, arrays

    def _check_members(self, members: Mapping[str, Member]) -> None:
        for name, words in self.foreign.items():
            if name in members:
                raise BadInputError(words)
        for name in ("header", *self.required):
            if name not in members:
                raise BadInputError(f"no {self.name} file (it holds no {name})")
        unknown = [] if self.optional is None else sorted(set(members) - {"header", *self.required, *self.optional})
        if unknown:
            raise BadInputError(f"no {self.name} file (it holds {unknown[0]})")
        if members["header"].size > _LARGEST_HEADER:
            raise BadInputError(f"the header is larger than {_LARGEST_HEADER} bytes")


@define(frozen=True)
class Member:
    """An array of an archive, as its own header announces it.

    Parameters
    ----------
    shape, kind, size
        Of the array; the size in bytes when unpacked.
    """

    shape: tuple[int, ...]
    kind: np.dtype[Any]
    size: int
    _archive: zipfile.ZipFile
    _info: zipfile.ZipInfo

    @classmethod
    def of(cls, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Self:
        """Read what is announced; anything else than an array of numbers, truth values or text is refused."""
        # The other ways of packing take gigabytes for their dictionaries where a file asks for them.
        if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} or info.flag_bits & _ENCRYPTED:
            raise BadInputError(f"{info.filename} is packed in a way that numpy does not write")
        with archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            if version not in _HEADERS:
                raise BadInputError(f"{info.filename} is no plain array (version {version})")
            shape, _, kind = _HEADERS[version](member)
            count, size = math.prod(shape), info.file_size - member.tell()
        # Items of no size could be any number.
        if kind.kind not in "biufU" or count * kind.itemsize != size or count > info.file_size:
            raise BadInputError(f"{info.filename} is no plain array ({kind}, {shape}, {size:,} bytes)")
        return cls(shape, kind, size, archive, info)

    def read(self) -> NDArray[Any]:
        """Unpack it."""
        with self._archive.open(self._info) as member:
            array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
            # Reading to the end checks the sum.
            member.read(1)
        return array


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str], what: str, largest: int) -> Iterator[dict[str, Member]]:
    with reading(path, what), zipfile.ZipFile(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if sum(info.file_size for info in members.values()) > largest:
            raise BadInputError(f"more than {largest} bytes when unpacked")
        yield {name: Member.of(archive, info) for name, info in members.items()}


def read_arrays(path: str | os.PathLike[str], what: str, *, largest: int = _LARGEST) -> dict[str, NDArray[Any]]:
    """Read the plain arrays of an ``.npz`` file, which may be anyone's.

    Parameters
    ----------
    what
        What it should be, for errors.
    largest
        Most bytes of all members when unpacked.

    Raises
    ------
    BadInputError
        The file is missing, damaged or too large, or holds anything else than arrays of numbers, truth values or text.
    """
    with _opened(path, what, largest) as members:
        return {name: member.read() for name, member in members.items()}


def read_contents(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """Read what any archive says of itself, without unpacking it: its header, and the shape of each array.

    Raises
    ------
    BadInputError
        The file is missing or damaged, or is no archive.
    """
    with _opened(path, "glem archive", 1 << 40) as members:
        if "header" not in members or members["header"].size > _LARGEST_HEADER:
            raise BadInputError(f"{path}: has no header: glem did not write it")
        header = parse_json(members.pop("header").read().tobytes())
        if not isinstance(header, dict) or not isinstance(header.get("format"), str):
            raise BadInputError(f"{path}: its header is not one that glem writes")
        return header, {name: member.shape for name, member in members.items()}


def holds_array(path: str | os.PathLike[str], name: str) -> bool:
    """Whether a file is an archive with an array of that name; False for anything else."""
    # Whoever reads it next tells what is wrong with a damaged file.
    with contextlib.suppress(BadInputError), reading(path), zipfile.ZipFile(path) as archive:
        return f"{name}.npy" in archive.namelist()
    return False


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
