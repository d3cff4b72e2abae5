"""Draws that end a game although moves are left: by a rule, and by repetition.

Players are taken to claim such a draw as soon as they can.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from glem.core.game.game import Game

OCCURRENCES = 3
"""A position that occurs so often ends the game in a draw, where the game has repetitions."""


class Draw(StrEnum):
    """Why a game that could go on is drawn."""

    RULE = "rule"
    """The game's ``is_drawn``: too many plies without progress, too little material."""
    REPETITION = "repetition"
    """The third occurrence of a position, in a game with ``reversible_plies``."""


def drawn_by(game: Game, position: Any, previous: Sequence[Any]) -> Draw | None:
    """Tell why a game that is not over is drawn; None where it goes on.

    Parameters
    ----------
    game
        The game; ``is_drawn`` and ``reversible_plies`` of its search functions decide
        (:mod:`glem.core.game.optional_operations`).
    position
        The position that was reached.
    previous
        The game's earlier positions, oldest first.
    """
    functions = game.search_functions
    if "is_drawn" in functions and functions["is_drawn"](position):
        return Draw.RULE
    if "reversible_plies" not in functions:
        return None
    reach = min(int(functions["reversible_plies"](position)), len(previous))
    key = game.hash_key(position)
    occurrences = 1
    for back in range(2, reach + 1, 2):
        occurrences += bool(game.hash_key(previous[-back]) == key)
        if occurrences == OCCURRENCES:
            return Draw.REPETITION
    return None
