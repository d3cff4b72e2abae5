"""Values of evaluations, static or after a search of each position by itself, and those of external engines."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import search_unit
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.game.protocols import Configurable
from glem.core.grading.calibration import Prediction
from glem.core.grading.scorers.scorer import Scorer
from glem.core.players.scoring import kept_scoring, running_scoring, scoring_of
from glem.core.players.spec import PlayerSpec
from glem.core.players.thinker import kept_thinker
from glem.core.positions.positions import Positions
from glem.core.search.results import Limits
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, PositionsTask
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import Workers

_SEARCHES_PER_TASK, _SCORES_PER_TASK = 250, 20
_TABLE_BYTES_PER_NODE = 64
"""Four entries: searches by nodes do not fill their table."""
_LOG_ODDS = "log odds"
_LONGEST_PROBLEM = 200


_Task = PositionsTask[tuple[Game, PlayerSpec]]
"""Positions that a worker scores."""


@define(frozen=True)
class _Work:
    """The scoring of positions one by one, divided among workers.

    Parameters
    ----------
    function
        Scores the positions of a task: arrays with ``value`` and ``seconds`` of each.
    kept
        Folder in which scores are kept as they come; None keeps nothing.
    """

    game: Game
    spec: PlayerSpec
    function: Callable[[_Task], Arrays]
    per_task: int
    workers: Workers
    kept: Path | None

    def done(self, positions: Any, progress: Progress) -> dict[str, NDArray[Any]]:
        """Arrays of all N positions."""
        settings = {
            "game": self.game.name,
            "program": self.spec.to_json(),
            "positions": arrays_digest(positions),
            "per task": self.per_task,
        }
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory())) if self.kept is None else self.kept
            folder.mkdir(parents=True, exist_ok=True)
            # Other programs and other positions have folders of their own.
            work = ChunkedWork(folder / arrays_digest([], repr(settings))[:16], settings)
            parts = list(
                work.run(
                    self.function,
                    (self.game, self.spec),
                    positions,
                    self.per_task,
                    name="scores",
                    workers=self.workers,
                    progress=lambda description, total=None: progress(f"Scoring: {self.spec.name}", total),
                )
            )
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class StaticScorer(Scorer):
    """An evaluation as it is, with its drawishness if it has one. Under the logistic link its values are log odds.

    The evaluation's own b does not come along: grades fit b to the graded games for all evaluations alike, so that they
    tell how values order and space positions, whatever unit they count in. Where the evaluation's calibration is to be
    graded as well, give b: 1 for files of ``glem fit likelihood``, which have it folded into their weights.

    Parameters
    ----------
    name
        For people.
    jobs
        Threads.
    """

    def __init__(self, name: str, evaluation: LinearEvaluation | ResultEvaluation, *, jobs: int = 1) -> None:
        self.name = name
        self.provenance = evaluation.provenance
        value = value_part(evaluation)
        self._unit = search_unit(value)
        # The sum before the logistic link: a winning chance of almost 1 has few digits left.
        self._value = evolve(value, link=IDENTITY) if value.link == LOGISTIC else value
        self._drawishness = evaluation.drawishness if isinstance(evaluation, ResultEvaluation) else None
        self._jobs = jobs

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Evaluate positions."""
        value = self._value.predict(selected.positions, jobs=self._jobs, progress=progress)
        return self._with_drawishness(value, selected)

    def _with_drawishness(self, value: NDArray[Any], selected: Positions, **more: Any) -> Prediction:
        own = self._drawishness
        alpha = None if own is None else own.predict(selected.positions, jobs=self._jobs)
        return Prediction(value, alpha, unit=self._unit, **more)


