"""Models of results fitted to an evaluation's values on games, and graded on the same held-out games.

Ban's model (scale and drawishness) and WDL_model's, by each covariate and by none, see
:mod:`glem.core.evaluation.result_models`. The games are divided into parts, and the positions of each part are graded
with the models that were fitted to the others: no position helps to predict itself, and a model with more coefficients
wins nothing by them alone. What is written and drawn is fitted to all games.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import asdict, define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, checked
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.evaluation.result_models import BAN, MOVE, ResultModels, log_odds_of
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.game.game import Game, load_game
from glem.core.grading.calibration import (
    FEWEST_GAMES,
    PARTS,
    Prediction,
    ScaleFit,
    calibrated,
    fit_scale,
    log_correctness_of,
    parts_of_games,
    recalibrated,
)
from glem.core.grading.collection import (
    CollectedPositions,
    Files,
    facts_of,
    first_rows,
    learning_of,
    paths_of,
    rule_of,
    with_parameters,
)
from glem.core.grading.comparison import Comparison, compare, holm_adjusted
from glem.core.grading.correctness import DEFAULT_SETTINGS, Grade, GradingSettings, checked_games, grade_of
from glem.core.grading.scorers.scorer import Scorer
from glem.core.grading.scorers.scorers import scorers_of
from glem.core.grading.wdl_model import DEGREE, Bounds, WdlFit, bounds_of, fit_wdl_model
from glem.core.positions.selection.selection import SelectionCounts, SelectionRule
from glem.core.tasks.counts import counted, interval_text, with_error
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table
from glem.core.tasks.threads import THREADS

Floats = NDArray[np.float64]

_MOVE_BOUNDS = Bounds(1.0, 120.0, 32.0)

AS_GIVEN = "as given"
"""Names the evaluation with its own scale and drawishness, as far as it has them."""
CONSTANT = "constant a and b"
"""Names WDL_model's model without a covariate."""
GROUPS = 6
"""Groups of equal size by a covariate, in which Ban's model is fitted apart."""


@define(frozen=True)
class GradedModel:
    """A model's grade on held-out games.

    Parameters
    ----------
    name
        :data:`AS_GIVEN`, :data:`~glem.core.evaluation.result_models.BAN`, :data:`CONSTANT`, the name of a covariate, or
        ``Ban by`` such a name: Ban's model fitted to each of :data:`GROUPS` groups of covariates apart, which separates
        what the form of the model does from what the covariate does.
    grade
        Its grade; as given, what the evaluation lacks is fitted to the graded games themselves.
    against_ban
        Comparison with Ban's model on the same positions; None for itself, and as given where something was fitted.
    """

    name: str
    grade: Grade
    against_ban: Comparison | None


