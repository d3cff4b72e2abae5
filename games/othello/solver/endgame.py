"""The solver as the rest of glem uses it: one position at a time, with limits."""

import contextlib
from typing import Any

import numpy as np

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import mix
from glem.core.errors import BadInputError
from glem.core.features.evaluators import Evaluator
from glem.core.game.solver import Solution
from glem.core.search.clock import monotonic_nanoseconds
from glem.core.tasks.stop import Stop
from glem.games.othello.formats.score_conventions import CONVENTIONS, Convention
from glem.games.othello.rules import Position, listed_moves
from glem.games.othello.solver import workspace as places
from glem.games.othello.solver.ordering import estimate
from glem.games.othello.solver.search import begin, open_window
from glem.games.othello.solver.workspace import NO_EVALUATION, VARIATION_WIDTH, Techniques, new_workspace

_NEVER = 1 << 62
_MOST_NODES = _NEVER
_MOST_SECONDS = 1e9
_BILLION = 1_000_000_000
_SOLUTIONS = 256
_LAST_ERA = 255
_BEYOND = 65
_SELECTIVE_WIDTH = 3
_WIDER = 4
_ESTIMATE_DEPTH = 4
_LEAST_SELECTIVE = 16
_NODES_OF_NONE, _GROWTH = 1.28, 2.05
_RESULT_SHARE = 0.2


