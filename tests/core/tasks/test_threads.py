"""Work on several threads."""

import itertools
import threading
from collections.abc import Iterator

import pytest

from glem.core.tasks.progress import SILENT, Parts
from glem.core.tasks.threads import ordered_map


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs: int) -> None:
    waits = [threading.Event() for _ in range(20)]

    def work(number: int) -> int:
        # Of two at a time, the later one ends first.
        if jobs > 1 and number % 2 == 0:
            waits[number + 1].wait(60)
        waits[number].set()
        return number**2

    assert list(ordered_map(jobs, work, range(20))) == [number**2 for number in range(20)]


def test_an_error_ends_what_other_threads_are_at() -> None:
    began, taken = threading.Event(), list[int]()

    def items() -> Iterator[int]:
        for number in range(4):
            taken.append(number)
            yield number

    with SILENT("everything", 4) as task:
        parts = Parts(task)

        def work(number: int) -> None:
            if number == 0:
                began.wait(60)
                raise ValueError("this one fails")
            with parts("a part", 10) as part:
                for _ in itertools.count():
                    part.advance()
                    began.set()

        with pytest.raises(ValueError, match="this one fails"):
            list(ordered_map(2, work, items(), parts.stop))
    assert taken == [0, 1, 2]
