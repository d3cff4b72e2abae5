"""The search proper: null windows with a hash table, and the open window around the principal variation."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, kernel, trailing_zeros
from glem.core.features.evaluators import start, static_score, update
from glem.games.othello.rules import Position
from glem.games.othello.single import mobility_one
from glem.games.othello.solver.last_moves import final_margin, last_four, last_one, last_three, last_two
from glem.games.othello.solver.ordering import estimate, list_guided, list_moves, odd_quadrants, should_stop, take_best
from glem.games.othello.solver.stability import stable_bound
from glem.games.othello.solver.table import (
    entry_first,
    entry_lower,
    entry_pass,
    entry_second,
    entry_upper,
    find,
    first_word,
    position_key,
    store,
)
from glem.games.othello.solver.workspace import LEAST_GUIDED, NODES, PASS_NUMBER, STOPPED, VARIATION_WIDTH, WIDTH

_NONE = 64
_WORST = -99

_LEAST_LISTED = 7
"""Empty squares from which on moves are listed, sorted, and their results kept."""
_LEAST_SELECTIVE = 13
"""Empty squares from which on the selective pass trusts shallow searches."""
_MARGIN = 10
"""Discs by which an estimate must be beyond the window to be trusted; fewer the deeper its search."""
_MOST_PLIES = 5
"""Plies of the deepest estimate."""


@kernel(inline=True)
def _looked_up(workspace: Any, own: Any, opponent: Any, count: Any) -> Any:
    """Table where a position belongs, the first word of its bucket, its key, and its entry there; 0 for none."""
    key = position_key(own, opponent)
    if count <= workspace.near_count:
        table, bucket = workspace.near, first_word(key, workspace.near_mask)
    else:
        table, bucket = workspace.table, first_word(key, workspace.table_mask)
    return table, bucket, key, find(table, bucket, key ^ workspace.salt[0])


@kernel(inline=True)
def _few_left(workspace: Any, own: Any, opponent: Any, alpha: Any, count: Any) -> Any:
    """Null-window score with fewer empty squares than are listed."""
    empties = ~(own | opponent)
    if count > 3:
        return last_four(workspace, own, opponent, alpha, empties, odd_quadrants(empties), np.int64(0))
    if count == 3:
        return last_three(workspace, own, opponent, alpha, empties, odd_quadrants(empties))
    if count == 2:
        return last_two(workspace, own, opponent, alpha, empties)
    if count == 1:
        return last_one(workspace, own, np.int64(trailing_zeros(empties)))
    return final_margin(workspace, own, opponent)


@kernel
def null_window(workspace: Any, own: Any, opponent: Any, alpha: Any, count: Any) -> Any:
    """Search a position with ``count`` empty squares for whether its score is above ``alpha``.

    Returns
    -------
    int64
        A score above ``alpha`` is a lower bound, any other an upper bound (fail-soft). Once stopped, nothing.
    """
    if count < _LEAST_LISTED:
        return _few_left(workspace, own, opponent, alpha, count)
    counters = workspace.counters
    counters[NODES] += 1
    if alpha >= workspace.stability_limits[count]:
        bound = stable_bound(workspace, own, opponent)
        if bound <= alpha:
            return bound
    table, bucket, key, entry = _looked_up(workspace, own, opponent, count)
    first, second = _NONE, _NONE
    if entry != ZERO:
        if entry_pass(entry) == 0:
            if entry_lower(entry) > alpha:
                return entry_lower(entry)
            if entry_upper(entry) <= alpha:
                return entry_upper(entry)
        first, second = entry_first(entry), entry_second(entry)
    places = mobility_one(own, opponent)
    if places == ZERO:
        if mobility_one(opponent, own) == ZERO:
            return final_margin(workspace, own, opponent)
        return -null_window(workspace, opponent, own, -alpha - 1, count)

    before = counters[NODES]
    total = list_moves(workspace, own, opponent, places, count, first, second)
    stack = count * np.int64(WIDTH)
    if count >= workspace.least_cutoff:
        bound = _known_reply(workspace, own, opponent, alpha, count, total)
        if bound > alpha:
            return bound
    best, best_move = _WORST, _NONE
    for done in range(total):
        square = take_best(workspace, stack, np.int64(done), total)
        turned = workspace.flips[stack + square]
        score = -null_window(
            workspace, opponent ^ turned, own ^ turned ^ (ONE << np.uint64(square)), -alpha - 1, count - 1
        )
        if score > best:
            best, best_move = score, square
            if best > alpha:
                break
    if counters[STOPPED] != 0:
        return alpha
    store(workspace, table, bucket, key, alpha, best, best_move, counters[NODES] - before, 0)
    return best


@kernel(inline=True)
def _known_upper(workspace: Any, own: Any, opponent: Any, count: Any) -> Any:
    """Upper bound on a position's score in the hash table."""
    _, _, _, entry = _looked_up(workspace, own, opponent, count)
    if entry != ZERO and (entry_pass(entry) == 0 or entry_pass(entry) == workspace.counters[PASS_NUMBER]):
        return entry_upper(entry)
    return 64


