"""``glem generate``."""

from typing import Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, tell_note
from glem.core.cli.options.described import described
from glem.core.labelling.plan import GenerationPlan
from glem.core.tasks.counts import counted


@options.command(
    "generate",
    "generate GAME --games 1000 --player model.npz,depth=4 -o games",
    "generate GAME --positions 100000 --openings random:4-8 --explore 0.02 -o games",
)
@click.argument("game_name", metavar="GAME")
@options.output("Folder for the files of games.", is_folder=True)
@options.count("--games", None, "How many games are to be in the folder.")
@options.count("--positions", None, "How many positions the games are to have, at least.")
@options.option(
    "--player",
    "players",
    multiple=True,
    metavar="PLAYER",
    help="Who plays, for instance model.npz,depth=4,solve=12; may be given twice. Default: default,depth=4.",
)
@described(GenerationPlan)
@options.seed
@options.workers
def command(game_name: str, output: str, players: tuple[str, ...], **how: Any) -> None:
    """Let players play GAME among themselves, as material to learn from.

    The games depend on the options alone, not on the number of workers. Interrupted or killed, the same command
    continues; with a greater number of games or positions it adds to what is there.
    """
    from glem.functions import generate

    found = generate(
        game_name,
        output,
        players=players or "default",
        progress=display_progress(),
        tell=tell_note,
        **how,
    )
    files = [str(path) for path in found.files]
    told = [
        f"{counted(found.games, 'game')} with {counted(found.positions, 'position')} in "
        f"{counted(len(found.files), 'file')} of the folder {output}"
    ]
    if found.made < found.games:
        told.append(f"{found.made:,} of these games were played now; all other files of the folder were left alone")
    print_result({"games": found.games, "positions": found.positions, "played": found.made, "files": files}, told)
