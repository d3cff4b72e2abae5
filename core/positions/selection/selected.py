"""Positions that were selected from games, with what is known of the games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.game.equal_positions import scatter
from glem.core.game.records import GameRecords

__all__ = ["GamePositions", "SelectedPositions"]


@define(frozen=True, eq=False)
class SelectedPositions:
    """N positions that evaluations are graded on; none of them is over.

    Parameters
    ----------
    positions
        Position of columns [N].
    ply
        int32 [N]: plies made before since the game's first position, passes included; -1 where unknown.
    game_number
        int64 [N]: number of each position's game in its file, from 0; among all that are graded where ``source`` names
        none.
    side
        int8 [N]: 1 where the first player is to move, -1 where the second is, 0 where that is unknown.
    records
        The games that the positions come from; None for positions without records, and for scorers that are called
        once with all positions.
    record
        int64 [N], given along with ``records``: index of each position's game in them.
    move
        int64 [N], given along with ``records``: index in ``records.moves`` of the move that was played in the
        position; -1 for a pass that the record leaves out.
    source
        Name of the file, distinct from those of others; "" for scorers that are called once with all positions.

    Raises
    ------
    BadInputError
        Columns differ in length, or records are given without what finds a position's game in them.
    """

    positions: Any
    ply: NDArray[np.int32]
    game_number: NDArray[np.int64]
    side: NDArray[np.int8]
    records: GameRecords | None = None
    record: NDArray[np.int64] | None = None
    move: NDArray[np.int64] | None = None
    source: str = ""

    def __attrs_post_init__(self) -> None:
        if (self.records is None) != (self.record is None) or (self.record is None) != (self.move is None):
            raise BadInputError("records of selected positions come with the game and the move of each position")
        for name in ("ply", "game_number", "side", "record", "move"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self):
                raise BadInputError(f"{len(self)} selected positions have {len(column)} values of {name!r}")

    @classmethod
    def from_positions(cls, positions: Any) -> SelectedPositions:
        """Positions of columns [N] of which nothing more is known, each from a game of its own."""
        count = len(positions[0])
        return cls(positions, np.full(count, -1, np.int32), np.arange(count), np.zeros(count, np.int8))

    def __len__(self) -> int:
        return len(self.positions[0])


@define(frozen=True, eq=False)
class GamePositions:
    """N positions of games whose results are known, to fit evaluations to and to choose between them.

    Parameters
    ----------
    positions
        Position of columns [N].
    result
        int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost.
    game
        int64 [N]: number of each position's game among all that were read.
    game_key
        uint64 [N]: hash of the game, equal for the same game in every file (``game_key`` of
        :class:`~glem.core.positions.positions.PositionSet`).
    """

    positions: Any
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    game_key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.result)

    @classmethod
    def joined(cls, parts: Sequence[GamePositions]) -> Self:
        """Put at least one part together."""
        columns = zip(*(part.positions for part in parts), strict=True)
        others = ([getattr(part, name) for part in parts] for name in ("result", "game", "game_key"))
        return cls(type(parts[0].positions)(*map(np.concatenate, columns)), *map(np.concatenate, others))

    def select(self, rows: Any) -> Self:
        """Pick some of the positions by a mask [N], numbers or a slice."""
        positions = rows_of(self.positions, rows)
        return type(self)(positions, self.result[rows], self.game[rows], self.game_key[rows])

    def in_share(self, share: float, seed: int) -> NDArray[np.bool_]:
        """Positions of about a share of the games, chosen by their keys and the seed alone: bool [N]."""
        return scatter(self.game_key, seed) < np.uint64(min(int(share * 2.0**64), (1 << 64) - 1))

    @property
    def game_count(self) -> int:
        """Number of games."""
        return len(np.unique(self.game))
