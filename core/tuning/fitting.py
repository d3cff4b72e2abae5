"""Weights of an engine's own terms, fitted to the results of games: by glem's likelihood, or plain logistic.

With the value v = sum of w c, in the units of the engine, and x = v / b, the logistic loss of a result r (1, 1/2 or 0)
is -r log E(x) - (1 - r) log E(-x), E(x) = 1 / (1 + exp(-x)): what tuners since P. Österlund's ("Texel's tuning method",
2014) minimize, but for the square. The likelihood (Ban 2012, section 3) has a drawishness too, with one log odd for
each end of the game. b is that of the weights that the fit begins with, and stays: so new weights are in the old units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import ABOVE_0, BadInputError, check_arguments
from glem.core.files.digests import arrays_digest
from glem.core.fitting.least_squares_problem import Errors
from glem.core.fitting.minimizing.minimizer import FileCheckpoint
from glem.core.fitting.minimizing.quasi_newton import Minimum, Point, minimize
from glem.core.fitting.packed.likelihood_passes import slopes
from glem.core.fitting.sandwich import sandwich
from glem.core.grading.correctness import mean_by_game
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.threads import ordered_map
from glem.core.tuning.coefficients import Block
from glem.core.tuning.terms import Terms, Weights

LIKELIHOOD, LOGISTIC = "likelihood", "logistic"
LOSSES = (LIKELIHOOD, LOGISTIC)

_MOST_ERRORS = 4096
"""Parameters for which a matrix of all pairs is made."""

Vector = NDArray[np.float64]


@kernel(inline=True)
def _outcome(units: Any, result: Any, odds: Any, is_logistic: Any) -> Any:
    """Logarithm of the probability of a result, and its slopes by the value in units of b and by the odds of a draw."""
    if is_logistic:
        share = 0.5 * (1.0 + result)
        lesser = math.exp(-abs(units))
        rest = lesser / (1.0 + lesser)
        expected = 1.0 - rest if units >= 0 else rest
        return -math.log1p(lesser) - abs(units) * (1.0 - share if units >= 0 else share), share - expected, 0.0
    return slopes(units, result, odds)


@kernel(inline=True)
def _row(block: Any, row: Any, weights: Any, draws: Any, is_logistic: Any) -> Any:
    """Value of a row in units of b, log probability of its result, and slopes by the value and by a draw's odds."""
    first, last = 0.0, 0.0
    for place in range(block.offsets[row], block.offsets[row + 1]):
        value = np.float64(block.values[place])
        first += value * weights[block.columns[place], 0]
        last += value * weights[block.columns[place], 1]
    share = np.float64(block.phase[row])
    units = share * first + (1.0 - share) * last
    odds = share * draws[0] + (1.0 - share) * draws[1]
    log, by_units, by_odds = _outcome(units, block.result[row], odds, is_logistic)
    return units, odds, log, by_units, by_odds


@kernel
def _add_slopes(block: Any, weights: Any, draws: Any, is_logistic: Any, gradient: Any) -> Any:
    """Add the slopes of the log probability of fitted rows, by weights and, behind them, by a draw's odds.

    Returns its sum.
    """
    total = 0.0
    behind = gradient.shape[0] - 1
    for row in range(block.result.shape[0]):
        if block.held_out[row]:
            continue
        _, _, log, by_units, by_odds = _row(block, row, weights, draws, is_logistic)
        total += log
        share = np.float64(block.phase[row])
        early, late = by_units * share, by_units * (1.0 - share)
        for place in range(block.offsets[row], block.offsets[row + 1]):
            value = np.float64(block.values[place])
            gradient[block.columns[place], 0] += value * early
            gradient[block.columns[place], 1] += value * late
        gradient[behind, 0] += by_odds * share
        gradient[behind, 1] += by_odds * (1.0 - share)
    return total


@kernel
def _write_rows(block: Any, weights: Any, draws: Any, is_logistic: Any, units: Any, logs: Any) -> None:
    """Write what rows are worth in units of b, and the log probability of their results: float64 [N]."""
    for row in range(block.result.shape[0]):
        units[row], _, logs[row], _, _ = _row(block, row, weights, draws, is_logistic)


