"""Chess: rules, notations and file formats."""

from __future__ import annotations

__all__: list[str] = []
