"""Atomic features of chess, from the side to move's view: the board of a Black mover is turned over.

Groups of features, for choosing subsets: the terms of an evaluation (``material``, ``imbalance``, ``mobility``,
``pawns``, ``king_safety``, ``king_attack``, ``rooks``, ``minor_pieces``, ``threats``, ``space``, ``move``), the
piece-square features (``placement``), those of ``drawishness``, and the relations of configurations (``squares``,
``attacks``, ``defences``).
"""

from typing import Any

import numpy as np

from glem.core.features.features import AtomicFeatures
from glem.games.chess import CHESS
from glem.games.chess.rules.position import Position
from glem.plugins.chess.features.drawishness import DRAWISHNESS, write_drawishness
from glem.plugins.chess.features.placement import PLACEMENT, write_placement
from glem.plugins.chess.features.relations import ATTACKS, SQUARES, write_attacks, write_squares
from glem.plugins.chess.features.sides import boards_of
from glem.plugins.chess.features.terms import TERMS, write_terms_and_sides

_PLACEMENT = len(TERMS)
_DRAWISHNESS = _PLACEMENT + len(PLACEMENT)
_SQUARES = _DRAWISHNESS + len(DRAWISHNESS)
_ATTACKS = _SQUARES + len(SQUARES)


def write_values(position: Position, values: Any) -> None:
    """Write the value of every feature of a position, in the order of :data:`FEATURES`."""
    boards = boards_of(position)
    # The opponent's terms stand where the placement is written afterwards.
    own, opponent = write_terms_and_sides(boards, values, 0, _PLACEMENT)
    for place in range(_PLACEMENT):
        values[place] -= values[_PLACEMENT + place]
    write_placement(boards, values, _PLACEMENT)
    write_drawishness(boards, position, values, _DRAWISHNESS)
    write_squares(boards, values, _SQUARES)
    write_attacks(own, opponent, values, _ATTACKS)


_FEATURES = (*TERMS, *PLACEMENT, *DRAWISHNESS, *SQUARES, *ATTACKS)

FEATURES = AtomicFeatures(
    game=CHESS,
    features=_FEATURES,
    write=write_values,
    # The colour flip gives the mover the same view.
    symmetries=np.tile(np.arange(len(_FEATURES), dtype=np.intp), (2, 1)),
)
"""All atomic features of chess."""
