"""Kernels of a likelihood fit: what each position says to the value and to the drawishness (Ban 2012, section 3).

A pass costs what is active in a row and not what there is. All sums are float64.

With the value x in units of b, u = ``|x|``, the log odds z of the drawishness alpha, and the result seen from the
favoured side, the logarithm of the correctness and its derivatives are those of equations (1) and (9)-(14):

    log phi = log 2 - log(2 - alpha) - log(1 + e^u)
    expected win:  log(1 - phi)               by u: (1 - E(-u)) phi / (1 - phi)   by z: -phi / (1 - phi) s / (2 - alpha)
    draw:          log alpha + log phi        by u: -(1 - E(-u))                  by z: 1 - alpha + s / (2 - alpha)
    upset:         log(1 - alpha) + log phi   by u: -(1 - E(-u))                  by z: -alpha + s / (2 - alpha)

with s = alpha (1 - alpha). The probabilities are continuous where the favoured side changes, at x = 0; their slopes are
not. There the mean of the slopes on both sides is taken, which treats both players alike.
"""

import math
from typing import Any

import numpy as np

from glem.core.compiling.kernels import kernel

_LEAST_REST = 1e-300


@kernel(inline=True)
def _one_side(units: Any, result: Any, odds: Any) -> Any:
    """Log correctness of a result of the favoured side, and its slopes by the units u and by the odds z."""
    # alpha and 1 - alpha, each without a difference of nearly equal numbers.
    small = math.exp(-abs(odds))
    larger, smaller = 1.0 / (1.0 + small), small / (1.0 + small)
    alpha, rest_alpha = (larger, smaller) if odds >= 0 else (smaller, larger)
    lesser = math.exp(-units) / (1.0 + math.exp(-units))
    factor = 1.0 / (1.0 + rest_alpha)
    phi = 2.0 * lesser * factor
    by_alpha = alpha * rest_alpha * factor
    if result > 0:
        rest = max((rest_alpha + math.tanh(0.5 * units)) * factor, _LEAST_REST)
        ratio = phi / rest
        log = math.log1p(-phi) if phi < 0.5 else math.log(rest)
        return log, ratio * (1.0 - lesser), -ratio * by_alpha
    log_phi = math.log(2.0 * factor) - units - math.log1p(math.exp(-units))
    if result == 0:
        log_alpha = -math.log1p(small) + (0.0 if odds >= 0 else odds)
        return log_alpha + log_phi, lesser - 1.0, rest_alpha + by_alpha
    log_rest = -math.log1p(small) - (odds if odds >= 0 else 0.0)
    return log_rest + log_phi, lesser - 1.0, by_alpha - alpha


@kernel(inline=True)
def slopes(units: Any, result: Any, odds: Any) -> Any:
    """Log correctness of a result of the side to move, and its slopes by x, in units of b, and by z."""
    if units > 0:
        return _one_side(units, result, odds)
    log, by_units, by_odds = _one_side(-units, -result, odds)
    if units < 0:
        return log, -by_units, by_odds
    _, other, by_other = _one_side(0.0, result, odds)
    return log, 0.5 * (other - by_units), 0.5 * (by_odds + by_other)


@kernel
def slopes_of(units: Any, result: Any, odds: Any, log: Any, by_units: Any, by_odds: Any) -> None:
    """Write the log correctness of rows [N] and its slopes by the value, in units of b, and the drawishness' odds."""
    for row in range(units.shape[0]):
        log[row], by_units[row], by_odds[row] = slopes(units[row], result[row], odds[row])


@kernel(inline=True)
def _sum_of(rows: Any, row: Any, weights: Any) -> Any:
    total = weights[weights.shape[0] - 1]
    for column in range(rows.indices.shape[0]):
        total += weights[np.uint32(rows.offsets[column] + np.int64(rows.indices[column, row]))]
    first = np.uint32(rows.configuration_start)
    for place in range(rows.row_starts[row], rows.row_starts[row + 1]):
        total += weights[first + np.uint32(rows.ids[place])] * np.float64(rows.values[place])
    return total


@kernel(inline=True)
def _add_slope(rows: Any, row: Any, slope: Any, gradient: Any) -> None:
    for column in range(rows.indices.shape[0]):
        gradient[np.uint32(rows.offsets[column] + np.int64(rows.indices[column, row]))] += slope
    first = np.uint32(rows.configuration_start)
    for place in range(rows.row_starts[row], rows.row_starts[row + 1]):
        gradient[first + np.uint32(rows.ids[place])] += slope * np.float64(rows.values[place])
    gradient[gradient.shape[0] - 1] += slope


@kernel
def add_slopes(
    value_rows: Any,
    draw_rows: Any,
    result: Any,
    weight: Any,
    held_weight: Any,
    value_weights: Any,
    draw_weights: Any,
    inverse_scale: Any,
    least: Any,
    value_gradient: Any,
    draw_gradient: Any,
) -> Any:
    """Add the gradient of the weighted log correctness of some rows.

    Parameters
    ----------
    value_rows, draw_rows
        :class:`~glem.core.fitting.packed.blocks.Rows` of N positions in their order.
    result
        int8 [N]: 1, 0 or -1 from the side to move.
    weight, held_weight
        float64 [N]: weights in the fit, and for validation.
    value_weights, draw_weights
        float64 [K, terms + 1]; the last is the bias.
    inverse_scale
        1 / b.
    least
        A log correctness below it counts as it and has no slope.
    value_gradient, draw_gradient
        float64 of the same shapes: what the derivatives are added to.

    Returns
    -------
    total, held, by_log_scale
        Weighted sums of log correctness over both kinds of rows, and the derivative of the first by log b.
    """
    total, held, by_scale = 0.0, 0.0, 0.0
    for row in range(result.shape[0]):
        phase = value_rows.phase[row]
        units = inverse_scale * _sum_of(value_rows, row, value_weights[phase])
        odds = _sum_of(draw_rows, row, draw_weights[phase])
        log, by_units, by_odds = slopes(units, result[row], odds)
        own = weight[row]
        if log < least:
            held += held_weight[row] * least
            total += own * least
            continue
        held += held_weight[row] * log
        if own == 0.0:
            continue
        total += own * log
        by_scale -= own * by_units * units
        _add_slope(value_rows, row, own * by_units * inverse_scale, value_gradient[phase])
        _add_slope(draw_rows, row, own * by_odds, draw_gradient[phase])
    return total, held, by_scale


@kernel
def information_rows(units: Any, odds: Any, information: Any) -> None:
    """Write Fisher's information of rows [N] about x and z: the mean of the products of slopes over the results.

    Parameters
    ----------
    units, odds
        float64 [N].
    information
        float64 [N, 3]: of x, of both, of z.
    """
    for row in range(units.shape[0]):
        information[row] = 0.0
        for result in (-1, 0, 1):
            log, by_units, by_odds = slopes(units[row], result, odds[row])
            chance = math.exp(log)
            information[row, 0] += chance * by_units * by_units
            information[row, 1] += chance * by_units * by_odds
            information[row, 2] += chance * by_odds * by_odds
