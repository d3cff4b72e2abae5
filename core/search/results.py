"""What a search is given and what it returns."""

from __future__ import annotations

from enum import StrEnum

from attrs import define

from glem.core.errors import BadInputError

__all__ = ["Bound", "Clock", "Limits", "Line", "SearchResult"]

_MOST_NODES = 1 << 62
_MOST_SECONDS = 1e9
"""Some thirty years; nanoseconds are counted in 64 bits."""
_MOST_CLOCK_SECONDS = 4e9
"""More than the longest limit, since increments add to a clock."""


class Bound(StrEnum):
    """What a score says about the value of a position."""

    EXACT = "exact"
    LOWER = "lower"
    UPPER = "upper"


@define(frozen=True)
class Clock:
    """A player's clock at the start of a move.

    Parameters
    ----------
    remaining
        Seconds left for the player's moves.
    increment
        Seconds added after each move.
    """

    remaining: float
    increment: float = 0.0

    def __attrs_post_init__(self) -> None:
        if not (0 <= self.remaining <= _MOST_CLOCK_SECONDS and 0 <= self.increment <= _MOST_CLOCK_SECONDS):
            raise BadInputError(
                f"a clock cannot hold {self.remaining} + {self.increment} seconds, 0 to {_MOST_CLOCK_SECONDS:,.0f} each"
            )


@define(frozen=True)
class Limits:
    """When a search ends: at the first of the limits that are given. Without any it runs until it is stopped.

    Parameters
    ----------
    depth
        Iterations of iterative deepening, in plies.
    nodes
        Positions visited; equal limits give equal searches, however fast the machine.
    seconds
        Wall-clock time.
    clock
        The player's clock, of which the search takes a share.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    clock: Clock | None = None

    def __attrs_post_init__(self) -> None:
        for name, value in (("depth", self.depth), ("nodes", self.nodes)):
            if value is not None and value < 1:
                raise BadInputError(f"search limit {name} must be at least 1, got {value}")
        if self.nodes is not None and self.nodes > _MOST_NODES:
            raise BadInputError(f"search limit nodes must be at most {_MOST_NODES}, got {self.nodes}")
        if self.seconds is not None and not 0 < self.seconds <= _MOST_SECONDS:
            raise BadInputError(
                f"search limit seconds must be positive and at most {_MOST_SECONDS:,.0f}, got {self.seconds}"
            )


@define(frozen=True)
class Line:
    """One of the best lines of play.

    Parameters
    ----------
    score
        In steps of the evaluator, from the side to move.
    bound
        What the score says about the value.
    moves
        The principal variation; empty where the game is over.
    depth
        The iteration that found it, in plies; 0 where nothing was searched.
    """

    score: int
    bound: Bound
    moves: tuple[int, ...]
    depth: int = 0


@define(frozen=True)
class SearchResult:
    """What a search found.

    Parameters
    ----------
    lines
        The best lines, best first; as many as were asked for and there are moves. Where the search ended inside an
        iteration, the lines that this iteration found come first, then those of the one before it.
    value
        Score of the best line in label units of the evaluation (before its link function).
    depth
        Last iteration that was completed, in plies.
    selective_depth
        Greatest distance from the root that was visited.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    stopped
        Whether a limit or a stop ended the search inside an iteration; its result then holds the best line of that
        iteration if it had one, else that of the last complete one.
    """

    lines: tuple[Line, ...]
    value: float
    depth: int
    selective_depth: int
    nodes: int
    seconds: float
    stopped: bool

    @property
    def score(self) -> int:
        """Score of the best line, in steps."""
        return self.lines[0].score

    @property
    def bound(self) -> Bound:
        """What the best line's score says about the value."""
        return self.lines[0].bound

    @property
    def variation(self) -> tuple[int, ...]:
        """Principal variation."""
        return self.lines[0].moves

    @property
    def move(self) -> int | None:
        """Best move; None where the game is over."""
        return self.variation[0] if self.variation else None
