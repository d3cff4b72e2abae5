"""Reading files of strangers, plain or packed (gzip, xz, Zstandard), in bounded pieces; errors name the file."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import logging
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from io import BufferedIOBase, BufferedReader, BufferedWriter
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError, NotEnoughMemoryError, check_regular

_log = logging.getLogger(__name__)

MAX_BYTES = 4 << 30
"""Default limit on the bytes that an archive may unpack to: a small one can unpack to terabytes."""

_UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|[ -~]\0[ -~]\0|\0[ -~]\0[ -~]")
"""A byte order mark, or two ASCII characters without one."""


BEGINNING = 4096
"""Bytes by which a text is known."""

# Games and tables pack to a hundredth at best; what unpacks to more was made to fill memory and time.
_MOST_GROWTH = 100
_USUAL_GROWTH = 16
_ALWAYS_UNPACKED = 64 << 20
_PIECE = 1 << 18
_ZSTANDARD_PIECE = 1 << 14
"""What a piece holds before damage is lost with it, so the pieces are small."""
_BLOCK = 1 << 22
_MAX_LINE = 1 << 20
_MAX_BLOCK = 1 << 26
_NEWLINE = 10


_PACKINGS = frozenset({".gz", ".xz", ".zst"})


class BoundedFile:
    """A file read from its start; all that can go wrong becomes a :class:`BadInputError` that names it.

    Texts are as every reader expects them: without a byte order mark, and with the line ends of Unix where a text has
    those of old Macs alone.

    Parameters
    ----------
    path
        For messages.
    stream
        The decompressed bytes.
    max_bytes
        Reading more than this is an error.
    packed_bytes
        Size of the archive, which bounds what may come out of it; None if the file is none.
    """

    def __init__(self, path: Path, stream: BufferedIOBase, max_bytes: int, packed_bytes: int | None = None) -> None:
        self.path = path
        self._stream = stream
        self._most = _ZSTANDARD_PIECE if path.suffix.lower() == ".zst" else _PIECE
        self._max_bytes = max_bytes
        self._archive = ""
        if packed_bytes is not None and max(_ALWAYS_UNPACKED, _MOST_GROWTH * packed_bytes) < max_bytes:
            self._max_bytes = max(_ALWAYS_UNPACKED, _MOST_GROWTH * packed_bytes)
            self._archive = f" for an archive of {packed_bytes:,}; unpack it first if it is right"
        self._count = 0
        self._ahead: bytes | None = None
        self._is_mac = False
        self._damage: BadInputError | None = None

    def read(self, count: int) -> bytes:
        """Read up to ``count`` bytes; fewer at the end of the file, or where it breaks off.

        What comes before damage is returned first; the next call raises.

        Raises
        ------
        BadInputError
            The file cannot be read, is a damaged archive, is text in UTF-16, or holds more than the limit.
        """
        if self._ahead is None:
            self._begin()
        ahead = self._ahead or b""
        pieces, self._ahead = [ahead[:count]], ahead[count:]
        missing = count - len(pieces[0])
        while missing > 0 and self._damage is None:
            try:
                piece = self._piece(min(missing, self._most))
            except BadInputError as error:
                self._damage = error
                break
            if not piece:
                break
            missing -= len(piece)
            pieces.append(piece)
        content = b"".join(pieces)
        if self._damage is not None and not content:
            raise self._damage
        return content.replace(b"\r", b"\n") if self._is_mac else content

    def _begin(self) -> None:
        """Read the first bytes, which are handed out with the rest, and see what text they are."""
        ahead = b""
        try:
            while len(ahead) < BEGINNING and (piece := self._piece(BEGINNING - len(ahead))):
                ahead += piece
            if _UTF_16.match(ahead):
                ahead = b""
                raise BadInputError(f"{self.path}: is text in UTF-16; save it as UTF-8")
        except BadInputError as error:
            self._damage = error
        self._ahead = ahead.removeprefix(codecs.BOM_UTF8)
        # The last byte may be the first half of a line end of Windows; binary files have zeros.
        self._is_mac = b"\r" in ahead[:-1] and b"\n" not in ahead and b"\0" not in ahead

    def _piece(self, count: int) -> bytes:
        try:
            # Not read(): where an archive breaks off, that would lose what it has unpacked already.
            piece = self._stream.read1(count)
        except MemoryError as error:
            # An xz header may ask for a dictionary of 4 GiB.
            raise NotEnoughMemoryError(
                f"{self.path}: not enough memory to unpack it, after {self._count:,} unpacked bytes"
            ) from error
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            # Damage of gzip and of pyarrow's Zstandard is an OSError without a number, which a failing disk has.
            if isinstance(error, OSError) and error.errno is not None:
                raise BadInputError(f"{self.path}: cannot be read: {error.strerror}") from error
            raise BadInputError(
                f"{self.path}: damaged or truncated archive after {self._count:,} unpacked bytes "
                f"({str(error) or type(error).__name__})"
            ) from error
        self._count += len(piece)
        if self._count > self._max_bytes:
            raise BadInputError(f"{self.path}: holds more than the limit of {self._max_bytes:,} bytes{self._archive}")
        return piece


@contextlib.contextmanager
def open_bounded(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Iterator[BoundedFile]:
    """Open a file for reading; ``.gz``, ``.xz`` and ``.zst`` are unpacked on the way.

    Parameters
    ----------
    path
        The file; its last suffix decides about unpacking.
    max_bytes
        Limit on the unpacked size; that of an archive is also limited to a hundred times its own, or 64 MiB if that is
        more. :data:`MAX_BYTES` stands for no limit on a file that is larger itself, and for 16 times the size of an
        archive if that is more.

    Raises
    ------
    BadInputError
        The file cannot be opened.
    """
    source = Path(path)
    check_regular(source)
    try:
        file = source.open("rb")
    except OSError as error:
        raise BadInputError(f"{source}: cannot be opened: {error.strerror or error}") from error
    _log.info("reading %s", source)
    with file, _packing(file, source.suffix.lower(), "rb") as stream:
        size = os.fstat(file.fileno()).st_size
        is_packed = source.suffix.lower() in _PACKINGS
        if max_bytes == MAX_BYTES:
            # Whoever has a month of games in 30 GB has read them before.
            max_bytes = max(max_bytes, _USUAL_GROWTH * size if is_packed else size)
        yield BoundedFile(source, stream, max_bytes, size if is_packed else None)


def _packing(file: BufferedReader | BufferedWriter, suffix: str, mode: Literal["rb", "wb"]) -> Any:
    """Make a context manager that gives the unpacked bytes of a file, or what packs bytes into it."""
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=file, mode=mode, mtime=0)
    if suffix == ".xz":
        return lzma.LZMAFile(file, mode)
    if suffix == ".zst":
        # pyarrow is slow to import, and few files need it.
        import pyarrow

        stream = pyarrow.CompressedInputStream if mode == "rb" else pyarrow.CompressedOutputStream
        return stream(pyarrow.PythonFile(file, mode=mode[0]), "zstd")
    return file


@contextlib.contextmanager
def open_packed(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes; ``.gz``, ``.xz`` and ``.zst`` are packed, equal bytes to equal files."""
    with path.open("wb") as file, _packing(file, path.suffix.lower(), "wb") as packed:
        yield packed


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """Suffix of a file in lower case, that of a packing (``.gz``, ``.xz``, ``.zst``) left out."""
    source = Path(path)
    if source.suffix.lower() in _PACKINGS:
        source = source.with_suffix("")
    return source.suffix.lower()