@kernel
def _add_information(block: Any, weights: Any, draws: Any, is_logistic: Any, matrix: Any) -> None:
    """Add Fisher's information of fitted rows about weights and, behind them, a draw's odds.

    ``matrix`` is float64 [K + 1, K + 1, 2, 2]; of every pair of columns the greater stands first.
    """
    behind = matrix.shape[0] - 1
    ends = np.empty(2)
    for row in range(block.result.shape[0]):
        if block.held_out[row]:
            continue
        units, odds, _, _, _ = _row(block, row, weights, draws, is_logistic)
        of_units, of_both, of_odds = 0.0, 0.0, 0.0
        if is_logistic:
            chance = 1.0 / (1.0 + math.exp(-abs(units)))
            of_units = chance * (1.0 - chance)
        else:
            for result in (-1, 0, 1):
                log, by_units, by_odds = slopes(units, result, odds)
                of_units += math.exp(log) * by_units * by_units
                of_both += math.exp(log) * by_units * by_odds
                of_odds += math.exp(log) * by_odds * by_odds
        share = np.float64(block.phase[row])
        ends[0], ends[1] = share, 1.0 - share
        for one in range(block.offsets[row], block.offsets[row + 1]):
            column, factor = block.columns[one], of_units * np.float64(block.values[one])
            for other in range(block.offsets[row], one + 1):
                product = factor * np.float64(block.values[other])
                cell = matrix[column, block.columns[other]]
                for first in range(2):
                    for second in range(2):
                        cell[first, second] += product * ends[first] * ends[second]
            for first in range(2):
                for second in range(2):
                    both = of_both * np.float64(block.values[one]) * ends[first] * ends[second]
                    matrix[behind, column, first, second] += both
        for first in range(2):
            for second in range(2):
                matrix[behind, behind, first, second] += of_odds * ends[first] * ends[second]


@kernel
def _close_game(score: Any, columns: Any, is_there: Any, state: Any, matrix: Any) -> None:
    for one in range(state[0]):
        for other in range(state[0]):
            greater, lesser = columns[one], columns[other]
            if lesser <= greater:
                for first in range(2):
                    for second in range(2):
                        matrix[greater, lesser, first, second] += score[greater, first] * score[lesser, second]
    for one in range(state[0]):
        score[columns[one]] = 0.0
        is_there[columns[one]] = False
    state[0] = 0


@kernel
def _add_games(
    block: Any, weights: Any, draws: Any, is_logistic: Any, current: Any, score: Any, columns: Any, is_there: Any,
    state: Any, matrix: Any,
) -> None:  # fmt: skip
    """Add the squares of the sums of slopes of each game, as :func:`_add_information` its information.

    The game ``current`` [1] may go on in the next block: its ``score`` [K + 1, 2] stays, and the ``state`` [1] first of
    ``columns`` [K + 1] that are not zero in it.
    """
    behind = matrix.shape[0] - 1
    for row in range(block.result.shape[0]):
        if block.held_out[row]:
            continue
        if block.game[row] != current[0]:
            _close_game(score, columns, is_there, state, matrix)
            current[0] = block.game[row]
        _, _, _, by_units, by_odds = _row(block, row, weights, draws, is_logistic)
        share = np.float64(block.phase[row])
        for place in range(block.offsets[row], block.offsets[row + 1] + 1):
            column, slope = behind, by_odds
            if place < block.offsets[row + 1]:
                column, slope = np.int64(block.columns[place]), by_units * np.float64(block.values[place])
            if not is_there[column]:
                is_there[column] = True
                columns[state[0]] = column
                state[0] += 1
            score[column, 0] += slope * share
            score[column, 1] += slope * (1.0 - share)


@define(frozen=True)
class TermSettings:
    """How weights of terms are fitted.

    Parameters
    ----------
    loss
        :data:`LIKELIHOOD` or :data:`LOGISTIC`.
    l2
        Penalty on what weights change: 1 / (expected change in log odds)^2.
    iterations
        Most iterations.
    scale
        b, units of the engine for one log odd; None for the one that suits the first weights best, 1 where all are 0.
    tolerance
        Of :func:`~glem.core.fitting.minimizing.quasi_newton.minimize`.
    """

    loss: str = LIKELIHOOD
    l2: float = 4.0
    iterations: int = 200
    scale: float | None = None
    tolerance: float = 1e-9

    def __attrs_post_init__(self) -> None:
        check_arguments(self, loss=LOSSES, l2=(0.0,), iterations=(1,), tolerance=(0.0,), scale=(ABOVE_0,))


