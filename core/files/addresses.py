"""Files that lie elsewhere, at addresses such as ``s3://bucket/positions.parquet``, which fsspec opens."""

import errno
import io
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

from glem.core.errors import BadInputError

# Two letters at least: a drive of Windows has one.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+(::[a-z][a-z0-9+.-]+)*://", re.IGNORECASE)
_BUFFER = 1 << 16


def is_address(path: str | os.PathLike[str]) -> bool:
    """Whether a text is an address, not a path of this machine."""
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def _opened(path: str) -> Any:
    """Open a file by fsspec."""
    try:
        import fsspec
    except ImportError:
        raise BadInputError(f"{path}: an address needs fsspec: pip install 'pyglem[remote]'") from None
    try:
        files, place = fsspec.core.url_to_fs(path)
        # Its own buffer follows one reader, and Arrow reads here and there.
        file = files.open(place, "rb", cache_type="none")
    except ImportError as error:
        raise BadInputError(f"{path}: {error}") from error
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, "no such file", path) from error
    except Exception as error:
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}", path) from error
    if not file.seekable():
        file.close()
        raise OSError(errno.ESPIPE, "the server gives whole files alone, no parts of them", path)
    return file


class _Elsewhere(io.RawIOBase):
    """A file of fsspec, whose errors are those of files: each kind of storage raises its own."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        return int(self._file.seek(place, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        try:
            found = self._file.read(len(buffer))
        except OSError:
            raise
        except Exception as error:
            raise OSError(errno.EIO, f"{type(error).__name__}: {error}") from error
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading, here or at an address.

    Raises
    ------
    BadInputError
        fsspec or what it needs for the address is not installed.
    OSError
        The file cannot be read.
    """
    if not is_address(path):
        return Path(path).open("rb")
    file: Any = _Elsewhere(_opened(os.fspath(path)))
    return io.BufferedReader(file, _BUFFER)


def address_state(path: str) -> str:
    """Text that differs where an address holds something else than before, as far as its storage says so."""
    import fsspec

    files, place = fsspec.core.url_to_fs(path)
    return str(files.ukey(place))
