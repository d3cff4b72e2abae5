"""Players from their descriptions."""

from __future__ import annotations

from glem.core.game.game import Game
from glem.core.players.player import Player
from glem.core.players.simple_players import SimplePlayer
from glem.core.players.spec import EXTERNAL, SEARCH, PlayerSpec, external_players_of
from glem.core.players.thinker import Thinker
from glem.core.tasks.kept import Kept

__all__ = ["close_programs", "kept_player", "make_player"]

_MOST_KEPT = 8


def make_player(game: Game, spec: PlayerSpec) -> Player:
    """Make the player of a description.

    Raises
    ------
    BadInputError
        Its data are unknown or another game's, or not those that :attr:`PlayerSpec.digest` was made of, or the game has
        no solver.
    """
    if spec.kind == SEARCH:
        thinker = Thinker(game, spec)
        thinker.warm_up()
        return thinker
    spec.check(game)
    if spec.kind == EXTERNAL:
        player: Player = external_players_of(game, spec).make_player(game, spec)
        return player
    return SimplePlayer(game, spec)


_kept: Kept[tuple[PlayerSpec, Player]] = Kept(_MOST_KEPT, lambda kept: kept[1].close())


def kept_player(game: Game, spec: PlayerSpec) -> Player:
    """Return the player that this thread keeps for a description; errors are those of :func:`make_player`."""
    return _kept.get((game.name, spec), lambda: (spec, make_player(game, spec)))[1]


def close_programs() -> None:
    """End the external engines that this thread keeps; they are started again when they are needed."""
    _kept.drop(lambda kept: kept[0].kind == EXTERNAL)
