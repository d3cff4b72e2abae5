"""What somebody chose among: the features after every legal move, of moves that were played.

A feature counts from the view of whoever moved. After the move it is the opponent's turn, and features are from the
view of the side to move: a choice sees them negated, as the value of a move is the negated value of what it leads to.
Where a search looks further, they are those of the leaf that it leads to, from the same view.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.features.learning import Learning
from glem.core.positions.replay import Replay
from glem.core.positions.successors import successors_of
from glem.core.search.quiet import LeafSearch, leaf_signs
from glem.core.styles.choice_model import Choices, chances_of
from glem.core.tasks.progress import SILENT, Progress

SCORE = "score"
"""Name of the feature that is a search's score, in steps."""

_CHUNK = 2048
"""Positions whose moves are made at a time."""


def own_moves(replay: Replay, side: NDArray[np.int8], plies: tuple[int, int] | None = None) -> NDArray[np.int64]:
    """Rows of a replay in which somebody moved: int64 [m], in order.

    Parameters
    ----------
    replay
        G games.
    side
        int8 [G]: the side that the player had, +1 or -1; 0 for both.
    plies
        First and last ply, both inclusive; all if None.
    """
    own = side[replay.record]
    chosen = (replay.move >= 0) & ((own == 0) | (own == replay.side))
    if plies is not None:
        chosen &= (replay.ply >= plies[0]) & (replay.ply <= plies[1])
    return np.flatnonzero(chosen)


def starts_of_games(record: NDArray[Any]) -> NDArray[np.int64]:
    """Where each game begins among rows in order, given by their games, and where the last ends: int64 [G + 1]."""
    return np.concatenate([[0], np.flatnonzero(np.diff(record)) + 1, [len(record)]]).astype(np.int64)


@define(frozen=True, eq=False)
class ChosenMoves:
    """Choices among legal moves.

    Parameters
    ----------
    learning
        Features of the game.
    names
        The k features that count.
    choices
        The choices; features are int16 [n, k], games are numbers of records.
    rows
        int64 [m]: row of the replay in which each choice was made.
    moves
        int32 [n]: the alternatives.
    """

    learning: Learning
    names: tuple[str, ...]
    choices: Choices = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    moves: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(
        cls,
        learning: Learning,
        names: tuple[str, ...],
        replay: Replay,
        rows: NDArray[np.int64],
        search: LeafSearch | None = None,
        progress: Progress = SILENT,
        *,
        scored: bool = False,
    ) -> "ChosenMoves":
        """Make every legal move of some rows of a replay, see :func:`own_moves`; forced moves are left out.

        A move counts by the position that it leads to, or by the leaf of a search from there. Where that ends in a
        proven result it has no leaf, and the move counts by its own position. With ``scored`` the search's score, in
        steps, is one more feature, :data:`SCORE`, before the others.
        """
        items = [learning.features.index(name) for name in names]

        def features(after: Any) -> NDArray[np.int16]:
            sign: Any = -1
            own: list[NDArray[Any]] = []
            if search is not None:
                after, plies, scores = search.leaves(after)
                # Whoever has moved is not who is to move in the position.
                sign = -leaf_signs(plies)[:, None]
                own = [-scores[:, None]] if scored else []
            values = [learning.features.values(after)[:, items] * sign] if items else []
            return np.concatenate([*own, *values], axis=1).astype(np.int16)

        return cls.made(learning, (SCORE, *names) if scored else names, replay, rows, features, progress)

    @classmethod
    def made(
        cls,
        learning: Learning,
        names: tuple[str, ...],
        replay: Replay,
        rows: NDArray[np.int64],
        features: Callable[[Any], NDArray[Any]],
        progress: Progress = SILENT,
    ) -> "ChosenMoves":
        """Make the same with features of one's own: a function of positions, as columns, after moves: [n, k]."""
        none = np.zeros(0, np.int64)
        parts = [(np.zeros((0, len(names)), np.int16), np.zeros(1, np.int64), none, np.zeros(0, np.int32), none)]
        end = 0
        with progress("Making moves", len(rows)) as task:
            for first in range(0, len(rows), _CHUNK):
                own = rows[first : first + _CHUNK]
                after = successors_of(learning.game, rows_of(replay.positions, own))
                sizes = np.bincount(after.parent, minlength=len(own))
                several = sizes > 1
                kept = several[after.parent]
                values = features(rows_of(after.positions, np.flatnonzero(kept)))
                is_chosen = (after.move == replay.move[own][after.parent])[kept]
                starts, chosen = end + np.cumsum(sizes[several]), end + np.flatnonzero(is_chosen)
                parts.append((values, starts, chosen, after.move[kept], own[several]))
                end += int(kept.sum())
                task.advance(len(own))
        values, starts, chosen, moves, made_in = (np.concatenate(column) for column in zip(*parts, strict=True))
        game = replay.record[made_in].astype(np.int64)
        return cls(learning, names, Choices(values, starts, chosen, game), made_in, moves)

    def of_games(self, chosen: NDArray[np.bool_]) -> "ChosenMoves":
        """Keep the choices of some games: bool by the games' numbers."""
        choices, own = self.choices, chosen[self.choices.game]
        sizes = np.diff(choices.starts)
        alternatives = np.repeat(own, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[own])]).astype(np.int64)
        kept = Choices(
            choices.features[alternatives],
            starts,
            starts[:-1] + (choices.chosen - choices.starts[:-1])[own],
            choices.game[own],
        )
        return evolve(self, choices=kept, rows=self.rows[own], moves=self.moves[alternatives])

    def of_features(self, names: Sequence[str]) -> "ChosenMoves":
        """Keep some of the features."""
        places = [self.names.index(name) for name in names]
        choices = self.choices._replace(features=np.ascontiguousarray(self.choices.features[:, places]))
        return evolve(self, names=tuple(names), choices=choices)

    def told_by(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Tell how well weights foretell the choices.

        Returns
        -------
        likelihood, foretold
            float64 [m]: logarithm of the likelihood of each choice; and the chance that it is what is drawn among the
            likeliest alternatives.
        """
        odds, own = chances_of(self.choices, weights)
        begin, sizes = self.choices.starts[:-1], np.diff(self.choices.starts)
        if not len(begin):
            return own, own
        likeliest = odds >= np.repeat(np.maximum.reduceat(odds, begin), sizes) * (1 - 1e-12)
        return own, likeliest[self.choices.chosen] / np.add.reduceat(likeliest, begin, dtype=np.int64)

    def by_game(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Tell what weights give to the moves of each game with choices, in log odds."""
        games, numbers = np.unique(self.choices.game, return_inverse=True)
        return np.bincount(numbers, self.told_by(weights)[0], len(games)).astype(np.float64)