@define(frozen=True, eq=False)
class Calibrated:
    """Models of results, fitted and graded.

    Parameters
    ----------
    models
        Fitted to all games; chosen is the one with the highest held-out grade, or the one that was asked for.
    graded
        Grades on held-out games.
    ban
        Scale and drawishness of Ban's model with their errors; where the evaluation has its own drawishness, that of
        ``models`` changes it.
    fits
        WDL_model's by name, :data:`CONSTANT` included.
    as_given
        Scale and drawishness as given.
    value, result, game
        Values from the side to move, results and numbers of games of the N positions.
    covariates
        Name of a covariate to its numbers [N].
    """

    models: ResultModels
    graded: tuple[GradedModel, ...]
    ban: ScaleFit
    fits: Mapping[str, WdlFit]
    as_given: ScaleFit
    value: Floats
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    covariates: Mapping[str, Floats]

    def held_out_table(self) -> Table:
        """Make the table of the grades on held-out games."""
        return Table.of(
            f"{self.models.evaluation}: models of the results, graded on held-out games",
            self.graded,
            {
                "model": lambda one: model_title(one.name),
                "grade": lambda one: f"{one.grade.grade:.4f}",
                "error": lambda one: f"{one.grade.error:.4f}",
                "less Ban's": lambda one: one.against_ban and f"{one.against_ban.difference:+.5f}",
                "±": lambda one: one.against_ban and f"{one.against_ban.error:.5f}",
                "interval": lambda one: one.against_ban and interval_text(one.against_ban.low, one.against_ban.high, 5),
                "p adjusted": lambda one: one.against_ban and f"{one.against_ban.adjusted_p_value:.2g}",
            },
        )

    def scales(self) -> list[str]:
        """Say b and drawishness, as given and fitted."""
        given, ban, models = self.as_given, self.ban, self.models
        how = f" ({' and '.join(given.fitted)} fitted to these games)" if given.fitted else ""
        alpha = "its own" if given.drawishness is None else f"{given.drawishness:.4g}"
        own = f"as given: b = {given.scale:.4g} {models.unit}, drawishness {alpha}{how}"
        if ban.drawishness is None:
            b = f"{models.ban.scale:.4g}"
            alpha = f"with log odds {models.ban.level:+.3f} {models.ban.slope:+.3f} times those of its own"
        else:
            b, alpha = with_error(ban.scale, ban.scale_error), with_error(ban.drawishness, ban.drawishness_error)
        return [own, f"Ban's: b = {b} {models.unit}, drawishness {alpha}\n"]

    def code(self) -> dict[str, str]:
        """Write WDL_model's coefficients by each covariate as C: name of the covariate to text."""
        return {name: fit.model.code(name) for name, fit in self.fits.items() if name != CONSTANT}

    def source(self) -> str:
        """Write all of them into one file of C++, each in a namespace of its own."""
        named = ((re.sub(r"[^a-zA-Z0-9]", "_", name), text) for name, text in self.code().items())
        head = " ".join(f"// as, bs: {self.models.unit or 'units'} of {self.models.evaluation}".split())
        return "\n".join([head, *(f"namespace {name} {{\n{text}}}\n" for name, text in named)])

    def fit_table(self) -> Table:
        """Make the table of what WDL_model's models are, where the covariate is its unit."""
        rows = []
        for name, fit in self.fits.items():
            at = np.array([fit.model.unit])
            a, b = (
                with_error(float(one[0]), float(error[0]))
                for one, error in zip(fit.model.parameters(at), fit.errors(at), strict=True)
            )
            bounds = "" if name == CONSTANT else f"{fit.model.least:g}-{fit.model.most:g}, a and b at {at[0]:g}"
            rows.append((name, a, b, f"{float(fit.model.distribution(np.zeros(1), at).draw[0]):.3f}", bounds))
        header = ("model", "a", "b", "draws at 0", "covariate")
        return Table(f"WDL_model's thresholds a and spreads b, in {self.models.unit or 'units'}", header, rows)


def model_title(name: str) -> str:
    """Call a model by what it is, for people."""
    if name.startswith(BAN):
        return name.replace(BAN, "Ban's", 1)
    return name if name in (AS_GIVEN, CONSTANT) else f"a and b by {name}"


