"""Players from their descriptions, and those that do not search: by chance, or by the evaluation after one move."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_value
from glem.core.game.game import Game
from glem.core.players.player import MoveChoice, Player
from glem.core.players.spec import EXTERNAL, GREEDY, MOBILITY, RANDOM, SEARCH, PlayerSpec, external_players_of
from glem.core.players.thinker import Thinker
from glem.core.search.results import Clock
from glem.core.tasks.kept import Kept

_MOST_KEPT = 8


def make_player(game: Game, spec: PlayerSpec) -> Player:
    """Make the player of a description.

    Raises
    ------
    BadInputError
        Its data are unknown or another game's, or not those that :attr:`PlayerSpec.digest` was made of, or the game has
        no solver.
    """
    if spec.kind == SEARCH:
        thinker = Thinker(game, spec)
        thinker.warm_up()
        return thinker
    spec.check(game)
    if spec.kind == EXTERNAL:
        player: Player = external_players_of(game, spec).make_player(game, spec)
        return player
    return _SimplePlayer(game, spec)


_kept: Kept[tuple[PlayerSpec, Player]] = Kept(_MOST_KEPT, lambda kept: kept[1].close())


def kept_player(game: Game, spec: PlayerSpec) -> Player:
    """Return the player that this thread keeps for a description; errors are those of :func:`make_player`."""
    return _kept.get((game.name, spec), lambda: (spec, make_player(game, spec)))[1]


def close_programs() -> None:
    """End the external engines that this thread keeps; they are started again when they are needed."""
    _kept.drop(lambda kept: kept[0].kind == EXTERNAL)


class _SimplePlayer:
    """Plays any legal move, or one of those after which an evaluation is best; chance decides between equal ones."""

    def __init__(self, game: Game, spec: PlayerSpec) -> None:
        self.name = spec.name
        self._game = game
        self._spec = spec
        self._number = 0
        self._evaluation: LinearEvaluation | None = None
        if spec.kind == GREEDY and spec.evaluation != MOBILITY:
            self._evaluation = load_value(spec.evaluation, game).as_played()
        # Compile, or load, all machine code before a clock runs.
        self.choose(game.initial_position, (), None)

    def new_game(self, number: int = 0) -> None:
        """Begin a game; its number seeds the choices."""
        self._number = number

    def choose(
        self, position: Any, previous: Sequence[Any], clock: Clock | None, *, stop: threading.Event | None = None
    ) -> MoveChoice:
        """Choose a move: of a greedy player one after which the opponent is worst off."""
        begin = time.perf_counter()
        moves = self._game.list_legal_moves(position)
        generator = np.random.default_rng((self._spec.seed, self._number, len(previous)))
        if self._spec.kind == RANDOM:
            return MoveChoice(moves[generator.integers(len(moves))], seconds=time.perf_counter() - begin)
        successors = [self._game.play(position, move) for move in moves]
        if self._evaluation is None:
            scores = _mobility_scores(self._game, successors)
        else:
            scores = -_values(self._game, self._evaluation, successors)
        chosen = int(generator.choice(np.flatnonzero(scores == scores.max())))
        score = float(scores[chosen]) if np.isfinite(scores[chosen]) else None
        return MoveChoice(moves[chosen], score, 1, len(moves), time.perf_counter() - begin)

    def close(self) -> None:
        """Do nothing: the evaluation is shared."""


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
    final = [game.final_score(positions[row]) for row in np.flatnonzero(over).tolist()]
    values[over] = evaluation.final_values(np.array(final, np.float32))
    alive = np.flatnonzero(~over).tolist()
    columns = game.columns_of([positions[row] for row in alive])
    learning = evaluation.learning
    values[alive] = evaluation.sums_of_values(learning.features.values(columns), learning.phases.of(columns))
    return values
