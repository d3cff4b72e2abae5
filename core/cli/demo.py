"""``glem demo``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from glem.core.cli.discover import show_discovery
from glem.core.cli.display import display_progress

__all__ = ["command"]


def _chosen_learning(name: str | None) -> Any:
    """Find the named game's learning, or that of the first installed game that brings a sample, or of the first."""
    from glem.core.errors import BadInputError
    from glem.core.features.learning import learning_names, load_learning
    from glem.core.game.game import game_names

    if name is not None:
        return load_learning(name)
    names = [game for game in learning_names() if game in game_names()]
    if not names:
        raise BadInputError("no games that learn are installed; install glem anew, or a package that brings one")
    for candidate in names:
        learning = load_learning(candidate)
        if learning.sample is not None:
            return learning
    return load_learning(names[0])


@click.command("demo")
@click.option(
    "-o",
    "--output",
    default="glem-demo",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for the results.",
)
@click.option("--game", "game_name", help="Game; by default the first that brings a sample.")
@click.option("--seed", default=0, show_default=True, help="Chooses games and sample.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(output: str, game_name: str | None, seed: int, jobs: int, as_json: bool) -> None:
    """Run a small discovery on the sample of positions that comes with a game, or that it plays on the spot.

    The same as `glem discover` on that sample with --sample 60000 --maximum-size 3 --keep 1500 --iterations 25 --l2 4.
    """
    from glem.core.discovery.candidates import MiningPlan
    from glem.core.discovery.discovery import DiscoverySettings, discover
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.least_squares import FitSettings
    from glem.core.labelling.first_games import sample_positions
    from glem.core.report.discovered import write_discovery

    started = time.monotonic()
    learning = _chosen_learning(game_name)
    progress = display_progress(quiet=as_json)
    settings = DiscoverySettings(
        mining=MiningPlan(sample=60_000, maximum_size=3, keep=1_500),
        fit=FitSettings(ConjugateGradient(iterations=25, patience=5), l2=4.0, smoothing=0.25),
        seed=seed,
    )
    folder = Path(output)
    if learning.sample is not None:
        sample = learning.sample()
    else:
        if not as_json:
            click.echo(f"No sample of positions comes with {learning.game.title}: it plays some thousand games now.")
        sample = sample_positions(learning.game, seed=seed, progress=progress)
    with discover(sample, learning, folder, settings, jobs=jobs, progress=progress) as found:
        report = write_discovery(found, folder)
    show_discovery(report, folder, time.monotonic() - started, as_json=as_json)
