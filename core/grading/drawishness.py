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

import math
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.result_models import Calibration
from glem.core.features.learning import Learning
from glem.core.fitting.likelihood_problem import LikelihoodProblem, PartWeights, phase_basis
from glem.core.fitting.minimizing.quasi_newton import minimize
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.result_rows import LikelihoodRows, RowBlock
from glem.core.game.equal_positions import scatter
from glem.core.grading.calibration import PARTS, fit_calibration, fit_scale
from glem.core.grading.correctness import DEFAULT_SETTINGS, GradingSettings
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

Floats = NDArray[np.float64]

_L2 = 4.0
"""Penalty: 1 / sqrt(l2) is the expected size, in log odds, of what a feature contributes."""
_ITERATIONS, _TOLERANCE = 500, 1e-12
_FEATURE_BLOCK = 1 << 15


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


class DrawishnessRows(NamedTuple):
    """Columns of N positions: the features of their drawishness, the values that go with it, and results.

    Parameters
    ----------
    features
        int16 [N, D], see :func:`drawishness_values`.
    phase
        Phase of each position [N].
    value
        Values from the side to move [N]; nan where there is none.
    result
        int8 [N]: 1, 0 or -1 from the side to move.
    game_key
        uint64 [N]: hash of the game; a game is one, however many files have it.
    """

    features: NDArray[np.int16]
    phase: NDArray[Any]
    value: NDArray[Any]
    result: NDArray[np.int8]
    game_key: NDArray[np.uint64]


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

    def log_odds(self, rows: DrawishnessRows) -> Floats:
        """Log odds of the drawishness of N positions."""
        found = np.empty(len(rows.result))
        for phase, own in enumerate(self.weights):
            places = np.flatnonzero(rows.phase == phase)
            # Without a linear algebra library: its threads would have other bits.
            found[places] = np.einsum("nd,d->n", rows.features[places], own[:-1]) + own[-1]
        return found


def drawishness_problem(
    rows: DrawishnessRows, phase_count: int, *, floor: float = DEFAULT_SETTINGS.floor
) -> LikelihoodProblem:
    """Make the likelihood of a drawishness, whose values are given but for their scale.

    Parameters
    ----------
    rows
        N positions with finite values. A game counts once, however many of its positions there are.
    phase_count
        Number of phases K.
    floor
        A correctness below it counts as it.
    """
    count, features = rows.features.shape
    value, draw = (
        Packing(phase_count, linear=LinearTerms(tuple(range(terms))), by_phase=False) for terms in (1, features)
    )
    block = draw.pack(rows.features, rows.phase)
    # The value of a position is a term of its own, whose weight stays 1.
    given = block.rows._replace(
        row_starts=np.arange(count + 1), ids=np.zeros(count, np.int32), values=rows.value.astype(np.float64)
    )
    game = np.unique(rows.game_key, return_inverse=True)[1].astype(np.int64)
    packed = RowBlock(evolve(block, in_memory=given), block, rows.result, game, np.zeros(count, bool))
    constant = fit_scale(rows.value, rows.result, floor=floor)
    assert constant.drawishness is not None
    begin = np.zeros((phase_count, features + 1))
    begin[:, -1] = math.log(constant.drawishness) - math.log1p(-constant.drawishness)
    return LikelihoodProblem(
        LikelihoodRows((packed,), value, draw),
        PartWeights(np.tile([1.0, 0.0], (phase_count, 1)), phase_basis("one", phase_count), np.zeros(2, bool)),
        PartWeights(begin, phase_basis("linear", phase_count), np.ones(features + 1, bool)),
        scale=constant.scale,
        l2=_L2,
        floor=floor,
    )


