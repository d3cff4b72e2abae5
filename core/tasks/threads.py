"""Threads for kernels that hold no lock, and for reading: results come in order, however many threads there are."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from glem.core.errors import BadInputError
from glem.core.machine.locks import LONGEST_WAIT

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = os.cpu_count() or 1
"""As many as there are processors."""

_ENDED = object()
_AHEAD = 2
"""Items that a thread is ahead at most."""


def interruptible_result(future: Future[Result]) -> Result:
    """Wait for a result such that Ctrl-C ends the wait: on Windows nothing interrupts one without an end."""
    while not wait([future], LONGEST_WAIT).done:
        pass
    return future.result()


def ordered_map(
    jobs: int,
    function: Callable[[Item], Result],
    items: Iterable[Item],
    stop: Callable[[], object] = lambda: None,
) -> Iterator[Result]:
    """Apply a function to items on several threads and yield the results in order.

    At most ``jobs + 1`` items are in work or waiting to be taken, so that a long iterable does not pile up.

    Parameters
    ----------
    jobs
        Threads, at least 1; with 1 everything happens in the calling thread.
    function, items
        What to apply to what. The iterable is read in the calling thread.
    stop
        Called when no more results are taken, after an error or Ctrl-C: the function may end early what it is at.
    """
    if jobs < 1:
        raise BadInputError(f"{jobs} jobs: at least one is needed")
    if jobs == 1:
        for item in items:
            yield function(item)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            for each in waiting:
                each.cancel()
            stop()
            raise


class _Reader:
    """A thread that is some items ahead of who takes what an iterator gives, up to its end or its error."""

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self._thread = ThreadPoolExecutor(1, "read ahead")
        self._iterator = self._thread.submit(make)
        self._waiting = deque(self._thread.submit(self._next) for _ in range(_AHEAD))

    def _next(self) -> Any:
        return next(self._iterator.result(), _ENDED)

    def items(self) -> Iterator[Any]:
        while (item := self._waiting.popleft().result()) is not _ENDED:
            self._waiting.append(self._thread.submit(self._next))
            yield item

    def stop(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def read_ahead(makers: Sequence[Callable[[], Iterator[Item]]], *, threads: int = 2) -> Generator[Item, None, None]:
    """Give what several iterators give, one after the other, while threads are ahead of it.

    Parameters
    ----------
    makers
        Make the iterators, each in the thread that runs it.
    threads
        Number of iterators that run at a time, at least 1.

    Yields
    ------
    item
        The items of the first iterator, then those of the second, and so on; the same whatever the number of threads.
        What an iterator raises is raised in its place.
    """
    readers: list[_Reader] = []
    try:
        for place in range(len(makers)):
            while len(readers) < min(place + threads, len(makers)):
                readers.append(_Reader(makers[len(readers)]))
            yield from readers[place].items()
            readers[place].stop()
    finally:
        for reader in readers:
            reader.stop()
