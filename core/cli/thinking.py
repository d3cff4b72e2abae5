"""Options of commands in which a player thinks: what it evaluates with, and how long."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from glem.core.game import Game
    from glem.core.search.results import Limits
    from glem.core.tournament.players import PlayerSpec

__all__ = ["player_of", "thinking_options"]

_OPTIONS = (
    click.option(
        "--evaluation",
        default="default",
        show_default=True,
        metavar="FILE",
        help='Evaluation file; "default" is the one that comes with the game.',
    ),
    click.option("--depth", type=click.IntRange(1), help="Search so many plies."),
    click.option("--nodes", type=click.IntRange(1), help="Search so many positions."),
    click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Search so long."),
    click.option("--full-width", is_flag=True, help="Prune nothing selectively."),
    click.option("--table", "table_mb", default=64, show_default=True, type=click.IntRange(1), help="Table, in MB."),
)


def thinking_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command; their values are the arguments of :func:`player_of`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def player_of(
    game: Game,
    *,
    evaluation: str,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    full_width: bool,
    table_mb: int,
    solve: int | None = None,
    default: Limits,
) -> PlayerSpec:
    """Describe the player that the options ask for.

    Parameters
    ----------
    game
        The game.
    evaluation, depth, nodes, seconds, full_width, table_mb
        Values of the options.
    solve
        Moves left from which on positions are solved; by default none.
    default
        Limits if none was given.

    Raises
    ------
    BadInputError
        The game's own evaluation is asked for, and there is none.
    """
    from glem.core.search.results import Limits
    from glem.core.tournament.players import DEFAULT_EVALUATION, PlayerSpec

    if evaluation == DEFAULT_EVALUATION:
        _check_default(game)
    limits = Limits(depth=depth, nodes=nodes, seconds=seconds)
    description: dict[str, Any] = {
        "evaluation": evaluation,
        "limits": default if limits == Limits() else limits,
        "selective": not full_width,
        "table_mb": table_mb,
        "solve_from": solve or 0,
    }
    return PlayerSpec("glem", **description)


def _check_default(game: Game) -> None:
    """Say how to get an evaluation where none comes with the game."""
    from glem.core.errors import BadInputError
    from glem.core.learning import learning_names, load_learning

    if game.name not in learning_names():
        raise BadInputError(f"nothing is known of evaluating {game.title}: no installed plugin gives it features")
    if load_learning(game.name).default_evaluation is None:
        raise BadInputError(
            f"{game.title} comes without an evaluation; make one with `glem fit` (or `glem demo`) and name it with "
            "--evaluation FILE"
        )
