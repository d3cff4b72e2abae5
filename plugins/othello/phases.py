"""Othello's game stages."""

from functools import cache
from itertools import pairwise

from glem.core.compiling.kernels import popcount
from glem.core.compiling.operations import bound
from glem.core.errors import BadInputError
from glem.core.features.learning import Phases
from glem.games.othello import OTHELLO
from glem.games.othello.rules import Position

_MOST_PHASES = 61
_COUNT = 61


def phase_of(position: Position) -> int:
    """Logistello's 13 game stages by disc count: up to 16 discs, then four discs a stage (GLEM, section 6)."""
    return min(max((popcount(position.own | position.opponent) - 13) // 4, 0), 12)


def _even_phase_of(position: Position) -> int:
    """One of ``_COUNT`` game stages by disc count, 4 to 64, as equally long as whole discs allow."""
    return max(popcount(position.own | position.opponent) - 4, 0) * _COUNT // 61


PHASES = Phases(
    game=OTHELLO,
    names=tuple(f"{13 + 4 * phase if phase else 4}-{16 + 4 * phase}" for phase in range(13)),
    phase_of=phase_of,
    description="discs on the board",
)


@cache
def phases_of(count: int) -> Phases:
    """Divide a game into 1 to 61 stages by its discs: 13 are Logistello's, others are equally long or nearly so.

    :class:`BadInputError` for any other number.
    """
    if count == len(PHASES):
        return PHASES
    if not 1 <= count <= _MOST_PHASES:
        raise BadInputError(f"a game of Othello has 1 to {_MOST_PHASES} phases, got {count}")
    # The discs d of phase p are those with p <= (d - 4) * count / 61 < p + 1.
    firsts = [4 - (-61 * phase // count) for phase in range(count + 1)]
    return Phases(
        game=OTHELLO,
        names=tuple(f"{one}" if after == one + 1 else f"{one}-{after - 1}" for one, after in pairwise(firsts)),
        phase_of=bound(_even_phase_of, _COUNT=count),
        description="discs on the board",
    )
