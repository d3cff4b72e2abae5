"""Options of commands in which somebody thinks or plays: the game, a position, the player."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from glem.core.cli.options import LIMITS, table_mb
from glem.core.cli.options.making import F, argument, count, flag, given_parameters, group, option

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.players.spec import PlayerSpec


def _loaded(game_name: str) -> Game:
    from glem.core.game.game import load_game

    return load_game(game_name)


game = group("game", _loaded, argument("game_name", metavar="GAME"))
"""The command gets the Game as ``game``."""

position = option("--position", metavar="TEXT", help="Position, as the game writes it; by default the start.")
moves = option("--moves", default="", metavar="TEXT", help="Moves to play first, such as f5d6c3.")

_THINKING = (
    option(
        "--evaluation",
        default="strongest",
        metavar="EVALUATION",
        help='Evaluation file; "strongest" and "default" come with the game, "none" sees only how games end.',
    ),
    *LIMITS.values(),
    option(
        "--probcut",
        default="",
        metavar="FILE",
        help="Parameters of selective search, from `glem search probcut`; by default those of the evaluation.",
    ),
    flag("--full-width", "Prune nothing selectively."),
    table_mb,
    count("--threads", 1, "Threads that search a position together; what they find depends on chance."),
)


def _spec(
    usual: dict[str, float],
    *,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    full_width: bool,
    **more: Any,
) -> PlayerSpec:
    """Describe a player who searches, within the usual limits if there are no others."""
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import Clock, Limits

    limits = Limits(depth=depth, nodes=nodes, seconds=seconds)
    if limits == Limits():
        given: dict[str, Any] = {kind: Clock(value) if kind == "clock" else value for kind, value in usual.items()}
        limits = Limits(**given)
    return PlayerSpec("glem", limits=limits, selective=not full_width, **more)


def thinker(**usual: float) -> Callable[[F], F]:
    """Add options that describe a player who searches; the command gets a PlayerSpec as ``player``.

    Parameters
    ----------
    usual
        Limit of a search if you give none: ``seconds`` of a move, or ``clock``, the seconds of a game.
    """
    return group("player", lambda **thinking: _spec(usual, **thinking), *_THINKING)


def opponent(**usual: float) -> Callable[[F], F]:
    """Add what :func:`thinker` adds, ``--solve``, and ``--player``, one text in place of all of these.

    It stands below :data:`game`; the command gets a PlayerSpec as ``player``.
    """

    def make(game: Game, player_text: str | None, solve: int | None, **thinking: Any) -> PlayerSpec:
        from glem.core.errors import BadInputError
        from glem.core.players.spec import USUAL_SOLVE_FROM, parse_player

        described = _spec(usual, **thinking)
        if player_text is None:
            usual_solve = None
            if not described.limits.is_timed:
                usual_solve = USUAL_SOLVE_FROM if game.make_solver is not None else 0
            return attrs.evolve(described, solve_from=usual_solve if solve is None else solve)
        beside = {*thinking, "solve"}
        mixed = [parameter.opts[-1] for parameter in given_parameters() if parameter.name in beside]
        if mixed:
            raise BadInputError(f"{', '.join(mixed)} beside --player: say it there, as in --player model.npz,depth=8")
        return parse_player(player_text, limits=described.limits)

    return group(
        "player",
        make,
        option("--player", "player_text", metavar="PLAYER", help="The player in one text, in place of these options."),
        *_THINKING,
        count("--solve", None, "Solve from so many moves left on; by default as time allows, or 20.", least=0),
        needs=("game",),
    )
