"""Families of games: one plugin that makes a game out of a text, such as all games of another package.

A distribution names a family in the entry-point group ``glem.game_families``: a function that takes the text behind
``family:`` and returns a :class:`~glem.core.game.Game` of the whole name. A function of the same name in
``glem.learning_families`` takes such a game and returns what it gives to learning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from glem.core.errors import GlemError, PluginError
from glem.core.registry import load_plugin, plugin_names, plugin_owner

__all__ = [
    "GAME_FAMILIES_GROUP",
    "LEARNING_FAMILIES_GROUP",
    "family_names",
    "family_of",
    "load_member",
]

GAME_FAMILIES_GROUP = "glem.game_families"
LEARNING_FAMILIES_GROUP = "glem.learning_families"

_SEPARATOR = ":"


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
    value = _made(load_plugin(group, family, Callable), argument, plugin_owner(group, family))  # type: ignore[arg-type]
    if not isinstance(value, kind):
        raise PluginError(
            f"{plugin_owner(group, family)} makes a {type(value).__name__} of {name!r}, expected a {kind.__name__}"
        )
    return value


@cache
def _made(function: Callable[[Any], Any], argument: Any, owner: str) -> Any:
    try:
        return function(argument)
    except GlemError:
        raise
    except Exception as error:
        raise PluginError(f"{owner} fails for {argument!r}: {type(error).__name__}: {error}") from error
