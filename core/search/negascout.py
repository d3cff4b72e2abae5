"""NegaScout: one recursive function for every game, plain and compiled.

The contract of :func:`negascout`:

- It searches ``depth`` plies and returns a score from the side to move, in steps. *Fail-soft*: a score at most
  ``alpha`` is an upper bound on the value, one at least ``beta`` a lower bound, any other one is the value.
- The value is the minimax value of the tree that is searched. A forced pass costs no depth (neither side has chosen
  anything, and the position is no nearer to quiet); a move's extension is added to its depth; at depth 0 quiescence
  follows where the game has tactical moves, else the static score.
- A finished game counts its final score in steps, or, where only results count, ``win - ply`` for a win: the shorter
  win and the longer loss are preferred. Such scores lie outside the limit of static scores and are proven.
- A position that occurred before on the path, or in the game before the root, counts as a draw. What the table
  knows of a position came about on other paths; so a repetition beyond the root of a table's subtree is not seen.
  Quiescence, whose moves come to an end, looks for none.
- So does a position that a rule makes a draw (``is_drawn``), everywhere but at the root. Whoever has won at that
  moment has won.
- The transposition table may change the value only to that of a deeper search: an entry is used where its remaining
  depth is at least the asked one. It never cuts off with an open window, so that the principal variation is complete.
- Multi-ProbCut (:class:`~glem.core.search.probcut.Selectivity`) changes the value: with a window of one step, a
  check search that clears the bound by its margin stands for the full search, and the bound is returned.
  Where it is on, late moves are searched less deep, and again where they turn out better than the moves before them.
  With ``FULL_WIDTH`` both are off. In a search that is deeper than the game can last, checks must clear their bounds
  by more, and late moves are searched nearer to the end.
- So does pruning (:mod:`~glem.core.search.pruning`), where the game has the operations and the search asks for it: a
  null move that still reaches ``beta``, a static score that clears a bound by what quiet moves change, and late quiet
  moves that are left out next to the leaves, stand for searches; other late quiet moves, and nodes without a known
  move, are searched less deep. Never at the root, where a side must move, or about certain wins.
- Move ordering, killers and history change the number of nodes and which of equal moves is found, never the value.
- Every position entered counts as one node, those that are evaluated statically included; a re-search or a check
  search counts again.
"""

from typing import Any

import numpy as np

from glem.core.compiling.borrowed import load_shared
from glem.core.compiling.kernels import kept
from glem.core.compiling.operations import by_presence
from glem.core.features.evaluators import NULL_MOVE, search_phase, static_score, update
from glem.core.game.game import hash_key, legal_moves, play
from glem.core.game.optional_operations import (
    extra_plies,
    gain_of_move,
    hint,
    is_drawn_by_rule,
    is_losing_move,
    is_over_at_leaf,
    is_quiet_move,
    is_taking_move,
    known_progress,
    may_pass,
    moves_of_first_ply,
    moves_of_quiescence,
    must_play_to_hint,
    passed,
    score_without_moves,
    standing,
    stored_key,
)
from glem.core.search.clock import monotonic_nanoseconds
from glem.core.search.history import history_of, note_cutoff
from glem.core.search.probcut import CHECKS, LATEST
from glem.core.search.pruning import (
    FUTILE_DEPTH,
    LATE_DEPTH,
    LOSING_DEPTH,
    NULL_DEPTH,
    REDUCED_DEPTH,
    SINGULAR_DEPTH,
    futile_margin,
    most_moves,
    plies_without,
    reduction_of,
    singular_bound,
)
from glem.core.search.repetitions import is_repetition
from glem.core.search.state import AT, KILLERS, PLIES
from glem.core.search.table import (
    GREATEST_DEPTH,
    GREATEST_SCORE,
    LOWER_BOUND,
    UPPER_BOUND,
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    find_entry,
    pack_entry,
    prefetch,
    prefetch_bucket,
    store_entry,
)

