"""An evaluation that every game has: all positions are even, and only the end of the game counts.

With it a search finds the wins and losses that lie within its depth, and nothing else. It needs no features, no file
and no training, so that it is what a game begins with: for its first games, and for exact labels near the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.features import AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game

__all__ = ["blank_evaluation"]


def _write_nothing(position: Any, values: Any) -> None:
    """There are no features."""


def _only_phase(position: Any) -> int:
    return 0


def blank_evaluation(game: Game) -> LinearEvaluation:
    """Make the evaluation of a game that is 0 in every position, also for a game that gives nothing to learning."""
    learning = Learning(
        game=game,
        features=AtomicFeatures(game=game, features=(), write=_write_nothing),
        phases=Phases(game=game, names=("all",), phase_of=_only_phase),
        pattern_sets={},
    )
    return LinearEvaluation(learning, np.zeros(1, np.float32))
