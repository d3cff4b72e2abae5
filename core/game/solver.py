"""Exact values of positions near the end of the game: what a game's solver promises."""

from typing import Any, Protocol

from attrs import define

from glem.core.tasks.stop import Stop


@define(frozen=True)
class Solution:
    """What a solver found.

    Parameters
    ----------
    score
        Final score with best play from the side to move, in the solver's score convention; only its sign counts
        when just the result was asked for.
    move
        A best move; None where the game is over.
    variation
        Best play from the position on, ``move`` first; may be shorter than the rest of the game.
    nodes
        Positions visited.
    seconds
        Wall-clock time.
    exact
        False when the search was stopped or ran out of nodes: score and move are then the best known ones.
    """

    score: int
    move: int | None
    variation: tuple[int, ...]
    nodes: int
    seconds: float
    exact: bool = True


class Solver(Protocol):
    """Finds exact values of positions near the end; holds a hash table, so that one thread at a time may use it.

    A solver may besides tell ``usual_nodes(plies_left, *, result_only=False)``, the positions that a solution visits as
    a rule: players on a clock then solve from where that fits into their time.
    """

    def plies_left(self, position: Any) -> int:
        """Upper bound on the moves left, forced passes excluded: how hard the position is."""
        ...

    def solve(
        self,
        position: Any,
        *,
        result_only: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: Stop | None = None,
    ) -> Solution:
        """Solve a position: its exact score, or only whether it is won, drawn or lost (score 1, 0 or -1)."""
        ...

    def clear(self) -> None:
        """Forget everything: the next solution takes the same nodes as in a new solver."""
        ...