def calibrate_predictions(
    result: NDArray[np.int8],
    prediction: Prediction,
    covariates: Mapping[str, tuple[Any, Bounds]],
    *,
    game: NDArray[Any] | None = None,
    name: str = "evaluation",
    game_name: str = "",
    chosen: str | None = None,
    settings: GradingSettings = DEFAULT_SETTINGS,
) -> Calibrated:
    """Fit and grade models of results.

    Parameters
    ----------
    result
        int8 [N]: 1, 0 or -1 from the side to move.
    prediction
        What the evaluation says of the N positions.
    covariates
        Name of a covariate to its numbers [N], nan where unknown, and its bounds, which are narrowed to where nearly
        all positions lie.
    game
        Number of each position's game [N]; None where each is from a game of its own.
    name, game_name
        Of the evaluation and of the game.
    chosen
        Name of the model that the file names for others; None for the one that grades highest.
    settings
        How grades are taken; the seed also divides the games.

    Raises
    ------
    BadInputError
        Too few games have a finite value, or no model is called so.
    """
    known = prediction.is_known
    for numbers, _ in covariates.values():
        known = known & np.isfinite(numbers)
    rows = np.flatnonzero(known)
    games = checked_games(game, len(result))[rows]
    said, result = prediction.select(rows), result[rows]
    value = np.asarray(said.value, np.float64)
    wanted = {CONSTANT: (np.zeros(len(rows)), Bounds(0.0, 0.0, 1.0))}
    for each, (numbers, bounds) in covariates.items():
        if len(rows):
            own = np.asarray(numbers, np.float64)[rows]
            wanted[each] = own, bounds_of(own, *bounds)
    anew = recalibrated(said, result, games, settings)
    if anew is None:
        have = np.count_nonzero(np.bincount(games[np.isfinite(value)])) if len(rows) else 0
        raise BadInputError(
            f"{name}: {counted(int(have), 'game')} with a finite value and known covariates; fitting models of results "
            f"and grading them on held-out games takes {FEWEST_GAMES}"
        )
    as_given, given = log_correctness_of(said, result, games, settings.floor)
    logs = {AS_GIVEN: given, BAN: anew.logs}
    part = parts_of_games(games, settings.seed)
    fits = {}
    for each, (numbers, bounds) in wanted.items():
        how: dict[str, Any] = {"degree": 0 if each == CONSTANT else DEGREE, "floor": settings.floor}
        logs[each] = np.empty(len(rows))
        for number in range(PARTS):
            mine, others = part == number, part != number
            fit = fit_wdl_model(value[others], result[others], numbers[others], bounds, **how)
            logs[each][mine] = fit.model.log_correctness(value[mine], result[mine], numbers[mine])
        fits[each] = fit_wdl_model(value, result, numbers, bounds, game=games, **how)
        if each != CONSTANT:
            logs[f"{BAN} by {each}"] = _in_groups(said, result, part, numbers, settings.floor)
    # What was fitted to the graded games has seen their results.
    rivals = [each for each in logs if each != BAN and not (each == AS_GIVEN and as_given.fitted)]
    against = [
        compare(logs[each], logs[BAN], games, names=(model_title(each), model_title(BAN)), settings=settings)
        for each in rivals
    ]
    compared = dict(zip(rivals, holm_adjusted(against), strict=True))
    graded = tuple(GradedModel(each, grade_of(own, games, settings), compared.get(each)) for each, own in logs.items())
    wdl = {each: fit.model for each, fit in fits.items()}
    grades = {one.name: one.grade.grade for one in graded}
    best = max((BAN, *wdl), key=lambda each: grades[each])
    alpha = said.drawishness if np.ndim(said.drawishness) else None
    ban = calibrated(value, result, alpha, floor=settings.floor)
    return Calibrated(
        ResultModels(game_name, name, said.unit, ban, wdl, best if chosen is None else chosen, grades),
        graded,
        fit_scale(value, result, drawishness=alpha, game=games, floor=settings.floor),
        fits,
        as_given,
        value,
        result,
        games,
        {each: numbers for each, (numbers, _) in wanted.items()},
    )


def _in_groups(
    said: Prediction, result: NDArray[np.int8], part: NDArray[np.int64], covariate: Floats, floor: float
) -> Floats:
    """Log correctness [N] of Ban's model, fitted for each group by the covariate and each part to the other parts."""
    value, logs = np.asarray(said.value, np.float64), np.empty(len(result))
    own = said.drawishness if np.ndim(said.drawishness) else None
    odds = np.zeros(len(result)) if own is None else log_odds_of(own)
    group = np.searchsorted(np.quantile(covariate, np.linspace(0, 1, GROUPS + 1)[1:-1]), covariate, side="right")
    finite = np.isfinite(value)
    for number in range(PARTS):
        for one in np.unique(group):
            mine, others = (part == number) & (group == one), (part != number) & (group == one)
            if not (others & finite).any():
                others = part != number
            alpha = None if own is None else own[others]
            fitted = calibrated(value[others], result[others], alpha, floor=floor)
            logs[mine] = log_correctness(value[mine], result[mine], fitted.scale, fitted.alpha(odds[mine]))
    return logs


@define(frozen=True, eq=False)
class CalibratedCollection:
    """Models of results, fitted to a collection of games.

    Parameters
    ----------
    found
        The models and their grades.
    counts
        What the selection found.
    remarks
        What a reader should know about the collection, one sentence each.
    tables
        What the scorer found out.
    """

    found: Calibrated
    rule: SelectionRule
    counts: SelectionCounts
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]

    def lines(self, *, is_asked: bool) -> Iterator[str | Table]:
        """Say what was fitted and how well it foretells; ``is_asked`` where a user chose the model."""
        found = self.found
        first = found.graded[0].grade
        yield f"{counted(first.positions, 'position')} of {counted(first.games, 'game')}: {self.rule}\n"
        yield from first_rows(self.tables)
        yield from found.scales()
        yield found.fit_table()
        yield from found.code().values()
        yield found.held_out_table()
        yield from (one.against_ban.verdict for one in found.graded if one.against_ban is not None)
        why = "" if is_asked else ", the highest of Ban's and of a and b"
        yield f"the calibration stands for {found.models.chosen}{why}"
        yield from (f"note: {remark}" for remark in self.remarks)

    def as_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        found = self.found
        return {
            **facts_of(self),
            "as_given": asdict(found.as_given),
            "ban": asdict(found.ban),
            "models": asdict(found.models),
            "fits": {
                name: {"covariance": fit.covariance, "converged": fit.converged, "message": fit.message}
                for name, fit in found.fits.items()
            },
            "held_out": [asdict(one) for one in found.graded],
            "code": found.code(),
        }


