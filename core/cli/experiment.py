"""``glem experiment``: players' styles."""

import click

from glem.core.cli.style import experiment_styles


@click.group("experiment")
def command() -> None:
    """Repeat the experiment with players' styles (Levene and Fenner 2009); others are scripts of docs/experiments."""


command.add_command(experiment_styles)
