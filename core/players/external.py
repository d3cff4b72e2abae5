"""What a game gives so that external engines are scored: their scores, position by position."""

from __future__ import annotations

from typing import Any, Protocol

from attrs import define

__all__ = ["ExternalScore", "PositionScoring"]


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
