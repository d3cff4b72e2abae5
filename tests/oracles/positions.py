"""Merging duplicates and labelling games, one position at a time."""

from collections import defaultdict
from typing import Any

from glem.core.game.game import Game
from glem.core.positions.replay import FINISHED
from tests.oracles.replay import replay_game


def smallest_image(game: Game, position: Any, symmetries: bool) -> tuple[int, ...]:
    assert game.transform is not None
    count = game.symmetry_count if symmetries else 1
    return min(tuple(int(part) for part in game.transform(position, symmetry)) for symmetry in range(count))


def merged(game: Game, rows: list[tuple[Any, float, float]], symmetries: bool) -> list[tuple[int, float, float, float]]:
    """First row, weighted mean label, its standard deviation and total weight of each group of equal positions."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row, (position, _label, _weight) in enumerate(rows):
        groups[smallest_image(game, position, symmetries)].append(row)
    found = []
    for members in groups.values():
        total = sum(rows[row][2] for row in members)
        mean = sum(rows[row][1] * rows[row][2] for row in members) / total
        variance = sum((rows[row][1] - mean) ** 2 * rows[row][2] for row in members) / total
        found.append((members[0], mean, variance**0.5, total))
    return found


def labelled(
    game: Game, moves: list[int], kind: str, exact_score: float | None, exact_move: int
) -> list[tuple[Any, int, float]]:
    """Position, ply and label of every position of a finished game that has a label, the last one left out.

    The moves are without passes.
    """
    played = replay_game(game, moves)
    assert played.status == FINISHED
    result = played.final_score
    labels = []
    before = 0
    for ply, (position, side, move) in enumerate(played.steps[:-1]):
        label: float | None = result
        if kind == "theoretical":
            label = exact_score if exact_score is not None and (before <= exact_move or exact_score == result) else None
        elif kind == "auto" and exact_score is not None:
            faded = max(0, before - exact_move) / max(1, len(moves) - exact_move) * 1.5
            share = max(0.0, 1.0 - faded)
            label = share * exact_score + (1 - share) * result
        if label is not None:
            labels.append((position, ply, side * label))
        before += move != game.pass_move
    return labels
