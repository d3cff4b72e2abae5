"""The value that the search must find, by trying everything: plain negamax without windows, tables or order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from glem.core.features.evaluators import Evaluator
from glem.core.game.game import Game

WIN_PLIES = 257
"""A win at the root lies so many steps outside the limit of static scores."""


def children_of(game: Game, position: Any) -> list[tuple[int, Any]]:
    """Legal moves and the positions after them."""
    return [(move, game.play(position, move)) for move in game.list_legal_moves(position)]


def _final(game: Game, evaluator: Evaluator, position: Any, ply: int) -> int:
    score = int(game.final_score(position))
    if evaluator.result_only or max(map(abs, game.score_bounds)) == 1:
        return int(np.sign(score)) * (evaluator.limit + WIN_PLIES - ply)
    return round(score * evaluator.steps_per_unit)


def static_of(evaluator: Evaluator, position: Any, rules: Any = ()) -> int:
    """Static score, from the position alone; given search functions, with the progress that they may tell of it."""
    accumulators = evaluator.empty_accumulators(1)
    evaluator.operations["start"](position, evaluator.data, accumulators, 0)
    score = int(evaluator.operations["static_score"](position, evaluator.data, accumulators, 0))
    if "progress" in rules:
        score += int(rules["progress"](position)) * evaluator.swing // 100
    return min(max(score, -evaluator.limit), evaluator.limit)


def _is_drawn(game: Game, position: Any) -> bool:
    rules = game.search_rules.functions
    return "is_drawn" in rules and bool(rules["is_drawn"](position))


def _settled(game: Game, evaluator: Evaluator, position: Any, ply: int) -> int:
    """Value at the horizon: the best of standing still and the tactical moves."""
    rules = game.search_rules.functions
    moves = np.zeros(game.max_moves, np.int32)
    count = rules["tactical_moves"](position, moves, 0) if "tactical_moves" in rules else 0
    if count == ~0 or ("no_moves_score" not in rules and game.is_over(position)):
        return _final(game, evaluator, position, ply)
    values = [static_of(evaluator, position, rules)] if count >= 0 else []
    for move in moves[: count if count >= 0 else ~count]:
        after = game.play(position, int(move))
        values.append(0 if _is_drawn(game, after) else -_settled(game, evaluator, after, ply + 1))
    return max(values)


def value_of(
    game: Game, evaluator: Evaluator, position: Any, depth: int, *, ply: int = 0, path: Sequence[Any] = ()
) -> int:
    """Minimax value of the tree that is ``depth`` plies deep; ``path`` holds the positions before this one."""
    rules = game.search_rules.functions
    if "reversible_plies" in rules and ply > 0:
        reach = min(rules["reversible_plies"](position), len(path))
        key = game.hash_key(position)
        if any(game.hash_key(path[-back]) == key for back in range(2, reach + 1, 2)):
            return 0
    if ply > 0 and _is_drawn(game, position):
        return 0
    if depth <= 0:
        return _settled(game, evaluator, position, ply)
    children = children_of(game, position)
    if not children:
        return _final(game, evaluator, position, ply)
    return max(_values_of_moves(game, evaluator, position, children, depth, ply, path).values())


def move_values(
    game: Game, evaluator: Evaluator, position: Any, depth: int, *, path: Sequence[Any] = ()
) -> dict[int, int]:
    """Value of every move at the root, from the side to move."""
    return _values_of_moves(game, evaluator, position, children_of(game, position), depth, 0, path)


def _values_of_moves(
    game: Game,
    evaluator: Evaluator,
    position: Any,
    children: list[tuple[int, Any]],
    depth: int,
    ply: int,
    path: Sequence[Any],
) -> dict[int, int]:
    rules = game.search_rules.functions
    is_pass = len(children) == 1 and children[0][0] == game.pass_move
    values = {}
    for move, after in children:
        below = depth if is_pass else depth - 1
        if "extension" in rules:
            below += rules["extension"](position, move, after)
        values[move] = -value_of(game, evaluator, after, below, ply=ply + 1, path=[*path, position])
    return values
