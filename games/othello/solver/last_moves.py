"""The last few empty squares: no lists, no hash table, squares of odd quadrants first."""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import HAS_FAST_PEXT, ONE, ZERO, kernel, pext, popcount, trailing_zeros
from glem.games.othello.single import flips_one
from glem.games.othello.solver.workspace import BONUS, NODES

_WORST = -99


@kernel(inline=True)
def final_margin(workspace: Any, own: Any, opponent: Any) -> Any:
    """Score of a finished game from the view of ``own``, in the convention of the workspace."""
    mine, theirs = np.int64(popcount(own)), np.int64(popcount(opponent))
    empties = (64 - mine - theirs) * workspace.counters[BONUS]
    margin = mine - theirs
    if margin > 0:
        return margin + empties
    if margin < 0:
        return margin - empties
    return margin


@kernel(inline=True)
def _count_turned(workspace: Any, own: Any, square: Any) -> Any:
    """Discs that the last move of the board turns: all squares but ``square`` and ``own`` are the opponent's."""
    if HAS_FAST_PEXT:
        line = np.int64(square) << 2
        places = workspace.lines[line + 3]
        row = np.int64((own >> np.uint64(square & 56)) & np.uint64(255))
        count = np.int64(workspace.turned_counts[((square & 7) << 8) | row])
        for number in range(3):
            along = pext(own, workspace.lines[line + number])
            place = (places >> np.uint64(8 * number)) & np.uint64(255)
            count += np.int64(workspace.turned_counts[np.int64((place << np.uint64(8)) | along)])
        return count
    others = ~own ^ (ONE << np.uint64(square))
    return np.int64(popcount(flips_one(own, others, square)))


@kernel(inline=True)
def last_one(workspace: Any, own: Any, square: Any) -> Any:
    """Score with one empty square, from the view of ``own``, which is to move."""
    mine = np.int64(popcount(own))
    turned = _count_turned(workspace, own, square)
    if turned != 0:
        return 2 * (mine + turned) - 62
    turned = _count_turned(workspace, ~own ^ (ONE << np.uint64(square)), square)
    if turned != 0:
        return 2 * (mine - turned) - 64
    margin = 2 * mine - 63
    bonus = workspace.counters[BONUS]
    return margin + bonus if margin > 0 else margin - bonus


@kernel(inline=True)
def _two_left(workspace: Any, own: Any, opponent: Any, alpha: Any, first: Any, second: Any) -> Any:
    """Best of the two moves; -99 if there is none. Stops at the first above ``alpha``."""
    best = _WORST
    if workspace.neighbours[first] & opponent != ZERO:
        turned = flips_one(own, opponent, first)
        if turned != ZERO:
            best = -last_one(workspace, opponent ^ turned, second)
            if best > alpha:
                return best
    if workspace.neighbours[second] & opponent != ZERO:
        turned = flips_one(own, opponent, second)
        if turned != ZERO:
            score = -last_one(workspace, opponent ^ turned, first)
            if score > best:
                best = score
    return best


@kernel
def last_two(workspace: Any, own: Any, opponent: Any, alpha: Any, empties: Any) -> Any:
    """Null-window score with two empty squares."""
    lowest = empties & (~empties + ONE)
    first, second = np.int64(trailing_zeros(lowest)), np.int64(trailing_zeros(empties ^ lowest))
    workspace.counters[NODES] += 1
    best = _two_left(workspace, own, opponent, alpha, first, second)
    if best != _WORST:
        return best
    best = _two_left(workspace, opponent, own, -alpha - 1, first, second)
    if best != _WORST:
        return -best
    return final_margin(workspace, own, opponent)


@kernel(inline=True)
def _next_square(workspace: Any, left: Any, parity: Any) -> Any:
    """Bit of the square to try next: in a quadrant with an odd number of empty squares if there is one."""
    odd = left & workspace.odd_squares[parity]
    chosen = odd if odd != ZERO else left
    return chosen & (~chosen + ONE)


@kernel(inline=True)
def _three_left(workspace: Any, own: Any, opponent: Any, alpha: Any, empties: Any, parity: Any) -> Any:
    best = _WORST
    left = empties
    while left != ZERO:
        disc = _next_square(workspace, left, parity)
        left ^= disc
        square = np.int64(trailing_zeros(disc))
        if workspace.neighbours[square] & opponent != ZERO:
            turned = flips_one(own, opponent, square)
            if turned != ZERO:
                score = -last_two(workspace, opponent ^ turned, own ^ turned ^ disc, -alpha - 1, empties ^ disc)
                if score > best:
                    best = score
                    if best > alpha:
                        return best
    return best


@kernel
def last_three(workspace: Any, own: Any, opponent: Any, alpha: Any, empties: Any, parity: Any) -> Any:
    """Null-window score with three empty squares."""
    workspace.counters[NODES] += 1
    best = _three_left(workspace, own, opponent, alpha, empties, parity)
    if best != _WORST:
        return best
    best = _three_left(workspace, opponent, own, -alpha - 1, empties, parity)
    if best != _WORST:
        return -best
    return final_margin(workspace, own, opponent)


@kernel
def last_four(workspace: Any, own: Any, opponent: Any, alpha: Any, empties: Any, parity: Any, passed: Any) -> Any:
    """Null-window score with four or more empty squares, without move lists and hash table.

    ``parity`` is the set of quadrants with an odd number of empty squares; ``passed`` is 1 after a pass.
    """
    workspace.counters[NODES] += 1
    best = _WORST
    left = empties
    fourth = np.int64(popcount(empties)) == 4
    while left != ZERO:
        disc = _next_square(workspace, left, parity)
        left ^= disc
        square = np.int64(trailing_zeros(disc))
        if workspace.neighbours[square] & opponent != ZERO:
            turned = flips_one(own, opponent, square)
            if turned != ZERO:
                after_own, after_opponent = opponent ^ turned, own ^ turned ^ disc
                rest, rest_parity = empties ^ disc, parity ^ workspace.quadrant[square]
                if fourth:
                    score = -last_three(workspace, after_own, after_opponent, -alpha - 1, rest, rest_parity)
                else:
                    score = -last_four(workspace, after_own, after_opponent, -alpha - 1, rest, rest_parity, np.int64(0))
                if score > best:
                    best = score
                    if best > alpha:
                        return best
    if best != _WORST:
        return best
    if passed != 0:
        return final_margin(workspace, own, opponent)
    best = last_four(workspace, opponent, own, -alpha - 1, empties, parity, np.int64(1))
    # After the second pass in a row the game is over, whoever looks at it.
    return -best
