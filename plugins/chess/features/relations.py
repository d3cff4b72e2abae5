"""Features that relations are made of: what stands on a square, and which kinds attack or defend which.

Configurations of them (:mod:`glem.core.configurations.mining`) are placements of pieces with the attacks between them.
"""

from typing import Any

import numpy as np
from chess import SQUARE_NAMES

from glem.core.compiling.kernels import ONE
from glem.core.features.features import AtomicFeature
from glem.core.features.learning import Views
from glem.plugins.chess.features.placement import KINDS
from glem.plugins.chess.features.sides import Boards, Side, has

_CONTENTS = ("empty", *(f"own {kind}" for kind in KINDS), *(f"opponent's {kind}" for kind in KINDS))

_VIEW = "as the side to move sees the board, its pieces below."
SQUARES = tuple(
    AtomicFeature(name, 0, 12, f"Content of {name} {_VIEW}", _CONTENTS, square ^ 56, "squares")
    for square, name in enumerate(SQUARE_NAMES)
)
"""0 empty, 1 to 6 own pawn to king, 7 to 12 the opponent's; a1 first."""

VIEWS = Views(
    features=tuple(feature.name for feature in SQUARES),
    places=tuple(square ^ 56 for square in range(64)),
    contents=(0, *range(7, 13), *range(1, 7)),
)
"""The opponent sees the board turned over, and what is the mover's as the other's."""


def _attack(attacker: str, attacking: str, target: str, attacked: str) -> AtomicFeature:
    defends = attacker == target
    return AtomicFeature(
        f"{attacker}_{attacking}_{'defends' if defends else 'attacks'}_{'' if defends else target + '_'}{attacked}",
        0,
        1,
        f"1 where a {attacking} of {'the mover' if attacker == 'own' else 'the opponent'} "
        f"{'defends' if defends else 'attacks'} a {attacked} of {'the mover' if target == 'own' else 'the opponent'}.",
        ("no", "yes"),
        group="defences" if defends else "attacks",
    )


ATTACKS = tuple(
    _attack(attacker, attacking, target, attacked)
    for attacker, target in (("own", "opponent"), ("opponent", "own"), ("own", "own"), ("opponent", "opponent"))
    for attacking in KINDS
    for attacked in KINDS[:5]
) + tuple(_attack("opponent", attacking, "own", "king") for attacking in KINDS[:5])
"""In the order in which they are written. The king of the side that waits is never attacked."""


def write_squares(boards: Boards, values: Any, first: int) -> None:
    """Write the contents of the squares from ``first`` on."""
    own, other = boards.own, boards.other
    # Bits of the numbers 1 to 12.
    low = own.pawns | own.bishops | own.queens | other.pawns | other.bishops | other.queens
    middle = own.knights | own.bishops | own.king | other.pawns | other.rooks | other.queens
    high = own.rooks | own.queens | own.king | other.pawns | other.king
    highest = other.knights | other.bishops | other.rooks | other.queens | other.king
    for square in range(64):
        place = np.uint64(square)
        value = (low >> place) & ONE
        value |= ((middle >> place) & ONE) << ONE
        value |= ((high >> place) & ONE) << np.uint64(2)
        value |= ((highest >> place) & ONE) << np.uint64(3)
        values[first + square] = value


def _write_block(attackers: Side, attacked: Side, values: Any, first: int) -> None:
    """Write whether each of six kinds attacks each of five, the king left out."""
    place = first
    for kind in range(6):
        for target in range(5):
            values[place] = has(attackers.attacks[kind] & attacked.pieces[target])
            place += 1


def write_attacks(own: Side, opponent: Side, values: Any, first: int) -> None:
    """Write which kinds attack or defend which from ``first`` on."""
    for block in range(4):
        attackers = own if block == 0 or block == 2 else opponent
        attacked = own if block == 1 or block == 2 else opponent
        _write_block(attackers, attacked, values, first + 30 * block)
    for kind in range(5):
        values[first + 120 + kind] = has(opponent.attacks[kind] & own.pieces.king)
