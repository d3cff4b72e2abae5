"""Players and solvers that a worker keeps from task to task: to make one takes longer than to play some games."""

from __future__ import annotations

import threading

from glem.core.game.game import Game
from glem.core.game.solver import Solver
from glem.core.players.spec import EXTERNAL, Player, PlayerSpec
from glem.core.search.solver import solver_of

__all__ = ["close_programs", "kept_player", "kept_solver"]

_MOST_PLAYERS = 8
_SOLVER_TABLE_MB = 16


class _Kept(threading.local):
    """What this thread keeps; the players that were used last come last."""

    def __init__(self) -> None:
        self.players: dict[tuple[str, PlayerSpec], Player] = {}
        self.solvers: dict[str, Solver] = {}


_kept = _Kept()


def kept_player(game: Game, spec: PlayerSpec) -> Player:
    """Player of this thread for a description; made where it is not there, one of the others is closed for it.

    Raises
    ------
    BadInputError
        The player cannot be made.
    """
    key = (game.name, spec)
    player = _kept.players.pop(key, None) or spec.make(game)
    _kept.players[key] = player
    while len(_kept.players) > _MOST_PLAYERS:
        _kept.players.pop(next(iter(_kept.players))).close()
    return player


def close_programs() -> None:
    """End the programs of others that this thread keeps; they are started again when they are needed."""
    for key in [key for key in _kept.players if key[1].kind == EXTERNAL]:
        _kept.players.pop(key).close()


def kept_solver(game: Game) -> Solver:
    """Solver of this thread for a game.

    Raises
    ------
    BadInputError
        The game cannot be solved.
    """
    if game.name not in _kept.solvers:
        _kept.solvers[game.name] = solver_of(game, table_mb=_SOLVER_TABLE_MB)
    return _kept.solvers[game.name]
