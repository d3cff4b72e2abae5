"""Whether an engine is better with some values of its options than with others: by games, or by its scores.

Both are objectives of :mod:`glem.core.tuning.spsa`. A comparison is two games from one opening, colours reversed, or
two scores of one position. It depends on its values, the seed and the iteration alone where the engine does: the
limit must be nodes or depth. An engine is started once in each worker, and its options are set between games and
between scores.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.evaluation.result_models import Calibration, log_odds_of
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.game.protocols import Configurable
from glem.core.grading.calibration import FEWEST_GAMES, Prediction, recalibrated
from glem.core.grading.comparison import Comparison, compare
from glem.core.grading.correctness import DEFAULT_SETTINGS
from glem.core.grading.scorers.searching import scored, value_and_drawishness
from glem.core.players.making import close_programs, kept_player
from glem.core.players.scoring import kept_scoring, scoring_of
from glem.core.players.spec import PlayerSpec
from glem.core.positions.positions import Positions
from glem.core.tasks.chunked_work import Arrays, PositionsTask
from glem.core.tasks.counts import counted
from glem.core.tasks.tasks import Workers, run_tasks
from glem.core.tournament.games import Adjudication, GameTask, play_game
from glem.core.tournament.openings import Opening
from glem.core.tuning.engine_options import Parameter, space_of, texts_of
from glem.core.tuning.spsa import Schedule, Vector, comparisons

Options = Mapping[str, str]

_PER_TASK = 20
_CALIBRATED = 500
"""Positions from which the gauge is found."""
_UNKNOWN = math.log(1 / 3)
"""Logarithm of the correctness of a position of which the engine tells no score, as if it knew nothing."""


def _in_order(function: Any, tasks: Sequence[Any], workers: Workers) -> list[Any]:
    with contextlib.closing(run_tasks(function, tasks, workers)) as results:
        return [result for _, result in sorted(results, key=lambda found: found[0])]


@define(frozen=True)
class _PairTask:
    game: Game
    players: tuple[PlayerSpec, PlayerSpec]
    options: tuple[Options, Options]
    opening: Opening
    number: int
    adjudication: Adjudication


def _played(task: _PairTask) -> tuple[int, int]:
    """Wins less losses of the first in two games, and how often the program failed."""
    for spec, options in zip(task.players, task.options, strict=True):
        cast("Configurable", kept_player(task.game, spec)).configure(options)
    first, second = task.players
    games = [
        play_game(GameTask(task.game, 2 * task.number + place, task.opening, *pair, task.adjudication))
        for place, pair in enumerate(((first, second), (second, first)))
    ]
    return games[0].result - games[1].result, sum(sum(game.failures) for game in games)


class ByMatch:
    """Compares values by games; a failing program loses its game.

    Parameters
    ----------
    spec
        The engine.
    parameters
        Its options that are tuned.
    openings
        What games begin with; each pair draws one.
    adjudication
        How games end.
    workers
        Where they are played.
    """

    def __init__(
        self,
        game: Game,
        spec: PlayerSpec,
        parameters: Sequence[Parameter],
        openings: Sequence[Opening],
        adjudication: Adjudication,
        workers: Workers,
    ) -> None:
        if not openings:
            raise BadInputError("matches need at least one opening")
        self._game, self._parameters, self._openings = game, parameters, openings
        self._players = attrs.evolve(spec, name="plus"), attrs.evolve(spec, name="minus")
        self._adjudication, self._workers = adjudication, workers
        self.failures = 0

    def settings(self) -> dict[str, Any]:
        """All that comparisons depend on besides the engine, as JSON values."""
        # In short, since all of them would hide in an error what else differs.
        openings = arrays_digest([], "\n".join(opening.to_json(self._game) for opening in self._openings))
        return {"by": "match", "openings": openings, "adjudication": attrs.asdict(self._adjudication)}

    def __call__(self, plus: Vector, minus: Vector, generator: np.random.Generator) -> Vector:
        """Play a pair of games for each comparison; gives wins less losses."""
        chosen = generator.integers(len(self._openings), size=len(plus)).tolist()
        tasks = [
            _PairTask(
                self._game,
                self._players,
                (texts_of(self._parameters, plus[row]), texts_of(self._parameters, minus[row])),
                self._openings[opening],
                row,
                self._adjudication,
            )
            for row, opening in enumerate(chosen)
        ]
        found = _in_order(_played, tasks, self._workers)
        self.failures += sum(failures for _, failures in found)
        return np.array([outcome for outcome, _ in found], np.float64)

    def close(self) -> None:
        """End the engines of this process."""
        close_programs()


class _Scores(NamedTuple):
    value: Vector
    """float64 [n]: from the side to move; nan where the engine told none."""
    results: Vector
    """float64 [n, 3]: probabilities of win, draw and loss; nan where it told none."""


def _scored(task: tuple[PositionsTask[tuple[Game, PlayerSpec]], Sequence[Options]]) -> Arrays:
    return scored(*task)


@define(frozen=True)
class Gauge:
    """What makes log correctness of an engine's scores, found once: so tuned values keep the unit of the scores.

    Parameters
    ----------
    is_result
        Whether the engine's probabilities of the results are graded, else its scores.
    scale, level, slope
        As of :class:`~glem.core.grading.calibration.Calibration`.
    unit
        Root mean square of what a comparison at the start changes in the log correctness of a position. Outcomes are
        counted in it, so that R_END means about what it means for pairs of games.
    """

    is_result: bool
    scale: float
    level: float
    slope: float
    unit: float = 1.0


class ByGrade:
    """Compares values by how well scores predict the results of games: the difference in log correctness.

    Parameters
    ----------
    spec
        The engine, at fixed nodes or depth.
    parameters
        Its options that are tuned.
    positions
        With results; at least one.
    workers
        Where engines run.
    """

    def __init__(
        self, game: Game, spec: PlayerSpec, parameters: Sequence[Parameter], positions: Positions, workers: Workers
    ) -> None:
        # What can only play is refused now, not in a worker.
        scoring_of(game, spec)
        self._game, self._spec, self._parameters = game, spec, parameters
        self._positions, self._workers = positions, workers
        self.gauge: Gauge | None = None
        self.failures = 0

    def settings(self) -> dict[str, Any]:
        """All that comparisons depend on besides the engine, as JSON values."""
        arrays = [*self._positions.positions, self._positions.result]
        return {"by": "grade", "positions": arrays_digest(arrays), "count": len(self._positions)}

    def _scores(self, positions: Any, options: Sequence[Options]) -> _Scores:
        work = self._game, self._spec
        some = [slice(first, first + _PER_TASK) for first in range(0, len(options), _PER_TASK)]
        tasks = [(PositionsTask(work, rows_of(positions, rows), rows.start), options[rows]) for rows in some]
        parts = _in_order(_scored, tasks, self._workers)
        self.failures += sum(int(part["failures"].sum()) for part in parts)
        value, results = (np.concatenate([part[name] for part in parts]) for name in ("value", "results"))
        return _Scores(value, results)

    def calibrate(self, schedule: Schedule) -> Gauge:
        """Find the gauge by the values to begin with, and set it.

        Raises
        ------
        BadInputError
            The engine tells too few scores, or its options do not change them.
        """
        count = min(_CALIBRATED, len(self._positions))
        order = np.random.default_rng((schedule.seed, 0)).permutation(len(self._positions))
        some = self._positions.select(order[:count])
        space = space_of(self._parameters)
        scores = self._scores(some.positions, [texts_of(self._parameters, space.start)] * count)
        is_known = ~np.isnan(scores.value)
        is_result = not bool(np.isnan(scores.results[is_known]).any())
        said, is_known = _known(scores, is_result)
        found = recalibrated(said, some.result[is_known], settings=attrs.evolve(DEFAULT_SETTINGS, seed=schedule.seed))
        if found is None:
            raise BadInputError(
                f"the engine of {self._spec.name!r} scored {int(is_known.sum()):,} of "
                f"{counted(count, 'position')}; grades "
                f"need {FEWEST_GAMES} at least"
            )
        self.gauge = Gauge(is_result, *attrs.astuple(found.calibration))
        compared = comparisons(space, attrs.evolve(schedule, batch=count), 1, space.start)
        changes = self._compared(compared.plus, compared.minus, some)
        unit = float(np.sqrt(np.mean(changes**2)))
        if unit == 0.0:
            names = ", ".join(each.name for each in self._parameters)
            raise BadInputError(
                f"{names}: changing these changes no score of {counted(count, 'position')}; tune by "
                "matches, without games, or "
                "take a greater C_END or limit"
            )
        self.gauge = attrs.evolve(self.gauge, unit=unit)
        return self.gauge

    def _logs(self, scores: _Scores, result: NDArray[np.int8]) -> Vector:
        """Log correctness [n] of scores."""
        gauge = self.gauge
        assert gauge is not None
        said, is_known = _known(scores, gauge.is_result)
        odds = 0.0 if said.drawishness is None else log_odds_of(said.drawishness)
        alpha = Calibration(gauge.scale, gauge.level, gauge.slope).alpha(odds)
        logs = np.full(len(is_known), _UNKNOWN)
        logs[is_known] = log_correctness(said.value, result[is_known], gauge.scale, alpha)
        return DEFAULT_SETTINGS.floored(logs)

    def _compared(self, plus: Vector, minus: Vector, positions: Positions) -> Vector:
        """Change in log correctness of each position from ``minus`` to ``plus``."""
        options = [texts_of(self._parameters, values) for pair in zip(plus, minus, strict=True) for values in pair]
        twice = np.repeat(np.arange(len(plus)), 2)
        logs = self._logs(self._scores(rows_of(positions.positions, twice), options), positions.result[twice])
        return logs[::2] - logs[1::2]

    def __call__(self, plus: Vector, minus: Vector, generator: np.random.Generator) -> Vector:
        """Score a position for each comparison, by both; gives what log correctness gains, in the unit."""
        assert self.gauge is not None
        rows = generator.integers(len(self._positions), size=len(plus))
        return self._compared(plus, minus, self._positions.select(rows)) / self.gauge.unit

    def check(self, held_out: Positions, values: Vector, seed: int) -> Comparison:
        """Compare tuned values [P] with those to begin with on positions that tuning did not see.

        Both are recalibrated to them as grades are, if there are enough games: what tuned values gain in calibration
        alone makes no stronger engine.
        """
        assert self.gauge is not None
        result, game = held_out.result, held_out.record
        settings = attrs.evolve(DEFAULT_SETTINGS, seed=seed)
        given, logs = [], []
        for each in (values, space_of(self._parameters).start):
            scores = self._scores(held_out.positions, [texts_of(self._parameters, each)] * len(held_out))
            given.append(self._logs(scores, result))
            said, is_known = _known(scores, self.gauge.is_result)
            found = recalibrated(said, result[is_known], game[is_known], settings)
            if found is not None:
                logs.append(np.full(len(is_known), _UNKNOWN))
                logs[-1][is_known] = found.logs
        names = ("tuned", "start")
        if len(logs) < len(given):
            return compare(given[0], given[1], game, names=names, settings=settings)
        return compare(logs[0], logs[1], game, names=names, as_given=(given[0], given[1]), settings=settings)

    def close(self) -> None:
        """End the engine of this process."""
        kept_scoring.drop()


def _known(scores: _Scores, is_result: bool) -> tuple[Prediction, NDArray[np.bool_]]:
    """Take the scores that are known, with a drawishness if the engine tells it, and tell which those are [n]."""
    said = Prediction(*value_and_drawishness(scores.results)) if is_result else Prediction(scores.value)
    is_known = ~np.isnan(said.value)
    return said.select(is_known), is_known
