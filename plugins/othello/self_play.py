"""Quick Othello games for the embedded sample: random openings, a shallow search, a perfectly played end.

The player is deliberately small: it is there so that glem can learn something without any input. Strength
differs from game to game and from side to side, because a training set needs mistakes and opponents who exploit
them (GLEM, section 3).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import compiled, mix, popcount
from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.games.othello.rules import INITIAL_POSITION, Position, final_score, flips, mobility
from glem.plugins.othello.features import neighbours

__all__ = ["exact_score", "play_games"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_CORNERS = np.uint64(0x8100000000000081)
_X_SQUARES = np.uint64(0x0042000000004200)
_C_SQUARES = np.uint64(0x4281000000008142)

_LONGEST_GAME = 60
_FEWEST_RANDOM_MOVES = 4
_RANDOM_MOVES_RANGE = 8
_SHALLOWEST = 2
_DEEPEST = 6
_USUAL_NOISE = 5
_CARELESS_NOISE = 40
_INFINITE = np.int64(1 << 20)
_GAMES_A_BATCH = 32
_SORTED_FROM = 5
_STACK = 64 * 40


def _sort_moves(own: np.uint64, opponent: np.uint64, moves: np.uint64, stack: Any, start: np.int64) -> np.int64:
    """Write moves to the stack from ``start`` on, those that leave the opponent the fewest first; return the end."""
    end = start
    while moves != _ZERO:
        disc = moves & (~moves + _ONE)
        moves ^= disc
        square: Any = np.int64(popcount(disc - _ONE))
        flipped = flips(own, opponent, square)
        replies = mobility(opponent ^ flipped, own | flipped | disc)
        # A reply in a corner counts twice.
        key = (np.int64(popcount(replies)) + np.int64(popcount(replies & _CORNERS))) * np.int64(64) + square
        place = end
        while place > start and stack[place - 1] > key:
            stack[place] = stack[place - 1]
            place -= 1
        stack[place] = key
        end += 1
    return end


def _solve(
    own: np.uint64, opponent: np.uint64, alpha: np.int64, beta: np.int64, stack: Any, start: np.int64
) -> np.int64:
    """Find the final score with best play, fail-soft: exact inside the window, else a bound on that side."""
    moves = mobility(own, opponent)
    if moves == _ZERO:
        if mobility(opponent, own) == _ZERO:
            return np.int64(final_score(Position(own, opponent)))
        return -_solve(opponent, own, -beta, -alpha, stack, start)
    best = -_INFINITE
    if popcount(~(own | opponent)) < _SORTED_FROM:
        while moves != _ZERO:
            disc = moves & (~moves + _ONE)
            moves ^= disc
            flipped = flips(own, opponent, popcount(disc - _ONE))
            score = -_solve(opponent ^ flipped, own | flipped | disc, -beta, -max(alpha, best), stack, start)
            best = max(best, score)
            if best >= beta:
                break
        return best
    end = _sort_moves(own, opponent, moves, stack, start)
    for place in range(start, end):
        square = stack[place] & np.int64(63)
        flipped = flips(own, opponent, square)
        disc = _ONE << np.uint64(square)
        score = -_solve(opponent ^ flipped, own | flipped | disc, -beta, -max(alpha, best), stack, end)
        best = max(best, score)
        if best >= beta:
            break
    return best


def _side_value(discs: np.uint64, moves: np.uint64, empty: np.uint64) -> np.int64:
    """Corners are worth ten moves; squares beside an empty corner cost some."""
    open_corners = neighbours(empty & _CORNERS)
    value = np.int64(10 * popcount(moves)) + np.int64(15 * popcount(moves & _CORNERS))
    value += np.int64(100 * popcount(discs & _CORNERS))
    value -= np.int64(45 * popcount(discs & _X_SQUARES & open_corners))
    value -= np.int64(12 * popcount(discs & _C_SQUARES & open_corners))
    value -= np.int64(3 * popcount(empty & neighbours(discs)))
    return value


def _search(
    own: np.uint64, opponent: np.uint64, depth: np.int64, alpha: np.int64, beta: np.int64, stack: Any, start: np.int64
) -> np.int64:
    """Alpha-beta search with :func:`_side_value` at the leaves, in tenths of a move."""
    moves = mobility(own, opponent)
    replies = mobility(opponent, own)
    if moves == _ZERO and replies == _ZERO:
        return np.int64(1000 * final_score(Position(own, opponent)))
    if depth == np.int64(0):
        empty = ~(own | opponent)
        return _side_value(own, moves, empty) - _side_value(opponent, replies, empty)
    if moves == _ZERO:
        return -_search(opponent, own, depth - np.int64(1), -beta, -alpha, stack, start)
    end = _sort_moves(own, opponent, moves, stack, start)
    best = -_INFINITE
    for place in range(start, end):
        square = stack[place] & np.int64(63)
        flipped = flips(own, opponent, square)
        disc = _ONE << np.uint64(square)
        score = -_search(
            opponent ^ flipped, own | flipped | disc, depth - np.int64(1), -beta, -max(alpha, best), stack, end
        )
        best = max(best, score)
        if best >= beta:
            break
    return best


def _choose(
    own: np.uint64, opponent: np.uint64, moves: np.uint64, depth: np.int64, noise: np.int64, key: np.uint64, stack: Any
) -> np.int64:
    """Choose a move by searching ``depth`` plies, each move misjudged by up to ``noise``; depth 0 solves to the end."""
    end = _sort_moves(own, opponent, moves, stack, np.int64(0))
    best = -_INFINITE
    chosen = np.int64(0)
    for place in range(np.int64(0), end):
        square = stack[place] & np.int64(63)
        flipped = flips(own, opponent, square)
        disc = _ONE << np.uint64(square)
        if depth == np.int64(0):
            score = -_solve(opponent ^ flipped, own | flipped | disc, -_INFINITE, -best, stack, end)
        else:
            error = np.int64(mix(key + np.uint64(square)) >> np.uint64(40)) % (noise + np.int64(1))
            score = error - _search(
                opponent ^ flipped, own | flipped | disc, depth - np.int64(1), -_INFINITE, error - best, stack, end
            )
        if score > best:
            best = score
            chosen = square
    return chosen


def _play_game(key: np.uint64, solved_empties: np.int64, stack: Any, moves: Any) -> tuple[np.int64, np.int64]:
    """Play one game that ``key`` determines; write its moves without passes, return their number and black's score."""
    own = INITIAL_POSITION.own
    opponent = INITIAL_POSITION.opponent
    random_moves = np.int64(_FEWEST_RANDOM_MOVES) + np.int64(mix(key) % np.uint64(_RANDOM_MOVES_RANGE))
    # One side searches deeply; the other at a depth drawn for the game, and carelessly in one game of four.
    strong = np.int64(mix(key + _ONE) & _ONE)
    depths = np.uint64(_DEEPEST - _SHALLOWEST + 1)
    weak_depth = np.int64(_SHALLOWEST) + np.int64(mix(key + np.uint64(2)) % depths)
    weak_noise = np.int64(_CARELESS_NOISE if mix(key + np.uint64(3)) & np.uint64(3) == _ZERO else _USUAL_NOISE)
    side = np.int64(0)
    count = np.int64(0)
    square: Any
    while True:
        legal = mobility(own, opponent)
        if legal == _ZERO:
            if mobility(opponent, own) == _ZERO:
                break
            own, opponent = opponent, own
            side = np.int64(1) - side
            continue
        move_key = mix(key ^ mix(np.uint64(count) + np.uint64(16)))
        if count < random_moves:
            skipped = np.int64(move_key % np.uint64(popcount(legal)))
            for _ in range(skipped):
                legal &= legal - _ONE
            square = np.int64(popcount((legal & (~legal + _ONE)) - _ONE))
        else:
            depth = np.int64(_DEEPEST) if side == strong else weak_depth
            noise = np.int64(_USUAL_NOISE) if side == strong else weak_noise
            if popcount(~(own | opponent)) <= solved_empties:
                depth = np.int64(0)
            square = _choose(own, opponent, legal, depth, noise, move_key, stack)
        moves[count] = square
        count += np.int64(1)
        flipped = flips(own, opponent, square)
        disc = _ONE << np.uint64(square)
        own, opponent = opponent ^ flipped, own | flipped | disc
        side = np.int64(1) - side
    score = np.int64(final_score(Position(own, opponent)))
    return count, score if side == np.int64(0) else -score


