"""Programs of others as scorers: what they say of positions, one by one, however they behave."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.game.protocols import PositionScoring
from glem.core.grading.grading import Prediction
from glem.core.players.spec import PlayerSpec, external_players_of
from glem.core.positions.positions import Positions
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, Workers
from glem.core.tasks.counts import counted
from glem.core.tasks.kept import Kept
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import run_tasks

__all__ = ["ExternalScorer", "ScoringTask", "done_in_order", "tasks_of", "value_and_drawishness"]

T = TypeVar("T")

_POSITIONS_PER_TASK = 20
_LOG_ODDS = "log odds"
_LONGEST_PROBLEM = 200


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


@define(frozen=True)
class ScoringTask:
    """Positions that a worker scores."""

    game: Game
    spec: PlayerSpec
    positions: Any


def tasks_of(game: Game, spec: PlayerSpec, positions: Any, size: int) -> list[ScoringTask]:
    """Divide the scoring of N positions among tasks."""
    return [
        ScoringTask(game, spec, rows_of(positions, slice(first, first + size)))
        for first in range(0, len(positions[0]), size)
    ]


def done_in_order(
    function: Callable[[ScoringTask], T], tasks: Sequence[ScoringTask], workers: Workers, progress: Any
) -> list[T]:
    """Let workers do tasks; return the results in the order of the tasks."""
    found: dict[int, T] = {}
    with progress as bar:
        for place, part in run_tasks(function, tasks, **attrs.asdict(workers, recurse=False)):
            found[place] = part
            bar.advance(len(tasks[place].positions[0]))
    return [found[place] for place in range(len(tasks))]


class ExternalScorer:
    """A program that scores each position by itself.

    Where it gives the probabilities of the results of all positions that it scores, these are graded as they are: b is
    1, and the drawishness is the program's. Else its scores are values, and b and the drawishness are fitted.

    Parameters
    ----------
    game
        The game.
    spec
        The program, its limits and options.
    workers
        Where copies of the program run, one in each worker.
    kept
        Folder in which scores are kept as they come, so that a killed run goes on with those that are missing; None
        keeps nothing.

    Raises
    ------
    BadInputError
        There is no such program or option, or it cannot give scores.
    GlemError
        The program does not work at all.
    """

    is_search = True

    def __init__(
        self, game: Game, spec: PlayerSpec, *, workers: Workers | None = None, kept: Path | None = None
    ) -> None:
        external = external_players_of(game, spec)
        if external.make_scoring is None:
            raise BadInputError(f"{spec.name!r}: programs that {external.name}: reaches only play, without scores")
        self.name = spec.name
        self._game = game
        self._spec = spec.resolved(game)
        self._workers = Workers() if workers is None else workers
        self._kept = kept
        self._failures = 0
        self._missing = 0
        self._problem = ""
        # What is wrong with it is told now, not after the games were read.
        scoring = external.make_scoring(game, spec)
        self._unit = scoring.unit
        scoring.close()

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Let the program score each position; nan where it gave no score, though it was asked twice."""
        found = _joined(list(self._scores(selected.positions, len(selected), progress)))
        value, results = found["value"], found["results"]
        self._failures = int(found["failures"].sum())
        self._missing = int(np.isnan(value).sum())
        self._problem = next((text for text in reversed(found["problem"].tolist()) if text), "")
        seconds = float(found["seconds"].sum()) / max(len(value), 1)
        has_results = ~np.isnan(results[:, 0])
        if has_results.any() and (has_results | np.isnan(value)).all():
            value, drawishness = value_and_drawishness(results)
            return Prediction(value, drawishness, scale=1.0, unit=_LOG_ODDS, seconds=seconds)
        return Prediction(value, unit=self._unit, seconds=seconds)

    def _scores(self, positions: Any, count: int, progress: Progress) -> Iterator[Arrays]:
        tasks = tasks_of(self._game, self._spec, positions, _POSITIONS_PER_TASK)
        try:
            if self._kept is None:
                yield from done_in_order(_scores_of, tasks, self._workers, progress(f"Scoring: {self.name}", count))
            else:
                amounts = [len(task.positions[0]) for task in tasks]
                yield from self._work(positions).run(
                    _scores_of, tasks, name="scores", amounts=amounts, workers=self._workers, progress=progress
                )
        finally:
            _kept.drop()

    def _work(self, positions: Any) -> ChunkedWork:
        settings = {
            "game": self._game.name,
            "program": self._spec.to_json(),
            "positions": arrays_digest([np.ascontiguousarray(column) for column in positions]),
            "per task": _POSITIONS_PER_TASK,
        }
        assert self._kept is not None
        self._kept.mkdir(parents=True, exist_ok=True)
        # Other programs and other positions have folders of their own.
        return ChunkedWork(self._kept / arrays_digest([], repr(settings))[:16], settings)

    def remarks(self) -> Sequence[str]:
        """Tell how often the program failed."""
        told = []
        last = f" (the last time: {self._problem})" if self._problem else ""
        if self._failures:
            times = "once" if self._failures == 1 else f"{self._failures:,} times"
            told.append(f"{self.name} failed {times} and was started anew{last}")
        if self._missing:
            told.append(f"{self.name} gave no score for {counted(self._missing, 'position')}{last}")
        return told

    def tables(self) -> Sequence[Any]:
        """Give no tables."""
        return ()


_kept: Kept[PositionScoring] = Kept(1, lambda scoring: scoring.close())
"""The program of this thread: to start one takes longer than to score some positions."""


def _started(game: Game, spec: PlayerSpec) -> PositionScoring:
    spec.check(game)
    make = external_players_of(game, spec).make_scoring
    assert make is not None
    scoring: PositionScoring = make(game, spec)
    return scoring


def _scores_of(task: ScoringTask) -> Arrays:
    game, spec = task.game, task.spec
    scoring = _kept.get((game.name, spec), lambda: _started(game, spec))
    count = len(task.positions[0])
    value = np.full(count, np.nan)
    results = np.full((count, 3), np.nan)
    failures = np.zeros(count, np.int64)
    seconds = np.zeros(count)
    problem = np.full(count, "", f"<U{_LONGEST_PROBLEM}")
    for row in range(count):
        begin = time.perf_counter()
        score = scoring.score(position_at(task.positions, row))
        seconds[row] = time.perf_counter() - begin
        failures[row], problem[row] = score.failures, score.problem
        if score.value is not None:
            value[row] = score.value
            if score.results is not None:
                results[row] = score.results
    return {"value": value, "results": results, "failures": failures, "seconds": seconds, "problem": problem}


def _joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> Mapping[str, NDArray[Any]]:
    if not parts:
        return {
            "value": np.zeros(0),
            "results": np.zeros((0, 3)),
            "failures": np.zeros(0, np.int64),
            "seconds": np.zeros(0),
            "problem": np.zeros(0, "<U1"),
        }
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
