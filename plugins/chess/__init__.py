"""What chess gives to learning: features, phases, drawishness, evaluations."""

from __future__ import annotations

from glem.core.learning import Learning
from glem.games.chess import CHESS as GAME
from glem.plugins.chess.features import FEATURES
from glem.plugins.chess.phases import PHASES
from glem.plugins.chess.placement import PLACEMENT
from glem.plugins.chess.terms import TERMS

__all__ = ["CHESS"]

_MATERIAL = ("pawns", "knights", "bishops", "rooks", "queens")
_PLACEMENT = tuple(feature.name for feature in PLACEMENT)

CHESS = Learning(
    game=GAME,
    features=FEATURES,
    phases=PHASES,
    pattern_sets={},
    linear=(*(feature.name for feature in TERMS), *_PLACEMENT),
    baselines={"constant": (), "material": _MATERIAL, "piece-square": (*_MATERIAL, *_PLACEMENT)},
    label_unit="wins",
)
"""Registered under the entry-point group ``glem.learning``."""
