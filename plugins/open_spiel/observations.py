"""Atomic features from OpenSpiel's observation tensors.

What a tensor's numbers mean is the game's own affair. What they look like is learned from some random games, the same
ones in every process: which combinations of planes occur on a cell of a board, which numbers in an entry of a tensor
that is no board.
"""

import random
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import GlemError
from glem.core.features.features import AtomicFeature
from glem.games.open_spiel.rules import OpenSpielRules, rules_of

MOVER = "mover"
"""Name of the feature that tells who is to move."""

COUNTS = "counts"
"""Group of the features that count cells."""

_SAMPLE_GAMES = 30
_SAMPLE_POSITIONS = 4000
_MOST_PLANES = 62
_MOST_VALUES = 16
_BOARD_DIMENSIONS = 3


class Observations:
    """The functions of the features and the phases of a wrapped game.

    Parameters
    ----------
    rules
        The game.

    Raises
    ------
    GlemError
        The game has no observation tensor.
    """

    def __init__(self, rules: OpenSpielRules) -> None:
        self._rules = rules
        if not rules.game.get_type().provides_observation_tensor:
            raise GlemError(f"OpenSpiel's {rules.text} has no observation tensor, so there is nothing to learn from")
        self.shape = tuple(int(size) for size in rules.game.observation_tensor_shape())
        sample, lengths = self._play_sample()
        self.usual_length = max(1, round(float(np.mean(lengths))))
        """Mean length of the random games, in actions."""
        self._codes: NDArray[np.int64] | None = None
        self._entries: NDArray[np.intp] = np.zeros(0, np.intp)
        self._levels: list[NDArray[np.float32]] = []
        if self._is_board(sample):
            self._learn_codes(sample)
        else:
            self._learn_levels(sample)

    def __reduce__(self) -> Any:
        return (observations_of, (self._rules.text,))

    @property
    def board(self) -> tuple[int, int] | None:
        """Rows and columns of the board; None where the observation is none."""
        return None if self._codes is None else (self.shape[1], self.shape[2])

    def _play_sample(self) -> tuple[NDArray[np.float32], list[int]]:
        generator = random.Random(0)  # noqa: S311 - no secret depends on it
        observations: list[Any] = []
        lengths = []
        for _ in range(_SAMPLE_GAMES):
            state = self._rules.game.new_initial_state()
            length = 0
            while not state.is_terminal():
                if len(observations) < _SAMPLE_POSITIONS:
                    observations.append(np.array(state.observation_tensor(state.current_player()), np.float32))
                state.apply_action(generator.choice(state.legal_actions()))
                length += 1
            lengths.append(length)
        return np.array(observations), lengths

    def _is_board(self, sample: NDArray[np.float32]) -> bool:
        if len(self.shape) != _BOARD_DIMENSIONS or self.shape[0] > _MOST_PLANES:
            return False
        return bool(np.all((sample == 0) | (sample == 1))) and len(np.unique(self._cell_codes(sample))) <= _MOST_VALUES

    def _cell_codes(self, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        """Planes that are set on each cell, as bits: int64 [..., cells]."""
        planes = self.shape[0]
        by_plane = observations.reshape(*observations.shape[:-1], planes, -1)
        codes: NDArray[np.int64] = np.einsum("...pc,p->...c", by_plane.astype(np.int64), 1 << np.arange(planes))
        return codes

    def _learn_codes(self, sample: NDArray[np.float32]) -> None:
        codes, counts = np.unique(self._cell_codes(sample), return_counts=True)
        # What is new later on counts as the most frequent one, which stands first.
        self._codes = codes[np.argsort(-counts, kind="stable")]

    def _learn_levels(self, sample: NDArray[np.float32]) -> None:
        kept = []
        for entry, column in enumerate(sample.T):
            levels = np.unique(column)
            if len(levels) > 1:
                chosen = np.unique(np.linspace(0, len(levels) - 1, _MOST_VALUES).round().astype(int))
                self._levels.append(levels[chosen] if len(levels) > _MOST_VALUES else levels)
                kept.append(entry)
        self._entries = np.array(kept, np.intp)

    def features(self) -> tuple[AtomicFeature, ...]:
        """List the player to move, then the cells row by row and how many show what; or the entries that vary."""
        mover = AtomicFeature(MOVER, 0, 1, "the player to move", ("first", "second"), group=MOVER)
        if self._codes is None:
            entries = (
                AtomicFeature(
                    f"entry{entry}",
                    0,
                    len(levels) - 1,
                    f"entry {entry} of the observation",
                    tuple(f"{level:g}" for level in levels),
                    group="entries",
                )
                for entry, levels in zip(self._entries, self._levels, strict=True)
            )
            return (mover, *entries)
        names = tuple(_planes_of(int(code)) for code in self._codes)
        columns = self.shape[2]
        cells = (
            AtomicFeature(
                cell_name(*divmod(cell, columns)),
                0,
                len(names) - 1,
                f"planes of the observation in row {cell // columns + 1}, column {cell % columns + 1}",
                names,
                cell=cell,
                group="cells",
            )
            for cell in range(self.shape[1] * columns)
        )
        size = self.shape[1] * columns
        counts = (
            AtomicFeature(
                f"{sign}{name}", low, size, f"cells with planes {name} of the observation{more}", group=COUNTS
            )
            for name in names
            for sign, low, more in (("", 0, ""), ("signed_", -size, ", less than 0 where the second player is to move"))
        )
        return (mover, *cells, *counts)

    def write(self, position: Any, values: Any) -> None:
        """Write the feature values of a position, seen by the player to move."""
        mover = int(position.mover)
        observation = np.array(self._rules.state(position).observation_tensor(mover), np.float32)
        values[0] = mover
        if self._codes is None:
            for place, (entry, levels) in enumerate(zip(self._entries, self._levels, strict=True)):
                # The greatest level that is not above the number.
                values[1 + place] = max(0, int(np.searchsorted(levels, observation[entry], "right")) - 1)
            return
        matches = self._cell_codes(observation)[:, None] == self._codes
        values[1 : 1 + len(matches)] = matches.argmax(axis=1)
        # Some games show the planes as the player to move sees them, some show those of the first player first.
        counts = matches.sum(axis=0)
        first, end = 1 + len(matches), 1 + len(matches) + 2 * len(counts)
        values[first:end:2], values[first + 1 : end : 2] = counts, counts * (1 - 2 * mover)

    def phase_of(self, position: Any) -> int:
        """Third of a game of usual length that the position lies in."""
        return min(2, 3 * int(position.length) // self.usual_length)


def cell_name(row: int, column: int) -> str:
    """Name of the feature of a cell, both counted from 0."""
    return f"r{row + 1}c{column + 1}"


def _planes_of(code: int) -> str:
    planes = [str(plane) for plane in range(code.bit_length()) if code >> plane & 1]
    return "plane" + "+".join(planes) if planes else "none"


@cache
def observations_of(text: str) -> Observations:
    """Observations of the game that OpenSpiel writes as ``text``."""
    return Observations(rules_of(text))
