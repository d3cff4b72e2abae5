"""What a search is given, when it ends, and what it returns."""

from enum import StrEnum

from attrs import define

from glem.core.errors import ABOVE_0, BadInputError, check_arguments

MOST_THREADS = 1024
"""Threads that search a position together."""
MOVES_TO_GO = 20
_SPARE_MOVES = 2
_INCREMENT_SHARE = 0.75
_MOST_SHARES = 3.0
_MOST_OF_CLOCK = 0.5
_OVERHEAD_SECONDS = 0.02
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
    moves
        Own moves that share what remains, a positive number, where that is known better than by :func:`usual_seconds`.
    """

    remaining: float
    increment: float = 0.0
    moves: float | None = None

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
        check_arguments(self, depth=(1,), nodes=(1, _MOST_NODES), seconds=(ABOVE_0, _MOST_SECONDS))

    @property
    def is_timed(self) -> bool:
        """Whether a time or a clock ends the search, so that what it finds depends on the machine."""
        return self.seconds is not None or self.clock is not None


def usual_seconds(clock: Clock, plies_left: int | None) -> float:
    """Share of a clock for one move, and three quarters of the increment.

    Parameters
    ----------
    clock
        The player's clock.
    plies_left
        Moves that both players have left at most; each of the player's own gets the same share, two spare ones too.
        None where the game does not know: then a twentieth of what is left, which never runs out.
    """
    moves = clock.moves
    if moves is None:
        moves = MOVES_TO_GO if plies_left is None else plies_left // 2 + _SPARE_MOVES
    return clock.remaining / moves + _INCREMENT_SHARE * clock.increment


def longest_seconds(clock: Clock, plies_left: int | None) -> float:
    """When a search on a clock is stopped: after three usual shares, or half of what is left if that is sooner."""
    left = max(clock.remaining - _OVERHEAD_SECONDS, clock.remaining / 2)
    return min(_MOST_SHARES * usual_seconds(clock, plies_left), _MOST_OF_CLOCK * left)


@define(frozen=True)
class Line:
    """One of the best lines of play.

    Parameters
    ----------
    score
        In steps of the evaluator, from the side to move.
    value
        The score in label units of the evaluation, before its link. A certain win or loss has the greatest value where
        only results count.
    bound
        What score and value say about the line.
    moves
        The principal variation; empty where the game is over.
    depth
        The iteration that found it, in plies; 0 where nothing was searched.
    plies_to_end
        In how many plies the game is over by it, where only results count and this one is certain; else None.
    """

    score: int
    value: float
    bound: Bound
    moves: tuple[int, ...]
    depth: int = 0
    plies_to_end: int | None = None


@define(frozen=True)
class SearchResult:
    """What a search found.

    Parameters
    ----------
    lines
        The best lines, best first; as many as were asked for and there are moves. Where the search ended inside an
        iteration, the lines that this iteration found come first, then those of the one before it.
    depth
        Last iteration that was completed, in plies.
    selective_depth
        Greatest distance from the root that was visited; 0 where nothing was searched.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    stopped
        Whether a limit or a stop ended the search inside an iteration; its result then holds the best line of that
        iteration if it had one, else that of the last complete one.
    proven
        Whether every line was followed to the end of the game, nothing pruned that could matter.
    results_only
        Whether values tell who wins, not by how much.
    confidence
        Chance by which ProbCut takes a cut for right: the share of a check's errors within its margin. None where it
        cut nothing.
    """

    lines: tuple[Line, ...]
    depth: int
    selective_depth: int
    nodes: int
    seconds: float
    stopped: bool
    proven: bool = False
    results_only: bool = False
    confidence: float | None = None

    @property
    def depth_text(self) -> str:
        """Depth in plies, and behind it, where ProbCut cut, its confidence: ``22@73%``, as Edax writes it."""
        if self.confidence is None:
            return str(self.depth)
        return f"{self.depth}@{min(round(100 * self.confidence), 99)}%"

    @property
    def score(self) -> int:
        """Score of the best line, in steps."""
        return self.lines[0].score

    @property
    def value(self) -> float:
        """Value of the best line, in label units."""
        return self.lines[0].value

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
