"""Kernels of a fitting pass: sum the active weights of every row, then add what each row says to their gradients.

Rows are worked on in blocks that stay in the cache between the two halves; inside a block the pattern columns
come four at a time, each with its own slice of the weights. Sums and gradients are float32, errors float64.
A kernel runs over one range of rows of one block of a design and holds no lock, so that threads work on several.
"""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import kernel

_BLOCK = 4096
_LANES = 16


class LinkTerms(NamedTuple):
    """``g(x) = span / (1 + exp(-x)) + low``, or the identity where ``span`` is 0."""

    span: np.float64
    low: np.float64


@kernel(inline=True)
def _predict_block(design: Any, weights: Any, start: Any, rows: Any, sums: Any) -> None:
    indices, offsets, row_starts = design.indices, design.offsets, design.row_starts
    ids, linear, linear_start = design.ids, design.linear, design.linear_start
    bias = weights[weights.shape[0] - 1]
    for row in range(rows):
        sums[row] = bias
    columns = indices.shape[0]
    column = 0
    while column + 4 <= columns:
        weights_0, weights_1 = weights[offsets[column] :], weights[offsets[column + 1] :]
        weights_2, weights_3 = weights[offsets[column + 2] :], weights[offsets[column + 3] :]
        index_0, index_1 = indices[column, start : start + rows], indices[column + 1, start : start + rows]
        index_2, index_3 = indices[column + 2, start : start + rows], indices[column + 3, start : start + rows]
        for row in range(rows):
            sums[row] += (weights_0[index_0[row]] + weights_1[index_1[row]]) + (
                weights_2[index_2[row]] + weights_3[index_3[row]]
            )
        column += 4
    while column < columns:
        weights_0, index_0 = weights[offsets[column] :], indices[column, start : start + rows]
        for row in range(rows):
            sums[row] += weights_0[index_0[row]]
        column += 1
    if row_starts.shape[0] > 1:
        own = weights[design.configuration_start : linear_start]
        for row in range(rows):
            total = np.float32(0)
            for place in range(row_starts[start + row], row_starts[start + row + 1]):
                total += own[np.uint32(ids[place])]
            sums[row] += total
    for term in range(linear.shape[0]):
        weight = weights[linear_start + term]
        values = linear[term, start : start + rows]
        for row in range(rows):
            sums[row] += weight * values[row]


@kernel(inline=True)
def _scatter_block(design: Any, gradient: Any, start: Any, rows: Any, residuals: Any) -> None:
    indices, offsets, row_starts = design.indices, design.offsets, design.row_starts
    ids, linear, linear_start = design.ids, design.linear, design.linear_start
    columns = indices.shape[0]
    column = 0
    while column + 4 <= columns:
        gradient_0, gradient_1 = gradient[offsets[column] :], gradient[offsets[column + 1] :]
        gradient_2, gradient_3 = gradient[offsets[column + 2] :], gradient[offsets[column + 3] :]
        index_0, index_1 = indices[column, start : start + rows], indices[column + 1, start : start + rows]
        index_2, index_3 = indices[column + 2, start : start + rows], indices[column + 3, start : start + rows]
        for row in range(rows):
            residual = residuals[row]
            gradient_0[index_0[row]] += residual
            gradient_1[index_1[row]] += residual
            gradient_2[index_2[row]] += residual
            gradient_3[index_3[row]] += residual
        column += 4
    while column < columns:
        gradient_0, index_0 = gradient[offsets[column] :], indices[column, start : start + rows]
        for row in range(rows):
            gradient_0[index_0[row]] += residuals[row]
        column += 1
    if row_starts.shape[0] > 1:
        own = gradient[design.configuration_start : linear_start]
        for row in range(rows):
            residual = residuals[row]
            for place in range(row_starts[start + row], row_starts[start + row + 1]):
                own[np.uint32(ids[place])] += residual
    for term in range(linear.shape[0]):
        values = linear[term, start : start + rows]
        total = 0.0
        for row in range(rows):
            total += np.float64(values[row]) * np.float64(residuals[row])
        gradient[linear_start + term] += np.float32(total)
    total = 0.0
    for row in range(rows):
        total += np.float64(residuals[row])
    gradient[gradient.shape[0] - 1] += np.float32(total)


@kernel(inline=True)
def _residual(label: Any, total: Any, link: Any) -> Any:
    """D = r - g(x) and the slope g'(x), for a sigmoid link."""
    share = 1.0 / (1.0 + np.exp(-np.float64(total)))
    return np.float64(label) - (link.span * share + link.low), link.span * share * (1.0 - share)


@kernel(inline=True)
def _to_residuals(sums: Any, labels: Any, row_weights: Any, held_weights: Any, link: Any, residuals: Any) -> Any:
    """Write ``weight g' D`` of a block's rows; their weighted squared errors in training and validation."""
    count = sums.shape[0]
    if link.span == 0.0:
        # Sums side by side: the compiler may not change the order of additions, so it could not vectorize one sum.
        # A block is short enough for float32.
        errors = np.zeros(_LANES, np.float32)
        held_errors = np.zeros(_LANES, np.float32)
        for first in range(0, count - count % _LANES, _LANES):
            for lane in range(_LANES):
                row = first + lane
                difference = labels[row] - sums[row]
                weighted = row_weights[row] * difference
                errors[lane] += weighted * difference
                held_errors[lane] += held_weights[row] * difference * difference
                residuals[row] = weighted
        for row in range(count - count % _LANES, count):
            difference = labels[row] - sums[row]
            weighted = row_weights[row] * difference
            errors[0] += weighted * difference
            held_errors[0] += held_weights[row] * difference * difference
            residuals[row] = weighted
        return np.float64(errors.sum()), np.float64(held_errors.sum())
    error = 0.0
    held_error = 0.0
    for row in range(count):
        difference, slope = _residual(labels[row], sums[row], link)
        weighted = np.float64(row_weights[row]) * difference
        error += weighted * difference
        held_error += np.float64(held_weights[row]) * difference * difference
        residuals[row] = np.float32(weighted * slope)
    return error, held_error


