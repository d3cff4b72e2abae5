"""Threads for kernels that hold no lock: results come in order, so that they do not depend on the number of jobs."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from glem.core.errors import BadInputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(jobs: int, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply a function to items on several threads and yield the results in order.

    At most ``jobs + 1`` items are in work or waiting to be taken, so that a long iterable does not pile up.

    Parameters
    ----------
    jobs
        Threads, at least 1; with 1 everything happens in the calling thread.
    function, items
        What to apply to what. The iterable is read in the calling thread.
    """
    if jobs < 1:
        raise BadInputError(f"{jobs} jobs: at least one is needed")
    if jobs == 1:
        for item in items:
            yield function(item)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
