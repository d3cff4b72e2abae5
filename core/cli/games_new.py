"""``glem games new``."""

import shlex
from pathlib import Path

import click

from glem.core.cli import options
from glem.core.cli.display import print_result


@options.command("games new", "games new my_game", 'games new hex --title "Hex" -o ../hex', features=False)
@options.argument("name", metavar="NAME")
@options.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Folder to write; NAME by default."
)
@options.option("--title", metavar="TEXT", help="The game's name for people; made from NAME by default.")
def command(name: str, output: Path | None, title: str | None) -> None:
    """Write a package for a game of your own, to be installed beside glem.

    NAME is a lower-case identifier such as my_game. The package holds a small game that works, with rules, features and
    tests, to be replaced part by part. An existing folder must be empty.
    """
    from glem.core.conformance.new_game import new_game

    folder = Path(name) if output is None else output
    files = [str(file) for file in new_game(name, folder, title=title)]
    where = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    hint = f"Install it with `pip install -e {where}`; then `glem check {name}` looks at it."
    print_result({"name": name, "folder": str(folder), "files": files}, (*(f"wrote {file}" for file in files), hint))
