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

from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError, check_arguments
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.game.optional_operations import plies_left_of
from glem.core.game.solver import Solution
from glem.core.labelling.by_search import Judgement, check_labeller, decisive_facts, judge_of
from glem.core.players.spec import PlayerSpec
from glem.core.players.thinker import kept_thinker
from glem.core.positions.game_tree import GameTree
from glem.core.positions.labels import serious_error
from glem.core.search.solver import can_solve, solver_of
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, PositionsTask
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import Workers

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
        check_arguments(self, threshold=(0.0,), loss=(0.0,), outcome_from=(0,), rounds=(1,), positions_per_task=(1,))


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


def search_chunk(task: PositionsTask[tuple[Game, PlayerSpec, str]]) -> Arrays:
    """Label float32 [n] of some positions, searched, or solved for their ``score`` or ``result``, and whether exact."""
    game, spec, solved = task.work
    judge = judge_of(game, spec)
    positions = [position_at(task.positions, row) for row in range(len(task.positions[0]))]
    found: list[Solution] | list[Judgement]
    if solved:
        solver = solver_of(game, kept_thinker(game, spec).evaluator, _SOLVER_TABLE_MB)
        found = [solver.solve(position, result_only=solved == "result") for position in positions]
    else:
        found = [judge(position) for position in positions]
    return {
        "label": np.array([one.score for one in found], np.float32),
        "exact": np.array([one.exact for one in found], np.bool_),
    }


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
    work
        Folder for what is done already, made if absent; the same call continues there after a kill.
    workers
        Where; the labels do not depend on it.

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
        "settings": decisive_facts(settings),
    }
    chunks = ChunkedWork(work, mark)

    def search(name: str, nodes: NDArray[np.int64], spec: PlayerSpec, solved: str = "") -> tuple[Any, Any]:
        """Label of each node, and whether it is exact."""
        what, positions, step = (game, spec, solved), rows_of(tree.positions, nodes), settings.positions_per_task
        parts = chunks.run(search_chunk, what, positions, step, name=name, workers=workers, progress=progress)
        found = [(np.zeros(0, np.float32), np.zeros(0, np.bool_)), *((part["label"], part["exact"]) for part in parts)]
        label, exact = map(np.concatenate, zip(*found, strict=True))
        return label, exact

    parents, children = tree.arcs
    over = np.zeros(len(tree), np.bool_)
    over[tree.node[tree.played.finished]] = True
    open_nodes = ~over & np.isnan(tree.exact)
    if settings.plies is not None:
        open_nodes &= (tree.ply >= settings.plies[0]) & (tree.ply <= settings.plies[1])

    exact, outcomes, wrong = tree.exact.copy(), 0, 0
    if settings.outcome_from:
        near = plies_left_of(game, tree.positions) <= settings.outcome_from
        # Where games come near: below, labels are what follows from there on.
        is_first = np.ones(len(tree), np.bool_)
        is_first[children[near[parents]]] = False
        nodes = np.flatnonzero(near & is_first & ~over & np.isnan(exact))
        results, _ = search("outcomes", nodes, settings.quick, "result")
        contradicted = nodes[np.sign(before[nodes]) != results]
        exact[contradicted], _ = search("exact", contradicted, settings.quick, "score")
        outcomes, wrong = len(nodes), len(contradicted)
    value = tree.propagate(exact=exact)
    nodes = np.flatnonzero(open_nodes & np.isnan(exact))
    quick = np.full(len(tree), np.nan, np.float32)
    quick[nodes], _ = search("quick", nodes, settings.quick)
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
        found, is_exact = search(f"thorough-{number}", nodes, settings.thorough)
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
