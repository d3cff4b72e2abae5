"""Players that do not search: by chance, and by the evaluation after one move."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import store_position
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY
from glem.core.evaluation.named import load_value
from glem.core.game.game import Game
from glem.core.players.player import MoveChoice
from glem.core.players.spec import MOBILITY, PlayerSpec
from glem.core.search.results import Clock

__all__ = ["GreedyPlayer", "RandomPlayer"]


class RandomPlayer:
    """Plays every legal move with equal chance.

    Parameters
    ----------
    game
        The game.
    spec
        Its name and seed.
    """

    def __init__(self, game: Game, spec: PlayerSpec) -> None:
        self.name = spec.name
        self._game = game
        self._seed = spec.seed
        self._number = 0

    def new_game(self, number: int = 0) -> None:
        """Begin a game; its number seeds the choices."""
        self._number = number

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Choose any legal move."""
        begin = time.perf_counter()
        moves = self._game.list_legal_moves(position)
        chosen = _generator(self._seed, self._number, len(previous)).integers(len(moves))
        return MoveChoice(moves[chosen], seconds=time.perf_counter() - begin)

    def close(self) -> None:
        """Do nothing: a random player holds nothing."""


class GreedyPlayer:
    """Plays the move after which the evaluation is best; chance decides between equal ones.

    Parameters
    ----------
    game
        The game.
    spec
        Its name, evaluation and seed.
    """

    def __init__(self, game: Game, spec: PlayerSpec) -> None:
        self.name = spec.name
        self._game = game
        self._seed = spec.seed
        self._number = 0
        self._evaluation = None if spec.evaluation == MOBILITY else load_value(spec.evaluation, game).as_played()
        # Compile, or load, all machine code before a clock runs.
        self.choose(game.initial_position, (), None)

    def new_game(self, number: int = 0) -> None:
        """Begin a game; its number seeds the choices between equal moves."""
        self._number = number

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Choose the move after which the opponent is worst off."""
        begin = time.perf_counter()
        moves = self._game.list_legal_moves(position)
        successors = [self._game.play(position, move) for move in moves]
        if self._evaluation is None:
            scores = _mobility_scores(self._game, successors)
        else:
            scores = -_values(self._game, self._evaluation, successors)
        best = np.flatnonzero(scores == scores.max())
        chosen = int(_generator(self._seed, self._number, len(previous)).choice(best))
        score = float(scores[chosen]) if np.isfinite(scores[chosen]) else None
        return MoveChoice(moves[chosen], score, 1, len(moves), time.perf_counter() - begin)

    def close(self) -> None:
        """Do nothing: the evaluation is shared."""


def _generator(seed: int, number: int, ply: int) -> np.random.Generator:
    return np.random.default_rng((seed, number, ply))


def _final_order(game: Game, position: Any) -> float:
    """Infinite score of a finished position for the side to move: the end of a game outweighs every estimate."""
    return float(np.sign(game.final_score(position)) * np.inf) if game.final_score(position) else 0.0


def _mobility_scores(game: Game, successors: Sequence[Any]) -> NDArray[np.float64]:
    return np.array(
        [
            -_final_order(game, successor) if game.is_over(successor) else -float(len(game.list_legal_moves(successor)))
            for successor in successors
        ]
    )


def _values(game: Game, evaluation: LinearEvaluation, positions: Sequence[Any]) -> NDArray[np.float64]:
    """Value of each position for its side to move, before the link; of finished ones, their score."""
    over = np.array([game.is_over(position) for position in positions])
    values = np.empty(len(positions))
    # Where scores tell by how much a game is won, values are their estimates; elsewhere the end outweighs them.
    graded = evaluation.link == IDENTITY and max(map(abs, game.score_bounds)) > 1
    for row in np.flatnonzero(over).tolist():
        values[row] = game.final_score(positions[row]) if graded else _final_order(game, positions[row])
    alive = np.flatnonzero(~over).tolist()
    columns = game.empty_columns(len(alive))
    for place, row in enumerate(alive):
        store_position(columns, place, positions[row])
    learning = evaluation.learning
    values[alive] = evaluation.sums_of_values(learning.features.values(columns), learning.phases.of(columns))
    return values