class SearchScorer(StaticScorer):
    """An evaluation after a search of each position by itself; a drawishness of its own is that of the position itself.

    A value lies within the game's final scores, or within the greatest log odds of the search under the logistic link:
    a win that the search has proved, or the solver, is worth the greatest value, and the exact score where scores tell
    by how much.

    Parameters
    ----------
    spec
        The searching player. By depth or nodes the values depend on nothing else; by seconds, also on the machine. Its
        table is no larger than a number of nodes can use.
    workers
        Where the searches run.
    """

    is_search = True

    def __init__(self, game: Game, spec: PlayerSpec, *, workers: Workers | None = None) -> None:
        if spec.limits.clock is not None:
            raise BadInputError(f"{spec.name!r}: a clock is for games; limit the search by depth=, nodes= or seconds=")
        if spec.result_from:
            raise BadInputError(f"{spec.name!r}: positions are graded by their scores; use solve=, not result=")
        super().__init__(spec.name, load_evaluation(spec.evaluation, game), jobs=1)
        self._work = _Work(game, spec.resolved(game), _searched, _SEARCHES_PER_TASK, workers or Workers(), None)

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Search each position with an empty table."""
        found = self._work.done(selected.positions, progress)
        return self._with_drawishness(found["value"], selected, seconds=float(found["seconds"].mean()))


def _table_mb(spec: PlayerSpec) -> int:
    """Table of a search: forgetting a large one takes longer than to search few nodes."""
    if spec.limits.nodes is None:
        return spec.table_mb
    return min(spec.table_mb, max(1, (_TABLE_BYTES_PER_NODE * spec.limits.nodes) >> 20))


def _searched(task: _Task) -> Arrays:
    game, spec = task.work
    thinker = kept_thinker(game, spec, _table_mb(spec))
    positions = [position_at(task.positions, row) for row in range(len(task.positions[0]))]
    # What is compiled now is no part of the time.
    thinker.searcher.search(positions[0], Limits(depth=1))
    judged = [thinker.judge(position, fresh=True) for position in positions]
    return {
        "value": np.array([found.score for found in judged], np.float64),
        "seconds": np.array([found.seconds for found in judged]),
    }


def value_and_drawishness(results: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the evaluation and drawishness that stand for probabilities of the results (Ban 2012, equations 9-14).

    Parameters
    ----------
    results
        float64 [N, 3]: probabilities of win, draw and loss, each above 0; nan where they are unknown.

    Returns
    -------
    value
        float64 [N]: log odds of the expectation, to be graded at b = 1.
    drawishness
        float64 [N]: with the value it gives the probabilities again.
    """
    win, draw, loss = results.T
    upset = np.minimum(win, loss)
    return np.log((win + draw / 2) / (loss + draw / 2)), draw / (draw + upset)


class ExternalScorer(Scorer):
    """An external engine that scores each position by itself.

    Where it gives the probabilities of the results of all positions that it scores, these are graded as they are: b is
    1, and the drawishness is the engine's. Else its scores are values, and b and the drawishness are fitted.

    Parameters
    ----------
    spec
        The engine, its limits and options.
    workers
        Where copies of the engine run, one in each worker.
    kept
        Folder in which scores are kept as they come, so that a killed run goes on with those that are missing; None
        keeps nothing.

    Raises
    ------
    BadInputError
        There is no such engine or option, or it cannot give scores.
    GlemError
        The engine does not work at all.
    """

    is_search = True

    def __init__(
        self, game: Game, spec: PlayerSpec, *, workers: Workers | None = None, kept: Path | None = None
    ) -> None:
        make = scoring_of(game, spec)
        self.name = spec.name
        self._work = _Work(game, spec.resolved(game), scored, _SCORES_PER_TASK, workers or Workers(), kept)
        self._told: list[str] = []
        # What is wrong with it is told now, not after the games were read.
        scoring = make(game, spec)
        self._unit = scoring.unit
        scoring.close()

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Let the engine score each position; nan where it gave no score, though it was asked twice."""
        try:
            found = self._work.done(selected.positions, progress)
        finally:
            kept_scoring.drop()
        value, results = found["value"], found["results"]
        failures, missing = int(found["failures"].sum()), int(np.isnan(value).sum())
        problem = next((f" (the last time: {text})" for text in reversed(found["problem"].tolist()) if text), "")
        self._told = []
        if failures:
            times = "once" if failures == 1 else f"{failures:,} times"
            self._told.append(f"{self.name} failed {times} and was started anew{problem}")
        if missing:
            self._told.append(f"{self.name} gave no score for {counted(missing, 'position')}{problem}")
        seconds = float(found["seconds"].mean())
        has_results = ~np.isnan(results[:, 0])
        if has_results.any() and (has_results | np.isnan(value)).all():
            value, drawishness = value_and_drawishness(results)
            return Prediction(value, drawishness, scale=1.0, unit=_LOG_ODDS, seconds=seconds)
        return Prediction(value, unit=self._unit, seconds=seconds)

    def remarks(self) -> Sequence[str]:
        """Tell how often the engine failed."""
        return self._told


def scored(task: _Task, options: Sequence[Mapping[str, str]] | None = None) -> Arrays:
    """Let an engine score positions, each under options of its own if there are any; nan where it told nothing."""
    game, spec = task.work
    scoring = running_scoring(game, spec, options is not None)
    count = len(task.positions[0])
    value = np.full(count, np.nan)
    results = np.full((count, 3), np.nan)
    failures = np.zeros(count, np.int64)
    seconds = np.zeros(count)
    problem = np.full(count, "", f"<U{_LONGEST_PROBLEM}")
    for row in range(count):
        if options is not None:
            cast("Configurable", scoring).configure(options[row])
        begin = time.perf_counter()
        scoring.forget()
        score = scoring.score(position_at(task.positions, row))
        seconds[row] = time.perf_counter() - begin
        failures[row], problem[row] = score.failures, score.problem
        if score.value is not None:
            value[row] = score.value
            if score.results is not None:
                results[row] = score.results
    return {"value": value, "results": results, "failures": failures, "seconds": seconds, "problem": problem}
