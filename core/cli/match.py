"""``glem match``."""

from __future__ import annotations

from typing import Any

import click

from glem.core.cli.tournament import play_tournament, tournament_options

__all__ = ["command"]


@click.command("match")
@click.argument("first", metavar="PLAYER")
@click.argument("second", metavar="PLAYER")
@tournament_options
def command(first: str, second: str, **options: Any) -> None:
    """Play two players against each other, from every opening twice with colours reversed.

    A PLAYER is an evaluation file, default, none (a search that sees only how games end), greedy or random, with
    options: model.npz,depth=6,solve=14 or name=fast,evaluation=model.npz,clock=60+1,probcut=off. With -o the same
    command continues after a kill.
    """
    play_tournament((first, second), **options)
