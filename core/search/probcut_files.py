"""Files of Multi-ProbCut parameters: archives (:mod:`glem.core.files.archives`).

The header names the game, its phases and the unit, and holds the threshold and the provenance.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from glem.core.errors import BadInputError, reading
from glem.core.files.archives import ArchiveFormat
from glem.core.search.probcut import ProbCut

__all__ = ["load_probcut", "save_probcut"]

_ARRAYS: dict[str, Any] = {
    "check_depths": np.int64,
    "slopes": np.float64,
    "offsets": np.float64,
    "deviations": np.float64,
    "counts": np.int64,
}
_FORMAT = ArchiveFormat("glem probcut", version=1, required=tuple(_ARRAYS), largest=64 << 20)


def save_probcut(probcut: ProbCut, path: str | os.PathLike[str]) -> None:
    """Write parameters atomically; the path should end in ``.npz``."""
    arrays = {name: np.ascontiguousarray(getattr(probcut, name), kind) for name, kind in _ARRAYS.items()}
    header = {
        "game": probcut.game,
        "phases": list(probcut.phases),
        "unit": probcut.unit,
        "threshold": probcut.threshold,
        "provenance": dict(probcut.provenance),
    }
    _FORMAT.write(path, header, arrays)


def load_probcut(path: str | os.PathLike[str]) -> ProbCut:
    """Read parameters.

    Raises
    ------
    BadInputError
        The file is missing, damaged, or none of parameters.
    """
    source = Path(path)
    header, arrays = _FORMAT.read(source)
    with reading(source, "glem probcut file"):
        for name, kind in _ARRAYS.items():
            if arrays[name].dtype != kind:
                raise BadInputError(f"{name} is of {arrays[name].dtype}, expected {np.dtype(kind)}")
        return ProbCut(
            game=str(header["game"]),
            phases=tuple(str(name) for name in header["phases"]),
            unit=str(header["unit"]),
            threshold=float(header["threshold"]),
            provenance={str(name): str(text) for name, text in header["provenance"].items()},
            **arrays,
        )
