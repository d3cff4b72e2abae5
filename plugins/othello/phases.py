"""Othello's game stages."""

from glem.core.compiling.kernels import popcount
from glem.core.features.learning import Phases
from glem.games.othello import OTHELLO
from glem.games.othello.rules import Position


def phase_of(position: Position) -> int:
    """Logistello's 13 game stages by disc count: up to 16 discs, then four discs a stage (GLEM, section 6)."""
    return min(max((popcount(position.own | position.opponent) - 13) // 4, 0), 12)


PHASES = Phases(
    game=OTHELLO,
    names=tuple(f"{13 + 4 * phase if phase else 4}-{16 + 4 * phase}" for phase in range(13)),
    phase_of=phase_of,
    description="discs on the board",
)
