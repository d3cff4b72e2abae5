"""What a game of OpenSpiel gives to learning, made of the observations that OpenSpiel itself offers to learners."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game
from glem.plugins.open_spiel.observations import COUNTS, MOVER, cell_name, observations_of

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.features.evaluators import Evaluator

_MOST_ENTRIES = 50_000
_LONGEST_LINE = 8
_SHORTEST_LINE = 3
_MOST_PAIRS = 2000
_WINDOWS = (2, 3)

Patterns = dict[str, tuple[str, ...]]


def open_spiel_learning(game: Game) -> Learning:
    """Make features, phases and patterns of a wrapped game.

    Each cell of a board is a feature; its values are the combinations of planes that occur there, as the player to
    move observes them. Where the observation is no board, each of its entries is a feature. One more feature is the
    player to move; and the cells of each value are counted, which is material in many games: the counts enter linearly,
    and are a baseline. The pattern set ``lines`` has rows, columns and diagonals, ``windows`` squares of 2 x 2 and
    3 x 3 cells; where there is no board, ``pairs`` has neighbouring entries. Each pattern knows who is to move, since
    the two players' aims need not be alike. Phases are thirds of a random game's usual length.

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
    counts = tuple(feature.name for feature in features if feature.group == COUNTS)
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
        linear=counts,
        baselines={"constant": (), **({COUNTS: counts} if counts else {})},
        label_unit="points",
        make_evaluator=_make_evaluator,
    )


def _make_evaluator(evaluation: LinearEvaluation) -> Evaluator:
    # Imported late: the rules do without it.
    from glem.core.evaluation.integers.recomputing import recomputing_evaluator

    return recomputing_evaluator(evaluation, plain=True)


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


def _cells(board: tuple[int, int]) -> NDArray[np.str_]:
    """Names of the cells' features: str [rows, columns]."""
    rows, columns = board
    return np.array([[cell_name(row, column) for column in range(columns)] for row in range(rows)])


def _lines(board: tuple[int, int], values: int) -> Patterns:
    """Rows, columns and diagonals; long ones in overlapping pieces."""
    rows, columns = board
    cells = _cells(board)
    longest = _longest(values)
    lines = {
        "row": list(cells),
        "column": list(cells.T),
        "falling": [cells.diagonal(place) for place in (*range(columns), *range(-1, -rows, -1))],
        "rising": [cells[::-1].diagonal(place) for place in range(1 - rows, columns)],
    }
    return {
        f"{direction}_{line[start]}": (MOVER, *line[start : start + longest].tolist())
        for direction, found in lines.items()
        for line in found
        if len(line) >= _SHORTEST_LINE
        for start in range(max(1, len(line) - longest + 1))
    }


def _windows(board: tuple[int, int], values: int) -> Patterns:
    cells = _cells(board)
    return {
        f"square{size}_{window[0, 0]}": (MOVER, *window.ravel().tolist())
        for size in _WINDOWS
        if 2 * values ** (size * size) <= _MOST_ENTRIES and size <= min(board)
        for row in sliding_window_view(cells, (size, size))
        for window in row
    }
