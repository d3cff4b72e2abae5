"""Shallow searches with the evaluation, by which moves are ordered and hopeless positions recognized."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.borrowed import load_shared
from glem.core.compiling.kernels import kernel, trailing_zeros
from glem.core.features.evaluators import static_score, update
from glem.core.search.clock import monotonic_nanoseconds
from glem.games.othello.rules import Position
from glem.games.othello.single import flips_one, mobility_one
from glem.games.othello.solver.last_moves import final_margin
from glem.games.othello.solver.workspace import DEADLINE, NODE_LIMIT, NODES, STOPPED

__all__ = ["estimate", "should_stop"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_WORST = np.int64(-(1 << 31))
_PASS = 64
_SIXTEENTHS = 20
_LEAST_CHECKED = 3


@kernel
def should_stop(workspace: Any) -> Any:
    """Look at the limits and at the other thread; once stopped, stopped."""
    counters = workspace.counters
    if (
        counters[NODES] >= counters[NODE_LIMIT]
        or load_shared(workspace.stop, 0) != np.int32(0)
        or monotonic_nanoseconds() >= counters[DEADLINE]
    ):
        counters[STOPPED] = 1
    return counters[STOPPED] != 0


@kernel
def estimate(
    evaluator: Any, workspace: Any, own: Any, opponent: Any, alpha: Any, beta: Any, depth: Any, ply: Any
) -> Any:
    """Evaluate a position ``depth`` plies ahead, in steps of the evaluator, between ``alpha`` and ``beta`` (fail-soft).

    The accumulator of ``ply`` is that of the position; those of the plies after it are overwritten. Once stopped, the
    result means nothing.
    """
    position = Position(own, opponent)
    if depth == 0:
        return np.int64(static_score(evaluator, position, workspace.evaluation, workspace.accumulators, ply))
    workspace.counters[NODES] += 1
    if depth >= _LEAST_CHECKED and should_stop(workspace):
        return alpha
    left = mobility_one(own, opponent)
    if left == _ZERO:
        if mobility_one(opponent, own) == _ZERO:
            return (final_margin(workspace, own, opponent) << _SIXTEENTHS) // workspace.disc_scale
        after = Position(opponent, own)
        update(evaluator, position, _PASS, after, workspace.evaluation, workspace.accumulators, ply)
        return -estimate(evaluator, workspace, opponent, own, -beta, -alpha, depth, ply + 1)
    best, lower = _WORST, alpha
    while left != _ZERO:
        disc = left & (~left + _ONE)
        left ^= disc
        square = np.int64(trailing_zeros(disc))
        turned = flips_one(own, opponent, square)
        after = Position(opponent ^ turned, own ^ turned ^ disc)
        update(evaluator, position, square, after, workspace.evaluation, workspace.accumulators, ply)
        score = -estimate(evaluator, workspace, after.own, after.opponent, -beta, -lower, depth - 1, ply + 1)
        if score > best:
            best = score
            if best > lower:
                lower = best
                if best >= beta:
                    break
    return best
