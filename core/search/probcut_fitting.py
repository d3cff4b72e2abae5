"""Fitting Multi-ProbCut: positions are searched full-width to every depth, and the scores regressed on each other."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of
from glem.core.errors import BadInputError, check_arguments
from glem.core.evaluation.integers.recomputing import evaluator_of, search_unit
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.files.digests import arrays_digest
from glem.core.game.equal_positions import position_keys, scatter
from glem.core.positions.positions import Positions
from glem.core.search.probcut import CHECKS, ProbCut
from glem.core.search.results import Limits, SearchResult
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, PositionsTask
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import Workers

DEEPEST = 60
"""Greatest depth that gets parameters: deeper nodes are searched at full width."""

LEAST_SEARCHED = 5
"""Depth that positions must be searched to, at least: from depths below it nothing follows for greater ones."""

_SHALLOWEST = 2
_FEWEST_POSITIONS = 10
_LEAST_SPREAD = 1e-6
_LEAST_DEVIATION = 1e-3
_SLOPES = (0.5, 2.0)
_POSITIONS_PER_TASK = 16


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
        if not LEAST_SEARCHED <= self.depth <= self.deepest <= DEEPEST:
            raise BadInputError(
                f"depth {self.depth} of the searches and greatest depth {self.deepest} with parameters: expected at "
                f"least {LEAST_SEARCHED}, at most {DEEPEST}, and parameters for all depths that are searched"
            )
        check_arguments(self, per_phase=(1,), seed=(0,), table_mb=(0, 1 << 20))


def choose_positions(evaluation: LinearEvaluation, sets: Iterable[Positions], per_phase: int, seed: int) -> Any:
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
        chosen = rows_of(joined, kept)
    return chosen


def search_scores(task: PositionsTask[tuple[LinearEvaluation, ProbCutSample]]) -> Arrays:
    """Search positions full-width to every depth.

    Returns
    -------
    arrays
        ``scores``: float64 [n, depth + 1] in units of the evaluator, nan where the game ends before, or where a score
        is at the limit and says no more than who wins.
    """
    evaluation, sample = task.work
    evaluator = evaluator_of(evaluation)
    searcher = Searcher(evaluation.learning.game, evaluator, SearchSettings(table_mb=sample.table_mb))
    count = len(task.positions[0])
    scores = np.full((count, sample.depth + 1), np.nan)
    accumulators = evaluator.empty_accumulators(1)
    for row in range(count):
        position = position_at(task.positions, row)
        evaluator.operations["start"](position, evaluator.data, accumulators, 0)
        static = evaluator.operations["static_score"](position, evaluator.data, accumulators, 0)
        scores[row, 0] = int(static) / evaluator.steps_per_unit

        def note(result: SearchResult, row: int = row) -> None:
            scores[row, result.depth] = result.value

        searcher.clear()
        searcher.search(position, Limits(depth=sample.depth), on_iteration=note)
    scores[np.abs(scores) >= evaluator.limit / evaluator.steps_per_unit] = np.nan
    return {"scores": scores}


def sampled_scores(
    evaluation: LinearEvaluation,
    positions: Iterable[Positions],
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
        Of each position, as :func:`regress_scores` takes them. Arguments and
        errors are those of :func:`fit_probcut`.
    """
    columns = choose_positions(evaluation, positions, sample.per_phase, sample.seed)
    if len(columns[0]) == 0:
        raise BadInputError("there are no positions to fit selective search to")
    digest = arrays_digest((*evaluation.parts()[1].values(), *columns))
    settings = {"work": "probcut", **attrs.asdict(sample), "input": digest}
    where = tempfile.TemporaryDirectory() if folder is None else contextlib.nullcontext(folder)
    with where as chosen:
        work = ChunkedWork(Path(chosen), settings)
        parts = work.run(
            search_scores,
            (evaluation, sample),
            columns,
            _POSITIONS_PER_TASK,
            name="search",
            workers=workers,
            progress=progress,
        )
        scores = np.concatenate([part["scores"] for part in parts])
    return scores, evaluation.learning.phases.of(columns)


