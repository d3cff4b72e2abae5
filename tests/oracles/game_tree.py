"""Values of positions by naive recursion over the tree of all games."""

import math
from collections import defaultdict
from typing import Any, NamedTuple

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from tests.oracles.positions import smallest_image

Key = Any


def negamax(
    successors: dict[Key, list[Key]],
    node: Key,
    result: dict[Key, float],
    exact: dict[Key, float],
    alternative: dict[Key, float],
    found: dict[Key, float] | None = None,
) -> float:
    """Value of a node, nan if nothing is known of it; ``found`` remembers those of nodes met before."""
    found = {} if found is None else found
    if node in exact:
        return exact[node]
    if node not in found:
        children = successors.get(node, [])
        examined = [-negamax(successors, child, result, exact, alternative, found) for child in children]
        examined.append(alternative.get(node, math.nan))
        known = [value for value in examined if not math.isnan(value)]
        found[node] = max(known) if known else result.get(node, math.nan)
    return found[node]


def without_returns(successors: dict[Key, list[Key]], ply: dict[Key, int]) -> dict[Key, list[Key]]:
    """Leave out the arcs of circles that lead to no later ply."""

    def reaches(start: Key, goal: Key) -> bool:
        seen, waiting = set(), [start]
        while waiting:
            node = waiting.pop()
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                waiting.extend(successors.get(node, []))
        return False

    return {
        node: [child for child in children if ply[child] > ply[node] or not reaches(child, node)]
        for node, children in successors.items()
    }


class Tree(NamedTuple):
    """What the games say: successors, results, exact values, and the key of every position of every game."""

    successors: dict[Key, list[Key]]
    result: dict[Key, float]
    exact: dict[Key, float]
    keys: list[list[Key]]


def tree_of(game: Game, records: GameRecords) -> Tree:
    """Replay all games by the plain rules; every game must end properly or stop early."""
    successors: dict[Key, list[Key]] = defaultdict(list)
    results: dict[Key, list[float]] = defaultdict(list)
    exact: dict[Key, float] = {}
    keys = []
    for number in range(len(records)):
        position, side, made = game.initial_position, 1, 0
        pending = [int(move) for move in records.moves_of(number)]
        path: list[Key] = []
        while True:
            key = smallest_image(game, position, symmetries=True)
            if path:
                successors[path[-1]].append(key)
            path.append(key)
            if made == records.theoretical_ply[number]:
                exact[key] = side * float(records.theoretical_score[number])
            legal = game.list_legal_moves(position)
            if not legal:
                results[key].append(game.final_score(position))
                break
            if not pending:
                break
            if pending[0] in legal:
                move = pending.pop(0)
                made += move != game.pass_move
            else:
                assert legal == [game.pass_move]
                move = legal[0]
            position, side = game.play(position, move), -side
        keys.append(path)
    means = {key: sum(values) / len(values) for key, values in results.items()}
    return Tree(dict(successors), means, exact, keys)
