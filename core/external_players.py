"""Programs of others as players: what a game says of the protocol in which it speaks to them.

A player's text that begins with the name of such a protocol and a colon, as in ``NAME:program,nodes=1000``, is a
program. ``Game.external_players`` tells what the names are and how to reach the programs; here
stands what glem needs of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from attrs import define

from glem.core.errors import BadInputError, GlemError

if TYPE_CHECKING:
    from glem.core.game import Game
    from glem.core.tournament.players import Player, PlayerSpec

__all__ = [
    "ExternalPlayers",
    "ExternalScore",
    "PlayerFailureError",
    "PositionScoring",
    "external_players_of",
    "split_program",
]

_SEPARATOR = ":"


class PlayerFailureError(GlemError):
    """A player could not choose a move: its program crashed, hung or answered nonsense, also when it was asked again.

    Parameters
    ----------
    text
        What happened.
    failures
        How often it failed over this move.
    """

    def __init__(self, text: str, failures: int = 1) -> None:
        super().__init__(text)
        self.failures = failures


@define(frozen=True)
class ExternalScore:
    """What a program says of a position, from the side to move.

    Parameters
    ----------
    value
        Its score; None where it gave none, whatever was tried.
    results
        Probabilities of win, draw and loss, where it gives them; they add up to 1.
    failures
        How often it failed over this position and was started anew.
    problem
        What the matter was, for people, where it failed or gave no score.
    """

    value: float | None
    results: tuple[float, float, float] | None = None
    failures: int = 0
    problem: str = ""


class PositionScoring(Protocol):
    """A program that scores positions one after the other. One thread at a time may use it."""

    unit: str
    """Unit of the values, for people."""

    def score(self, position: Any) -> ExternalScore:
        """Score a position that is not over, whatever was scored before.

        Raises
        ------
        GlemError
            The program cannot be started, or not any more.
        """
        ...

    def close(self) -> None:
        """End the program."""
        ...


@define(frozen=True)
class ExternalPlayers:
    """How a game reaches programs of others that play it.

    Parameters
    ----------
    name
        Name of the protocol, lower case: the first word of a player's text, before the colon.
    description
        One sentence for people: which programs, and which further options a player's text may have.
    digest
        ``(game, spec) -> str``: of the program that a player's description names, so that unfinished work is not
        continued with another one. Raises :class:`~glem.core.errors.BadInputError` where there is no such program or
        an option makes no sense.
    make_player
        ``(game, spec) -> Player``: starts the program, once in each worker. Its ``choose`` gives a legal move or
        raises :class:`PlayerFailureError`, by which it loses the game, in a bounded time whatever the program does.
        ``close`` ends the program, and so does the end of this process, however it ends
        (:mod:`glem.core.process_guard`).
    make_scoring
        Optional ``(game, spec) -> PositionScoring``: the program as what gives scores that are graded. A score does
        not depend on what was scored before.
    """

    name: str
    description: str
    digest: Callable[[Game, PlayerSpec], str]
    make_player: Callable[[Game, PlayerSpec], Player]
    make_scoring: Callable[[Game, PlayerSpec], PositionScoring] | None = None


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