@define(frozen=True)
class Gain:
    """Log probability of results before and after, by position, over some games.

    Parameters
    ----------
    positions, games
        How many.
    before, after
        Means over the positions; their exponentials are geometric means of probabilities.
    error
        Standard error of the difference, by game.
    p
        Of a gain as great by chance, two-sided, by Student's t over games; nan for fewer than two games.
    """

    positions: int
    games: int
    before: float
    after: float
    error: float
    p: float


@define(frozen=True, eq=False)
class TermsFit:
    """Weights of terms that were fitted.

    Parameters
    ----------
    start, weights
        float64 [K, 2]: before and after, in units of the engine.
    errors
        float64 [K, 2]: standard errors of the new weights, by game, 0 for those that are held; None where there are
        too many.
    scale
        b.
    draws
        Log odds of a draw at both ends of the game; zeros without drawishness.
    minimum
        How the search went.
    fitted, held_out
        What was gained.
    notes
        What a reader should know, one sentence each.
    """

    terms: Terms
    start: Weights
    weights: Weights
    errors: Weights | None
    scale: float
    draws: Vector
    minimum: Minimum
    fitted: Gain
    held_out: Gain
    notes: tuple[str, ...] = ()


class _Problem:
    """Weights in log odds and the odds of draws as parameters of a function; units make its curvature even."""

    def __init__(
        self, blocks: Sequence[Block], start: Weights, draws: Vector, free: NDArray[np.bool_], settings: TermSettings,
        jobs: int,
    ) -> None:  # fmt: skip
        self.blocks, self.jobs = blocks, jobs
        self.is_logistic = settings.loss == LOGISTIC
        self.start, self.draws = start, draws
        self.rows = sum(int((~block.held_out).sum()) for block in blocks)
        is_tapered = any(bool((block.phase != 1).any()) for block in blocks)
        both = np.array([not self.is_logistic, not self.is_logistic and is_tapered])
        self.free = np.vstack([free & np.array([True, is_tapered]), both])
        curvature = np.full(self.free.shape, 0.1 * self.rows)
        curvature[:-1] = 0.25 * sum(map(_squares, blocks, [len(start)] * len(blocks)))
        self.l2 = np.where(np.arange(len(curvature)) < len(start), settings.l2, 0.0)[:, None]
        self.units = np.sqrt(curvature + self.l2 + 1e-9 * self.rows)[self.free]

    @property
    def first(self) -> NDArray[np.float64]:
        return np.vstack([self.start, self.draws])

    def fingerprint(self, settings: TermSettings) -> str:
        """Digest of all that a fit depends on, so that a checkpoint knows what it belongs to."""
        rows = (array for block in self.blocks for array in block)
        return arrays_digest((self.first, self.free, *rows), repr(settings))

    def at(self, parameters: Vector) -> NDArray[np.float64]:
        """Weights and, in the last row, draws."""
        found = self.first
        found[self.free] += parameters / self.units
        return found

    def slopes(self, found: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Sum of log probability over fitted rows, and its slopes."""
        weights, draws = np.ascontiguousarray(found[:-1]), found[-1].copy()

        def one(block: Block) -> Any:
            gradient = np.zeros(found.shape)
            return _add_slopes(block, weights, draws, self.is_logistic, gradient), gradient

        total, slope = 0.0, np.zeros(found.shape)
        for more, gradient in ordered_map(self.jobs, one, self.blocks):
            total, slope = total + more, slope + gradient
        return total, slope

    def __call__(self, parameters: Vector) -> Point:
        found = self.at(parameters)
        total, slope = self.slopes(found)
        change = found - self.first
        penalty = 0.5 * float((self.l2 * change * change).sum())
        gradient = -((slope - self.l2 * change)[self.free] / self.units)
        # Rows that are held out choose nothing: what is gained there is a test.
        return Point((penalty - total) / self.rows, gradient / self.rows, Errors(-total / self.rows, math.nan))

    def logs(self, found: NDArray[np.float64]) -> Vector:
        """Log probability of the result of every row."""
        logs = []
        for block in self.blocks:
            units, log = np.empty(len(block.result)), np.empty(len(block.result))
            _write_rows(block, np.ascontiguousarray(found[:-1]), found[-1].copy(), self.is_logistic, units, log)
            logs.append(log)
        return np.concatenate(logs)

    def information(self, found: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Fisher's information about what is free, and the penalty's; None where there is too much of it."""
        size = len(found)
        if 2 * size > _MOST_ERRORS:
            return None
        matrix = np.zeros((size, size, 2, 2))
        for block in self.blocks:
            _add_information(block, np.ascontiguousarray(found[:-1]), found[-1].copy(), self.is_logistic, matrix)
        return self._free_part(matrix) + np.diag(np.broadcast_to(self.l2, self.free.shape)[self.free])

    def _free_part(self, halves: NDArray[np.float64]) -> NDArray[np.float64]:
        free = np.flatnonzero(self.free.ravel())
        return _whole(halves)[np.ix_(free, free)]

    def last_step(self, found: NDArray[np.float64], information: NDArray[np.float64]) -> NDArray[np.float64]:
        """Go the rest of the way by Newton's method: near the end rounding hides from a search what it gains."""
        slope = (self.slopes(found)[1] - self.l2 * (found - self.first))[self.free]
        after = found.copy()
        after[self.free] += np.linalg.lstsq(information, slope, rcond=None)[0]
        return after

    def errors(self, found: NDArray[np.float64], information: NDArray[np.float64], by_game: bool) -> Weights:
        """Compute standard errors by game, or by row."""
        size = len(found)
        weights, draws = np.ascontiguousarray(found[:-1]), found[-1].copy()
        squares = np.zeros((size, size, 2, 2))
        current, state = np.full(1, -1, np.int64), np.zeros(1, np.int64)
        room = current, np.zeros((size, 2)), np.zeros(size, np.int64), np.zeros(size, bool), state, squares
        first, numbers = 0, []
        for block in self.blocks:
            count = len(block.game)
            own = block if by_game else block._replace(game=np.arange(first, first + count))
            _add_games(own, weights, draws, self.is_logistic, *room)
            first += count
            numbers.append(np.unique(own.game[~own.held_out]))
        _close_game(*room[1:])
        inverse = np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)
        penalty = np.diag(np.broadcast_to(self.l2, self.free.shape)[self.free])
        covariance = sandwich(
            inverse,
            self._free_part(squares),
            games=len(np.unique(np.concatenate(numbers))),
            rows=self.rows,
            parameters=float((inverse * (information - penalty)).sum()),
        )
        errors = np.zeros(self.free.shape)
        errors[self.free] = np.sqrt(np.maximum(np.diag(covariance), 0))
        return errors