class LineBlock(NamedTuple):
    """Some whole lines of a text file.

    ``data`` is uint8 [B]; line ``i`` is ``data[starts[i]:ends[i]]``, without its newline (both int64 [L]), and
    has the number ``first_number + i`` in its file, counted from 1.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    first_number: int

    def text(self, line: int) -> str:
        """Text of one line; bytes that are no UTF-8 as question marks."""
        return self.data[self.starts[line] : self.ends[line]].tobytes().decode("utf-8", "replace").rstrip("\r")

    def since(self, line: int) -> LineBlock:
        """Give the lines from one on."""
        origin = int(self.starts[line]) if line < len(self.starts) else len(self.data)
        starts, ends = self.starts[line:] - origin, self.ends[line:] - origin
        return LineBlock(self.data[origin:], starts, ends, self.first_number + line)

    def joined(self, following: LineBlock) -> LineBlock:
        """Join the lines that follow in the file."""
        size = len(self.data)
        return self._replace(
            data=np.concatenate([self.data, following.data]),
            starts=np.concatenate([self.starts, following.starts + size]),
            ends=np.concatenate([self.ends, following.ends + size]),
        )


def _split(data: bytes, first_number: int, lines: int) -> Iterator[LineBlock]:
    """Blocks of at most ``lines`` lines of a text that ends with a newline."""
    array = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(array == _NEWLINE).astype(np.int64)
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    for first in range(0, len(ends), lines):
        last = min(first + lines, len(ends))
        origin, stop = int(starts[first]), int(ends[last - 1]) + 1
        yield LineBlock(
            array[origin:stop], starts[first:last] - origin, ends[first:last] - origin, first_number + first
        )


def line_blocks(path: str | os.PathLike[str], *, lines: int, max_bytes: int = MAX_BYTES) -> Iterator[LineBlock]:
    """Read a text file in blocks of whole lines; a missing newline at the end is forgiven.

    When the file breaks off (a damaged archive), the whole lines before the damage come first, then the error.

    Parameters
    ----------
    path
        Text, packed or not (:func:`open_bounded`).
    lines
        Most lines in a block, at least 1.
    max_bytes
        Limit on the unpacked size.

    Raises
    ------
    BadInputError
        The file cannot be read, or a line is longer than a mebibyte.
    """
    number = 1
    pending = bytearray()
    newlines = 0
    with open_bounded(path, max_bytes=max_bytes) as file:
        while True:
            damage: BadInputError | None = None
            try:
                piece = file.read(_BLOCK)
            except BadInputError as error:
                damage, piece = error, b""
            if not piece and damage is None and pending and pending[-1] != _NEWLINE:
                piece = b"\n"
            pending += piece
            newlines += piece.count(b"\n")
            # A last line without a newline comes with those before it.
            ended = not piece or (len(piece) < _BLOCK and pending.endswith(b"\n"))
            if newlines and (newlines >= lines or len(pending) > _MAX_BLOCK or ended):
                cut = pending.rindex(b"\n") + 1
                yield from _split(bytes(pending[:cut]), number, lines)
                del pending[:cut]
                number += newlines
                newlines = 0
            if damage is not None:
                raise damage
            if len(pending) > _MAX_LINE and len(pending) - pending.rfind(b"\n") > _MAX_LINE:
                raise BadInputError(
                    f"{file.path}:{number + newlines}: no line end within {_MAX_LINE:,} bytes; is this a text file?"
                )
            if not piece:
                return