def _play_games(
    seed: np.uint64, first: np.int64, solved_empties: np.int64, stack: Any, moves: Any, lengths: Any, scores: Any
) -> None:
    for game in range(len(lengths)):
        key = mix(mix(seed) + np.uint64(first + game))
        lengths[game], scores[game] = _play_game(key, solved_empties, stack, moves[game])


def play_games(games: int, seed: int, *, solved_empties: int = 14, jobs: int = 1) -> GameRecords:
    """Play games: 4 to 11 random moves, searches of 2 to 6 plies, best moves from ``solved_empties`` empties on.

    The final score is therefore the exact value of all positions with at most ``solved_empties`` empty squares.

    Parameters
    ----------
    games
        Number of games.
    seed
        Game ``i`` depends on the seed and on ``i`` alone.
    solved_empties
        From how many empty squares on both sides play perfectly; each more costs three times the time.
    jobs
        Number of threads; the games do not depend on it.

    Raises
    ------
    BadInputError
        A negative number of games, or more empties than can be solved in reasonable time.
    """
    if games < 0 or not 0 <= solved_empties <= 20:
        raise BadInputError(f"cannot play {games} games solved from {solved_empties} empties on (at most 20)")
    lengths = np.zeros(games, np.int64)
    scores = np.zeros(games, np.int64)
    moves = np.zeros((games, _LONGEST_GAME), np.uint8)
    play = compiled(_play_games)

    def play_batch(first: int) -> None:
        batch = slice(first, min(first + _GAMES_A_BATCH, games))
        stack = np.zeros(_STACK, np.int64)
        play(
            np.uint64(seed % (1 << 64)),
            np.int64(first),
            np.int64(solved_empties),
            stack,
            moves[batch],
            lengths[batch],
            scores[batch],
        )

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(play_batch, range(0, games, _GAMES_A_BATCH)))
    offsets = np.zeros(games + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    written = np.arange(_LONGEST_GAME) < lengths[:, np.newaxis]
    return GameRecords.from_moves(moves[written], offsets, scores.astype(np.float32), source="self-play")


def exact_score(position: Position) -> int:
    """Solve a position: final score with best play for the side to move; takes long above about 14 empty squares."""
    stack: NDArray[np.int64] = np.zeros(_STACK, np.int64)
    return int(compiled(_solve)(position.own, position.opponent, np.int64(-64), np.int64(64), stack, np.int64(0)))
