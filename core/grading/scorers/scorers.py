"""What gives the values that are graded: evaluations as they are, or after a search."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import search_unit
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.game.game import Game
from glem.core.grading.grading import Prediction
from glem.core.grading.scorers.external_scorer import ExternalScorer, ScoringTask, done_in_order, tasks_of
from glem.core.players.spec import EXTERNAL, SEARCH, PlayerSpec, parse_player
from glem.core.players.thinker import kept_thinker
from glem.core.positions.positions import Positions
from glem.core.search.results import Limits
from glem.core.tasks.chunked_work import Workers
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["Scorer", "SearchScorer", "StaticScorer", "scorer_of"]

_POSITIONS_PER_TASK = 250
_TABLE_BYTES_PER_NODE = 64
"""Four entries: searches by nodes do not fill their table."""
_STATIC = Limits(depth=1)
"""Stands for no limit in the text of a player; it is told from the same limit in the text by identity."""


class Scorer(Protocol):
    """Gives values to positions."""

    name: str
    is_search: bool
    """Whether it takes long, so that it is called once with all positions, without their records."""

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Values of N positions from the side to move; nan where there is none."""
        ...


class StaticScorer:
    """An evaluation as it is, with its drawishness if it has one. Under the logistic link its values are log odds.

    The evaluation's own b does not come along: grades fit b to the graded games for all evaluations alike, so that they
    tell how values order and space positions, whatever unit they count in. Where the evaluation's calibration is to be
    graded as well, give b: 1 for files of ``glem tune``, which have it folded into their weights.

    Parameters
    ----------
    name
        For people.
    evaluation
        The evaluation.
    jobs
        Threads.
    """

    is_search = False

    def __init__(self, name: str, evaluation: LinearEvaluation | ResultEvaluation, *, jobs: int = 1) -> None:
        self.name = name
        self.provenance = evaluation.provenance
        value = value_part(evaluation)
        self._unit = search_unit(value)
        # The sum before the logistic link: a winning chance of almost 1 has few digits left.
        self._value = attrs.evolve(value, link=IDENTITY) if value.link == LOGISTIC else value
        self._drawishness = evaluation.drawishness if isinstance(evaluation, ResultEvaluation) else None
        self._jobs = jobs

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Evaluate positions."""
        value = self._value.predict(selected.positions, jobs=self._jobs, progress=progress)
        return Prediction(value, _drawishness_of(self._drawishness, selected, self._jobs), unit=self._unit)


def _drawishness_of(drawishness: LinearEvaluation | None, selected: Positions, jobs: int) -> NDArray[np.float32] | None:
    return None if drawishness is None else drawishness.predict(selected.positions, jobs=jobs)


class SearchScorer:
    """An evaluation after a search of each position by itself; a drawishness of its own is that of the position itself.

    A value lies within the game's final scores, or within the greatest log odds of the search under the logistic link:
    a win that the search has proved, or the solver, is worth the greatest value, and the exact score where scores tell
    by how much.

    Parameters
    ----------
    game
        The game.
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
        self.name = spec.name
        self._game = game
        self._spec = spec.resolved(game)
        evaluation = load_evaluation(spec.evaluation, game)
        self.provenance = evaluation.provenance
        self._unit = search_unit(value_part(evaluation))
        self._drawishness = evaluation.drawishness if isinstance(evaluation, ResultEvaluation) else None
        self._workers = Workers() if workers is None else workers

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Search each position with an empty table."""
        count = len(selected)
        tasks = tasks_of(self._game, self._spec, selected.positions, _POSITIONS_PER_TASK)
        found = done_in_order(_search_values, tasks, self._workers, progress(f"Searching: {self.name}", count))
        value = np.concatenate([values for values, _ in found])
        seconds = sum(passed for _, passed in found)
        drawishness = _drawishness_of(self._drawishness, selected, 1)
        return Prediction(value, drawishness, unit=self._unit, seconds=seconds / max(count, 1))


def _table_mb(spec: PlayerSpec) -> int:
    """Table of a search: forgetting a large one takes longer than to search few nodes."""
    if spec.limits.nodes is None:
        return spec.table_mb
    return min(spec.table_mb, max(1, (_TABLE_BYTES_PER_NODE * spec.limits.nodes) >> 20))


def _search_values(task: ScoringTask) -> tuple[NDArray[np.float64], float]:
    """Values, and the seconds that the searches took."""
    thinker = kept_thinker(task.game, task.spec, _table_mb(task.spec))
    positions = [position_at(task.positions, row) for row in range(len(task.positions[0]))]
    if positions:
        # What is compiled now is no part of the time.
        thinker.searcher.search(positions[0], Limits(depth=1))
    judged = [thinker.judge(position, fresh=True) for position in positions]
    return np.array([found.score for found in judged], np.float64), sum(found.seconds for found in judged)


def scorer_of(
    game: Game, text: str, *, jobs: int = 1, workers: Workers | None = None, kept: Path | None = None
) -> Scorer:
    """Scorer for the text of a player: an evaluation file or ``default``, static unless it names a limit.

    A program of others is one too, by the limit that its text names.

    Parameters
    ----------
    game
        The game.
    text
        As for :func:`~glem.core.players.spec.parse_player`.
    jobs
        Threads of a static evaluation.
    workers
        Where searches run.
    kept
        Folder in which the scores of programs are kept; see
        :class:`~glem.core.grading.scorers.external_scorer.ExternalScorer`.

    Raises
    ------
    BadInputError
        The text describes no evaluation of this game.
    """
    spec = parse_player(text, limits=_STATIC)
    if spec.kind == EXTERNAL:
        if spec.limits is _STATIC:
            raise BadInputError(f"{text!r} has no limit for its search: add depth=, nodes= or seconds=")
        return ExternalScorer(game, spec, workers=workers, kept=kept)
    if spec.kind != SEARCH:
        raise BadInputError(f"{text!r} is a {spec.kind} player and gives no values; name an evaluation file or default")
    if spec.limits is not _STATIC:
        return SearchScorer(game, spec, workers=workers)
    if spec.solve_from or spec.result_from:
        raise BadInputError(f"{text!r} solves positions but has no limit for those before: add depth= or nodes=")
    return StaticScorer(spec.name, load_evaluation(spec.evaluation, game), jobs=jobs)
