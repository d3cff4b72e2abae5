"""What Othello gives to learning: features, patterns, phases."""

from __future__ import annotations

from glem.core.kernels import popcount
from glem.core.learning import Learning, Phases
from glem.core.positions import PositionSet
from glem.games.othello import OTHELLO as GAME
from glem.games.othello.rules import Position
from glem.plugins.othello.features import FEATURES
from glem.plugins.othello.patterns import PATTERN_SETS

__all__ = ["OTHELLO"]


def phase_of(position: Position) -> int:
    """Logistello's 13 game stages by disc count: up to 16 discs, then four discs a stage (GLEM, section 6)."""
    return min(max((popcount(position.own | position.opponent) - 13) // 4, 0), 12)


PHASES = Phases(
    game=GAME,
    names=tuple(f"{13 + 4 * phase if phase else 4}-{16 + 4 * phase}" for phase in range(13)),
    phase_of=phase_of,
)


def _sample() -> PositionSet:
    # Imported late: the module is also a command (python -m), which Python wants to find unimported.
    from glem.plugins.othello.sample import sample_positions

    return sample_positions()


OTHELLO = Learning(
    game=GAME,
    features=FEATURES,
    phases=PHASES,
    pattern_sets=PATTERN_SETS,
    linear=("mobility", "opponent_mobility", "potential_mobility", "opponent_potential_mobility"),
    baselines={
        "constant": (),
        "disc difference": ("disc_difference",),
        "mobility": ("mobility", "opponent_mobility"),
    },
    label_unit="discs",
    sample=_sample,
)
"""Registered under the entry-point group ``glem.learning``."""
