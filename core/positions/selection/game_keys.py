"""Keys by which a game is known again in another file."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from glem.core.game.equal_positions import position_keys
from glem.core.game.game import Game
from glem.core.positions.replay import outcomes
from glem.core.positions.selection.reading import SelectedPart

__all__ = ["game_keys_of", "keys_digest"]


def game_keys_of(game: Game, part: SelectedPart) -> NDArray[np.uint64]:
    """Key of each position's game: uint64 [N], equal for the same game in every file.

    Parameters
    ----------
    game
        Whose games they are.
    part
        Positions of a position file, which has the keys, or of records.
    """
    if part.game_key is not None:
        return part.game_key
    records, record = part.selected.records, part.selected.record
    assert records is not None
    assert record is not None
    # As position files have it: the last position of a game stands for the game.
    return position_keys(game, outcomes(game, records).positions)[record]


def keys_digest(keys: NDArray[np.uint64]) -> str:
    """Digest of a set of games, from their keys in any order."""
    return hashlib.sha256(np.unique(keys).astype("<u8").tobytes()).hexdigest()[:32]
