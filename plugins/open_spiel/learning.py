"""Features, phases and pattern sets of a wrapped game."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game
from glem.plugins.open_spiel.observations import MOVER, cell_name, observations_of

__all__ = ["open_spiel_learning"]

_MOST_ENTRIES = 50_000
_LONGEST_LINE = 8
_SHORTEST_LINE = 3
_MOST_PAIRS = 2000
_WINDOWS = ((2, 2), (3, 3))
_DIRECTIONS = {"row": (0, 1), "column": (1, 0), "falling": (1, 1), "rising": (-1, 1)}

Patterns = dict[str, tuple[str, ...]]


def open_spiel_learning(game: Game) -> Learning:
    """Make features, phases and patterns of a wrapped game.

    Each cell of a board is a feature; its values are the combinations of planes that occur there, as the player to
    move observes them. Where the observation is no board, each of its entries is a feature. One more feature is the
    player to move. The pattern set ``lines`` has rows, columns and diagonals, ``windows`` squares of 2 x 2 and 3 x 3
    cells; where there is no board, ``pairs`` has neighbouring entries. Each pattern knows who is to move, since the two
    players' aims need not be alike. Phases are thirds of a random game's usual length.

    Parameters
    ----------
    game
        A game that :func:`~glem.games.open_spiel.open_spiel_game` made.

    Raises
    ------
    GlemError
        The game has no observation tensor.
    """
    observations = observations_of(game.name.partition(":")[2])
    features = observations.features()
    board = observations.board
    if board is None:
        sets = {"pairs": _pairs(features)}
    else:
        values = features[1].cardinality
        lines, windows = _lines(board, values), _windows(board, values)
        sets = {"lines": lines or windows, "windows": windows, "all": {**lines, **windows}}
        sets = {name: patterns for name, patterns in sets.items() if patterns}
    return Learning(
        game=game,
        features=AtomicFeatures(game, features, observations.write),
        phases=Phases(game, ("early", "middle", "late"), observations.phase_of, "thirds of a random game's length"),
        pattern_sets=sets,
        label_unit="points",
    )


def _pairs(features: tuple[AtomicFeature, ...]) -> Patterns:
    entries = features[1:]
    if len(entries) < 2:
        return {feature.name: (MOVER, feature.name) for feature in entries} or {MOVER: (MOVER,)}
    pairs = itertools.islice(itertools.pairwise(entries), _MOST_PAIRS)
    return {f"{one.name}_{other.name}": (MOVER, one.name, other.name) for one, other in pairs}


def _longest(values: int) -> int:
    """Most cells of that many values each that a table of weights takes."""
    cells = 1
    while cells < _LONGEST_LINE and 2 * values ** (cells + 1) <= _MOST_ENTRIES:
        cells += 1
    return cells


def _lines(board: tuple[int, int], values: int) -> Patterns:
    """Rows, columns and diagonals; long ones in overlapping pieces."""
    longest = _longest(values)
    return {
        f"{direction}_{start}": (MOVER, start, *rest)
        for direction, step in _DIRECTIONS.items()
        for start, *rest in _pieces(board, step, longest)
    }


def _pieces(board: tuple[int, int], step: tuple[int, int], longest: int) -> Iterator[list[str]]:
    rows, columns = board
    for row in range(rows):
        for column in range(columns):
            if 0 <= row - step[0] < rows and 0 <= column - step[1] < columns:
                continue
            line = []
            place = (row, column)
            while 0 <= place[0] < rows and 0 <= place[1] < columns:
                line.append(cell_name(*place))
                place = (place[0] + step[0], place[1] + step[1])
            if len(line) < _SHORTEST_LINE:
                continue
            for start in range(max(1, len(line) - longest + 1)):
                yield line[start : start + longest]


def _windows(board: tuple[int, int], values: int) -> Patterns:
    rows, columns = board
    return {
        f"square{height}_{cell_name(row, column)}": (
            MOVER,
            *(cell_name(row + down, column + right) for down in range(height) for right in range(width)),
        )
        for height, width in _WINDOWS
        if 2 * values ** (height * width) <= _MOST_ENTRIES
        for row in range(rows - height + 1)
        for column in range(columns - width + 1)
    }
