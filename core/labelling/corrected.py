"""Labels of game records corrected by search (Buro 1995, section 3).

The labels that :mod:`glem.core.positions.game_tree` gives are as good as the games: a mistake that nobody ever avoided
counts as the best there is. So obvious mistakes are searched for, and the labels corrected, in four steps:

1. *Outcome searches.* Where games come near enough to their end a solver tells who wins; where a label says otherwise,
   the exact value replaces it.
2. A *quick search* of every position by the newest evaluation.
3. A position is *suspicious* where the quick search promises much more than its label, or where all moves that were
   played lose much in one step by the quick searches before and after them. It is searched again, *thoroughly*. What
   that search finds counts as one more examined successor; where a solver did it, as the exact value.
4. The labels are propagated anew. What they now say of other positions can make those suspicious: steps 3 and 4 are
   repeated until nothing is, or the rounds are over.

A label that is too high needs no step of its own: some mistake of the opponent below it is what made it so, and that
one is suspicious.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.game.optional_operations import plies_left_of
from glem.core.labelling.by_search import check_labeller, labeller_of
from glem.core.players.spec import PlayerSpec
from glem.core.positions.game_tree import GameTree
from glem.core.positions.labels import serious_error
from glem.core.search.solver import can_solve, solver_of
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, Workers
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["Correction", "RelabelSettings", "relabel"]

_SOLVER_TABLE_MB = 16


@define(frozen=True)
class RelabelSettings:
    """How labels are corrected.

    Parameters
    ----------
    quick
        Who searches every position: the newest evaluation, at small depth.
    thorough
        Who searches the suspicious ones.
    threshold
        Label units by which the quick search must exceed a label; None for
        :func:`~glem.core.positions.labels.serious_error`.
    loss
        Label units that all played moves must lose in one step; None for the same.
    outcome_from
        Outcome searches where the moves left first are so few or fewer; 0 for none.
    plies
        First and last ply of the positions that are searched, both inclusive; all if None.
    rounds
        Most repetitions of steps 3 and 4.
    positions_per_task
        Positions of one task.
    """

    quick: PlayerSpec
    thorough: PlayerSpec
    threshold: float | None = None
    loss: float | None = None
    outcome_from: int = 0
    plies: tuple[int, int] | None = None
    rounds: int = 3
    positions_per_task: int = 500

    def __attrs_post_init__(self) -> None:
        check_labeller(self.quick)
        check_labeller(self.thorough)
        for name, value in (("threshold", self.threshold), ("loss", self.loss)):
            if value is not None and value < 0:
                raise BadInputError(f"{name} must not be negative, got {value:g}")
        if self.outcome_from < 0:
            raise BadInputError(f"outcomes cannot be searched for from {self.outcome_from} moves before the end on")
        if self.rounds < 1:
            raise BadInputError(f"there must be at least one round, got {self.rounds}")
        if self.positions_per_task < 1:
            raise BadInputError(f"a task must have at least one position, got {self.positions_per_task}")


@define(frozen=True, eq=False)
class Correction:
    """Labels before and after; N nodes.

    Parameters
    ----------
    before, after
        float32 [N]: values of the nodes as propagated from the games, and as corrected; nan where nothing is known.
    outcomes
        Number of outcome searches.
    wrong_outcomes
        How many of them contradicted the label.
    quick
        Number of quick searches.
    suspicious
        Thorough searches of each round.
    raised
        How many of them found more than the label, by round.
    """

    before: NDArray[np.float32]
    after: NDArray[np.float32]
    outcomes: int = 0
    wrong_outcomes: int = 0
    quick: int = 0
    suspicious: tuple[int, ...] = ()
    raised: tuple[int, ...] = ()


@define(frozen=True)
class SearchTask:
    """Positions for :func:`search_chunk` and :func:`solve_chunk`."""

    game: Game
    spec: PlayerSpec
    positions: Any
    result_only: bool = False


def search_chunk(task: SearchTask) -> Arrays:
    """Label float32 [n] and whether it is exact, bool [n], of some positions."""
    labeller = labeller_of(task.game, task.spec)
    labels = [labeller.judge(position_at(task.positions, row)) for row in range(len(task.positions[0]))]
    return {
        "label": np.array([found.score for found in labels], np.float32),
        "exact": np.array([found.exact for found in labels], np.bool_),
    }


def solve_chunk(task: SearchTask) -> Arrays:
    """Score float32 [n] of some positions, or only their result 1, 0 or -1."""
    solver = solver_of(task.game, labeller_of(task.game, task.spec).evaluator, _SOLVER_TABLE_MB)
    solutions = [
        solver.solve(position_at(task.positions, row), result_only=task.result_only)
        for row in range(len(task.positions[0]))
    ]
    return {"label": np.array([solution.score for solution in solutions], np.float32)}


@define(eq=False)
class _Work:
    """Searches of nodes, each step kept in the folder."""

    tree: GameTree
    settings: RelabelSettings
    chunks: ChunkedWork
    workers: Workers | None
    progress: Progress
    positions: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.positions = self.tree.positions

    def searched(self, name: str, nodes: NDArray[np.int64], spec: PlayerSpec) -> tuple[Any, Any]:
        """Label of each node by search, and whether it is exact."""
        parts = self._run(name, search_chunk, nodes, spec, result_only=False)
        empty = np.zeros(0, np.float32), np.zeros(0, np.bool_)
        return tuple(
            np.concatenate([none, *(part[key] for part in parts)])
            for key, none in zip(("label", "exact"), empty, strict=True)
        )  # type: ignore[return-value]  # two of them

    def solved(self, name: str, nodes: NDArray[np.int64], *, result_only: bool) -> NDArray[np.float32]:
        """Exact value, or result, of each node."""
        parts = self._run(name, solve_chunk, nodes, self.settings.quick, result_only=result_only)
        return np.concatenate([np.zeros(0, np.float32), *(part["label"] for part in parts)])

    def _run(
        self, name: str, function: Any, nodes: NDArray[np.int64], spec: PlayerSpec, *, result_only: bool
    ) -> list[Arrays]:
        step = self.settings.positions_per_task
        groups = [nodes[start : start + step] for start in range(0, len(nodes), step)]
        tasks = [
            SearchTask(
                self.tree.game,
                spec,
                rows_of(self.positions, group),
                result_only,
            )
            for group in groups
        ]
        amounts = [len(group) for group in groups]
        return list(
            self.chunks.run(function, tasks, name=name, amounts=amounts, workers=self.workers, progress=self.progress)
        )


def relabel(
    tree: GameTree,
    settings: RelabelSettings,
    work: Path,
    *,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> Correction:
    """Correct the labels of a tree of games.

    Parameters
    ----------
    tree
        The games.
    settings
        How.
    work
        Folder for what is done already, made if absent; the same call continues there after a kill.
    workers
        Where; the labels do not depend on it.
    progress
        Display.

    Raises
    ------
    BadInputError
        A labeller cannot be made, the game has no solver for outcome searches, or the folder holds other work.
    """
    game = tree.game
    threshold = serious_error(game) if settings.threshold is None else settings.threshold
    loss = serious_error(game) if settings.loss is None else settings.loss
    quick_player, thorough_player = settings.quick.resolved(game), settings.thorough.resolved(game)
    settings = attrs.evolve(settings, quick=quick_player, thorough=thorough_player, threshold=threshold, loss=loss)
    if settings.outcome_from and not can_solve(game):
        raise BadInputError(f"{game.title} cannot be solved, so outcomes cannot be searched for; leave --outcomes out")
    before = tree.propagate()
    mark = {
        "game": game.name,
        "positions": arrays_digest(tree.positions),
        "labels": arrays_digest((before, tree.exact, *tree.arcs)),
        "settings": attrs.asdict(settings, filter=lambda entry, _: entry.name not in {"name", "evaluation", "probcut"}),
    }
    steps = _Work(tree, settings, ChunkedWork(work, mark), workers, progress)
    parents, children = tree.arcs
    over = np.zeros(len(tree), np.bool_)
    over[tree.node[tree.played.finished]] = True
    open_nodes = ~over & np.isnan(tree.exact)
    if settings.plies is not None:
        open_nodes &= (tree.ply >= settings.plies[0]) & (tree.ply <= settings.plies[1])

    exact, outcomes, wrong = _outcomes(steps, before, ~over, parents, children)
    value = tree.propagate(exact=exact)
    nodes = np.flatnonzero(open_nodes & np.isnan(exact))
    quick = np.full(len(tree), np.nan, np.float32)
    quick[nodes], _ = steps.searched("quick", nodes, settings.quick)
    # What the best of the played moves is worth by quick searches and exact values, -inf where none is known.
    worth = np.where(np.isnan(quick), np.where(over, tree.result, exact), quick)
    played = np.full(len(tree), -np.inf, np.float32)
    known = ~np.isnan(worth[children])
    np.maximum.at(played, parents[known], -worth[children[known]])
    loses = np.isfinite(played) & (quick - played > loss)
    alternative = np.full(len(tree), np.nan, np.float32)
    searched = np.zeros(len(tree), np.bool_)
    counts: list[int] = []
    raised: list[int] = []
    for number in range(1, settings.rounds + 1):
        promising = quick - value > threshold
        nodes = np.flatnonzero((promising | loses | (np.isnan(value) & ~np.isnan(quick))) & ~searched)
        if len(nodes) == 0:
            break
        found, is_exact = steps.searched(f"thorough-{number}", nodes, settings.thorough)
        searched[nodes] = True
        counts.append(len(nodes))
        raised.append(int(np.sum(~(found <= value[nodes]))))
        exact[nodes[is_exact]] = found[is_exact]
        alternative[nodes[~is_exact]] = found[~is_exact]
        value = tree.propagate(exact=exact, alternative=alternative)
    return Correction(
        before=before,
        after=value,
        outcomes=outcomes,
        wrong_outcomes=wrong,
        quick=int(np.sum(~np.isnan(quick))),
        suspicious=tuple(counts),
        raised=tuple(raised),
    )


def _outcomes(
    steps: _Work,
    value: NDArray[np.float32],
    alive: NDArray[np.bool_],
    parents: NDArray[np.int32],
    children: NDArray[np.int32],
) -> tuple[NDArray[np.float32], int, int]:
    """Exact values with those that outcome searches add, the number of these searches, and of wrong labels."""
    tree, settings = steps.tree, steps.settings
    exact = tree.exact.copy()
    if settings.outcome_from == 0:
        return exact, 0, 0
    near = plies_left_of(tree.game, steps.positions) <= settings.outcome_from
    # Where games come near: below, labels are what follows from there on.
    is_first = np.ones(len(tree), np.bool_)
    is_first[children[near[parents]]] = False
    nodes = np.flatnonzero(near & is_first & alive & np.isnan(exact))
    results = steps.solved("outcomes", nodes, result_only=True)
    wrong = nodes[np.sign(value[nodes]) != results]
    exact[wrong] = steps.solved("exact", wrong, result_only=False)
    return exact, len(nodes), len(wrong)
