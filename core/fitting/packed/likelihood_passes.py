"""Kernels of a likelihood fit: what each position says to the value and to the drawishness (Ban 2012, section 3).

A row is a position. Its items, the terms that are active in it, stand in compressed rows with their values, so that a
pass costs what is active and not what there is. All sums are float64.

With the value x in units of b, u = ``|x|``, the log odds z of the drawishness alpha, and the result seen from the
favoured side, the logarithm of the correctness and its derivatives are those of equations (1) and (9)-(14):

    log phi = log 2 - log(2 - alpha) - log(1 + e^u)
    expected win:  log(1 - phi)               by u: (1 - E(-u)) phi / (1 - phi)   by z: -phi / (1 - phi) s / (2 - alpha)
    draw:          log alpha + log phi        by u: -(1 - E(-u))                  by z: 1 - alpha + s / (2 - alpha)
    upset:         log(1 - alpha) + log phi   by u: -(1 - E(-u))                  by z: -alpha + s / (2 - alpha)

with s = alpha (1 - alpha). The probabilities are continuous where the favoured side changes, at x = 0; their slopes are
not. There the mean of the slopes on both sides is taken, which treats both players alike.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel

__all__ = ["Items", "add_slopes", "information_rows", "pack_items", "slopes_of"]

_LEAST_REST = 1e-300


class Items(NamedTuple):
    """Active terms of N rows, and their phases.

    Parameters
    ----------
    starts
        int64 [N + 1].
    items
        int32 [M]: number of the term.
    values
        int16 [M]: its value.
    phase
        uint8 [N].
    """

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.int16]
    phase: NDArray[np.uint8]


@kernel
def pack_items(
    table: Any, table_start: Any, found: Any, found_offsets: Any, row_starts: Any, ids: Any, ids_start: Any, out: Any
) -> Any:
    """Write the active terms of rows: columns of a table that are not 0, pattern entries, active configurations.

    Parameters
    ----------
    table, table_start
        int16 [N, L] and the number of its first term.
    found, found_offsets
        uint16 [I, N] and int64 [I]: indices of pattern instances, and the first term of each.
    row_starts, ids, ids_start
        int64 [N + 1] or [1] where there are none, int32 [..]: active configurations, and the number of the first.
    out
        :class:`Items` with room for all; its phase is left alone.

    Returns
    -------
    int
        Number of active terms.
    """
    starts, items, values = out.starts, out.items, out.values
    place = np.int64(0)
    starts[0] = 0
    for row in range(table.shape[0]):
        for instance in range(found.shape[0]):
            items[place] = np.int32(found_offsets[instance] + np.int64(found[instance, row]))
            values[place] = 1
            place += 1
        if row_starts.shape[0] > 1:
            for at in range(row_starts[row], row_starts[row + 1]):
                items[place] = np.int32(ids_start + np.int64(ids[at]))
                values[place] = 1
                place += 1
        for column in range(table.shape[1]):
            value = table[row, column]
            if value != 0:
                items[place] = np.int32(table_start + column)
                values[place] = value
                place += 1
        starts[row + 1] = place
    return place


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
def _slopes(units: Any, result: Any, odds: Any) -> Any:
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
        log[row], by_units[row], by_odds[row] = _slopes(units[row], result[row], odds[row])


@kernel(inline=True)
def _sum_of(rows: Any, row: Any, weights: Any) -> Any:
    total = weights[weights.shape[0] - 1]
    for place in range(rows.starts[row], rows.starts[row + 1]):
        total += weights[np.uint32(rows.items[place])] * np.float64(rows.values[place])
    return total


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
    value_gradient: Any,
    draw_gradient: Any,
) -> Any:
    """Add the gradient of the weighted log correctness of some rows.

    Parameters
    ----------
    value_rows, draw_rows
        :class:`Items` of N rows.
    result
        int8 [N]: 1, 0 or -1 from the side to move.
    weight, held_weight
        float64 [N]: weights in the fit, and for validation.
    value_weights, draw_weights
        float64 [K, terms + 1]; the last is the bias.
    inverse_scale
        1 / b.
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
        log, by_units, by_odds = _slopes(units, result[row], odds)
        held += held_weight[row] * log
        own = weight[row]
        if own == 0.0:
            continue
        total += own * log
        by_scale -= own * by_units * units
        slope = own * by_units * inverse_scale
        gradient = value_gradient[phase]
        for place in range(value_rows.starts[row], value_rows.starts[row + 1]):
            gradient[np.uint32(value_rows.items[place])] += slope * np.float64(value_rows.values[place])
        gradient[gradient.shape[0] - 1] += slope
        slope = own * by_odds
        gradient = draw_gradient[phase]
        for place in range(draw_rows.starts[row], draw_rows.starts[row + 1]):
            gradient[np.uint32(draw_rows.items[place])] += slope * np.float64(draw_rows.values[place])
        gradient[gradient.shape[0] - 1] += slope
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
            log, by_units, by_odds = _slopes(units[row], result, odds[row])
            chance = math.exp(log)
            information[row, 0] += chance * by_units * by_units
            information[row, 1] += chance * by_units * by_odds
            information[row, 2] += chance * by_odds * by_odds