@kernel(inline=True)
def _known_reply(workspace: Any, own: Any, opponent: Any, alpha: Any, count: Any, total: Any) -> Any:
    """Lower bound above ``alpha`` that the hash table knows of one of the listed moves; -99 for none."""
    stack = count * np.int64(WIDTH)
    for place in range(total):
        square = workspace.choices[stack + place] & 63
        turned = workspace.flips[stack + square]
        bound = _known_upper(workspace, opponent ^ turned, own ^ turned ^ (ONE << np.uint64(square)), count - 1)
        if -bound > alpha:
            return -bound
    return _WORST


@kernel(inline=True)
def _list(
    evaluator: Any, workspace: Any, own: Any, opponent: Any, places: Any, count: Any, ply: Any, first: Any, second: Any
) -> Any:
    """List the moves of a position, with estimates where there are enough empty squares."""
    if count >= workspace.least_estimated:
        return list_guided(evaluator, workspace, own, opponent, places, count, ply, first, second)
    return list_moves(workspace, own, opponent, places, count, first, second)


@kernel(inline=True)
def _follow(evaluator: Any, workspace: Any, before: Any, move: Any, after: Any, count: Any, ply: Any) -> None:
    """Update the accumulator of the next ply, if the position there, with ``count`` empty squares, will need it."""
    if count >= workspace.least_estimated:
        update(evaluator, before, move, after, workspace.evaluation, workspace.accumulators, ply)


