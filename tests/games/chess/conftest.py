"""Fixtures of the tests of chess."""

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test writes its games."""
    return tmp_path / "games.pgn"