def _whole(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn [K, K, 2, 2], whose first number is not less than the second, into a symmetric matrix [2 K, 2 K]."""
    matrix = halves.transpose(0, 2, 1, 3).reshape(2 * len(halves), -1)
    whole = matrix + matrix.T
    own = np.arange(len(halves))
    whole.reshape(len(halves), 2, len(halves), 2)[own, :, own] = halves[own, own]
    return whole


def _squares(block: Block, count: int) -> NDArray[np.float64]:
    """Sum the squares of coefficients, each end's share of the phase included: float64 [K, 2]."""
    lengths = np.diff(block.offsets)
    value = block.values.astype(np.float64) ** 2
    shares = (block.phase, 1 - block.phase)
    sums = [np.bincount(block.columns, value * np.repeat(share, lengths) ** 2, count) for share in shares]
    return np.stack(sums, axis=1).astype(np.float64)


def fit_terms(
    terms: Terms,
    blocks: Sequence[Block],
    start: Weights | None = None,
    settings: TermSettings | None = None,
    *,
    held: NDArray[np.bool_] | None = None,
    work: Path | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> TermsFit:
    """Fit the weights of terms to results.

    Parameters
    ----------
    blocks
        Their coefficients.
    start
        float64 [K, 2]: weights to begin with, in units of the engine; zeros if not given.
    held
        bool [K]: coefficients whose weights stay.
    work
        Folder where the state of the unfinished fit is kept; the same call continues it, with the same result.
    jobs
        Threads; they change no result.

    Raises
    ------
    BadInputError
        There is nothing to fit, the first weights tell nothing of the results, or all, or the folder has another fit.
    """
    chosen = TermSettings() if settings is None else settings
    first = np.zeros((terms.count, 2)) if start is None else start
    free = np.ones((terms.count, 2), bool) if held is None else np.repeat(~held[:, None], 2, axis=1)
    if not any(bool((~block.held_out).any()) for block in blocks):
        raise BadInputError("no position is left to fit to")
    if not free.any():
        raise BadInputError("all terms are held: nothing is left to fit")
    scale, draws = _scale_of(blocks, first, chosen, jobs)
    problem = _Problem(blocks, first / scale, draws, free, chosen, jobs)
    minimum = minimize(
        problem,
        np.zeros(int(problem.free.sum())),
        iterations=chosen.iterations,
        tolerance=chosen.tolerance,
        checkpoint=None if work is None else FileCheckpoint(work / "likelihood.npz", problem.fingerprint(chosen)),
        progress=progress,
    )
    before, after = problem.first, problem.at(minimum.parameters)
    information = problem.information(after)
    if information is not None and chosen.loss == LOGISTIC and minimum.converged:
        after = problem.last_step(after, information)
    logs = problem.logs(before), problem.logs(after)
    game, outside = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("game", "held_out"))
    by_game = int((np.diff(game) != 0).sum()) + 1 == len(np.unique(game))
    errors = None if information is None else problem.errors(after, information, by_game)
    notes = [] if by_game else ["positions of one game lie apart: errors of weights are by position"]
    return TermsFit(
        terms,
        first,
        after[:-1] * scale,
        None if errors is None else errors[:-1] * scale,
        scale,
        after[-1],
        minimum,
        _gain(*logs, game, ~outside),
        _gain(*logs, game, outside),
        tuple(notes),
    )


def _scale_of(blocks: Sequence[Block], start: Weights, settings: TermSettings, jobs: int) -> tuple[float, Vector]:
    """Find b and the odds of draws that suit the first weights best: those of one term, the value that they give."""
    valued = []
    for block in blocks:
        units, logs = np.empty(len(block.result)), np.empty(len(block.result))
        _write_rows(block, np.ascontiguousarray(start), np.zeros(2), True, units, logs)
        count = len(units)
        valued.append(
            block._replace(
                offsets=np.arange(count + 1, dtype=np.int32),
                columns=np.zeros(count, np.uint16),
                values=units.astype(np.float32),
            )
        )
    size = math.sqrt(sum(float(np.square(block.values, dtype=np.float64).sum()) for block in valued))
    guess = settings.scale or size / math.sqrt(sum(len(block.result) for block in valued)) or 1.0
    problem = _Problem(valued, np.zeros((1, 2)), np.zeros(2), np.zeros((1, 2), bool), settings, jobs)
    is_fixed = settings.scale is not None or size == 0.0
    free = problem.free[-1]

    def parts(parameters: Vector) -> NDArray[np.float64]:
        found = np.full((2, 2), 1.0 if is_fixed else math.exp(parameters[0])) / guess
        found[-1] = 0.0
        found[-1, free] = parameters[-int(free.sum()) :] if free.any() else ()
        return found

    def at(parameters: Vector) -> Point:
        total, slope = problem.slopes(parts(parameters))
        by_scale = [] if is_fixed else [float((slope[0] * parts(parameters)[0]).sum())]
        gradient = -np.array([*by_scale, *slope[-1, free]]) / problem.rows
        return Point(-total / problem.rows, gradient, Errors(-total / problem.rows, math.nan))

    first = np.zeros(int(free.sum()) + (not is_fixed))
    found = parts(minimize(at, first, tolerance=1e-12).parameters if len(first) else first)
    scale = 1 / float(found[0, 0])
    if not is_fixed and not guess / 10 < scale < guess * 1000:
        raise BadInputError(
            f"no scale suits the weights to begin with: b would be {scale:.3g}, their values are about {guess:.3g}; "
            + ("they foretell every result" if scale < guess else "they tell nothing of the results, or the contrary")
        )
    return scale, found[-1]


def _gain(before: Vector, after: Vector, game: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Gain:
    count = int(chosen.sum())
    if count == 0:
        return Gain(0, 0, math.nan, math.nan, math.nan, math.nan)
    # Imported late: what only reads fits needs no scipy.
    from scipy.stats import t

    _, place = np.unique(game[chosen], return_inverse=True)
    mean, error, games = mean_by_game((after - before)[chosen], place)
    p = float(2 * t.sf(abs(mean) / error, games - 1)) if error > 0 else math.nan
    return Gain(count, games, float(before[chosen].mean()), float(after[chosen].mean()), error, p)
