"""What Connect Four gives to learning: features, phases, patterns. One instance of each pattern is named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glem.core.compiling.kernels import ONE, popcount
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.games.connect_four import CONNECT_FOUR as GAME
from glem.games.connect_four import DIRECTIONS, Position, lines_of_four, playable_cells

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation


_CELLS = np.uint64(sum(0b111111 << 7 * column for column in range(7)))
_ODD_ROWS = np.uint64(sum(0b010101 << 7 * column for column in range(7)))
_BITS = np.array([7 * (cell % 7) + 5 - cell // 7 for cell in range(42)], np.uint64)
"""Bit of each cell, row by row from the top; a table, because divisions would make the loop five times as slow."""


def _winning_cells(discs: np.uint64, empty: np.uint64) -> np.uint64:
    """Empty cells that complete a line of four."""
    cells = np.uint64(0)
    for step in DIRECTIONS:
        two, three = step + step, step + step + step
        cells |= (discs << step) & (discs << two) & ((discs << three) | (discs >> step))
        cells |= (discs >> step) & (discs >> two) & ((discs >> three) | (discs << step))
    return cells & empty


def _open_lines(opponent: np.uint64) -> int:
    """Count the lines of four without an opponent's disc."""
    lines = 0
    for step in DIRECTIONS:
        lines += popcount(lines_of_four(_CELLS & ~opponent, step))
    return lines


def write_values(position: Position, values: Any) -> None:
    """Write the value of every feature of a position, in the order of the features."""
    own, opponent = position.own, position.opponent
    playable = playable_cells(position)
    empty = _CELLS & ~(own | opponent)
    for cell in range(42):
        # 1 for an own disc, 2 for an opponent's, 3 for a playable cell.
        low, high = (own | playable) >> _BITS[cell], (opponent | playable) >> _BITS[cell]
        values[cell] = (low & ONE) | ((high & ONE) << ONE)
    own_wins, opponent_wins = _winning_cells(own, empty), _winning_cells(opponent, empty)
    values[42] = popcount(own_wins & playable)
    values[43] = popcount(opponent_wins & playable)
    values[44] = popcount(own_wins & _ODD_ROWS)
    values[45] = popcount(opponent_wins & _ODD_ROWS)
    values[46] = popcount(own_wins & ~_ODD_ROWS)
    values[47] = popcount(opponent_wins & ~_ODD_ROWS)
    values[48] = popcount(empty) & 1
    values[49] = _open_lines(opponent) - _open_lines(own)


def phase_of(position: Position) -> int:
    """Six discs a phase; a full board, on which the game is over, belongs to the last one."""
    return min(popcount(position.own | position.opponent) // 6, 6)


def default_evaluation() -> LinearEvaluation:
    """Load the evaluation that comes with the game; ``docs/explanation/connect-four.md`` tells how it was made."""
    # Imported late: features and patterns do without it.
    from glem.core.evaluation.linear import LinearEvaluation

    return LinearEvaluation.load(Path(__file__).with_name("default.npz"))


_CONTENTS = ("empty", "own", "opponent", "playable")
_NAMES = [f"{column}{row}" for row in "654321" for column in "abcdefg"]
_FEATURES = (
    *(
        AtomicFeature(name, 0, 3, f"Content of {name} from the side to move's view.", _CONTENTS, cell, "cells")
        for cell, name in enumerate(_NAMES)
    ),
    AtomicFeature("wins", 0, 7, "Moves that complete four in a row.", group="threats"),
    AtomicFeature("opponent_wins", 0, 7, "Moves by which the opponent would complete four in a row.", group="threats"),
    AtomicFeature("odd_threats", 0, 21, "Empty cells of rows 1, 3, 5 that complete an own four.", group="threats"),
    AtomicFeature("opponent_odd_threats", 0, 21, "The same for the opponent's fours.", group="threats"),
    AtomicFeature("even_threats", 0, 21, "Empty cells of rows 2, 4, 6 that complete an own four.", group="threats"),
    AtomicFeature("opponent_even_threats", 0, 21, "The same for the opponent's fours.", group="threats"),
    AtomicFeature("parity", 0, 1, "Parity of the number of empty cells.", ("even", "odd"), group="parity"),
    AtomicFeature("lines", -69, 69, "Possible lines of four through own discs, less the opponent's.", group="lines"),
)
_MIRROR = [cell + 6 - 2 * (cell % 7) for cell in range(42)]

CONNECT_FOUR = Learning(
    game=GAME,
    features=AtomicFeatures(
        game=GAME,
        features=_FEATURES,
        write=write_values,
        symmetries=np.array([[*range(50)], [*_MIRROR, *range(42, 50)]]),
    ),
    phases=Phases(
        game=GAME,
        names=tuple(f"{6 * phase}-{6 * phase + 5}" for phase in range(7)),
        phase_of=phase_of,
        description="discs on the board",
    ),
    pattern_sets={
        "lines": {
            **{f"row_{row}": tuple(column + row for column in "abcdefg") for row in "123456"},
            **{f"column_{column}": tuple(column + row for row in "123456") for column in "abcd"},
            "diagonal_a1": ("a1", "b2", "c3", "d4", "e5", "f6"),
            "diagonal_a2": ("a2", "b3", "c4", "d5", "e6"),
            "diagonal_a3": ("a3", "b4", "c5", "d6"),
            "diagonal_b1": ("b1", "c2", "d3", "e4", "f5", "g6"),
            "diagonal_c1": ("c1", "d2", "e3", "f4", "g5"),
            "diagonal_d1": ("d1", "e2", "f3", "g4"),
        }
    },
    linear=tuple(feature.name for feature in _FEATURES if feature.group == "threats"),
    baselines={
        "constant": (),
        "lines": ("lines",),
        "threats": tuple(feature.name for feature in _FEATURES if feature.group == "threats"),
    },
    label_unit="wins",
    default_evaluation=default_evaluation,
)
"""Registered under the entry-point group ``glem.learning``."""
