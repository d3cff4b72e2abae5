"""The files that a command reads, and the game that they are of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from attrs import define

from glem.core.cli.options.making import F, argument, group, option

if TYPE_CHECKING:
    from glem.core.game.game import Game

__all__ = ["GameFiles", "file_format", "files", "skip_bad", "split_game"]

file_format = option("--format", "file_format", metavar="NAME", help="Format of the files, if names do not tell.")
skip_bad = option("--skip-bad", is_flag=True, help="Leave bad records out instead of stopping.")


def split_game(words: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Take the name of a game from the front of arguments, if it stands there; the rest names files or players."""
    from glem.core.game.families import family_names, family_of
    from glem.core.game.game import game_names

    if words and (words[0] in game_names() or family_of(words[0]) in family_names()):
        return words[0], tuple(words[1:])
    return None, tuple(words)


@define(frozen=True)
class GameFiles:
    """Files and how they are read.

    Parameters
    ----------
    game_name
        The game that was named, if any.
    paths
        The files.
    format
        Name of their format, if it was given.
    skip_bad
        Leave bad records out.
    """

    game_name: str | None
    paths: tuple[str, ...]
    format: str | None = None
    skip_bad: bool = False

    def game(self) -> Game:
        """Find the game: the named one, else that of the files.

        Raises
        ------
        BadInputError
            Nothing tells the game, or a file cannot be read.
        """
        from glem.core.cli.game_choice import choose_game

        return choose_game(self.game_name, files=self.paths, format=self.format)


def files(
    metavar: str = "FILES...", *settings: Callable[[Any], Any], is_required: bool = True, was_option: bool = False
) -> Callable[[F], F]:
    """Add the arguments ``[GAME] FILES...``; the command gets :class:`GameFiles` as ``files``.

    Parameters
    ----------
    metavar
        What the files are.
    settings
        Of :data:`file_format` and :data:`skip_bad` those that the command has.
    is_required
        There must be a file.
    was_option
        The game was named by ``--game`` before.
    """
    old = ("--game",) if was_option else ()
    words = argument("words", nargs=-1, required=is_required, metavar=f"[GAME] {metavar}", was=old)

    def make(words: tuple[str, ...], file_format: str | None = None, skip_bad: bool = False) -> GameFiles:
        game_name, paths = split_game(words)
        if is_required and not paths:
            raise click.UsageError(f"Missing argument '{metavar}'.", click.get_current_context())
        for path in paths:
            # Not the argument's own type: a folder may have the name of a game.
            click.Path(dir_okay=False).convert(path, None, click.get_current_context())
        return GameFiles(game_name, paths, file_format, skip_bad)

    return group("files", make, words, *settings)