class EndgameSolver:
    """Exact final scores of Othello positions, or who wins them, under best play by both sides.

    One thread at a time may use a solver. What it has solved it remembers, so that related positions are solved
    faster one after the other; :meth:`clear` forgets it.

    Parameters
    ----------
    evaluator
        Orders the moves where many squares are empty; the scores do not depend on it.
    table_mb
        Megabytes that the hash table takes at most.
    convention
        What the final score of a game with empty squares left is: ``standard`` counts them for the winner, ``raw`` for
        nobody; ``sign`` asks only who wins.
    techniques
        What to do without, in experiments.

    Raises
    ------
    BadInputError
        There is no such convention, or the table's size is out of range.
    """

    def __init__(
        self,
        evaluator: Evaluator | None = None,
        table_mb: int = 64,
        *,
        convention: Convention = "standard",
        techniques: Techniques | None = None,
    ) -> None:
        if convention not in CONVENTIONS:
            raise BadInputError(f"there is no score convention {convention!r}; known: {', '.join(CONVENTIONS)}")
        self.evaluator = evaluator
        self.convention: Convention = convention
        self.techniques = Techniques() if techniques is None else techniques
        self._advice = NO_EVALUATION if evaluator is None else evaluator
        self._workspace = new_workspace(table_mb, evaluator, self.techniques)
        self._borrowed = Borrowed(self._workspace)
        self.clear()

    def plies_left(self, position: Any) -> int:
        """Count the empty squares."""
        return 64 - int(position.own | position.opponent).bit_count()

    def usual_nodes(self, count: int, *, result_only: bool = False) -> float:
        """Positions that solving visits as a rule with so many empty squares, or where only the result is asked for.

        The geometric mean over positions of games from 8 to 23 empty squares doubles with each of them. Results take a
        twenty-fifth as a rule, but those of even games, which matter, nearly as long as scores.
        """
        return _NODES_OF_NONE * _GROWTH**count * (_RESULT_SHARE if result_only else 1.0)

    def solve(
        self,
        position: Any,
        *,
        result_only: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: Stop | None = None,
    ) -> Solution:
        """Solve a position: its exact score, or only whether it is won, drawn or lost (score 1, 0 or -1).

        Parameters
        ----------
        position
            Any position, reachable or not, of disjoint bitboards.
        result_only
            Ask only who wins, which takes a fraction of the nodes. The variation is then as far as it was searched.
        nodes
            Most positions visited: those with two or more empty squares.
        seconds
            Most wall-clock time.
        stop
            When set, by another thread, the search ends within some milliseconds.

        Returns
        -------
        Solution
            With ``exact`` false when a limit or the stop ended it.

        Raises
        ------
        BadInputError
            A square holds discs of both sides, or a limit is not positive.
        """
        _check(position, nodes, seconds)
        position = Position(np.uint64(position.own), np.uint64(position.opponent))
        began = monotonic_nanoseconds()
        moves = listed_moves(position)
        counters = self._workspace.counters
        counters[places.SOLUTION] = (counters[places.SOLUTION] + 1) % _SOLUTIONS
        counters[[places.NODES, places.STOPPED]] = 0
        counters[places.NODE_LIMIT] = _NEVER if nodes is None else nodes
        counters[places.DEADLINE] = _NEVER if seconds is None else began + int(seconds * _BILLION)
        counters[places.BONUS] = self.convention == "standard"
        signs = result_only or self.convention == "sign"
        self._workspace.stop[0] = 0
        with contextlib.nullcontext() if stop is None else stop.relayed(self._workspace.stop):
            score, variation = self._search(position, signs)
        stopped = bool(counters[places.STOPPED])
        if stopped and not variation:
            variation, score = moves[:1], 0
        return Solution(
            score=(score > 0) - (score < 0) if signs else score,
            move=variation[0] if variation else (moves[0] if moves else None),
            variation=tuple(variation or moves[:1]),
            nodes=int(counters[places.NODES]),
            seconds=(monotonic_nanoseconds() - began) / _BILLION,
            exact=not stopped,
        )

    def clear(self) -> None:
        """Forget everything: the next solution takes the same nodes as in a new solver."""
        workspace = self._workspace
        era = int(workspace.counters[places.ERA]) + 1
        if era > _LAST_ERA:
            workspace.table[:] = 0
            workspace.near[:] = 0
            era = 1
        workspace.counters[:] = 0
        workspace.counters[places.ERA] = era
        workspace.salt[0] = mix(np.uint64(era))

    def _search(self, position: Position, signs: bool) -> tuple[int, list[int]]:
        """Score, or only one of its sign, and the principal variation."""
        workspace = self._workspace
        count = self.plies_left(position)
        begin(self._advice.operations, self._borrowed, *position)
        # The selective pass costs little and leaves good moves in the hash table; its bounds are not used.
        guided = self.evaluator is not None and count >= _LEAST_SELECTIVE
        score = self._estimate(position) if guided else 0
        variation: list[int] = []
        for selective in (1, 0) if guided and self.techniques.selective_pass else (0,):
            workspace.counters[places.PASS_NUMBER] = selective
            if signs:
                found = self._window(position, -1, 1)
            elif not guided:
                found = self._window(position, -_BEYOND, _BEYOND)
            else:
                found = self._aspire(
                    position, score, _SELECTIVE_WIDTH if selective or not self.techniques.selective_pass else 1
                )
            line = self._variation()
            if workspace.counters[places.STOPPED] and not line:
                break
            score, variation = found, line
        return score, variation

    def _estimate(self, position: Position) -> int:
        """Estimate a position's score in discs."""
        integers = map(np.int64, (-_NEVER, _NEVER, _ESTIMATE_DEPTH, 0))
        steps = estimate(self._advice.operations, self._borrowed, *position, *integers)
        return round(int(steps) * 64 / self._advice.limit)

    def _aspire(self, position: Position, guess: int, width: int) -> int:
        """Score of a position by windows, the first of them so far to either side of a guess."""
        alpha, beta = max(guess - width, -_BEYOND), min(guess + width, _BEYOND)
        sides = set()
        while True:
            score = self._window(position, alpha, beta)
            sides.add(score <= alpha)
            # Bounds of a selective pass may contradict each other, by what earlier positions left in the table: windows
            # would go to and fro for ever.
            if alpha < score < beta or self._workspace.counters[places.STOPPED] or len(sides) > 1:
                return score
            # The window must hold the bound that was found, or the next search could end as this one.
            if score <= alpha:
                alpha, beta = max(score - _WIDER, -_BEYOND), score + 1
            else:
                alpha, beta = score - 1, min(score + _WIDER, _BEYOND)

    def _window(self, position: Position, alpha: int, beta: int) -> int:
        """Score of a position if it is between the two, else a bound beyond."""
        integers = map(np.int64, (alpha, beta, self.plies_left(position), 0, 0))
        return int(open_window(self._advice.operations, self._borrowed, *position, *integers))

    def _variation(self) -> list[int]:
        line: list[int] = self._workspace.variations[:VARIATION_WIDTH].tolist()
        return line[: line.index(-1)]


def _check(position: Any, nodes: int | None, seconds: float | None) -> None:
    both = int(position.own) & int(position.opponent)
    if both:
        raise BadInputError(f"{both.bit_count()} squares hold discs of both sides")
    if nodes is not None and not 1 <= nodes <= _MOST_NODES:
        raise BadInputError(f"a solver's limit of nodes must be 1 to {_MOST_NODES}, got {nodes}")
    if seconds is not None and not 0 < seconds <= _MOST_SECONDS:
        raise BadInputError(f"a solver's limit of seconds must be above 0 and at most {_MOST_SECONDS:g}, got {seconds}")