_HINT_UNIT = np.int64(1 << 12)
_STATIC_RANGE = np.int64(1 << 22)
MARGIN_WIDENING = np.float64(0.25)
"""By what share of the threshold ProbCut's margins grow with each ply that a search is deeper than the game."""
_POLL_NANOSECONDS = np.int64(1_000_000)
_AHEAD = 3
"""Keys that :func:`score_by_table` holds back."""
_SCORE_BITS = np.uint64(2 * GREATEST_SCORE + 1)


def must_stop(state: Any) -> bool:
    """Look at limits, clock and stop flag; says whether the search ends here, and when to look next."""
    counters = state.counters
    nodes = counters[AT.NODES]
    now = np.int64(monotonic_nanoseconds())
    if (
        counters[AT.STOPPED] != 0
        or nodes >= counters[AT.NODE_LIMIT]
        or load_shared(state.stop, 0) != 0
        or now >= counters[AT.DEADLINE]
    ):
        counters[AT.STOPPED] = 1
        return True
    # Evaluations differ a thousandfold in speed, and no more than some milliseconds may pass unseen.
    visited = nodes - counters[AT.POLLED_NODES]
    passed = max(now - counters[AT.POLLED], np.int64(1))
    wanted = max(np.int64(1), min(np.int64(2) * counters[AT.POLL_NODES], visited * _POLL_NANOSECONDS // passed))
    if visited > np.int64(0):
        counters[AT.POLL_NODES] = min(wanted, state.poll_nodes)
    counters[AT.POLLED_NODES] = nodes
    counters[AT.POLLED] = now
    counters[AT.NEXT_POLL] = min(counters[AT.NODE_LIMIT], nodes + max(counters[AT.POLL_NODES], np.int64(1)))
    return False


def final_value(rules: Any, state: Any, position: Any, ply: Any) -> Any:
    """Score of a finished game, in steps."""
    score = score_without_moves(rules, position)
    if state.win == np.int64(0):
        return np.int64(np.floor(np.float64(score) * state.final_steps + 0.5))
    if score == np.int64(0):
        return np.int64(0)
    distance = state.win - ply
    return distance if score > np.int64(0) else -distance


def _prefetch_score(rules: Any, state: Any, position: Any) -> None:
    """Ask for the static score of a position that is to be searched next, if it is kept."""
    if state.scores_mask != np.uint64(0):
        prefetch(state.scores, np.int64(np.uint64(hash_key(rules, position)) & state.scores_mask))


@kept
def static_score_at(rules: Any, evaluator: Any, state: Any, position: Any, ply: Any) -> Any:
    """Give the static score of a position whose game goes on."""
    is_kept: Any = state.scores_mask != np.uint64(0)
    key, place = np.uint64(0), np.int64(0)
    if is_kept:
        key = np.uint64(hash_key(rules, position))
        place = np.int64(key & state.scores_mask)
        known = state.scores[place]
        if known != np.uint64(0) and (known ^ key) & ~_SCORE_BITS == np.uint64(0):
            return np.int64(known & _SCORE_BITS) - np.int64(GREATEST_SCORE + 1)
    score = np.int64(static_score(evaluator, position, state.evaluation, state.accumulators, ply))
    score += known_progress(rules, position) * state.swing // np.int64(100)
    score = min(max(score, -state.limit), state.limit)
    if is_kept:
        state.scores[place] = key & ~_SCORE_BITS | np.uint64(score + np.int64(GREATEST_SCORE + 1))
    return score


def static_value(rules: Any, evaluator: Any, state: Any, position: Any, ply: Any) -> Any:
    """Score of a position without looking further."""
    if is_over_at_leaf(rules, position):
        return final_value(rules, state, position, ply)
    return static_score_at(rules, evaluator, state, position, ply)


@kept
def settle(
    rules: Any,
    evaluator: Any,
    state: Any,
    position: Any,
    ply: np.int64,
    alpha: np.int64,
    beta: np.int64,
    first: np.int64,
) -> Any:
    """Quiescence: the best of standing still and the tactical moves, fail-soft; counts the positions below its own.

    Where ``first`` is 1 it begins here, and moves that are tried nowhere else follow: a game need not have any.
    """
    counters = state.counters
    if ply > counters[AT.DEEPEST]:
        counters[AT.DEEPEST] = ply
    if ply == np.int64(PLIES - 1):
        return static_value(rules, evaluator, state, position, ply)
    best = -state.infinity
    is_pruned: Any = state.prunes != np.int64(0) and state.swing > np.int64(0)
    stands = standing(rules, position)
    if stands > np.int64(0):
        best = static_value(rules, evaluator, state, position, ply)
        if best >= beta:
            return best
    start = ply * state.max_moves
    count = np.int64(moves_of_quiescence(rules, position, state.moves, start))
    if count < np.int64(0):
        count = ~count
        if count == np.int64(0):
            return final_value(rules, state, position, ply)
    elif stands < np.int64(0):
        best = static_value(rules, evaluator, state, position, ply)
        if best >= beta:
            return best
    static = best
    alpha = max(alpha, best)
    if count > np.int64(1):
        for place in range(start, start + count):
            move = np.int64(state.moves[place])
            after = play(rules, position, move) if must_play_to_hint(rules) else position
            state.priorities[place] = np.int32(hint(rules, position, move, after))
    for stage in range(np.int64(1) + first):
        if stage > 0:
            count = np.int64(moves_of_first_ply(rules, position, state.moves, start))
        for place in range(start, start + count):
            if stage == 0:
                bring_best_forward(state, place, start + count)
            move = np.int64(state.moves[place])
            if stage == 0 and is_pruned and stands > np.int64(0):
                most = static + (gain_of_move(rules, position, move) + np.int64(2)) * state.swing
                if most <= alpha:
                    best = max(best, most)
                    continue
            after = play(rules, position, move)
            _prefetch_score(rules, state, after)
            update(evaluator, position, move, after, state.evaluation, state.accumulators, ply)
            counters[AT.NODES] += 1
            if counters[AT.NODES] >= counters[AT.NEXT_POLL] and must_stop(state):
                return best
            score = np.int64(0)
            if not is_drawn_by_rule(rules, after):
                score = -settle(rules, evaluator, state, after, ply + np.int64(1), -beta, -alpha, np.int64(0))
            if counters[AT.STOPPED] != 0:
                return best
            best = max(best, score)
            if best >= beta:
                return best
            alpha = max(alpha, best)
    return best


def _settled(rules: Any, evaluator: Any, state: Any, position: Any, ply: Any, alpha: Any, beta: Any) -> Any:
    return settle(rules, evaluator, state, position, ply, alpha, beta, np.int64(1))


def _unsettled(rules: Any, evaluator: Any, state: Any, position: Any, ply: Any, alpha: Any, beta: Any) -> Any:
    return static_value(rules, evaluator, state, position, ply)


leaf_value = by_presence("tactical_moves", _settled, _unsettled, np.int64)
"""Score at depth 0."""


def listed(rules: Any, state: Any, position: Any, start: Any) -> Any:
    """Write the legal moves; returns how many there are."""
    return np.int64(legal_moves(rules, position, state.moves, start))


def _without_excluded(state: Any, start: Any, count: Any) -> Any:
    """Drop the excluded moves at the root."""
    moves = state.moves
    kept = start
    for place in range(start, start + count):
        move = moves[place]
        if state.excluded[move] == 0:
            moves[kept] = move
            kept += np.int64(1)
    return kept - start


@kept
def score_by_table(rules: Any, state: Any, position: Any, ply: Any, depth: Any, count: Any, beta: Any) -> Any:
    """Find a move that the table knows to reach ``beta`` (enhanced transposition cut-off, Schaeffer and Plaat 1996).

    Returns the score of such a move, a lower bound on that of the position, or the least number where there is none.
    """
    start = ply * state.max_moves
    # Each bucket is asked for while the next three moves are played: memory takes as long as that.
    first, second, third = np.uint64(0), np.uint64(0), np.uint64(0)
    for place in range(start, start + count + np.int64(_AHEAD)):
        key = first
        first, second = second, third
        if place < start + count:
            third = np.uint64(stored_key(rules, play(rules, position, np.int64(state.moves[place]))))
            prefetch_bucket(state.table, state.table_mask, third)
        if place < start + np.int64(_AHEAD):
            continue
        known = find_entry(state.table, state.table_mask, state.counters[AT.ERA], key)
        if known == np.uint64(0) or entry_bound(known) & np.int64(UPPER_BOUND) == np.int64(0):
            continue
        score = -entry_score(known)
        if score < beta or abs(score) > state.proven:
            continue
        move = np.int64(state.moves[place - np.int64(_AHEAD)])
        after = play(rules, position, move)
        below = depth - np.int64(1) + extra_plies(rules, position, move, after)
        if (
            entry_depth(known) >= below
            and not is_repetition(rules, state, after, ply + np.int64(1))
            and not is_drawn_by_rule(rules, after)
        ):
            return score
    return -state.infinity


def _set_priorities(
    rules: Any, evaluator: Any, state: Any, position: Any, ply: Any, depth: Any, start: Any, count: Any
) -> None:
    """Say in which order to search moves of a node: by static scores far from the leaves, else by what cut off."""
    first_killer = ply * np.int64(KILLERS)
    for place in range(start, start + count):
        move = np.int64(state.moves[place])
        priority = np.int64(0)
        if depth >= state.hint_depth:
            after = position
            if must_play_to_hint(rules) or depth >= state.order_depth:
                after = play(rules, position, move)
            priority += hint(rules, position, move, after) * _HINT_UNIT
            if depth >= state.order_depth:
                update(evaluator, position, move, after, state.evaluation, state.accumulators, ply)
                static = static_value(rules, evaluator, state, after, ply + np.int64(1))
                priority -= min(max(static, -state.limit), state.limit) * _STATIC_RANGE // state.limit
        if depth < state.order_depth:
            priority += history_of(state, ply, move)
            if move == state.killers[first_killer]:
                priority += state.killer_hint * _HINT_UNIT
            elif move == state.killers[first_killer + np.int64(1)]:
                priority += (state.killer_hint - np.int64(1)) * _HINT_UNIT
        state.priorities[place] = np.int32(priority)


def _brings_forward(state: Any, move: Any, start: Any, count: Any) -> bool:
    """Exchange the first of the moves for the given one, if that is among them."""
    moves = state.moves
    for place in range(start, start + count):
        if moves[place] == move:
            moves[place] = moves[start]
            moves[start] = move
            return True
    return False


def bring_best_forward(state: Any, place: Any, end: Any) -> None:
    """Exchange the move at ``place`` for the first of the best ones from there on."""
    priorities = state.priorities
    best = place
    for other in range(place + np.int64(1), end):
        if priorities[other] > priorities[best]:
            best = other
    if best != place:
        moves = state.moves
        move, priority = moves[best], priorities[best]
        moves[best], priorities[best] = moves[place], priorities[place]
        moves[place], priorities[place] = move, priority


def _note_variation(state: Any, ply: Any, move: Any) -> None:
    """Principal variation of a node: a move and the variation behind it."""
    variations = state.variations
    lengths = state.variation_lengths
    below = np.int64(lengths[ply + np.int64(1)])
    row = ply * np.int64(PLIES)
    variations[row] = move
    for place in range(below):
        variations[row + np.int64(1) + place] = variations[row + np.int64(PLIES) + place]
    lengths[ply] = below + np.int64(1)


def _store(state: Any, key: Any, ply: Any, depth: Any, score: Any, move: Any, alpha: Any, beta: Any) -> None:
    """Keep in the table what a search found, certain wins counted from its own position."""
    bound = np.int64(LOWER_BOUND + UPPER_BOUND)
    if score >= beta:
        bound = np.int64(LOWER_BOUND)
    elif score <= alpha:
        bound = np.int64(UPPER_BOUND)
    if score > state.proven:
        score += ply
    elif score < -state.proven:
        score -= ply
    data = pack_entry(state.counters[AT.ERA], score, move, depth, bound, state.counters[AT.AGE])
    store_entry(state.table, state.table_mask, key, data)


def negascout(
    rules: Any,
    evaluator: Any,
    state: Any,
    position: Any,
    ply: np.int64,
    depth: np.int64,
    alpha: np.int64,
    beta: np.int64,
) -> Any:
    """Search a position (Reinefeld 1983, An Improvement to the Scout Tree-Search Algorithm; fail-soft).

    Parameters
    ----------
    rules, evaluator
        The game's ``Game.search_rules`` and the evaluator's operations.
    state
        :class:`~glem.core.search.state.SearchState`, borrowed where this is compiled; the accumulator of ``ply`` is
        filled.
    position
        The position at ``ply``.
    ply
        Distance from the root, at most ``PLIES - 1``.
    depth
        Plies to search, at most :data:`~glem.core.search.table.GREATEST_DEPTH`.
    alpha, beta
        Window, ``alpha < beta``.

    Returns
    -------
    int64
        See the module. Without meaning once ``state.counters[AT.STOPPED]`` is set.
    """
    counters = state.counters
    counters[AT.NODES] += 1
    if counters[AT.NODES] >= counters[AT.NEXT_POLL] and must_stop(state):
        return np.int64(0)
    is_open = beta - alpha > np.int64(1)
    if is_open:
        state.variation_lengths[ply] = 0
    if is_repetition(rules, state, position, ply) or (ply > np.int64(0) and is_drawn_by_rule(rules, position)):
        return np.int64(0)
    uses_table = depth >= state.table_depth
    if (depth <= np.int64(0) and not uses_table) or ply == np.int64(PLIES - 1):
        if ply > counters[AT.DEEPEST]:
            counters[AT.DEEPEST] = ply
        return leaf_value(rules, evaluator, state, position, ply, alpha, beta)

    table_move = np.int64(-1)
    known_score, known_bound, known_depth = np.int64(0), np.int64(0), np.int64(0)
    left_out = np.int64(state.left_out[ply])
    key = np.uint64(0)
    if uses_table:
        key = stored_key(rules, position)
        known = find_entry(state.table, state.table_mask, counters[AT.ERA], key)
        if known != np.uint64(0):
            table_move = entry_move(known)
            score = entry_score(known)
            if abs(score) < state.limit:
                known_score, known_bound, known_depth = score, entry_bound(known), entry_depth(known)
            if not is_open and ply > np.int64(0) and entry_depth(known) >= depth and left_out < np.int64(0):
                if score > state.proven:
                    score -= ply
                elif score < -state.proven:
                    score += ply
                bound = entry_bound(known)
                if (bound & np.int64(LOWER_BOUND) and score >= beta) or (
                    bound & np.int64(UPPER_BOUND) and score <= alpha
                ):
                    return score

    if depth <= np.int64(0):
        if ply > counters[AT.DEEPEST]:
            counters[AT.DEEPEST] = ply
        score = leaf_value(rules, evaluator, state, position, ply, alpha, beta)
        if counters[AT.STOPPED] == 0:
            _store(state, key, ply, np.int64(0), score, table_move, alpha, beta)
        return score

    static = -state.infinity
    improves: Any = False
    is_pruned: Any = state.prunes != np.int64(0) and ply > np.int64(0)
    if is_pruned and standing(rules, position) > np.int64(0):
        static = static_score_at(rules, evaluator, state, position, ply)
        improves = ply > np.int64(1) and static > state.statics[ply - np.int64(2)]
    state.statics[ply] = static
    if is_open or left_out >= np.int64(0) or abs(beta) >= state.limit:
        static = -state.infinity
    if static > -state.infinity:
        if known_bound & (np.int64(LOWER_BOUND) if known_score > static else np.int64(UPPER_BOUND)):
            static = known_score
        margin = futile_margin(state, depth - np.int64(improves))
        if depth <= FUTILE_DEPTH and state.swing > np.int64(0) and static - margin >= beta:
            return static
        if depth >= NULL_DEPTH and static >= beta and counters[AT.PASSED] != ply and may_pass(rules, position):
            other = passed(rules, position)
            update(evaluator, position, np.int64(NULL_MOVE), other, state.evaluation, state.accumulators, ply)
            before = counters[AT.PASSED]
            counters[AT.PASSED] = ply + np.int64(1)
            state.path[ply + np.int64(2)] = NULL_MOVE
            below = plies_without(state, depth, static - beta)
            score = -negascout(rules, evaluator, state, other, ply + np.int64(1), below, -beta, -beta + np.int64(1))
            counters[AT.PASSED] = before
            if counters[AT.STOPPED] != 0:
                return np.int64(0)
            if score >= beta:
                # A win that begins with a pass is none.
                return score if score <= state.proven else beta
    if is_pruned and depth > REDUCED_DEPTH and table_move < np.int64(0):
        # Without a move that is known to be good, a shallower search is as good a start.
        depth -= np.int64(1)
    extra_of_best = np.int64(0)
    if (
        is_pruned
        and depth >= SINGULAR_DEPTH
        and table_move >= np.int64(0)
        and left_out < np.int64(0)
        and known_depth >= depth - np.int64(3)
        and known_bound & np.int64(LOWER_BOUND)
    ):
        least = singular_bound(state, depth, known_score)
        state.left_out[ply] = table_move
        below = (depth - np.int64(1)) // np.int64(2)
        score = np.int64(negascout(rules, evaluator, state, position, ply, below, least - np.int64(1), least))
        state.left_out[ply] = -1
        if counters[AT.STOPPED] != 0:
            return np.int64(0)
        if score < least:
            extra_of_best = np.int64(1)
        elif not is_open and least >= beta and score < state.limit:
            # Two moves reach the bound in shallower searches.
            return least

    if (
        not is_open
        and ply > np.int64(0)
        and depth < state.selectivity.depth_count
        and abs(beta) < state.limit
        and not is_over_at_leaf(rules, position)
    ):
        parameters = state.selectivity
        first = (np.int64(search_phase(evaluator, position)) * parameters.depth_count + depth) * np.int64(CHECKS)
        is_high: Any = False
        if parameters.check_depths[first] >= np.int64(0):
            # The static score says which of the two bounds is worth a check.
            is_high = static_score_at(rules, evaluator, state, position, ply) >= beta
        for check in range(first, first + np.int64(CHECKS)):
            check_depth = parameters.check_depths[check]
            if check_depth < np.int64(0):
                break
            margin = parameters.threshold * parameters.deviations[check] * (1.0 + MARGIN_WIDENING * counters[AT.BEYOND])
            if is_high:
                needed = np.int64(np.ceil((beta + margin - parameters.offsets[check]) / parameters.slopes[check]))
                lower = needed - np.int64(1)
            else:
                needed = np.int64(np.floor((alpha - margin - parameters.offsets[check]) / parameters.slopes[check]))
                lower = needed
            if abs(needed) > state.limit:
                continue
            score = negascout(rules, evaluator, state, position, ply, check_depth, lower, lower + np.int64(1))
            if counters[AT.STOPPED] != 0:
                return np.int64(0)
            if is_high and score >= needed:
                return beta
            if not is_high and score <= needed:
                return alpha

    start = ply * state.max_moves
    count = listed(rules, state, position, start)
    if count == np.int64(0):
        return final_value(rules, state, position, ply)
    if ply == np.int64(0):
        count = _without_excluded(state, start, count)
        table_move = counters[AT.FIRST_MOVE]
    step = np.int64(1)
    is_known: Any = False
    if count == np.int64(1):
        if state.moves[start] == state.pass_move:
            step = np.int64(0)
    else:
        if not is_open and ply > np.int64(0) and uses_table and depth >= state.cutoff_depth and left_out < np.int64(0):
            score = score_by_table(rules, state, position, ply, depth, count, beta)
            if score >= beta:
                return score
        is_known = _brings_forward(state, table_move, start, count)
        if not is_known:
            _set_priorities(rules, evaluator, state, position, ply, depth, start, count)

    best = -state.infinity
    best_move = np.int64(-1)
    highest = alpha
    is_rest_left_out: Any = False
    for place in range(start, start + count):
        if place == start + np.int64(1) and is_known:
            _set_priorities(rules, evaluator, state, position, ply, depth, place, count - np.int64(1))
        if not is_rest_left_out and (place > start or not is_known):
            bring_best_forward(state, place, start + count)
        move = np.int64(state.moves[place])
        if move == left_out:
            continue
        late = place - start
        reduction = np.int64(0)
        if state.prunes != np.int64(0) and late > np.int64(0) and is_quiet_move(rules, position, move):
            may_be_left_out: Any = static > -state.infinity and best > -state.proven
            if may_be_left_out and depth <= LATE_DEPTH and late > most_moves(depth, improves):
                # It is taken to be no better than what there is already, as are all quiet moves behind it.
                is_rest_left_out = True
                best = max(best, alpha)
                continue
            reduction = reduction_of(state, ply, depth, late, move) - np.int64(is_open)
            if static > -state.infinity and not improves:
                reduction += np.int64(1)
            near = max(depth - max(reduction, np.int64(0)), np.int64(1))
            if may_be_left_out and (
                (
                    near <= FUTILE_DEPTH
                    and state.swing > np.int64(0)
                    and static + futile_margin(state, near) + state.swing // np.int64(2) <= alpha
                )
                or (depth <= LOSING_DEPTH and is_losing_move(rules, position, move))
            ):
                best = max(best, alpha)
                continue
        after = play(rules, position, move)
        if depth > state.table_depth:
            prefetch_bucket(state.table, state.table_mask, stored_key(rules, after))
        _prefetch_score(rules, state, after)
        state.path[ply + np.int64(2)] = move
        update(evaluator, position, move, after, state.evaluation, state.accumulators, ply)
        extra = extra_plies(rules, position, move, after)
        if move == table_move:
            extra = max(extra, extra_of_best)
        below = min(depth - step + extra, np.int64(GREATEST_DEPTH))
        reduction = max(min(reduction, below - np.int64(1)), np.int64(0))
        if place > start and depth < state.selectivity.depth_count:
            reduction = state.selectivity.reductions[depth * np.int64(LATEST + 1) + min(late, np.int64(LATEST))]
        is_scouted = place > start and (is_open or reduction > np.int64(0))
        score = highest + np.int64(1)
        if is_scouted:
            score = -negascout(
                rules, evaluator, state, after, ply + np.int64(1), below - reduction, -highest - np.int64(1), -highest
            )
        if not is_scouted or (
            score > highest and (score < beta or reduction > np.int64(0)) and counters[AT.STOPPED] == 0
        ):
            score = -negascout(rules, evaluator, state, after, ply + np.int64(1), below, -beta, -highest)
        if counters[AT.STOPPED] != 0:
            return best
        if score > best:
            best = score
            best_move = move
            if ply == np.int64(0):
                counters[AT.BEST_MOVE] = move
            if score > highest:
                highest = score
                if is_open:
                    if score >= beta:
                        # The refuted side has no best answer; what stands there is another move's variation.
                        state.variation_lengths[ply + np.int64(1)] = 0
                    _note_variation(state, ply, move)
                if score >= beta:
                    takes: Any = (
                        state.prunes != np.int64(0)
                        and not is_quiet_move(rules, position, move)
                        and is_taking_move(rules, position, move)
                    )
                    note_cutoff(state, ply, depth, start, place, takes)
                    break

    if uses_table and ply > np.int64(0) and left_out < np.int64(0):
        if best <= alpha:
            # All moves have upper bounds alone, which do not tell a best one.
            best_move = table_move
        _store(state, key, ply, depth, best, best_move, alpha, beta)
    return best
