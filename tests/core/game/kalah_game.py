"""The Kalah of the docs, as a module."""

import importlib.util
import sys
from typing import Any

from tests.house.tree import ROOT

_SPEC = importlib.util.spec_from_file_location("kalah", ROOT / "docs" / "how-to" / "kalah.py")
assert _SPEC is not None
assert _SPEC.loader is not None
kalah: Any = importlib.util.module_from_spec(_SPEC)
# Compiled code finds the rules by the name of their module.
sys.modules["kalah"] = kalah
_SPEC.loader.exec_module(kalah)
