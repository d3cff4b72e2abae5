"""glem learns evaluation functions for board games from positions and game records."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
