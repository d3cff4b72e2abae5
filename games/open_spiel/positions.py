"""Positions of wrapped games: the actions that led there, packed into 64-bit words."""

from typing import Any, NamedTuple

import numpy as np

_WORD_BITS = 64
_PREFIX = "Position"


def position_type(words: int) -> type[Any]:
    """NamedTuple class of positions of so many words; the same one at every call.

    Its fields are ``mover`` (uint8: 0 for the player who begins, 1 for the other), ``length`` (uint16: actions so far)
    and ``actions_0``, ``actions_1``, ... (uint64).
    """
    name = f"{_PREFIX}{words}"
    if name not in globals():
        fields = [("mover", np.uint8), ("length", np.uint16)]
        fields += [(f"actions_{word}", np.uint64) for word in range(words)]
        made = NamedTuple(name, fields)  # type: ignore[misc]  # the number of fields is the game's
        made.__module__ = __name__
        globals()[name] = made
    found: type[Any] = globals()[name]
    return found


def __getattr__(name: str) -> Any:
    # Positions are pickled under the name of their class, which another process may not have made yet.
    words = name.removeprefix(_PREFIX)
    if name.startswith(_PREFIX) and words.isdecimal():
        return position_type(int(words))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ActionPacking:
    """How a game's actions lie in the words of its positions: the first in the lowest bits of the first word.

    Parameters
    ----------
    actions
        Number of different actions.
    length
        Most actions of a game.
    """

    def __init__(self, actions: int, length: int) -> None:
        self._bits = max(1, (actions - 1).bit_length())
        self._per_word = _WORD_BITS // self._bits
        self.words = -(-length // self._per_word)

    def empty(self, mover: int) -> Any:
        """Position before the first action."""
        return position_type(self.words)(np.uint8(mover), np.uint16(0), *[np.uint64(0)] * self.words)

    def appended(self, position: Any, action: int, mover: int) -> Any:
        """Position after one more action, with ``mover`` to move."""
        length = int(position.length)
        word, place = divmod(length, self._per_word)
        field = 2 + word
        changed = np.uint64(int(position[field]) | action << self._bits * place)
        return type(position)(
            np.uint8(mover), np.uint16(length + 1), *position[2:field], changed, *position[field + 1 :]
        )

    def actions(self, position: Any) -> list[int]:
        """Actions that led to a position."""
        mask = (1 << self._bits) - 1
        found = []
        for number in range(int(position.length)):
            word, place = divmod(number, self._per_word)
            found.append(int(position[2 + word]) >> self._bits * place & mask)
        return found

    def used(self, position: Any) -> tuple[int, ...]:
        """Return the fields that hold something; the rest are zero."""
        words = -(-int(position.length) // self._per_word)
        return tuple(int(value) for value in position[: 2 + words])
