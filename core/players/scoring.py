"""Programs that score positions, running as long as they are asked."""

from collections.abc import Callable

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.game.protocols import PositionScoring
from glem.core.players.spec import PlayerSpec, external_players_of
from glem.core.tasks.kept import Kept

kept_scoring: Kept[PositionScoring] = Kept(1, lambda scoring: scoring.close())
"""The engine of this thread: to start one takes longer than to score some positions."""


def scoring_of(game: Game, spec: PlayerSpec) -> Callable[[Game, PlayerSpec], PositionScoring]:
    """Find what lets an external engine score positions; :class:`BadInputError` where it can only play."""
    external = external_players_of(game, spec)
    if external.make_scoring is None:
        raise BadInputError(f"{spec.name!r}: programs that {external.name}: reaches only play, without scores")
    return external.make_scoring


def running_scoring(game: Game, spec: PlayerSpec, is_changed: bool = False) -> PositionScoring:
    """Return the running engine of this thread, started where it is not; one whose options were changed is another."""

    def started() -> PositionScoring:
        spec.check(game)
        return scoring_of(game, spec)(game, spec)

    return kept_scoring.get((game.name, spec, is_changed), started)