def fit_drawishness(
    rows: DrawishnessRows, phase_count: int, *, floor: float = DEFAULT_SETTINGS.floor
) -> DrawishnessFit:
    """Fit b and the weights of a drawishness to results.

    Parameters
    ----------
    rows
        N positions; those without a finite value are left out: they predict the same at every scale, or nothing.
    phase_count, floor
        As for :func:`drawishness_problem`.

    Raises
    ------
    BadInputError
        No position has a finite value, or all games are drawn, or none.
    """
    rows = rows_of(rows, np.isfinite(rows.value))
    if not len(rows.result):
        raise BadInputError("no position to fit a drawishness to has a finite value")
    drawn = int((rows.result == 0).sum())
    if drawn in (0, len(rows.result)):
        what = "all" if drawn else "none"
        raise BadInputError(f"a drawishness is fitted to drawn and to decided games; of these {what} are drawn")
    problem = drawishness_problem(rows, phase_count, floor=floor)
    found = minimize(
        problem.at_steps,
        np.zeros(problem.parameter_count),
        first_step=problem.total_weight,
        iterations=_ITERATIONS,
        tolerance=_TOLERANCE,
    )
    weights = problem.weights_of(found.parameters * problem.units)
    return DrawishnessFit(weights.draw, weights.scale, round(problem.total_weight), found.converged)


def featured_drawishness(
    learning: Learning,
    name: str,
    rows: DrawishnessRows,
    tuning: DrawishnessRows | None = None,
    settings: GradingSettings = DEFAULT_SETTINGS,
) -> tuple[Floats, str, Table]:
    """Find the drawishness of the graded positions from a fit to other games.

    Parameters
    ----------
    learning
        Phases of the game, and names of the D features.
    name
        Of the evaluation, for people.
    rows
        The N graded positions.
    tuning
        Positions to fit to; games that are graded as well are left out. Without them, the graded games are divided into
        parts, and the positions of each take what is fitted to the others.
    settings
        The floor, and the seed that divides the games.

    Returns
    -------
    alpha
        float64 [N].
    remark
        What it was fitted to, for people.
    table
        Its weights, for people.

    Raises
    ------
    BadInputError
        Nothing is left to fit to.
    """
    phases, floor, names = len(learning.phases), settings.floor, learning.drawishness
    remark = f"{name}: drawishness from {counted(len(names), 'feature')}, "
    if tuning is not None:
        is_graded = np.isin(tuning.game_key, rows.game_key)
        fits = [fit_drawishness(rows_of(tuning, ~is_graded), phases, floor=floor)]
        log_odds = fits[0].log_odds(rows)
        remark += f"fitted to {counted(fits[0].games, 'tuning game')}"
        if is_graded.any():
            remark += f"; {len(np.unique(tuning.game_key[is_graded])):,} that are graded too were left out"
    else:
        hashed = scatter(rows.game_key, settings.seed) >> np.uint64(32)
        part = (hashed * np.uint64(PARTS) >> np.uint64(32)).astype(np.int64)
        log_odds, fits = np.zeros(len(part)), []
        for number in np.unique(part):
            mine = part == number
            fits.append(fit_drawishness(rows_of(rows, ~mine), phases, floor=floor))
            log_odds[mine] = fits[-1].log_odds(rows_of(rows, mine))
        remark += f"of each of {PARTS} parts of the games from a fit to the others"
    if not all(fit.converged for fit in fits):
        remark += " (the optimizer stopped early)"
    weights = np.mean([fit.weights for fit in fits], axis=0)
    # What a feature adds, and how much that differs between positions; what matters most stands first.
    spreads = np.array([np.std(rows.features[:, place] * weights[rows.phase, place]) for place in range(len(names))])
    table = tuple(
        (names[place], f"{weights[0, place]:+.4f}", f"{weights[-1, place]:+.4f}", f"{spreads[place]:.3f}")
        for place in np.argsort(-spreads, kind="stable").tolist()
    )
    title, header = (
        f"Drawishness of {name}: log odds that a feature adds",
        ("feature", "first phase", "last phase", "spread"),
    )
    return _levelled(rows, log_odds, floor), remark, Table(title, header, table)


def _levelled(rows: DrawishnessRows, log_odds: Floats, floor: float) -> Floats:
    """Drawishness [N] at the level, added to all log odds, that suits the graded games; b is fitted along with it."""
    fitted = np.flatnonzero(np.isfinite(rows.value))
    value, result = rows.value[fitted].astype(np.float64), rows.result[fitted]
    level = Calibration(1.0, 0.0, 1.0)
    if (result == 0).any() and result.any():
        begin = evolve(level, scale=fit_scale(value, result, floor=floor).scale)
        level = fit_calibration(value, result, log_odds[fitted], begin, floor=floor, is_slope_fitted=False)
    return np.asarray(level.alpha(log_odds), np.float64)
