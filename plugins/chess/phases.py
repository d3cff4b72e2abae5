"""Phases of chess by the material left."""

from glem.core.compiling.kernels import ZERO, inlined
from glem.core.features.learning import Phases
from glem.games.chess import CHESS
from glem.games.chess.rules.position import Position, piece_points

PHASE_COUNT = 7
_NAMES = ("22-24", "18-21", "14-17", "10-13", "6-9", "3-5", "0-2")


@inlined
def phase_of(position: Position) -> int:
    """Phase by :func:`.piece_points`; there are 24 at the beginning."""
    points = piece_points(position, ~ZERO)
    # Four points a phase; the first has three, the last two as well.
    return 6 - min((points + 2) // 4, 6) if points > 2 else 6


PHASES = Phases(game=CHESS, names=_NAMES, phase_of=phase_of, description="pieces left: minor 1, rook 2, queen 4")
