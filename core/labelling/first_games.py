"""Quick games of any game against itself, to learn from: where there is nothing yet, and by a first evaluation.

Both sides look some plies ahead and draw lots among the moves that look equal. Without an evaluation they see only how
games end there: that is chance without gross mistakes, and a result says who was better off, as in Monte Carlo search.
Where only results count, the search also proves wins and losses, which are kept with the game. The results of all games
together, propagated by negamax (:mod:`glem.core.positions.game_tree`), are the labels of the sample.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import column_of_one, position_at, store_position
from glem.core.compiling.kernels import compiled, mix
from glem.core.compiling.operations import Operations
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import blank_evaluation
from glem.core.features.evaluators import Evaluator, static_score
from glem.core.features.evaluators import start as start_evaluation
from glem.core.game.draws import OCCURRENCES
from glem.core.game.game import Game, final_score, hash_key, is_over, legal_moves, play
from glem.core.game.optional_operations import earlier_plies, is_drawn_by_rule
from glem.core.game.records import GameRecords
from glem.core.positions.game_tree import GameTree
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

_POSITIONS = 200_000
_PLAIN_POSITIONS = 4_000
_GAMES_AT_ONCE = 64
_POSITIONS_A_MOVE = 400
_DEEPEST = 6
_FINAL_UNIT = np.int64(1 << 16)
_INFINITE = np.int64(1 << 60)
_DRAWS = ("is_drawn", "reversible_plies")


def _final_value(rules: Any, position: Any, ply: np.int64) -> np.int64:
    """Value of a finished game: a win is worth more the sooner it comes, a loss the later."""
    score = np.int64(final_score(rules, position))
    return score * _FINAL_UNIT - np.int64(np.sign(score)) * ply


def _value(
    rules: Any,
    evaluation: Any,
    position: Any,
    moves: Any,
    start: np.int64,
    ply: np.int64,
    depth: np.int64,
    alpha: np.int64,
    beta: np.int64,
) -> np.int64:
    """Alpha-beta search; ``evaluation`` is that of :func:`_evaluation_of`."""
    if depth == np.int64(0):
        if is_over(rules, position):
            return _final_value(rules, position, ply)
        evaluator, data, accumulators, factor, divisor = evaluation
        start_evaluation(evaluator, position, data, accumulators, 0)
        score: np.int64 = np.int64(static_score(evaluator, position, data, accumulators, 0)) * factor // divisor
        return score
    if is_drawn_by_rule(rules, position):
        return np.int64(0)
    count = np.int64(legal_moves(rules, position, moves, start))
    if count == np.int64(0):
        return _final_value(rules, position, ply)
    best = -_INFINITE
    end = start + count
    for place in range(start, end):
        after = play(rules, position, np.int64(moves[place]))
        lower = max(alpha, best)
        value = _value(rules, evaluation, after, moves, end, ply + np.int64(1), depth - np.int64(1), -beta, -lower)
        best = max(best, -value)
        if best >= beta:
            break
    return best


def _choose(
    rules: Any, evaluation: Any, position: Any, moves: Any, count: np.int64, depth: np.int64, key: np.uint64
) -> Any:
    """Best move, and its value; lots decide between equal ones."""
    best, chosen, equal = -_INFINITE, np.int64(0), np.int64(0)
    for place in range(count):
        move = np.int64(moves[place])
        after = play(rules, position, move)
        # Moves that are as good as the best so far must be told from worse ones.
        lower = best - np.int64(1)
        value = -_value(rules, evaluation, after, moves, count, np.int64(1), depth - np.int64(1), -_INFINITE, -lower)
        if value > best:
            best, chosen, equal = value, move, np.int64(1)
        elif value == best:
            equal += np.int64(1)
            if mix(key + np.uint64(place)) % np.uint64(equal) == np.uint64(0):
                chosen = move
    return chosen, best


def _is_drawn(rules: Any, position: Any, keys: Any, length: np.int64) -> bool:
    """Whether the game ends in a draw here, as :mod:`glem.core.game.draws` has it; notes the position's key."""
    key = hash_key(rules, position)
    keys[length] = key
    if is_drawn_by_rule(rules, position):
        return True
    occurrences = np.int64(1)
    for place in range(length - np.int64(2), max(length - earlier_plies(rules, position), np.int64(0)) - 1, -2):
        occurrences += np.int64(keys[place] == key)
    return bool(occurrences >= np.int64(OCCURRENCES))


