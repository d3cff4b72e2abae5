"""What a worker keeps from task to task, because making it takes longer than using it."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(threading.local, Generic[T]):
    """Objects that this thread keeps by their keys; those that were used last come last.

    Parameters
    ----------
    most
        How many; the one that was not used for the longest time goes first.
    close
        Called with an object that goes.
    """

    def __init__(self, most: int, close: Callable[[T], object] = lambda _: None) -> None:
        self._most = most
        self._close = close
        self._objects: dict[Hashable, T] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the object of a key, made where it is not there."""
        if key in self._objects:
            self._objects[key] = self._objects.pop(key)
        else:
            while len(self._objects) >= self._most:
                self._close(self._objects.pop(next(iter(self._objects))))
            self._objects[key] = make()
        return self._objects[key]

    def drop(self, is_dropped: Callable[[T], bool] = lambda _: True) -> None:
        """Let objects go, all or some."""
        for key in [key for key, each in self._objects.items() if is_dropped(each)]:
            self._close(self._objects.pop(key))