def fit_probcut(
    evaluation: LinearEvaluation,
    positions: Iterable[Positions],
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
        Sets to choose from, such as :meth:`Positions.stream` gives.
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


def check_depths_of(depth: int) -> tuple[int, ...]:
    """Depths of the check searches for a search of some depth, shallow ones first.

    One, about a third as deep and of the same parity: the scores of odd and even depths differ by what the evaluation
    takes the right to move to be worth (GLEM, section 3).
    """
    return (2 * (depth // 6) + depth % 2,) if depth >= _SHALLOWEST else ()


class _Line(NamedTuple):
    """Least-squares line from shallow to deep scores."""

    slope: float
    offset: float
    deviation: float
    positions: int


@define(frozen=True, eq=False)
class _Scores:
    """Scores [N, D + 1] and phases [N] of positions, and the number of positions below which a phase borrows."""

    scores: NDArray[np.float64]
    phases: NDArray[np.int64]
    least_positions: int

    def line(self, phase: int, check: int, depth: int) -> _Line:
        """Regress the scores of a depth on those of another one, over a phase and as many neighbours as it takes."""
        known = np.isfinite(self.scores[:, check]) & np.isfinite(self.scores[:, depth])
        distances = np.abs(self.phases - phase)
        nearest = np.sort(distances[known])
        if len(nearest) < _FEWEST_POSITIONS:
            raise BadInputError(
                f"scores of the depths {check} and {depth} for {counted(len(nearest), 'position')} only, at least "
                f"{_FEWEST_POSITIONS} are needed to fit selective search"
            )
        rows = known & (distances <= nearest[min(self.least_positions, len(nearest)) - 1])
        shallow, deep = self.scores[rows, check], self.scores[rows, depth]
        spread = float(shallow.var())
        covariance = float(((shallow - shallow.mean()) * (deep - deep.mean())).mean())
        slope = float(np.clip(covariance / spread, *_SLOPES)) if spread > _LEAST_SPREAD else 1.0
        offset = float(deep.mean() - slope * shallow.mean())
        squares = float(((deep - slope * shallow - offset) ** 2).sum())
        return _Line(slope, offset, max(np.sqrt(squares / (len(deep) - 2)), _LEAST_DEVIATION), len(deep))


def regress_scores(
    scores: NDArray[np.float64],
    phases: NDArray[np.integer],
    names: tuple[str, ...],
    *,
    game: str,
    unit: str,
    deepest: int = DEEPEST,
    checks: Callable[[int], tuple[int, ...]] = check_depths_of,
    least_positions: int = 50,
    provenance: Mapping[str, str] | None = None,
) -> ProbCut:
    """Regress the scores of deeper searches on those of their check searches, phase by phase.

    A phase with fewer positions than ``least_positions`` borrows those of its neighbours, from nearer ones first. For
    depths d that were not searched, slope and offset are those of the greatest searched depth of the same parity. The
    deviation from check depth c follows the law log s = x(phase) + y log(d - c) + z log(c + 1), fitted by least squares
    to all pairs of searched depths of the same parity but those from depth 0.

    Parameters
    ----------
    scores
        float64 [N, D + 1]: score of each position at depths 0 (the static score) to D, nan where there is none.
    phases
        Phase of each position [N].
    names
        Names of the phases.
    game, unit, provenance
        Kept in the result.
    deepest
        Greatest depth with parameters, at least D.
    checks
        Depths of the check searches by depth, at most :data:`~glem.core.search.probcut.CHECKS`.
    least_positions
        Positions below which a phase borrows.

    Raises
    ------
    BadInputError
        There are too few positions or depths.
    """
    searched = scores.shape[1] - 1
    if not LEAST_SEARCHED <= searched <= deepest:
        raise BadInputError(
            f"scores of depths up to {searched}, parameters of depths up to {deepest}: expected at least "
            f"{LEAST_SEARCHED} and no less than the scores have"
        )
    # Signed phases, for distances between them.
    known = _Scores(scores, phases.astype(np.int64), least_positions)
    shape = (len(names), deepest + 1, CHECKS)
    slopes, offsets, deviations, counts = np.ones(shape), np.zeros(shape), np.ones(shape), np.zeros(shape, np.int64)
    check_depths = np.full(shape[1:], -1, np.int64)
    for depth in range(deepest + 1):
        check_depths[depth, : len(checks(depth))] = checks(depth)
    laws = _deviation_laws(known, len(names), searched)
    for phase in range(len(names)):
        for depth, place in np.argwhere(check_depths >= 0).tolist():
            at, check = (phase, depth, place), int(check_depths[depth, place])
            if depth <= searched:
                slopes[at], offsets[at], deviations[at], counts[at] = known.line(phase, check, depth)
                continue
            alike = searched - (searched - depth) % 2
            alike_place = min(place, np.flatnonzero(check_depths[alike] >= 0)[-1])
            slopes[at], offsets[at] = slopes[phase, alike, alike_place], offsets[phase, alike, alike_place]
            deviations[at] = np.exp(laws[phase] @ _terms(check, depth))
    return ProbCut(
        game, names, unit, check_depths, slopes, offsets, deviations, counts, provenance=dict(provenance or {})
    )


def _terms(check: int, depth: int) -> NDArray[np.float64]:
    return np.array([1.0, np.log(depth - check), np.log(check + 1)])


def _deviation_laws(known: _Scores, phases: int, searched: int) -> NDArray[np.float64]:
    """Coefficients [phases, 3] of the law of deviations, the last two alike for all phases."""
    rows, logarithms = [], []
    for phase in range(phases):
        for depth in range(_SHALLOWEST, searched + 1):
            for check in range(2 - depth % 2, depth, 2):
                own = np.eye(phases)[phase]
                rows.append(np.concatenate([own, _terms(check, depth)[1:]]))
                logarithms.append(np.log(known.line(phase, check, depth).deviation))
    solution = np.linalg.lstsq(np.array(rows), np.array(logarithms), rcond=None)[0]
    return np.column_stack([solution[:phases], np.tile(solution[phases:], (phases, 1))])