def _play_games(
    rules: Any,
    evaluation: Any,
    initial: Any,
    current: Any,
    keys: Any,
    key: np.uint64,
    depth: np.int64,
    random_plies: np.uint64,
    random_moves: np.uint64,
    buffer: Any,
    played: Any,
    lengths: Any,
    scores: Any,
    proven_plies: Any,
    proven_scores: Any,
) -> np.int64:
    """Play a game into each row of ``played``, scores for the first player; return the number of legal moves seen.

    Each game begins with up to ``random_plies`` random moves; later ones are ``random_moves`` of 2**16.
    """
    seen = np.int64(0)
    for game in range(len(lengths)):
        game_key = mix(key + np.uint64(game))
        store_position(current, 0, position_at(initial, 0))
        side = np.int64(1)
        length = np.int64(0)
        opening = np.int64(mix(game_key + np.uint64(1)) % (random_plies + np.uint64(1)))
        while True:
            position = position_at(current, 0)
            count = np.int64(legal_moves(rules, position, buffer, np.int64(0)))
            if count == np.int64(0):
                scores[game] = side * np.int64(final_score(rules, position))
                break
            if _is_drawn(rules, position, keys, length):
                scores[game] = np.int64(0)
                break
            if length == np.int64(played.shape[1]):
                break
            seen += count
            move_key = mix(game_key ^ np.uint64(length))
            move, value = np.int64(buffer[move_key % np.uint64(count)]), np.int64(0)
            if length >= opening and (move_key >> np.uint64(48)) >= random_moves:
                move, value = _choose(rules, evaluation, position, buffer, count, depth, move_key)
            if abs(value) > _FINAL_UNIT // np.int64(2) and proven_plies[game] < 0:
                proven_plies[game] = length
                proven_scores[game] = side * np.int64(np.sign(value))
            store_position(current, 0, play(rules, position, move))
            played[game, length] = move
            length += np.int64(1)
            side = -side
        lengths[game] = length
    return seen


@cache
def _rules_of(game: Game) -> Operations:
    """Give the rules, and the operations that tell draws where the game has such."""
    draws = {name: game.search_functions[name] for name in _DRAWS if name in game.search_functions}
    return Operations(f"{game.name}-draws", {**game.rules.functions, **draws}) if draws else game.rules


def _evaluation_of(game: Game, evaluator: Evaluator) -> tuple[Any, ...]:
    """Give an evaluator as the games take it: its functions, and the factors that make its scores final values."""
    factor, divisor = _FINAL_UNIT, np.int64(round(evaluator.steps_per_unit))
    if game.greatest_score <= 1 or evaluator.result_only:
        # Any win outweighs any estimate.
        factor, divisor = _FINAL_UNIT // np.int64(2) - np.int64(1), np.int64(max(evaluator.limit, 1))
    return evaluator.operations, evaluator.data, evaluator.empty_accumulators(1), factor, divisor


