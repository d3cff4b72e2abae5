"""Which move to try first: what the hash table knows, an evaluation, mobility, corners, parity.

The evaluation is asked by shallow searches, which also tell hopeless positions.
"""

from typing import Any

import numpy as np

from glem.core.compiling.borrowed import load_shared
from glem.core.compiling.kernels import ONE, ZERO, kernel, popcount, trailing_zeros
from glem.core.features.evaluators import static_score, update
from glem.core.search.clock import monotonic_nanoseconds
from glem.games.othello.rules import CORNERS, Position
from glem.games.othello.single import flips_one, mobility_one
from glem.games.othello.solver.last_moves import final_margin
from glem.games.othello.solver.workspace import DEADLINE, LEAST_GUIDED, NODE_LIMIT, NODES, STOPPED, WIDTH

_PARITY_WEIGHT = 32
_WIDE = np.int64(1 << 30)
_BEST_KNOWN = np.int64(1 << 40)
_SECOND_KNOWN = np.int64(1 << 39)
_WIPE_OUT = np.int64(1 << 41)
_WORST = np.int64(-(1 << 31))
_PASS = 64
_SIXTEENTHS = 20
_LEAST_CHECKED = 3


@kernel(inline=True)
def odd_quadrants(empties: Any) -> Any:
    """Set of the quadrants that have an odd number of empty squares."""
    quarter = np.uint64(0x0F0F0F0F)
    return (
        (np.int64(popcount(empties & quarter)) & 1)
        | (np.int64(popcount(empties & (quarter << np.uint64(4)))) & 1) << 1
        | (np.int64(popcount(empties & (quarter << np.uint64(32)))) & 1) << 2
        | (np.int64(popcount(empties & (quarter << np.uint64(36)))) & 1) << 3
    )


@kernel
def list_moves(workspace: Any, own: Any, opponent: Any, places: Any, count: Any, first: Any, second: Any) -> Any:
    """List the moves of a ply with their flips, and how promising they are; return their number.

    The best of the hash table first; then those that leave the opponent few moves (fastest first), corners counted
    twice; among these, those in a quadrant with an odd number of empty squares.
    """
    stack = count * np.int64(WIDTH)
    parity = odd_quadrants(~(own | opponent))
    total = 0
    left = places
    while left != ZERO:
        disc = left & (~left + ONE)
        left ^= disc
        square = np.int64(trailing_zeros(disc))
        turned = flips_one(own, opponent, square)
        workspace.flips[stack + square] = turned
        after_own, after_opponent = opponent ^ turned, own ^ turned ^ disc
        if square == first:
            value = _BEST_KNOWN
        elif square == second:
            value = _SECOND_KNOWN
        elif after_own == ZERO:
            value = _WIPE_OUT
        else:
            value = _promise(workspace, after_own, after_opponent, square, parity)
        workspace.choices[stack + total] = (value << 6) | square
        total += 1
    return total


@kernel(inline=True)
def _promise(workspace: Any, after_own: Any, after_opponent: Any, square: Any, parity: Any) -> Any:
    """How promising a move is by what it leaves the opponent, ``after_own``; mobility counts most."""
    replies = mobility_one(after_own, after_opponent)
    mobility = np.int64(popcount(replies)) + np.int64(popcount(replies & CORNERS))
    value = workspace.square_value[square]
    if parity & workspace.quadrant[square] != 0:
        value += _PARITY_WEIGHT
    return value + (36 - mobility) * workspace.mobility_weight


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
    if left == ZERO:
        if mobility_one(opponent, own) == ZERO:
            return (final_margin(workspace, own, opponent) << _SIXTEENTHS) // workspace.disc_scale
        after = Position(opponent, own)
        update(evaluator, position, _PASS, after, workspace.evaluation, workspace.accumulators, ply)
        return -estimate(evaluator, workspace, opponent, own, -beta, -alpha, depth, ply + 1)
    best, lower = _WORST, alpha
    while left != ZERO:
        disc = left & (~left + ONE)
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


@kernel
def list_guided(
    evaluator: Any, workspace: Any, own: Any, opponent: Any, places: Any, count: Any, ply: Any, first: Any, second: Any
) -> Any:
    """List the moves as :func:`list_moves` does, by the estimate of a search of up to three plies as well."""
    depth = min((count - LEAST_GUIDED) // 3, 3)
    stack = count * np.int64(WIDTH)
    parity = odd_quadrants(~(own | opponent))
    before = Position(own, opponent)
    # A deeper search deserves more weight beside mobility.
    shift = 9 if depth == 0 else 10 if depth < 3 else 11
    total = 0
    left = places
    while left != ZERO:
        disc = left & (~left + ONE)
        left ^= disc
        square = np.int64(trailing_zeros(disc))
        turned = flips_one(own, opponent, square)
        workspace.flips[stack + square] = turned
        after = Position(opponent ^ turned, own ^ turned ^ disc)
        if square == first:
            value = _BEST_KNOWN
        elif square == second and depth < 1:
            value = _SECOND_KNOWN
        elif after.own == ZERO:
            value = _WIPE_OUT
        else:
            value = _promise(workspace, after.own, after.opponent, square, parity)
            update(evaluator, before, square, after, workspace.evaluation, workspace.accumulators, ply)
            if depth == 0:
                steps = np.int64(static_score(evaluator, after, workspace.evaluation, workspace.accumulators, ply + 1))
            else:
                steps = estimate(evaluator, workspace, after.own, after.opponent, -_WIDE, _WIDE, depth, ply + 1)
            value -= ((steps * workspace.disc_scale) >> 16) << shift
        workspace.choices[stack + total] = (value << 6) | square
        total += 1
    return total


@kernel(inline=True)
def take_best(workspace: Any, stack: Any, done: Any, total: Any) -> Any:
    """Bring the most promising of the moves ``done`` to ``total`` forward and return its square."""
    best = done
    for place in range(done + 1, total):
        if workspace.choices[stack + place] > workspace.choices[stack + best]:
            best = place
    chosen = workspace.choices[stack + best]
    workspace.choices[stack + best] = workspace.choices[stack + done]
    workspace.choices[stack + done] = chosen
    return chosen & 63
