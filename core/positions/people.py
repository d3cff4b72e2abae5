"""Whose games these are: players' names in game records, spelled in whatever way.

A text stands for a player's whole name or family name (``Kasparov`` for ``Kasparov, Gary`` and ``Garry Kasparov``: what
stands before a comma, else the first or the last word), or is a pattern with ``*`` and ``?``; upper and lower case do
not matter. The same text may catch several people, so whoever asks for one is shown what was caught, and which names
near it were not.
"""

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords

_SIDES = frozenset({"black", "white"})
_NEAR = 0.8


def player_columns(records: GameRecords) -> list[str]:
    """Columns of players' names, that of the first player first.

    Raises
    ------
    BadInputError
        The games name no players.
    """
    columns = [name for name in records.names if name.endswith("player") or name in _SIDES]
    if not columns and len(records):
        raise BadInputError(f"{records.source or 'these records'}: the games name no players to select by")
    return columns


def is_meant(wanted: Iterable[str]) -> Callable[[str], bool]:
    """Make the question whether a name is one of the wanted ones."""
    texts = {text.strip().casefold() for text in wanted}
    patterns = [re.compile(fnmatch.translate(text)).match for text in texts if set("*?[") & set(text)]

    def meant(name: str) -> bool:
        folded = name.strip().casefold()
        return folded in texts or not texts.isdisjoint(_families(folded)) or any(match(folded) for match in patterns)

    return meant


def _families(name: str) -> set[str]:
    """Give what may be the family name of a name: before a comma, else the first or the last word."""
    family, comma, _ = name.partition(",")
    words = name.split()
    return {family.rstrip()} if comma or not words else {words[0], words[-1]}


def of_players(records: GameRecords, wanted: Iterable[str]) -> dict[str, NDArray[np.bool_]]:
    """Games in which one of the wanted is a player: column to bool [G], the first player's first."""
    meant = is_meant(wanted)
    found = {}
    for column in player_columns(records):
        # One more entry at the end: -1 stands for an unknown player.
        chosen = np.array([*map(meant, records.names[column]), False])
        found[column] = chosen[records.extra[column]]
    return found


def counted_names(names: Sequence[str], numbers: NDArray[Any]) -> Counter[str]:
    """How often each name occurs among its numbers; -1 stands for none."""
    values, counts = np.unique(numbers[numbers >= 0], return_counts=True)
    return Counter({names[int(value)]: int(count) for value, count in zip(values, counts, strict=True)})


def near_names(names: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Names that are not meant, but begin as a wanted one does or are spelled nearly so; sorted."""
    wanted = list(wanted)
    meant = is_meant(wanted)
    texts = {re.sub(r"[*?\[\]]", "", text).strip().casefold().partition(",")[0] for text in wanted} - {""}

    def near(name: str) -> bool:
        return any(
            family.startswith(text[:5]) or SequenceMatcher(None, family, text).ratio() >= _NEAR
            for family in _families(name.strip().casefold())
            for text in texts
        )

    return sorted(name for name in names if not meant(name) and near(name))
