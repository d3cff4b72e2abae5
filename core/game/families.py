"""Families of games: one plugin that makes a game out of a text, such as all games of another package.

A distribution names a family in the entry-point group ``glem.game_families``: a function that takes the text behind
``family:`` and returns a :class:`~glem.core.game.game.Game` of the whole name. A function of the same name in
``glem.learning_families`` takes such a game and returns what it gives to learning.

The text of a name chooses what the family does, perhaps how much memory it takes. A file of a stranger may therefore
name a member only if the user has named it before, or if the family vouches for it: its function then has an attribute
``is_harmless``, a function that says of a text whether it makes a game that is quick and small, whoever wrote the text.
"""

import os
import shlex
from collections.abc import Callable
from functools import cache
from typing import Any

from glem.core.errors import BadInputError, GlemError, PluginError
from glem.core.game.registry import load_plugin, plugin_names, plugin_owner

GAME_FAMILIES_GROUP = "glem.game_families"
LEARNING_FAMILIES_GROUP = "glem.learning_families"

_SEPARATOR = ":"
_LONGEST_SHOWN = 200

_loaded: set[str] = set()
"""Members that were loaded: by name, as files are checked before."""


def family_names() -> list[str]:
    """Names of all installed families of games, sorted; nothing is imported."""
    return plugin_names(GAME_FAMILIES_GROUP)


def family_of(name: str) -> str | None:
    """Family that a game's name begins with, None for a game of its own."""
    family, separator, _ = name.partition(_SEPARATOR)
    return family if separator else None


def load_member(group: str, name: str, argument: Any, kind: type[Any]) -> Any:
    """Let a family make one of its members; the same object at every call with the same argument.

    Parameters
    ----------
    group
        :data:`GAME_FAMILIES_GROUP` or :data:`LEARNING_FAMILIES_GROUP`.
    name
        The game's whole name, ``family:text``.
    argument
        What the family's function takes: the text, or the game.
    kind
        Class of what it returns.

    Raises
    ------
    PluginError
        There is no such family, or it fails or returns something else. The text names the distribution.
    GlemError
        The family has no such member.
    """
    family = name.partition(_SEPARATOR)[0]
    _loaded.add(name)
    value = _made(load_plugin(group, family, Callable), argument, plugin_owner(group, family))  # type: ignore[arg-type]
    if not isinstance(value, kind):
        raise PluginError(
            f"{plugin_owner(group, family)} makes a {type(value).__name__} of {name!r}, expected a {kind.__name__}"
        )
    return value


def check_named_by_file(name: str, file: str | os.PathLike[str]) -> str:
    """Return the name of a game that a file names, if the game may be loaded for that.

    Raises
    ------
    BadInputError
        It is a member of a family that does not vouch for it, and nobody else has named it in this process.
    PluginError
        The family cannot be loaded.
    """
    family = family_of(name)
    if family is None or name in _loaded:
        return name
    is_harmless = getattr(load_plugin(GAME_FAMILIES_GROUP, family, Callable), "is_harmless", None)  # type: ignore[arg-type]
    if is_harmless is None or not is_harmless(name.partition(_SEPARATOR)[2]):
        # What a user may copy into a shell must do nothing there, nor to the terminal.
        quoted = shlex.quote(name) if name.isprintable() and len(name) <= _LONGEST_SHOWN else "GAME"
        raise BadInputError(
            f"{os.fspath(file)} is of the game {name[:_LONGEST_SHOWN]!r}, and a file must not choose what {family!r} "
            f"makes of such a text; if you trust it, name the game yourself: glem --trust {quoted} COMMAND ..., in "
            "Python load_game"
        )
    return name


@cache
def _made(function: Callable[[Any], Any], argument: Any, owner: str) -> Any:
    try:
        return function(argument)
    except GlemError:
        raise
    except Exception as error:
        raise PluginError(f"{owner} fails for {argument!r}: {type(error).__name__}: {error}") from error