@kernel
def _verdict(evaluator: Any, workspace: Any, own: Any, opponent: Any, alpha: Any, count: Any, ply: Any) -> Any:
    """Bound on the score that a shallow search makes likely; -99 for none.

    M. Buro, ProbCut: an effective selective extension of the alpha-beta algorithm, 1995. The errors of estimates fall
    by about a fourteenth with each ply.
    """
    depth = min((count - 10) // 3, _MOST_PLIES)
    margin = _MARGIN * (14 - depth) // 8
    scale = workspace.disc_scale
    static = np.int64(
        static_score(evaluator, Position(own, opponent), workspace.evaluation, workspace.accumulators, ply)
    )
    if static * scale >= alpha << 20:
        if alpha + margin >= 64:
            return _WORST
        bound = ((alpha + margin) << 20) // scale
        if estimate(evaluator, workspace, own, opponent, bound - 1, bound, depth, ply) >= bound:
            return alpha + 1
    else:
        if alpha - margin <= -64:
            return _WORST
        bound = ((alpha - margin) << 20) // scale
        if estimate(evaluator, workspace, own, opponent, bound, bound + 1, depth, ply) <= bound:
            return alpha
    return _WORST


@kernel
def guided_window(evaluator: Any, workspace: Any, own: Any, opponent: Any, alpha: Any, count: Any, ply: Any) -> Any:
    """Search as :func:`null_window` does, with the evaluation's advice where that pays.

    The accumulator of ``ply`` is that of the position, where ``count`` is one that the evaluation is asked for.
    """
    if count < LEAST_GUIDED:
        return null_window(workspace, own, opponent, alpha, count)
    counters = workspace.counters
    counters[NODES] += 1
    if should_stop(workspace):
        return alpha
    if alpha >= workspace.stability_limits[count]:
        bound = stable_bound(workspace, own, opponent)
        if bound <= alpha:
            return bound
    table, bucket, key, entry = _looked_up(workspace, own, opponent, count)
    first, second = _NONE, _NONE
    if entry != ZERO:
        if entry_pass(entry) == 0 or entry_pass(entry) == counters[PASS_NUMBER]:
            if entry_lower(entry) > alpha:
                return entry_lower(entry)
            if entry_upper(entry) <= alpha:
                return entry_upper(entry)
        first, second = entry_first(entry), entry_second(entry)
    places = mobility_one(own, opponent)
    if places == ZERO:
        if mobility_one(opponent, own) == ZERO:
            return final_margin(workspace, own, opponent)
        _follow(evaluator, workspace, Position(own, opponent), _NONE, Position(opponent, own), count, ply)
        return -guided_window(evaluator, workspace, opponent, own, -alpha - 1, count, ply + 1)

    if counters[PASS_NUMBER] != 0 and count >= _LEAST_SELECTIVE:
        verdict = _verdict(evaluator, workspace, own, opponent, alpha, count, ply)
        if verdict != _WORST:
            return verdict
    before = counters[NODES]
    total = _list(evaluator, workspace, own, opponent, places, count, ply, first, second)
    stack = count * np.int64(WIDTH)
    if count >= workspace.least_cutoff:
        bound = _known_reply(workspace, own, opponent, alpha, count, total)
        if bound > alpha:
            return bound
    best, best_move = _WORST, _NONE
    for done in range(total):
        square = take_best(workspace, stack, np.int64(done), total)
        turned = workspace.flips[stack + square]
        after = Position(opponent ^ turned, own ^ turned ^ (ONE << np.uint64(square)))
        _follow(evaluator, workspace, Position(own, opponent), square, after, count - 1, ply)
        score = -guided_window(evaluator, workspace, after.own, after.opponent, -alpha - 1, count - 1, ply + 1)
        if score > best:
            best, best_move = score, square
            if best > alpha:
                break
    if counters[STOPPED] != 0:
        return alpha
    store(workspace, table, bucket, key, alpha, best, best_move, counters[NODES] - before, counters[PASS_NUMBER])
    return best


@kernel
def begin(evaluator: Any, workspace: Any, own: Any, opponent: Any) -> None:
    """Fill the accumulator of the root."""
    start(evaluator, Position(own, opponent), workspace.evaluation, workspace.accumulators, 0)


@kernel
def open_window(
    evaluator: Any, workspace: Any, own: Any, opponent: Any, alpha: Any, beta: Any, count: Any, ply: Any, passed: Any
) -> Any:
    """Search a position for its score between ``alpha`` and ``beta`` and keep the principal variation of the ply.

    Returns
    -------
    int64
        The score if it is between the two, else a bound beyond (fail-soft). Once stopped, nothing.
    """
    counters = workspace.counters
    counters[NODES] += 1
    line = ply * np.int64(VARIATION_WIDTH)
    workspace.variations[line] = -1
    if should_stop(workspace):
        return alpha
    places = mobility_one(own, opponent)
    if places == ZERO:
        if passed != 0 or mobility_one(opponent, own) == ZERO:
            return final_margin(workspace, own, opponent)
        _follow(evaluator, workspace, Position(own, opponent), _NONE, Position(opponent, own), count, ply)
        best = -open_window(evaluator, workspace, opponent, own, -beta, -alpha, count, ply + 1, np.int64(1))
        _extend_variation(workspace, ply, _NONE)
        return best
    table, bucket, key, entry = _looked_up(workspace, own, opponent, count)
    first, second = _NONE, _NONE
    if entry != ZERO:
        first, second = entry_first(entry), entry_second(entry)
    before = counters[NODES]
    total = _list(evaluator, workspace, own, opponent, places, count, ply, first, second)
    stack = count * np.int64(WIDTH)
    best, best_move, lower = _WORST, _NONE, alpha
    for done in range(total):
        square = take_best(workspace, stack, np.int64(done), total)
        turned = workspace.flips[stack + square]
        after = Position(opponent ^ turned, own ^ turned ^ (ONE << np.uint64(square)))
        _follow(evaluator, workspace, Position(own, opponent), square, after, count - 1, ply)
        score = _WORST
        if done > 0:
            score = -guided_window(evaluator, workspace, after.own, after.opponent, -lower - 1, count - 1, ply + 1)
        searched = done == 0 or (score > lower and score < beta)
        if searched and counters[STOPPED] == 0:
            score = -open_window(
                evaluator, workspace, after.own, after.opponent, -beta, -lower, count - 1, ply + 1, np.int64(0)
            )
        if counters[STOPPED] != 0:
            return best
        if score > best and (score > lower or best_move == _NONE):
            if not searched:
                workspace.variations[line + np.int64(VARIATION_WIDTH)] = -1
            _extend_variation(workspace, ply, square)
        if score > best:
            best, best_move = score, square
            lower = max(lower, best)
            if best >= beta:
                break
    nodes = counters[NODES] - before
    selective = counters[PASS_NUMBER]
    # The score is a lower bound if it is above alpha, an upper bound if it is below beta.
    if best > alpha:
        store(workspace, table, bucket, key, best - 1, best, best_move, nodes, selective)
    if best < beta:
        store(workspace, table, bucket, key, best, best, best_move, nodes, selective)
    return best


@kernel(inline=True)
def _extend_variation(workspace: Any, ply: Any, move: Any) -> None:
    """Put a move before the variation of the next ply."""
    line, following = ply * np.int64(VARIATION_WIDTH), (ply + 1) * np.int64(VARIATION_WIDTH)
    workspace.variations[line] = move
    place = 0
    while workspace.variations[following + place] >= 0:
        workspace.variations[line + place + 1] = workspace.variations[following + place]
        place += 1
    workspace.variations[line + place + 1] = -1
