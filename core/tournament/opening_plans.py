"""How the games of a generation begin: at random, by all openings of a length, or by those of a file.

Buro (1995, section 3) ensured the variance of features by playing all openings of seven plies, most of which are
unbalanced.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of, store_position
from glem.core.compiling.kernels import compiled
from glem.core.errors import BadInputError
from glem.core.game.equal_positions import group_equal
from glem.core.game.game import Game, legal_moves, play
from glem.core.game.whole_numbers import whole_number
from glem.core.tournament.openings import Opening, read_openings

__all__ = ["OpeningPlan", "all_openings"]

RANDOM, ALL = "random", "all"

_MOST_OPENINGS = 2_000_000
_MOST_RANDOM_PLIES = 1000
_MOST_VAIN_DRAWS = 1000


@define(frozen=True)
class OpeningPlan:
    """Where openings come from.

    Parameters
    ----------
    kind
        ``random``, ``all``, or the name of a file.
    fewest, most
        Plies of random openings, both inclusive; of all openings, and of those in files the first ``most`` plies. 0
        takes the openings of a file whole.
    """

    kind: str
    fewest: int = 0
    most: int = 0

    @classmethod
    def parse(cls, text: str) -> OpeningPlan:
        """Read ``random:8``, ``random:4-11``, ``all:7``, or the name of a file of openings.

        Raises
        ------
        BadInputError
            Neither a plan nor a file, or a bad number of plies.
        """
        kind, colon, plies = text.partition(":")
        if kind not in {RANDOM, ALL} or not colon:
            if not Path(text).is_file():
                raise BadInputError(
                    f"openings must be random:PLIES, random:LEAST-MOST, all:PLIES or a file, got {text!r}"
                )
            return cls(text)
        fewest, dash, most = plies.partition("-")
        least, greatest = whole_number(fewest), whole_number(most if dash else fewest)
        if least is None or greatest is None or (dash and kind == ALL):
            raise BadInputError(f"openings {text!r}: the number of plies must be like 8, or like 4-11 for random ones")
        if not least <= greatest <= _MOST_RANDOM_PLIES:
            raise BadInputError(f"openings {text!r}: the plies must rise and be at most {_MOST_RANDOM_PLIES}")
        return cls(kind, least, greatest)

    def listed(self, game: Game, *, tell: Callable[[str], None] | None = None) -> list[Opening] | None:
        """All openings, in order; None for random ones.

        Parameters
        ----------
        game
            The game.
        tell
            As of :func:`~glem.core.tournament.openings.read_openings`.

        Raises
        ------
        BadInputError
            The file cannot be read or has no openings, or there are too many openings of that length.
        """
        if self.kind == RANDOM:
            return None
        if self.kind == ALL:
            return all_openings(game, self.most)
        return read_openings(game, self.kind, plies=self.most or None, tell=tell)


def random_opening(game: Game, plan: OpeningPlan, seed: tuple[int, ...]) -> Opening:
    """Random legal moves, each with equal chance; begun anew where they end the game.

    Raises
    ------
    BadInputError
        They always end it: games are hardly ever so long.
    """
    generator = np.random.default_rng(seed)
    for _ in range(_MOST_VAIN_DRAWS):
        position = game.initial_position
        moves: list[int] = []
        for _ in range(int(generator.integers(plan.fewest, plan.most + 1))):
            legal = game.list_legal_moves(position)
            if not legal:
                break
            moves.append(legal[generator.integers(len(legal))])
            position = game.play(position, moves[-1])
        if not game.is_over(position):
            return Opening(tuple(moves))
    raise BadInputError(
        f"{game.name}: {_MOST_VAIN_DRAWS} random openings of {plan.fewest} to {plan.most} plies all ended the game; "
        "take shorter ones"
    )


def _expand(rules: Any, columns: Any, count: Any, buffer: Any, after: Any, parent: Any, move: Any) -> Any:
    """Write all successors of ``count`` positions with the rows they come from; return their number."""
    rows = 0
    for row in range(count):
        position = position_at(columns, row)
        legal = legal_moves(rules, position, buffer, 0)
        for place in range(legal):
            store_position(after, rows, play(rules, position, buffer[place]))
            parent[rows] = row
            move[rows] = buffer[place]
            rows += 1
    return rows


def all_openings(game: Game, plies: int) -> list[Opening]:
    """One line of moves to each position that can be reached in so many plies, in a fixed order.

    Positions that are images of each other count once; those that end the game do not count.

    Raises
    ------
    BadInputError
        More than two million positions.
    """
    columns = game.empty_columns(1)
    store_position(columns, 0, game.initial_position)
    lines: NDArray[np.int32] = np.zeros((1, 0), np.int32)
    for _ in range(plies):
        count = len(columns[0])
        room = count * game.max_moves
        after = type(columns)(*(np.empty(room, column.dtype) for column in columns))
        parent, move = np.empty(room, np.int32), np.empty(room, np.int32)
        found = compiled(_expand)(
            game.rules, columns, np.int64(count), np.zeros(game.max_moves, np.int32), after, parent, move
        )
        after = rows_of(after, slice(found))
        first = group_equal(game, after).first
        if len(first) > _MOST_OPENINGS:
            raise BadInputError(f"there are more than {_MOST_OPENINGS:,} openings of {plies} plies; name fewer plies")
        columns = rows_of(after, first)
        lines = np.column_stack([lines[parent[first]], move[first]])
    alive = [not game.is_over(position_at(columns, row)) for row in range(len(columns[0]))]
    return [Opening(tuple(line)) for line in lines[np.array(alive, np.bool_)].tolist()]
