"""Reading several files ahead of the work on them, in threads, in the order of the files."""

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_ENDED = object()
_POLL_SECONDS = 0.1


class _Reader:
    """A thread that fills a short queue with what one iterator gives, up to its end or its error."""

    def __init__(self, make: Callable[[], Iterator[Any]], depth: int, stop: threading.Event) -> None:
        self._make, self._stop = make, stop
        self._queue: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(depth)
        threading.Thread(target=self._run, name="read ahead", daemon=True).start()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._make():
                if not self._put(item, None):
                    return
        except BaseException as raised:  # noqa: BLE001 # handed to the thread that asked for the items
            error = raised
        self._put(_ENDED, error)

    def _put(self, item: Any, error: BaseException | None) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put((item, error), timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def items(self) -> Iterator[Any]:
        while True:
            item, error = self._queue.get()
            if error is not None:
                raise error
            if item is _ENDED:
                return
            yield item


def read_ahead(
    makers: Sequence[Callable[[], Iterator[T]]], *, threads: int = 2, depth: int = 2
) -> Generator[T, None, None]:
    """Give what several iterators give, one after the other, while threads are ahead of it.

    Parameters
    ----------
    makers
        Make the iterators, each in the thread that runs it.
    threads
        Number of iterators that run at a time, at least 1.
    depth
        Items that each of them is ahead at most.

    Yields
    ------
    item
        The items of the first iterator, then those of the second, and so on; the same whatever the number of threads.
        What an iterator raises is raised in its place.
    """
    stop = threading.Event()
    readers: list[_Reader] = []
    try:
        for place in range(len(makers)):
            while len(readers) < min(place + threads, len(makers)):
                readers.append(_Reader(makers[len(readers)], depth, stop))
            yield from readers[place].items()
    finally:
        stop.set()
