"""A drawishness from the features of positions, for values that come without one (Ban 2012, section 3.1.2).

Scores in comments, programs, tables and functions give a value and seldom a drawishness. It is fitted to results: its
log odds are linear in the features that the game names for it (``Learning.drawishness``), each with a weight that is a
straight line over the phases,

    log odds(alpha) = level + sum_i (theta(0, i) + theta(1, i) t) f_i + theta(1) t,   t from -1 to 1 over the phases.

The values are not touched. Scale, level and theta are fitted as :mod:`glem.core.fitting.likelihood_problem` says, with
the penalty l2 / 2 (size_i theta)^2, where size_i is the root mean square of a feature where it is not 0.

What is graded must not have been fitted. So theta comes from other games: from tuning games, or crossed, which means
that the graded games are divided by their keys and each part gets theta from the others. Scale and level are then
fitted to the graded games, as the scale and the constant drawishness are to which it is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.fitting.likelihood_problem import LikelihoodProblem, PartWeights, phase_basis
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.result_rows import LikelihoodRows, RowBlock
from glem.core.fitting.quasi_newton import minimize
from glem.core.game.equal_positions import scatter
from glem.core.grading.correctness import LEAST_CORRECTNESS
from glem.core.grading.recalibration import PARTS, Calibration, fit_calibration
from glem.core.grading.scale import fit_scale
from glem.core.grading.scorers.scorer_tables import ScorerTable
from glem.core.tasks.counts import counted

__all__ = [
    "DrawishnessFit",
    "DrawishnessRows",
    "DrawishnessSettings",
    "FeaturedDrawishness",
    "drawishness_problem",
    "drawishness_values",
    "featured_drawishness",
    "fit_drawishness",
]

Floats = NDArray[np.float64]

_ITERATIONS, _TOLERANCE = 500, 1e-12
_FEATURE_BLOCK = 1 << 15


@define(frozen=True)
class DrawishnessSettings:
    """How a drawishness is fitted.

    Parameters
    ----------
    l2
        Penalty: 1 / sqrt(l2) is the expected size, in log odds, of what a feature contributes.
    parts
        Into how many parts games are divided that are fitted crossed.
    seed
        Divides them.
    floor
        A correctness below it counts as it.
    """

    l2: float = 4.0
    parts: int = PARTS
    seed: int = 0
    floor: float = LEAST_CORRECTNESS

    def __attrs_post_init__(self) -> None:
        if self.parts < 2:
            raise BadInputError(f"games are divided into two parts or more, got {self.parts}")


def drawishness_values(learning: Learning, positions: Any) -> NDArray[np.int16]:
    """Values of a game's features of drawishness of N positions: int16 [N, D].

    Raises
    ------
    BadInputError
        The game names no features for it.
    """
    if not learning.drawishness:
        raise BadInputError(
            f"{learning.game.name} names no features of drawishness (Learning.drawishness): there is nothing that a "
            "drawishness could be fitted from; fit one constant"
        )
    columns = [learning.features.index(name) for name in learning.drawishness]
    count = len(positions[0])
    found = np.empty((count, len(columns)), np.int16)
    for start in range(0, count, _FEATURE_BLOCK):
        rows = slice(start, start + _FEATURE_BLOCK)
        found[rows] = learning.features.values(rows_of(positions, rows))[:, columns]
    return found


@define(frozen=True, eq=False)
class DrawishnessRows:
    """N positions with the features of their drawishness, the values that go with it, and results.

    Parameters
    ----------
    features
        int16 [N, D], see :func:`drawishness_values`.
    phase
        Phase of each position [N].
    phase_count
        Number of phases K.
    value
        Values from the side to move [N]; nan where there is none.
    result
        int8 [N]: 1, 0 or -1 from the side to move.
    game_key
        uint64 [N]: hash of the game; a game is one, however many files have it.
    """

    features: NDArray[np.int16]
    phase: NDArray[Any]
    phase_count: int
    value: NDArray[Any]
    result: NDArray[np.int8]
    game_key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.result)

    def select(self, rows: NDArray[Any]) -> DrawishnessRows:
        """Pick some of the rows by a mask or by numbers."""
        columns = (self.value[rows], self.result[rows], self.game_key[rows])
        return DrawishnessRows(self.features[rows], self.phase[rows], self.phase_count, *columns)

    @property
    def is_fitted(self) -> NDArray[np.bool_]:
        """Which have a finite value: others predict the same at every scale, or nothing."""
        finite: NDArray[np.bool_] = np.isfinite(self.value)
        return finite

    def log_odds(self, weights: Floats) -> Floats:
        """Log odds of a drawishness [N] for weights [K, D + 1]."""
        found = np.empty(len(self))
        for phase, own in enumerate(weights):
            rows = np.flatnonzero(self.phase == phase)
            # Without a linear algebra library: its threads would have other bits.
            found[rows] = np.einsum("nd,d->n", self.features[rows], own[:-1]) + own[-1]
        return found


@define(frozen=True, eq=False)
class DrawishnessFit:
    """Weights of a drawishness.

    Parameters
    ----------
    weights
        float64 [K, D + 1], the constant last.
    scale
        b of the values.
    games
        How many games it was fitted to.
    converged
        Whether the optimizer found a maximum.
    """

    weights: Floats
    scale: float
    games: int
    converged: bool


def drawishness_problem(rows: DrawishnessRows, settings: DrawishnessSettings) -> LikelihoodProblem:
    """Make the likelihood of a drawishness, whose values are given but for their scale.

    Parameters
    ----------
    rows
        N positions with finite values. A game counts once, however many of its positions there are.
    settings
        How to fit.
    """
    count, phases, features = len(rows), rows.phase_count, rows.features.shape[1]
    value, draw = (Packing(phases, linear=LinearTerms(tuple(range(terms))), by_phase=False) for terms in (1, features))
    block = draw.pack(rows.features, rows.phase)
    # The value of a position is a term of its own, whose weight stays 1.
    given = block.rows._replace(
        row_starts=np.arange(count + 1), ids=np.zeros(count, np.int32), values=rows.value.astype(np.float64)
    )
    game = np.unique(rows.game_key, return_inverse=True)[1].astype(np.int64)
    packed = RowBlock(evolve(block, rows=given), block, rows.result, game, np.zeros(count, bool))
    constant = fit_scale(rows.value, rows.result, floor=settings.floor)
    assert constant.drawishness is not None
    begin = np.zeros((phases, features + 1))
    begin[:, -1] = math.log(constant.drawishness) - math.log1p(-constant.drawishness)
    return LikelihoodProblem(
        LikelihoodRows((packed,), value, draw),
        PartWeights(np.tile([1.0, 0.0], (phases, 1)), phase_basis("one", phases), np.zeros(2, bool)),
        PartWeights(begin, phase_basis("linear", phases), np.ones(features + 1, bool)),
        scale=constant.scale,
        l2=settings.l2,
        floor=settings.floor,
    )


def fit_drawishness(rows: DrawishnessRows, settings: DrawishnessSettings | None = None) -> DrawishnessFit:
    """Fit b and the weights of a drawishness to results.

    Parameters
    ----------
    rows
        N positions. A game counts once, however many of its positions there are.
    settings
        How to fit.

    Raises
    ------
    BadInputError
        No position has a finite value, or all games are drawn, or none.
    """
    rows = rows.select(rows.is_fitted)
    if not len(rows):
        raise BadInputError("no position to fit a drawishness to has a finite value")
    drawn = int((rows.result == 0).sum())
    if drawn in (0, len(rows)):
        what = "all" if drawn else "none"
        raise BadInputError(f"a drawishness is fitted to drawn and to decided games; of these {what} are drawn")
    problem = drawishness_problem(rows, DrawishnessSettings() if settings is None else settings)
    found = minimize(
        problem.at_steps,
        np.zeros(problem.parameter_count),
        first_step=problem.total_weight,
        iterations=_ITERATIONS,
        tolerance=_TOLERANCE,
    )
    weights = problem.weights_of(found.parameters * problem.units)
    return DrawishnessFit(weights.draw, weights.scale, round(problem.total_weight), found.converged)


# ------------------------------------------------------------------------------- drawishness of graded positions


@define(frozen=True, eq=False)
class FeaturedDrawishness:
    """A drawishness from features, of positions that it was not fitted to.

    Parameters
    ----------
    alpha
        float64 [N].
    remark
        What it was fitted to, for people.
    table
        Its weights, for people.
    """

    alpha: Floats
    remark: str
    table: ScorerTable


def _levelled(rows: DrawishnessRows, log_odds: Floats, settings: DrawishnessSettings) -> Floats:
    """Drawishness [N] at the level, added to all log odds, that suits the graded games; b is fitted along with it."""
    fitted = np.flatnonzero(rows.is_fitted)
    value, result = rows.value[fitted].astype(np.float64), rows.result[fitted]
    if not (result == 0).any() or not result.any():
        return np.asarray(Calibration(1.0, 0.0, 1.0).alpha(log_odds), np.float64)
    begin = Calibration(fit_scale(value, result, floor=settings.floor).scale, 0.0, 1.0)
    found = fit_calibration(value, result, log_odds[fitted], begin, floor=settings.floor, is_slope_fitted=False)
    return np.asarray(found.alpha(log_odds), np.float64)


def featured_drawishness(
    name: str,
    features: Sequence[str],
    rows: DrawishnessRows,
    tuning: DrawishnessRows | None = None,
    settings: DrawishnessSettings | None = None,
) -> FeaturedDrawishness:
    """Find the drawishness of the graded positions from a fit to other games.

    Parameters
    ----------
    name
        Of the evaluation, for people.
    features
        Names of the D features.
    rows
        The N graded positions.
    tuning
        Positions to fit to; games that are graded as well are left out. Without them, the graded games are divided into
        parts, and the positions of each take what is fitted to the others.
    settings
        How to fit and to divide the games.

    Raises
    ------
    BadInputError
        Nothing is left to fit to.
    """
    chosen = DrawishnessSettings() if settings is None else settings
    remark = f"{name}: drawishness from {counted(len(features), 'feature')}, "
    if tuning is not None:
        is_graded = np.isin(tuning.game_key, rows.game_key)
        fits = [fit_drawishness(tuning.select(~is_graded), chosen)]
        log_odds = rows.log_odds(fits[0].weights)
        remark += f"fitted to {counted(fits[0].games, 'tuning game')}"
        if is_graded.any():
            remark += f"; {len(np.unique(tuning.game_key[is_graded])):,} that are graded too were left out"
    else:
        hashed = scatter(rows.game_key, chosen.seed) >> np.uint64(32)
        part = (hashed * np.uint64(chosen.parts) >> np.uint64(32)).astype(np.int64)
        log_odds, fits = np.zeros(len(rows)), []
        for number in np.unique(part):
            mine = part == number
            fits.append(fit_drawishness(rows.select(~mine), chosen))
            log_odds[mine] = rows.select(mine).log_odds(fits[-1].weights)
        remark += f"of each of {chosen.parts} parts of the games from a fit to the others"
    if not all(fit.converged for fit in fits):
        remark += " (the optimizer stopped early)"
    table = _table(name, features, rows, np.mean([fit.weights for fit in fits], axis=0))
    return FeaturedDrawishness(_levelled(rows, log_odds, chosen), remark, table)


def _table(name: str, features: Sequence[str], rows: DrawishnessRows, weights: Floats) -> ScorerTable:
    """Tell of each feature what it adds to the log odds, those that matter most first."""
    count = len(features)
    spread = [float(np.std(rows.features[:, place] * weights[rows.phase, place])) for place in range(count)]
    order: list[int] = np.argsort(-np.array(spread), kind="stable").tolist()
    return ScorerTable(
        f"Drawishness of {name}: log odds that a feature adds",
        ("feature", "first phase", "last phase", "spread"),
        tuple(
            (
                features[place],
                f"{weights[0, place]:+.4f}",
                f"{weights[-1, place]:+.4f}",
                f"{spread[place]:.3f}",
            )
            for place in order
        ),
    )
