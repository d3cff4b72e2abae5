"""Read by Python as it starts, where this folder is in ``PYTHONPATH``."""

import sys
from pathlib import Path

_FOLDER = Path(__file__).parent
sys.path.append(str(_FOLDER.parent))
from shim import emulate  # noqa: E402  # pyright: ignore[reportMissingImports]

sys.path.remove(str(_FOLDER.parent))
emulate(str(_FOLDER))
