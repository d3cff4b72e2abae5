"""Standard errors of a likelihood fit, by game (:mod:`~glem.core.fitting.sandwich`).

The information takes the mean over all results, so that it is defined where the slope of the likelihood jumps. The
penalty stands for corrections that are normally distributed about 0; what it hides of them is part of the error, so
that the error of a weight that hardly occurs is the size of the corrections that are expected.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from glem.core.fitting.likelihood_problem import LikelihoodProblem, LikelihoodWeights, Matrix, PartWeights
from glem.core.fitting.packed.blocks import Rows
from glem.core.fitting.packed.likelihood_passes import information_rows, slopes_of
from glem.core.fitting.sandwich import sandwich

MOST_PARAMETERS = 4_000
"""More parameters than these have no standard errors: their matrices would not fit into memory."""

_ROWS = 4096


def likelihood_errors(problem: LikelihoodProblem, parameters: NDArray[np.float64]) -> LikelihoodWeights | None:
    """Compute the standard errors of fitted weights; None for more parameters than :data:`MOST_PARAMETERS`.

    They are 0 for weights that were not fitted, nan where they cannot be told.
    """
    count = problem.parameter_count
    if count > MOST_PARAMETERS:
        return None
    bread, filling = np.zeros((2, count, count))
    used = 0
    all_games = problem.rows.game_count
    by_game: Any = csr_matrix((all_games, count))
    for value, draw, information, by_units, by_odds, game in _parts(problem, parameters):
        bread += (value.T @ value.multiply(information[:, 0, None])).toarray()
        cross = (value.T @ draw.multiply(information[:, 1, None])).toarray()
        bread += cross + cross.T
        bread += (draw.T @ draw.multiply(information[:, 2, None])).toarray()
        slopes = value.multiply(by_units[:, None]) + draw.multiply(by_odds[:, None])
        rows = csr_matrix((np.ones(len(game)), (game, np.arange(len(game)))), (all_games, len(game)))
        by_game = by_game + rows @ slopes
        used += len(game)
    games = int((np.diff(by_game.indptr) > 0).sum())
    for start in range(0, all_games, _ROWS):
        dense = by_game[start : start + _ROWS].toarray()
        filling += dense.T @ dense
    whole = bread + np.diag(problem.penalties)
    known = np.flatnonzero(np.diag(whole) > 0)
    covariance = np.full((count, count), math.nan)
    if len(known):
        own = np.ix_(known, known)
        inverse = np.asarray(np.linalg.pinv(whole[own], hermitian=True), np.float64)
        decided = float((inverse * bread[own]).sum())
        covariance[own] = sandwich(inverse, filling[own], games=games, rows=used, parameters=decided)
        covariance[own] += inverse * problem.penalties[known] @ inverse
    middle = problem.value.parameter_count
    end = middle + problem.draw.parameter_count
    scale = problem.split(parameters)[2]
    return LikelihoodWeights(
        _spread(problem.value, covariance[:middle, :middle]),
        _spread(problem.draw, covariance[middle:end, middle:end]),
        scale * math.sqrt(covariance[-1, -1]) if problem.fit_scale else math.nan,
    )


def _parts(
    problem: LikelihoodProblem, parameters: NDArray[np.float64]
) -> Iterator[tuple[Any, Any, Matrix, Matrix, Matrix, NDArray[np.int64]]]:
    """Fitted rows, some at a time, each with its weight.

    How x and z depend on the parameters, the information of x and z, the slopes of the log correctness, and the games.
    """
    weights = problem.weights_of(parameters)
    for block, all_weights in zip(problem.rows.blocks, problem.weights, strict=True):
        kept = np.flatnonzero(all_weights > 0)
        for start in range(0, len(kept), 8 * _ROWS):
            rows = kept[start : start + 8 * _ROWS]
            weight = all_weights[rows]
            phase = block.value.rows.phase[rows]
            terms = _terms(block.value.rows, rows, problem.value), _terms(block.draw.rows, rows, problem.draw)
            value, draw = _matrix(terms[0], problem.value, phase), _matrix(terms[1], problem.draw, phase)
            units = _sums(terms[0], weights.value, phase) / weights.scale
            odds = _sums(terms[1], weights.draw, phase)
            log, by_units, by_odds = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows))
            slopes_of(units, block.result[rows], odds, log, by_units, by_odds)
            information = np.empty((len(rows), 3))
            information_rows(units, odds, information)
            empty = csr_matrix((len(rows), problem.draw.parameter_count))
            own: list[Any] = [value / weights.scale, empty]
            other: list[Any] = [csr_matrix((len(rows), problem.value.parameter_count)), draw]
            if problem.fit_scale:
                own.append(csr_matrix(-units[:, None]))
                other.append(csr_matrix((len(rows), 1)))
            jacobians = hstack(own, format="csr"), hstack(other, format="csr")
            yield *jacobians, information * weight[:, None], by_units * weight, by_odds * weight, block.game[rows]


def _terms(packed: Rows, rows: NDArray[np.int64], part: PartWeights) -> Any:
    """Values of the terms of some rows, the bias last: sparse [rows, terms]."""
    count, start, bias = len(packed.phase), int(packed.configuration_start), part.prior.shape[1] - 1
    entries = (packed.indices[:, rows] + packed.offsets[:, None]).T
    starts = np.arange(len(rows) + 1) * entries.shape[1]
    patterns = csr_matrix((np.ones(entries.size), entries.ravel(), starts), (len(rows), start))
    values = packed.values.astype(np.float64)
    others = csr_matrix((values, packed.ids, packed.row_starts), (count, bias - start))[rows]
    return hstack([patterns, others, csr_matrix(np.ones((len(rows), 1)))], format="csr")


def _matrix(terms: Any, part: PartWeights, phase: NDArray[np.uint8]) -> Any:
    """How the sums of rows depend on the parameters of a part: sparse [rows, parameters]."""
    free = terms[:, part.places]
    return hstack(
        [free.multiply(part.basis[phase, place][:, None]) for place in range(part.basis.shape[1])], format="csr"
    )


def _sums(terms: Any, weights: Matrix, phase: NDArray[np.uint8]) -> NDArray[np.float64]:
    sums = np.zeros(len(phase))
    for number in range(len(weights)):
        own = np.flatnonzero(phase == number)
        sums[own] = terms[own] @ weights[number]
    return sums


def _spread(part: PartWeights, covariance: Matrix) -> Matrix:
    """Errors of the weights [K, weights] from the covariance of the parameters."""
    places, rank = part.places, part.basis.shape[1]
    errors = np.zeros_like(part.prior)
    number = len(places)
    for place in range(number):
        own = covariance[place::number, place::number][:rank, :rank]
        variances = np.einsum("kr,rs,ks->k", part.basis, own, part.basis)
        errors[:, places[place]] = np.sqrt(np.maximum(variances, 0))
    return errors
