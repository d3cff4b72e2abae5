"""Lines for an engine that come when the test says so."""

import queue
from collections.abc import Iterator


class Feed:
    """What a program says to an engine."""

    def __init__(self) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue()

    def say(self, *lines: str) -> None:
        for line in lines:
            self._lines.put(line)

    def end(self) -> None:
        self._lines.put(None)

    def __iter__(self) -> Iterator[str]:
        while (line := self._lines.get()) is not None:
            yield line
