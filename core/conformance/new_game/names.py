"""What a new game may be called."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from pathlib import Path

from glem.core.errors import BadInputError
from glem.core.features.learning import learning_names
from glem.core.game.game import game_names

__all__ = ["check_name", "check_title"]

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_NAME = 40
_LONGEST_TITLE = 60


def check_name(name: str) -> None:
    """Make sure that a package and a game may have the name.

    Parameters
    ----------
    name
        The name.

    Raises
    ------
    BadInputError
        It is no lower-case identifier, a word of Python, an installed game, or a module that can be imported already.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise BadInputError(
            f"{name!r} cannot name a game: expected at most {_LONGEST_NAME} lower-case letters, digits and single "
            "underscores between them, a letter first, as in my_game"
        )
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise BadInputError(f"{name!r} cannot name a game: it is a word of the Python language; try {name}_game")
    if name in {*game_names(), *learning_names()}:
        raise BadInputError(f"there is a game {name!r} installed already; `glem games` lists them, choose another name")
    if name in sys.stdlib_module_names:
        raise BadInputError(
            f"{name!r} cannot name a game: it is a module of Python's standard library; try {name}_game"
        )
    place = _importable_from(name)
    if place is not None:
        raise BadInputError(
            f"{name!r} cannot name a game: `import {name}` finds {place}; choose another name, or uninstall that"
        )


def _importable_from(name: str) -> str | None:
    """Where a module of that name comes from; a mere folder below the current one is none."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:
        # Set up without a specification: it is there all the same.
        return f"the module {name}"
    if spec is None:
        return None
    if spec.origin is not None:
        return spec.origin
    # A folder without __init__.py is taken for a package where it lies on the path, and the current folder may.
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    elsewhere = [folder for folder in folders if folder.resolve().parent != Path.cwd()]
    return str(elsewhere[0]) if elsewhere or not folders else None


def check_title(title: str) -> None:
    """Make sure that a title can be written into every file of a package as it is.

    Parameters
    ----------
    title
        The game's name for people.

    Raises
    ------
    BadInputError
        It is empty, too long, or has quotation marks, backslashes or unprintable characters.
    """
    if not title.strip() or len(title) > _LONGEST_TITLE or not title.isprintable() or set(title) & set('"\\`<>$'):
        raise BadInputError(
            f'a title has 1 to {_LONGEST_TITLE} printable characters and none of " \\ ` < > $, got {title!r}'
        )
