"""The one way in which games are written: in a format that the file's name tells."""

import os
from collections import deque

from glem.core.errors import BadInputError
from glem.core.files.atomic import atomic_path
from glem.core.files.packed import bare_suffix, open_packed
from glem.core.game.game import Game, RecordFormat
from glem.core.game.records import GameRecords
from glem.core.positions.game_lines import GAME_LINES
from glem.core.positions.reading import record_formats

_PLAIN = ("", ".txt")


def format_to_write(game: Game, path: str | os.PathLike[str]) -> RecordFormat:
    """Find the format in which games are written to a file.

    Its suffix decides. Files without one, or called ``.txt``, get the game's format that has no suffix, such as bare
    transcripts; else glem's own (:mod:`glem.core.positions.game_lines`).

    Raises
    ------
    BadInputError
        Games of this kind are not written in the format that the name promises.
    """
    suffix = bare_suffix(path)
    writable = [known for known in record_formats(game).values() if known.write is not None]
    if suffix in _PLAIN:
        return next((known for known in writable if not known.suffixes), GAME_LINES)
    for known in writable:
        if suffix in known.suffixes:
            return known
    names = [f"{suffix} ({known.name})" for known in writable for suffix in known.suffixes if known is not GAME_LINES]
    raise BadInputError(
        f"{os.fspath(path)}: games of {game.title} are not written as {suffix}; "
        f"name a file {', '.join([*names, '.games (for every game)', '.txt'])}"
    )


def write_games(game: Game, path: str | os.PathLike[str], records: GameRecords) -> None:
    """Write a file of games; equal games give equal files.

    Parameters
    ----------
    path
        Its name tells the format (:func:`format_to_write`). Replaced only when all is written; packed if it ends in
        ``.gz``, ``.xz`` or ``.zst``.
    records
        The games, all of whose moves are legal; see :class:`~glem.core.game.game.WriteRecords`.

    Raises
    ------
    BadInputError
        Games are not written in the format, or it has no room for a game.
    """
    write = format_to_write(game, path).write
    assert write is not None
    with atomic_path(path) as temporary, open_packed(temporary) as file:
        for piece in write(game, records):
            file.write(piece)


def check_format_holds(game: Game, path: str | os.PathLike[str], records: GameRecords) -> None:
    """Make sure, before long work, that a format has room for games that begin like some; errors as of writing them."""
    write = format_to_write(game, path).write
    assert write is not None
    deque(write(game, records), maxlen=0)
