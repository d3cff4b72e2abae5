"""Players that are external engines: a game tells in ``Game.external_players`` how to reach them.

A player's text that begins with the name of such a protocol and a colon, as in ``NAME:program,nodes=1000``, is a
program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glem.core.errors import BadInputError
from glem.core.game.game import ExternalPlayers, Game

if TYPE_CHECKING:
    from glem.core.players.spec import PlayerSpec

__all__ = ["external_players_of", "split_program"]

_SEPARATOR = ":"


def split_program(text: str) -> tuple[str, str] | None:
    """Divide ``NAME:PROGRAM`` into the name of a protocol and the program; None where a text is nothing of the kind."""
    name, separator, program = text.partition(_SEPARATOR)
    is_name = name.isascii() and name.replace("_", "").isalnum() and name == name.lower() and name[:1].isalpha()
    return (name, program) if separator and is_name and program.strip() else None


def external_players_of(game: Game, spec: PlayerSpec) -> ExternalPlayers:
    """Find how to reach the program of an external player.

    Raises
    ------
    BadInputError
        The game has no such protocol.
    """
    parts = split_program(spec.evaluation)
    name = "" if parts is None else parts[0]
    if name not in game.external_players:
        known = ", ".join(f"{known}:" for known in game.external_players)
        raise BadInputError(
            f"player {spec.name!r}: {game.title} knows no programs {name}:... "
            + (f"(known: {known})" if known else "of others at all; name an evaluation file that exists")
        )
    found: ExternalPlayers = game.external_players[name]
    return found
