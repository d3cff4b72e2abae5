"""Fixtures that several folders of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from glem.core.game import Game, load_game
from glem.core.learning import Learning, load_learning

# A machine that is busy, or compiles, makes no example wrong.
settings.register_profile("glem", deadline=None)
settings.load_profile("glem")

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the real data sets; the test is skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"the data sets are not beside the checkout ({SHARED.name}/data is missing)")
    return SHARED / "data"


@pytest.fixture(scope="session")
def othello() -> Game:
    """The registered Othello game."""
    return load_game("othello")


@pytest.fixture(scope="session")
def othello_learning() -> Learning:
    """What the Othello plugin gives to learning."""
    return load_learning("othello")
