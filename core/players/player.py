"""What a player is to those who let it play: something that chooses moves."""

from collections.abc import Sequence
from typing import Any, Protocol

from attrs import define

from glem.core.search.results import Clock
from glem.core.tasks.stop import Stop


@define(frozen=True)
class MoveChoice:
    """A player's decision.

    Parameters
    ----------
    move
        The move.
    score
        What the player expects, in label units of its evaluation before the link, from its own view; the exact final
        score where a solver found it; None where it has no score.
    depth
        Plies of the last completed iteration; 0 without a search.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    exact
        The score is the exact final score.
    result
        1, 0 or -1 where the player knows that it can win, draw, or must lose; else None.
    failures
        How often the player's program failed over this move and was started anew.
    processor_seconds
        Processor time: of an external program with its children and with what it did since its last move; None where
        nobody measured it. What a player of this process gives is that of further threads; a match adds the time of
        its own.
    """

    move: int
    score: float | None = None
    depth: int = 0
    nodes: int = 0
    seconds: float = 0.0
    exact: bool = False
    result: int | None = None
    failures: int = 0
    processor_seconds: float | None = None


class Player(Protocol):
    """Chooses moves. One thread at a time may use it."""

    name: str

    def new_game(self, number: int = 0) -> None:
        """Forget what earlier games left behind; the moves of a game depend on its number and the seed alone."""
        ...

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: Stop | None = None
    ) -> MoveChoice:
        """Choose a legal move in a position that is not over.

        Parameters
        ----------
        previous
            The game's earlier positions, in order; as many as plies were played.
        clock
            The player's own clock, where the game is played with one.
        stop
            When it is set, the player chooses at once.

        Raises
        ------
        ~glem.core.game.protocols.PlayerFailureError
            It is a program that does not give a legal move.
        """
        ...

    def close(self) -> None:
        """Give back what the player holds; it is not used again."""
        ...
