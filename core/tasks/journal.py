"""Journals: files of JSON lines that survive the death of their writer at any moment.

The first line says what kind of work the file belongs to and holds all settings that determine it, with a digest. Each
further line is one finished piece of work, on the disk before the next one begins. A line that the writer's death left
torn is dropped when the work goes on; other settings are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from glem.core.errors import BadInputError, reading, writing
from glem.core.files.json_values import parse_json
from glem.core.machine.descriptors import sync_folder
from glem.core.machine.locks import lock, remove_locked
from glem.core.tasks.run_folder import described_differences

VERSION = 1
_LONGEST_LINE = 1 << 28


class Journal:
    """A journal that is open for writing; a context manager.

    Parameters
    ----------
    path
        Made if absent; continued if it belongs to the same work.
    kind
        What kind of work it is, for instance ``tournament``.
    settings
        JSON values that determine the work.

    Raises
    ------
    BadInputError
        The file belongs to other work or other settings, is damaged before its last line, or another process has it.
    """

    def __init__(self, path: str | os.PathLike[str], kind: str, settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._kind = kind
        # Through JSON once, so that a tuple equals the list that comes back from the file.
        self._settings = json.loads(_text(settings))
        if self.path.exists() and not self.path.is_file():
            raise BadInputError(f"{self.path} is no file: a folder or a device is not written to")
        self._file: IO[bytes] = self.path.open("a+b")
        try:
            self._begin()
        except BaseException:
            self._file.close()
            raise

    def _begin(self) -> None:
        if not lock(self._file.fileno(), self.path):
            raise BadInputError(f"{self.path}: another glem is writing to it")
        header = _header_line(self._kind, self._settings)
        self._file.seek(0)
        # A death while the header was written leaves a beginning of it.
        if header.startswith(self._file.read(len(header) + 1)):
            self._file.truncate(0)
            self._write(header)
            sync_folder(self.path.parent)
            return
        self._file.seek(0)
        found = _read_header(self.path, self._kind, self._file)
        if changes := described_differences(found, self._settings):
            raise BadInputError(f"{self.path} belongs to other settings ({changes}); remove it or name another file")
        self._file.truncate(max((end for _, end in _lines(self.path, self._file)), default=self._file.tell()))

    def records(self, parse: Callable[[Any], Any] = lambda record: record) -> Iterator[Any]:
        """Pieces of work that were finished before, in the order of the file; see :func:`read_journal`."""
        _, found = read_journal(self.path, self._kind, parse)
        return found

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a piece of work; it is on the disk when this returns."""
        self._write(_line(record))

    def _write(self, line: bytes) -> None:
        with writing(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, so that others may write to it."""
        # What a full disk did not take is tried again here.
        with writing(self.path):
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Work that failed before its first piece was finished must not stand in a corrected command's way.
        if kind is not None and os.fstat(self._file.fileno()).st_size == len(_header_line(self._kind, self._settings)):
            remove_locked(self.path, self.close)
        else:
            self.close()


def read_journal(
    path: str | os.PathLike[str], kind: str, parse: Callable[[Any], Any] = lambda record: record
) -> tuple[dict[str, Any], Iterator[Any]]:
    """Read a journal.

    Parameters
    ----------
    kind
        What kind of work it must be.
    parse
        Makes a piece of work of a line's JSON value; what it raises is told with file and line. Default is the value.

    Returns
    -------
    settings
        JSON values that determine the work.
    records
        The finished pieces, in the order of the file; a torn last line is left out.

    Raises
    ------
    BadInputError
        The file is missing, belongs to other work, or is damaged before its last line; the text names the line.
    """
    source = Path(path)
    with reading(source, f"glem {kind}"), source.open("rb") as file:
        settings = _read_header(source, kind, file)

    def records() -> Iterator[Any]:
        with reading(source), source.open("rb") as file:
            file.readline(_LONGEST_LINE)
            for number, (record, _) in enumerate(_lines(source, file), start=2):
                with reading(f"{source}:{number}", f"line of a glem {kind}"):
                    piece = parse(record)
                yield piece

    return settings, records()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _line(value: Any) -> bytes:
    # What is no text in the name of a file becomes an escape of JSON.
    return f"{_text(value)}\n".encode(errors="backslashreplace")


def _digest(settings: Any) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _header_line(kind: str, settings: Any) -> bytes:
    header = {"format": f"glem {kind}", "version": VERSION, "sha256": _digest(settings), "settings": settings}
    return _line(header)


def _read_header(path: Path, kind: str, file: IO[bytes]) -> dict[str, Any]:
    line = file.readline(_LONGEST_LINE)
    with reading(path, f"header of a glem {kind}"):
        header = parse_json(line)
        written_as, version = header["format"], header["version"]
        digest, settings = header["sha256"], dict(header["settings"])
    if written_as != f"glem {kind}":
        raise BadInputError(f"{path}: belongs to a {written_as}, not to a glem {kind}")
    if version != VERSION:
        raise BadInputError(f"{path}: format version {version}, this glem reads {VERSION}")
    if digest != _digest(settings):
        raise BadInputError(f"{path}: its header is damaged, the digest of the settings does not agree")
    return settings


def _lines(path: Path, file: IO[bytes]) -> Iterator[tuple[Any, int]]:
    """Read the records and where each of them ends; the last line may be torn."""
    number, end = 1, file.tell()
    damaged: int | None = None
    for line in iter(lambda: file.readline(_LONGEST_LINE), b""):
        number += 1
        if damaged is not None:
            raise BadInputError(f"{path}:{damaged}: damaged; what follows would be lost, so repair or remove the file")
        try:
            if not line.endswith(b"\n"):
                raise ValueError
            record = parse_json(line)
        except (ValueError, RecursionError):
            damaged = number
            continue
        end += len(line)
        yield record, end
