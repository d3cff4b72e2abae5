"""A stop that compiled code hears of."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray


class Stop(threading.Event):
    """An event that ends the work of another thread; where that runs compiled code, by a flag that it reads."""

    def __init__(self) -> None:
        super().__init__()
        self._flags: dict[int, NDArray[Any]] = {}
        self._guard = threading.Lock()

    def set(self) -> None:
        """Set the event and the flags of the work that goes on."""
        super().set()
        with self._guard:
            for flag in self._flags.values():
                flag[0] = 1

    @contextlib.contextmanager
    def relayed(self, flag: NDArray[Any]) -> Iterator[None]:
        """Set a flag with the event, as long as the block lasts; at once where the event is set already.

        Parameters
        ----------
        flag
            Whole number [1], set to 1.
        """
        with self._guard:
            self._flags[id(flag)] = flag
            if self.is_set():
                flag[0] = 1
        try:
            yield
        finally:
            # A flag of a later search must not be set.
            with self._guard:
                del self._flags[id(flag)]
