"""How other programs play a game: the text protocols of an engine, and external engines as players."""

import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from attrs import define

from glem.core.errors import GlemError


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
        :class:`glem.core.players.engine.Engine`. The lines may block;
        :class:`glem.core.players.protocols.conversation.Conversation` reads them while the engine thinks.
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
class ProgramOption:
    """An option that a program announces.

    Parameters
    ----------
    name
        As the program spells it.
    kind
        ``spin`` (a whole number), ``check`` (true or false), or another word of the protocol for what is neither.
    default
        Its value before anybody sets it, of a check 0 or 1; None for other kinds, or where the program does not tell.
    least, most
        Bounds of a number, both inclusive; None where the program does not tell.
    """

    name: str
    kind: str
    default: int | None = None
    least: int | None = None
    most: int | None = None


class Configurable(typing.Protocol):
    """A program whose options can be set while it runs."""

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options between two games or positions; others keep their values, also when the program starts anew.

        Raises
        ------
        BadInputError
            There is no such option, or it cannot have such a value.
        """
        ...


class ScoredMove(NamedTuple):
    """A move, and what a line that begins with it is worth.

    Parameters
    ----------
    move
        The move; of a program it need not be legal.
    score
        For who makes it; of a program as ``expected`` of an :class:`ExternalScore`.
    goes_on
        There are more moves than the line's depth: what is taken at the end was played out.
    """

    move: int
    score: float
    goes_on: bool = False


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
    move
        Its move; None where it gave none.
    expected
        Result that the score lets expect, from -1 for a loss to 1 for a win: softer than the probabilities, since it
        still tells a won position from a better one; None where scores mean nothing of the kind.
    lines
        Its best lines, where results are expected from scores.
    """

    value: float | None
    results: tuple[float, float, float] | None = None
    failures: int = 0
    problem: str = ""
    move: int | None = None
    expected: float | None = None
    lines: tuple[ScoredMove, ...] = ()


class PositionScoring(typing.Protocol):
    """A program that scores positions one after the other. One thread at a time may use it."""

    unit: str
    """Unit of the values, for people."""

    def score(self, position: Any) -> ExternalScore:
        """Score a position that is not over; what was scored before may help.

        Raises
        ------
        GlemError
            The program cannot be started, or not any more.
        """
        ...

    def forget(self) -> None:
        """Let the next scores depend on nothing that was scored before."""
        ...

    def close(self) -> None:
        """End the program."""
        ...
