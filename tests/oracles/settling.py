"""Where quiescence ends, by following all of it."""

from typing import Any, NamedTuple

import numpy as np

from glem.core.features.evaluators import Evaluator
from glem.core.game.game import Game
from tests.oracles.search import WIN_PLIES, static_of


class End(NamedTuple):
    """Value from the side to move, the position whose static score it is, and how many moves lead there.

    The position is None where the game is over or drawn there.
    """

    value: int
    position: Any
    plies: int


def first_ply_of_quiescence(rules: Any, evaluator: Evaluator, position: Any, ply: int = 0) -> int:
    """Value of a position by some search functions: of tactical moves, and at ply 0 of checking moves besides."""
    moves = np.zeros(512, np.int32)
    count = rules["tactical_moves"](position, moves, 0)
    if count == ~0:
        return -(evaluator.limit + WIN_PLIES - ply)
    values = [static_of(evaluator, position, rules)] if count >= 0 else []
    count = count if count >= 0 else ~count
    if ply == 0:
        count += rules["checking_moves"](position, moves, count)
    for move in moves[:count]:
        after = rules["play"](position, int(move))
        is_drawn = rules["is_drawn"](after)
        values.append(0 if is_drawn else -first_ply_of_quiescence(rules, evaluator, after, ply + 1))
    return max(values)


def settled_end(game: Game, evaluator: Evaluator, position: Any, ply: int = 0) -> End:
    """First of the best ends: standing still, then the tactical moves in their order, then those that draw."""
    rules = game.search_rules.functions
    moves = np.zeros(game.max_moves, np.int32)
    count = rules["tactical_moves"](position, moves, 0)
    if count == ~0:
        return End(-(evaluator.limit + WIN_PLIES - ply), None, 0)
    ends = [End(static_of(evaluator, position, rules), position, 0)] if count >= 0 else []
    draws = []
    for move in moves[: count if count >= 0 else ~count]:
        after = game.play(position, int(move))
        if "is_drawn" in rules and rules["is_drawn"](after):
            draws.append(End(0, None, 1))
        else:
            value, end, plies = settled_end(game, evaluator, after, ply + 1)
            ends.append(End(-value, end, plies + 1))
    return max(ends + draws, key=lambda end: end.value)