@checked
def calibrate(
    game: Game | str,
    files: str | os.PathLike[str] | Files,
    evaluation: str | LinearEvaluation | ResultEvaluation | Scorer,
    output: str | os.PathLike[str] | None = None,
    *,
    by: Sequence[str] = (),
    chosen: str | None = None,
    select: str | SelectionRule = "random",
    settings: GradingSettings | None = None,
    seed: int = 0,
    scale: float | str | None = None,
    drawishness: float | str | None = None,
    jobs: int = THREADS,
    progress: Progress = SILENT,
    **reading: Any,
) -> CalibratedCollection:
    """Fit what an evaluation's values mean for the results of games, and grade that, as ``glem grade calibrate`` does.

    Parameters
    ----------
    game, files, select, settings, seed, jobs
        As for :func:`~glem.core.grading.collection.grade`.
    evaluation
        What :func:`~glem.core.grading.collection.grade` takes, one of it.
    output
        File to write (JSON), or None.
    by
        Names of covariates: :data:`~glem.core.evaluation.result_models.MOVE`, and those that the game gives to
        learning; none for all.
    chosen
        As for :func:`calibrate_predictions`.
    scale, drawishness
        b and alpha as given.
    reading
        ``format`` and ``skip_bad``, as of :func:`~glem.core.grading.collection.grade`.

    Raises
    ------
    BadInputError
        There is no such evaluation or covariate, a file is bad, or too few games have a value.
    """
    game, files, rule = load_game(game), paths_of(files), rule_of(select, seed)
    [scorer] = scorers_of(game, [evaluation], jobs)
    learning = learning_of(game)
    known = {} if learning is None else dict(learning.covariates)
    names = tuple(dict.fromkeys(by)) or (*known, MOVE)
    for name in names:
        if name not in known and name != MOVE:
            raise BadInputError(f"{game.title} has no covariate {name!r}; it has: {', '.join((*known, MOVE))}")
    if chosen not in {None, BAN, CONSTANT, *names}:
        # Before games are read and models fitted, which may take long.
        raise BadInputError(f"there is no model of results {chosen!r}; there are: {', '.join((BAN, CONSTANT, *names))}")
    own = {name: known[name] for name in names if name in known}
    columns = CollectedPositions(game, None, [scorer], covariates=own)
    columns.read(files, rule, threads=jobs, progress=progress, **reading)
    prediction = with_parameters(columns.predictions(progress)[scorer.name], scale, drawishness)
    ply = columns.columns["ply"].astype(np.float64)
    covariates: dict[str, tuple[Any, Bounds]] = {
        name: (columns.columns[f"covariate {name}"], Bounds(covariate.least, covariate.most, covariate.unit))
        for name, covariate in own.items()
    }
    if MOVE in names and MOVE not in own:
        covariates[MOVE] = np.where(ply < 0, math.nan, ply // 2 + 1), _MOVE_BOUNDS
    found = calibrate_predictions(
        columns.columns["result"],
        prediction,
        covariates,
        game=columns.columns["game"],
        name=scorer.name,
        game_name=game.name,
        chosen=chosen,
        settings=settings or GradingSettings(seed=seed),
    )
    if output is not None:
        found.models.save(output)
    missing = len(prediction.value) - len(found.value)
    remarks = [*columns.remarks(files, rule)]
    if missing:
        remarks.append(f"{counted(missing, 'position')} without a value or a covariate left out")
    remarks += [f"{name}: {fit.message}" for name, fit in found.fits.items() if fit.message]
    remarks += scorer.remarks()
    return CalibratedCollection(found, rule, columns.counts, tuple(remarks), tuple(scorer.tables()))