def _play_batch(
    game: Game, evaluator: Evaluator, key: np.uint64, depth: int, random_plies: int, exploration: float
) -> tuple[GameRecords, int, int]:
    """Play some games; the numbers are those of their plies and of the legal moves seen."""
    count = _GAMES_AT_ONCE
    moves = np.zeros((count, game.max_plies), np.uint8 if game.move_count <= 1 << 8 else np.int16)
    lengths, scores = np.zeros(count, np.int64), np.full(count, np.nan, np.float32)
    proven_plies, proven_scores = np.full(count, -1, np.int16), np.full(count, np.nan, np.float32)
    initial, current = column_of_one(game.initial_position), game.empty_columns(1)
    keys, buffer = np.zeros(game.max_plies + 1, np.uint64), np.zeros((depth + 1) * game.max_moves, np.int32)
    rooms, found = (initial, current, keys), (moves, lengths, scores, proven_plies, proven_scores)
    evaluation, chance = _evaluation_of(game, evaluator), np.uint64(round(exploration * (1 << 16)))
    limits = np.int64(depth), np.uint64(random_plies), chance
    arguments: Any = (_rules_of(game), evaluation, *rooms, key, *limits, buffer, *found)
    seen = compiled(_play_games)(*arguments)
    if game.greatest_score > 1:
        # A forced win is not yet its greatest score.
        proven_plies[:], proven_scores[:] = -1, np.nan
    # Records leave out forced passes.
    written = np.arange(moves.shape[1]) < lengths[:, np.newaxis]
    if game.pass_move is not None:
        written &= moves != game.pass_move
    proven, exact_plies = proven_plies > 0, np.minimum(proven_plies, 0)
    exact_plies[proven] = np.cumsum(written, axis=1)[proven, proven_plies[proven] - 1]
    records = GameRecords(
        moves=moves[written],
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(written.sum(axis=1))]),
        score=scores,
        theoretical_score=proven_scores,
        theoretical_ply=exact_plies,
        source="glem's own shallow self-play",
    )
    return records, int(lengths.sum()), int(seen)


def play_games(
    game: Game,
    *,
    positions: int | None = None,
    evaluation: LinearEvaluation | None = None,
    random_plies: int = 0,
    exploration: float = 0.0,
    seed: int = 0,
    progress: Progress = SILENT,
) -> GameRecords:
    """Let a game play itself, some plies deep; equal arguments give equal games.

    Parameters
    ----------
    positions
        Positions in all games together, at least; 200,000 by default, 4,000 where the rules are not compiled.
    evaluation
        What is asked where the look ahead ends; if None, all positions are even there.
    random_plies
        Each game begins with a random number of random moves, at most so many.
    exploration
        Chance of a random move later.
    seed
        Another seed gives other games.

    Raises
    ------
    BadInputError
        The number is not positive.
    """
    if positions is not None and positions < 1:
        raise BadInputError(f"the number of positions must be at least 1, got {positions}")
    keys: NDArray[np.uint64] = np.random.default_rng(seed).integers(1 << 63, size=1 << 20).astype(np.uint64)
    # A first batch, of which only the number of moves is taken, tells how deep to look.
    evaluator = evaluator_of(blank_evaluation(game) if evaluation is None else evaluation)
    _, plies, seen = _play_batch(game, evaluator, keys[0], 1, 0, 0.0)
    is_plain = game.rules.plain_reason is not None
    wanted = positions or (_PLAIN_POSITIONS if is_plain else _POSITIONS)
    usual_moves = max(seen / max(plies, 1), 1.5)
    depth = 1 if is_plain else int(min(max(math.log(_POSITIONS_A_MOVE) / math.log(usual_moves), 1), _DEEPEST))
    parts: list[GameRecords] = []
    reached = 0
    with progress(f"{game.title} plays itself, {counted(depth, 'ply')} deep", wanted) as task:
        for key in keys[1:]:
            records, plies, _ = _play_batch(game, evaluator, key, depth, random_plies, exploration)
            parts.append(records)
            task.advance(min(plies, wanted - reached))
            reached += plies
            if reached >= wanted:
                break
    return GameRecords.concatenate(parts)


def sample_positions(
    game: Game, *, positions: int | None = None, seed: int = 0, progress: Progress = SILENT
) -> Positions:
    """Scored positions of :func:`play_games`, each with the value that all games together give it."""
    tree = GameTree.from_records(game, [play_games(game, positions=positions, seed=seed, progress=progress)])
    return tree.labelled(tree.propagate())