@kernel
def pass_over(
    design: Any,
    weights: Any,
    start: Any,
    stop: Any,
    offsets: Any,
    labels: Any,
    row_weights: Any,
    held_weights: Any,
    link: Any,
    gradient: Any,
) -> Any:
    """Both halves of a pass over rows ``start`` to ``stop``.

    Parameters
    ----------
    design
        A block of rows, :class:`~glem.core.fitting.packed.blocks.Rows`.
    weights
        float32 spread vector.
    offsets
        float32 [stop - start], added to the sums of the rows; or empty.
    labels, row_weights, held_weights
        float32 [stop - start]: label r, weight in training, weight in validation.
    link
        The link, :class:`LinkTerms`.
    gradient
        float32 spread vector, to which ``sum_k weight_k g'(x_k) D_k h_ik`` is added: GLEM eq. (2) without -2/N.

    Returns
    -------
    error, held_error
        Sums of weighted squared errors over training and validation rows.
    """
    error = 0.0
    held_error = 0.0
    sums = np.empty(_BLOCK, np.float32)
    for block in range(start, stop, _BLOCK):
        rows = min(block + _BLOCK, stop) - block
        _predict_block(design, weights, block, rows, sums)
        part = slice(block - start, block - start + rows)
        own = offsets[part]
        for row in range(own.shape[0]):
            sums[row] += own[row]
        one, other = _to_residuals(sums[:rows], labels[part], row_weights[part], held_weights[part], link, sums[:rows])
        error += one
        held_error += other
        _scatter_block(design, gradient, block, rows, sums)
    return error, held_error


@kernel
def sum_weights(design: Any, weights: Any, start: Any, stop: Any, sums: Any) -> None:
    """First half: write the sum of active weights of rows ``start`` to ``stop`` into float32 [stop - start]."""
    for block in range(start, stop, _BLOCK):
        rows = min(block + _BLOCK, stop) - block
        _predict_block(design, weights, block, rows, sums[block - start : block - start + rows])


@kernel
def add_gradient(design: Any, gradient: Any, start: Any, stop: Any, residuals: Any) -> None:
    """Second half: add the residuals of rows ``start`` to ``stop``, float32 [stop - start], to their weights."""
    for block in range(start, stop, _BLOCK):
        rows = min(block + _BLOCK, stop) - block
        _scatter_block(design, gradient, block, rows, residuals[block - start : block - start + rows])


@kernel
def errors_along(sums: Any, steps: Any, length: Any, labels: Any, row_weights: Any, link: Any) -> Any:
    """Training error at ``sums + length * steps``, and how it changes with the length, for a sigmoid link.

    Returns
    -------
    error
        Sum of weighted squared errors.
    slope
        Derivative of ``error / 2`` by the length.
    curvature
        Its second derivative in the Gauss-Newton approximation.
    """
    error = 0.0
    slope = 0.0
    curvature = 0.0
    for row in range(sums.shape[0]):
        step = np.float64(steps[row])
        difference, rise = _residual(labels[row], np.float64(sums[row]) + length * step, link)
        weight = np.float64(row_weights[row])
        error += weight * difference * difference
        slope -= weight * difference * rise * step
        curvature += weight * rise * rise * step * step
    return error, slope, curvature


@kernel
def curvature_along(steps: Any, row_weights: Any) -> Any:
    """Sum of ``weight step^2``: second derivative of half the error along a line, with the identity link."""
    count = steps.shape[0]
    lanes = np.zeros(_LANES)
    for first in range(0, count - count % _LANES, _LANES):
        for lane in range(_LANES):
            step = np.float64(steps[first + lane])
            lanes[lane] += np.float64(row_weights[first + lane]) * step * step
    for row in range(count - count % _LANES, count):
        lanes[0] += np.float64(row_weights[row]) * np.float64(steps[row]) * np.float64(steps[row])
    return lanes.sum()


@kernel
def residuals_at(
    sums: Any, steps: Any, length: Any, labels: Any, row_weights: Any, held_weights: Any, link: Any, residuals: Any
) -> Any:
    """Move ``sums`` by ``length * steps`` in place and write ``weight g'(x) D`` of each row.

    Returns
    -------
    error, held_error
        Sums of weighted squared errors over training and validation rows, at the moved sums.
    """
    error = 0.0
    held_error = 0.0
    for start in range(0, sums.shape[0], _BLOCK):
        part = slice(start, min(start + _BLOCK, sums.shape[0]))
        own = sums[part]
        for row in range(own.shape[0]):
            own[row] = np.float32(np.float64(own[row]) + length * np.float64(steps[start + row]))
        one, other = _to_residuals(own, labels[part], row_weights[part], held_weights[part], link, residuals[part])
        error += one
        held_error += other
    return error, held_error
