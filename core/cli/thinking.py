"""Options of commands in which a player thinks: what it evaluates with, and how long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.game.game import Game
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import Limits

__all__ = ["named_evaluation", "opponent_of", "opponent_options", "player_of", "thinking_options"]

_SOLVE_FROM = 18
"""Moves left from which on opponents solve positions, where the game has a solver: some tenths of a second."""

_TABLE_MB = 64
"""Megabytes of the table if nothing else is said."""

_OPTIONS = (
    click.option(
        "--evaluation",
        default="default",
        show_default=True,
        metavar="FILE",
        help='Evaluation file; "default" is the one that comes with the game, "none" sees only how games end.',
    ),
    click.option("--depth", type=click.IntRange(1), help="Search this many plies."),
    click.option("--nodes", type=click.IntRange(1), help="Visit this many positions."),
    click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Search this many seconds."),
    click.option(
        "--probcut",
        default="",
        metavar="FILE",
        help="Parameters of selective search, from `glem probcut`; by default those that come with the evaluation.",
    ),
    click.option("--full-width", is_flag=True, help="Prune nothing selectively."),
    click.option(
        "--table", "table_mb", default=_TABLE_MB, show_default=True, type=click.IntRange(1), help="Table, in MB."
    ),
)

_OPPONENT_OPTIONS = (
    click.option("--player", "player_text", metavar="TEXT", help="The player in one text, in place of these options."),
    *_OPTIONS,
    click.option(
        "--solve", type=click.IntRange(0), help=f"Solve from so many moves left on; {_SOLVE_FROM} by default."
    ),
)


def thinking_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command; their values are the arguments of :func:`player_of`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def opponent_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that play; their values are the arguments of :func:`opponent_of`."""
    for option in reversed(_OPPONENT_OPTIONS):
        command = option(command)
    return command


def opponent_of(
    game: Game, *, player_text: str | None, solve: int | None, default: Limits, **thinking: Any
) -> PlayerSpec:
    """Describe the player that the options ask for, by one text or one by one.

    Raises
    ------
    BadInputError
        Both ways are mixed, or the description makes no sense.
    """
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import DEFAULT_EVALUATION
    from glem.core.players.spec import parse_player

    if player_text is None:
        usual = _SOLVE_FROM if game.make_solver is not None else 0
        return player_of(solve=usual if solve is None else solve, default=default, **thinking)
    given = {
        "depth": thinking["depth"] is not None,
        "nodes": thinking["nodes"] is not None,
        "seconds": thinking["seconds"] is not None,
        "solve": solve is not None,
        "evaluation": thinking["evaluation"] != DEFAULT_EVALUATION,
        "probcut": thinking["probcut"] != "",
        "full-width": thinking["full_width"],
        "table": thinking["table_mb"] != _TABLE_MB,
    }
    mixed = [f"--{name}" for name, is_given in given.items() if is_given]
    if mixed:
        raise BadInputError(f"{', '.join(mixed)} beside --player: say it there, as in --player model.npz,depth=8")
    return parse_player(player_text, limits=default)


def player_of(
    *,
    evaluation: str,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    probcut: str,
    full_width: bool,
    table_mb: int,
    solve: int | None = None,
    default: Limits,
) -> PlayerSpec:
    """Describe the player that the options ask for.

    Parameters
    ----------
    evaluation, depth, nodes, seconds, probcut, full_width, table_mb
        Values of the options.
    solve
        Moves left from which on positions are solved; by default none.
    default
        Limits if none was given.
    """
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import Limits

    limits = Limits(depth=depth, nodes=nodes, seconds=seconds)
    return PlayerSpec(
        "glem",
        evaluation=evaluation,
        limits=default if limits == Limits() else limits,
        selective=not full_width,
        probcut=probcut,
        table_mb=table_mb,
        solve_from=solve or 0,
    )


def named_evaluation(name: str, positions: str) -> LinearEvaluation:
    """Load an evaluation file, or by its name one that comes with the game of a file of positions.

    Raises
    ------
    BadInputError
        There is no such evaluation.
    """
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import DEFAULT_EVALUATION, load_value
    from glem.core.positions.files import stream_positions

    if name != DEFAULT_EVALUATION and Path(name).is_file():
        return load_value(name)
    first = next(iter(stream_positions(positions, chunk=1)), None)
    if first is None:
        raise BadInputError(f"{positions} holds no positions")
    return load_value(name, first.game)
