"""glem learns evaluation functions for board games from positions and game records."""

from __future__ import annotations

from glem.core.errors import __version__

__all__ = ["__version__"]
