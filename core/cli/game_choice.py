"""Which game a command is about, where nobody has named it: what it is given mostly tells."""

import os
from collections.abc import Iterable
from pathlib import Path

from glem.core.errors import BadInputError, GlemError, check_regular
from glem.core.evaluation.named import load_evaluation
from glem.core.files.addresses import is_address
from glem.core.files.packed import bare_suffix
from glem.core.game.families import check_named_by_file
from glem.core.game.game import Game, PositionFormat, RecordFormat, game_names, load_game
from glem.core.positions.game_lines import GAME_LINES, game_in_header
from glem.core.positions.reading import head_of, is_position_file


def choose_game(
    name: str | None,
    *,
    files: Iterable[str | os.PathLike[str]] = (),
    format: str | None = None,  # noqa: A002 # the word of the command line
    evaluations: Iterable[str] = (),
) -> Game:
    """Find the game that a command is about.

    Parameters
    ----------
    name
        The game's name, if it was given.
    files
        Game records or positions: glem's own files name their game, others are recognized by the formats of the
        installed games. The first file decides.
    format
        Name of the format of these files, if it was given.
    evaluations
        What players are said to evaluate with; those that name ``.npz`` files tell the game where files do not.

    Returns
    -------
    Game
        The named one, else the one that the files belong to, else the only one that is installed.

    Raises
    ------
    BadInputError
        Nothing tells, or evaluations belong to several games; a file cannot be read.
    PluginError
        The game cannot be loaded.
    """
    if name is not None:
        return load_game(name)
    installed = game_names()
    if not installed:
        raise BadInputError("no games are installed; install glem anew, or a package that brings one")
    if len(installed) == 1:
        return load_game(installed[0])
    found, file = list[str](), next(iter(files), None)
    if file is not None:
        found = _games_of_file(os.fspath(file), format, installed)
        if len(found) == 1:
            return load_game(check_named_by_file(found[0], file))
        if format not in {None, GAME_LINES.name} and not found:
            raise BadInputError(f"no installed game has a format {format!r}; name the game as the first argument")
    told = {name: load_evaluation(name).learning.game for name in evaluations if Path(name).suffix == ".npz"}
    games = {game.name: game for game in told.values()}
    if len(games) == 1:
        return next(iter(games.values()))
    if games:
        listed = ", ".join(f"{name} ({game.name})" for name, game in told.items())
        raise BadInputError(f"the evaluations belong to several games: {listed}")
    seen = "" if file is None else f"{file}: is of {' or '.join(found)}; " if found else f"{file}: tells no game; "
    raise BadInputError(f"{seen}name the game as the first argument: one of {', '.join(installed)}")


def _games_of_file(file: str, format_name: str | None, installed: Iterable[str]) -> list[str]:
    check_regular(file)
    path = Path(file)
    if not (path.is_file() or is_address(file)):
        raise BadInputError(f"{path}: no such file" if path.suffix else f"there is no file and no game {str(path)!r}")
    if path.suffix == ".parquet" and is_position_file(file):
        # Imported late: most commands read no positions, and pyarrow takes a while.
        from glem.core.positions.files import read_header

        return [read_header(file).game]
    head = head_of(path)
    own = game_in_header(head)
    return [own] if own is not None else _recognizing(bare_suffix(path), head, format_name, installed)


def _recognizing(suffix: str, head: bytes, format_name: str | None, installed: Iterable[str]) -> list[str]:
    found, by_name = list[str](), list[str]()
    for name in installed:
        try:
            game = load_game(name)
        except GlemError:
            # A broken plugin is no reason not to read another game's files.
            continue
        formats: list[RecordFormat | PositionFormat] = [*game.record_formats.values(), *game.position_formats.values()]
        if format_name is not None:
            if any(known.name == format_name for known in formats):
                found.append(name)
        elif any(known.recognizes(head) for known in formats):
            found.append(name)
        elif any(suffix in known.suffixes for known in formats):
            by_name.append(name)
    # Games share suffixes such as .csv.
    return found or by_name
