"""Text protocols by which programs play: a line in, lines out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import define

__all__ = ["Protocol"]


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
        calls ``write`` with each line of an answer; it writes nothing else. ``engine`` is a
        :class:`glem.core.engine.Engine`. The lines may block;
        :class:`glem.core.protocols.conversation.Conversation` reads them while the engine thinks.
    opening
        First words of sessions by which the protocol is recognized, such as ``nboard``, and no other one is. A
        protocol without any is only spoken when it is asked for.
    prepares
        Whether ``serve`` prepares the engine by itself (:meth:`glem.core.engine.Engine.prepare`), so that it can answer
        before the player's machine code is compiled. Else the engine is ready when it is called.
    """

    name: str
    description: str
    serve: Callable[[Any, Iterable[str], Callable[[str], None]], None]
    opening: tuple[str, ...] = ()
    prepares: bool = False
