"""Players who write the same score all along, whatever happens: they have no opinion that could be graded.

A player who sees nothing but a draw writes 0 for a long time too, but not in games that somebody wins. So the scores of
decided games count: more than two thirds of a player's have one size, or 95 % if it is the greatest, since some players
stop counting there. Where too few are of such games, all scores have one size.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.positions.people import player_columns
from glem.core.positions.replay import first_sides

_FEWEST = 20
_LEAST_SHARE, _LEAST_SHARE_OF_GREATEST = 2 / 3, 0.95
_RARE = 1 / 20
"""Sizes with a smaller share of a player's scores so far are forgotten: memory stays bounded."""


class ConstantScore(NamedTuple):
    """The size of the one score that a player writes, in the player's own unit."""

    player: str
    size: float


class PlayersScores:
    """How often each player writes scores of each size, added up over games."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._keys = np.zeros(0, np.int64)
        self._counts = np.zeros((2, 0), np.int64)
        self._totals = np.zeros((2, 0), np.int64)
        self._greatest = np.zeros(0, np.float32)

    def add(self, records: GameRecords) -> NDArray[np.int32]:
        """Add games with scores in comments; return the number of the player who made each move [M], -1 for none."""
        players = self._players(records)
        written = np.abs(records.move_columns["comment_score"])
        scored = np.flatnonzero((players >= 0) & ~np.isnan(written))
        # The bits of a float that is not negative: equal where the floats are, and a whole number.
        size = written[scored].astype(np.float32).view(np.int32).astype(np.int64)
        result = np.nan_to_num(records.score)
        weights = np.stack([np.ones(len(scored)), np.repeat(result != 0, records.lengths)[scored]]).astype(np.int64)
        owner = players[scored].astype(np.int64)
        count = len(self._numbers)
        self._totals = np.pad(self._totals, ((0, 0), (0, count - self._totals.shape[1])))
        self._greatest = np.pad(self._greatest, (0, count - len(self._greatest)))
        finite = np.isfinite(written[scored])
        np.maximum.at(self._greatest, owner[finite], written[scored][finite])
        keys, place = np.unique(np.concatenate([self._keys, owner << 32 | size]), return_inverse=True)
        every = np.concatenate([self._counts, weights], axis=1)
        counts = np.stack([np.bincount(place, row, len(keys)) for row in every]).astype(np.int64)
        self._totals += np.stack([np.bincount(owner, row, count) for row in weights]).astype(np.int64)
        kept = counts[0] >= _RARE * self._totals[0, keys >> 32]
        self._keys, self._counts = keys[kept], counts[:, kept]
        return players

    def _players(self, records: GameRecords) -> NDArray[np.int32]:
        try:
            columns = player_columns(records)
        except BadInputError:
            columns = []
        if len(columns) != 2:
            return np.full(len(records.moves), -1, np.int32)
        numbers = []
        for column in columns:
            known = [self._numbers.setdefault(name, len(self._numbers)) for name in records.names[column]]
            numbers.append(np.array([*known, -1])[records.extra[column]])
        game = np.repeat(np.arange(len(records)), records.lengths)
        ply = np.arange(len(game)) - records.offsets[game]
        second = (ply + (first_sides(records)[game] < 0)) % 2
        players: NDArray[np.int32] = np.stack(numbers)[second, game].astype(np.int32)
        return players

    def constant(self) -> dict[int, ConstantScore]:
        """Numbers of the players who write one score, and that score."""
        names = list(self._numbers)
        owner, size = self._keys >> 32, (self._keys & 0xFFFFFFFF).astype(np.int32).view(np.float32)
        (own, decided), (totals, decided_totals) = self._counts, self._totals[:, owner]
        least = np.where(size < self._greatest[owner], _LEAST_SHARE, _LEAST_SHARE_OF_GREATEST)
        often = (decided_totals >= _FEWEST) & (decided > least * decided_totals)
        rows = np.flatnonzero((often | ((own == totals) & (totals >= _FEWEST))) & np.isfinite(size))
        return {int(owner[row]): ConstantScore(names[owner[row]], float(size[row])) for row in rows}
