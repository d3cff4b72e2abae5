"""Text protocols by which programs play: those that glem answers in, and those in which it asks other engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import define

__all__ = ["ExternalPlayers", "Protocol"]


@define(frozen=True)
class Protocol:
    """A text protocol in which an engine of a game can be spoken to.

    Parameters
    ----------
    name
        Its usual name, lower case.
    description
        One sentence.
    serve
        ``(engine, lines, write)``: reads commands from the iterable of lines until it ends or a command says so, and
        calls ``write`` with each line of an answer. ``engine`` is a :class:`glem.core.players.engine.Engine`. The lines
        may block; :class:`glem.core.players.protocols.conversation.Conversation` reads them while the engine thinks.
    opening
        First words of sessions by which the protocol is recognized, such as ``nboard``. A protocol without any is only
        spoken when it is asked for.
    prepares
        Whether ``serve`` prepares the engine by itself (:meth:`glem.core.players.engine.Engine.prepare`), so that it
        can answer before the player's machine code is compiled. Else the engine is ready when it is called.
    """

    name: str
    description: str
    serve: Callable[[Any, Iterable[str], Callable[[str], None]], None]
    opening: tuple[str, ...] = ()
    prepares: bool = False


@define(frozen=True)
class ExternalPlayers:
    """How a game reaches programs of others that play it.

    Parameters
    ----------
    name
        Of the protocol, as players' texts begin; lower case.
    description
        One sentence for people: what programs, and which further options a player's text may have.
    digest
        ``(game, spec) -> str``: of the program that a player's description names, so that unfinished work is not
        continued with another one. Raises :class:`~glem.core.errors.BadInputError` where there is no such program or
        an option has no sense.
    make_player
        ``(game, spec) -> Player`` (:mod:`glem.core.players.player`): starts the program. Its ``choose`` raises
        :class:`~glem.core.players.player.PlayerFailureError` where
        the program does not give a legal move: the game is then lost for it.
    make_scoring
        Optional ``(game, spec) -> PositionScoring`` (:mod:`glem.core.players.external`): the program as what gives
        scores that are graded.
    """

    name: str
    description: str
    digest: Callable[[Any, Any], str]
    make_player: Callable[[Any, Any], Any]
    make_scoring: Callable[[Any, Any], Any] | None = None
