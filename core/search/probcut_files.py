"""Files of Multi-ProbCut parameters: ``.npz`` archives of plain arrays with a JSON header.

The header names the game, its phases and the unit, and holds the threshold, the provenance and a checksum. A file is
data: it is read with ``allow_pickle=False`` and its size is bounded.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError, GlemError
from glem.core.files import atomic_path
from glem.core.search.probcut import ProbCut

__all__ = ["load_probcut", "save_probcut"]

FORMAT = "glem probcut"
FORMAT_VERSION = 1
_LARGEST_FILE = 64 << 20
_ARRAYS: dict[str, Any] = {
    "check_depths": np.int64,
    "slopes": np.float64,
    "offsets": np.float64,
    "deviations": np.float64,
    "counts": np.int64,
}


def _checksum(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape};".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def save_probcut(probcut: ProbCut, path: str | os.PathLike[str]) -> None:
    """Write parameters atomically; the path should end in ``.npz``."""
    arrays = {name: np.ascontiguousarray(getattr(probcut, name), kind) for name, kind in _ARRAYS.items()}
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "game": probcut.game,
        "phases": list(probcut.phases),
        "unit": probcut.unit,
        "threshold": probcut.threshold,
        "provenance": dict(probcut.provenance),
        "sha256": _checksum(arrays),
    }
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, header=text, **arrays)


def _read_members(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if {info.filename for info in members} != {f"{name}.npy" for name in ("header", *_ARRAYS)}:
                raise BadInputError(f"{path}: no glem probcut file")
            if sum(info.file_size for info in members) > _LARGEST_FILE:
                raise BadInputError(f"{path}: more than {_LARGEST_FILE} bytes when unpacked")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop("header").tobytes())
    except GlemError:
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise BadInputError(f"{path}: {error.strerror}") from None
    except Exception as error:
        # Damaged archives raise what zipfile, zlib, numpy and json each think fit.
        raise BadInputError(f"{path}: no glem probcut file ({type(error).__name__}: {error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadInputError(f"{path}: its header is not one of a glem probcut file")
    if header.get("version") != FORMAT_VERSION:
        raise BadInputError(f"{path}: format version {header.get('version')}, this glem reads {FORMAT_VERSION}")
    if header.get("sha256") != _checksum(arrays):
        raise BadInputError(f"{path}: damaged, its checksum does not agree")
    return header, arrays


def load_probcut(path: str | os.PathLike[str]) -> ProbCut:
    """Read parameters.

    Raises
    ------
    BadInputError
        The file is missing, damaged, or none of parameters.
    """
    source = Path(path)
    header, arrays = _read_members(source)
    checked: dict[str, Any] = {name: np.ascontiguousarray(arrays[name], kind) for name, kind in _ARRAYS.items()}
    try:
        return ProbCut(
            game=str(header["game"]),
            phases=tuple(str(name) for name in header["phases"]),
            unit=str(header["unit"]),
            threshold=float(header["threshold"]),
            provenance={str(name): str(text) for name, text in header["provenance"].items()},
            **checked,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(f"{source}: its header is not one of a glem probcut file ({error})") from error
    except GlemError as error:
        raise BadInputError(f"{source}: {error}") from error
