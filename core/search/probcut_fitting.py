"""Fitting Multi-ProbCut: positions are searched full-width to every depth, and the scores regressed on each other."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.operations import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of, search_unit
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.files.digests import arrays_digest
from glem.core.game.equal_positions import position_keys, scatter
from glem.core.positions.positions import PositionSet
from glem.core.search.probcut import ProbCut
from glem.core.search.probcut_regression import DEEPEST, LEAST_SEARCHED, regress_scores
from glem.core.search.results import Limits, SearchResult
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, Workers
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["ProbCutSample", "choose_positions", "fit_probcut", "sampled_scores", "search_scores"]

_POSITIONS_PER_TASK = 16
_DEEPEST_OF_ALL = 60


@define(frozen=True)
class ProbCutSample:
    """How selective search is fitted.

    Parameters
    ----------
    depth
        Positions are searched to depths 1 to this one.
    per_phase
        Positions of each phase.
    deepest
        Greatest depth that gets parameters, those beyond ``depth`` by extrapolation.
    seed
        Chooses the positions.
    table_mb
        Megabytes of the transposition table of a search.
    """

    depth: int = 10
    per_phase: int = 100
    deepest: int = DEEPEST
    seed: int = 0
    table_mb: int = 16

    def __attrs_post_init__(self) -> None:
        if not LEAST_SEARCHED <= self.depth <= self.deepest <= _DEEPEST_OF_ALL:
            raise BadInputError(
                f"depth {self.depth} of the searches and greatest depth {self.deepest} with parameters: expected at "
                f"least {LEAST_SEARCHED}, at most {_DEEPEST_OF_ALL}, and parameters for all depths that are searched"
            )
        if self.per_phase < 1:
            raise BadInputError(f"positions of a phase: expected at least 1, got {self.per_phase}")


def choose_positions(evaluation: LinearEvaluation, sets: Iterable[PositionSet], per_phase: int, seed: int) -> Any:
    """Choose different positions of every phase at random.

    The choice depends on the positions and the seed, not on the order or the cutting of the sets.

    Parameters
    ----------
    evaluation
        Whose phases count.
    sets
        One after the other; only what is chosen so far is kept.
    per_phase, seed
        As in :class:`ProbCutSample`.

    Returns
    -------
    positions
        Position of columns, phase by phase; fewer where a phase has fewer.
    """
    learning = evaluation.learning
    game = learning.game
    chosen = game.empty_columns(0)
    for each in sets:
        joined = game.position_type(*(np.concatenate(pair) for pair in zip(chosen, each.positions, strict=True)))
        keys = scatter(position_keys(game, joined), seed)
        # Ascending keys within ascending phases; equal positions, images included, lie side by side.
        phases = learning.phases.of(joined)
        order = np.lexsort((keys, phases))
        new = np.concatenate([[True], np.diff(keys[order]) != 0])
        order = order[new[: len(order)]]
        starts = np.searchsorted(phases[order], np.arange(len(learning.phases)))
        rank = np.arange(len(order)) - starts[phases[order]]
        kept = order[rank < per_phase]
        chosen = game.position_type(*(column[kept] for column in joined))
    return chosen


class _Task(NamedTuple):
    evaluation: LinearEvaluation
    sample: ProbCutSample
    positions: Any


def search_scores(task: _Task) -> Arrays:
    """Search positions full-width to every depth.

    Returns
    -------
    arrays
        ``scores``: float64 [n, depth + 1] in units of the evaluator, nan where the game ends before, or where a score
        is at the limit and says no more than who wins.
    """
    evaluator = evaluator_of(task.evaluation)
    searcher = Searcher(task.evaluation.learning.game, evaluator, SearchSettings(table_mb=task.sample.table_mb))
    count = len(task.positions[0])
    scores = np.full((count, task.sample.depth + 1), np.nan)
    accumulators = evaluator.empty_accumulators(1)
    for row in range(count):
        position = position_at(task.positions, row)
        evaluator.operations["start"](position, evaluator.data, accumulators, 0)
        static = evaluator.operations["static_score"](position, evaluator.data, accumulators, 0)
        scores[row, 0] = int(static) / evaluator.steps_per_unit

        def note(result: SearchResult, row: int = row) -> None:
            scores[row, result.depth] = result.value

        searcher.clear()
        searcher.search(position, Limits(depth=task.sample.depth), on_iteration=note)
    scores[np.abs(scores) >= evaluator.limit / evaluator.steps_per_unit] = np.nan
    return {"scores": scores}


def sampled_scores(
    evaluation: LinearEvaluation,
    positions: Iterable[PositionSet],
    sample: ProbCutSample,
    *,
    folder: Path | None = None,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Choose positions and search them to every depth.

    Returns
    -------
    scores, phases
        Of each position, as :func:`~glem.core.search.probcut_regression.regress_scores` takes them. Arguments and
        errors are those of :func:`fit_probcut`.
    """
    columns = choose_positions(evaluation, positions, sample.per_phase, sample.seed)
    count = len(columns[0])
    if count == 0:
        raise BadInputError("there are no positions to fit selective search to")
    tasks = [
        _Task(evaluation, sample, type(columns)(*(column[rows] for column in columns)))
        for rows in (slice(start, start + _POSITIONS_PER_TASK) for start in range(0, count, _POSITIONS_PER_TASK))
    ]
    settings = {"work": "probcut", **attrs.asdict(sample), "input": _digest(evaluation, columns)}
    where = tempfile.TemporaryDirectory() if folder is None else contextlib.nullcontext(folder)
    with where as chosen:
        work = ChunkedWork(Path(chosen), settings)
        parts = work.run(
            search_scores,
            tasks,
            name="search",
            amounts=[len(task.positions[0]) for task in tasks],
            workers=workers,
            progress=progress,
        )
        scores = np.concatenate([part["scores"] for part in parts])
    return scores, evaluation.learning.phases.of(columns)


def fit_probcut(
    evaluation: LinearEvaluation,
    positions: Iterable[PositionSet],
    sample: ProbCutSample | None = None,
    *,
    folder: Path | None = None,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> ProbCut:
    """Fit the parameters of selective search to an evaluation.

    Parameters
    ----------
    evaluation
        The evaluation that searches will use.
    positions
        Sets to choose from, such as :meth:`PositionSet.stream` gives.
    sample
        How many, and how deep they are searched.
    folder
        Keeps the scores of searched positions, so that a killed run continues; by default they are not kept.
    workers
        Where the searches run; the result does not depend on it.
    progress
        Display.

    Raises
    ------
    BadInputError
        There are too few positions, or the folder holds other work.
    """
    chosen = ProbCutSample() if sample is None else sample
    learning = evaluation.learning
    scores, phases = sampled_scores(evaluation, positions, chosen, folder=folder, workers=workers, progress=progress)
    return regress_scores(
        scores,
        phases,
        learning.phases.names,
        game=learning.game.name,
        unit=search_unit(evaluation),
        deepest=chosen.deepest,
        provenance={"positions": f"{len(scores):,}", "depth": str(chosen.depth), "seed": str(chosen.seed)},
    )


def _digest(evaluation: LinearEvaluation, columns: Any) -> str:
    played = evaluation.in_play()
    return arrays_digest((played.bias, played.patterns, played.configurations, played.linear, *columns))
