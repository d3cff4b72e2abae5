"""``glem demo``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from glem.core.cli import options
from glem.core.cli.discover import show_discovery
from glem.core.cli.display import display_progress, prints_json
from glem.core.errors import BadInputError

if TYPE_CHECKING:
    from glem.core.features.learning import Learning


def _chosen_learning(name: str | None) -> Learning:
    """Find the named game's learning, or that of the first installed game that brings a sample, or of the first."""
    from glem.core.features.learning import learning_names, load_learning
    from glem.core.game.game import game_names

    if name is not None:
        return load_learning(name)
    names = [game for game in learning_names() if game in game_names()]
    if not names:
        raise BadInputError("no games that learn are installed; install glem anew, or a package that brings one")
    with_samples = (learning for learning in map(load_learning, names) if learning.sample is not None)
    return next(with_samples, None) or load_learning(names[0])


@options.command("demo", "demo", "demo GAME -o demo")
@options.argument("game_name", metavar="[GAME]", required=False, was=("--game",))
@options.option("-o", "--output", default="glem-demo", type=click.Path(file_okay=False), help="Folder for the results.")
@options.seed
@options.jobs
@options.own_features
@options.as_json
def command(game_name: str | None, output: str, seed: int, jobs: int) -> None:
    """Run a small discovery on the sample of positions that comes with a game, or that it plays on the spot.

    GAME is by default the first one that brings a sample. The same as `glem discover` on that sample with
    --sample 60000 --maximum-size 3 --keep 1500 --iterations 25 --l2 4.
    """
    from glem.core.labelling.first_games import sample_positions
    from glem.functions import discover

    started = time.monotonic()
    learning = _chosen_learning(game_name)
    progress = display_progress()
    if learning.sample is not None:
        sample = learning.sample()
    else:
        if not prints_json():
            click.echo(f"No sample of positions comes with {learning.game.title}: it plays some thousand games now.")
        sample = sample_positions(learning.game, seed=seed, progress=progress)
    found = discover(
        sample,
        output,
        sample=60_000,
        maximum_size=3,
        keep=1_500,
        iterations=25,
        l2=4.0,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    show_discovery(found, time.monotonic() - started)
