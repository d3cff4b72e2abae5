"""Many independent tasks over the workers of any :class:`concurrent.futures.Executor`.

Processes of this machine are the default; ``distributed.Client.get_executor()`` and ``mpi4py.futures`` are drop-in.
The result of a task must depend on the task alone: then it does not matter how many workers there are, which of them
takes which task, and whether one of them dies on the way.
"""

import contextlib
import os
import queue
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeVar

from attrs import define, evolve

from glem.core.compiling.plain_python import PlainReason, collected_reasons, warn_of_plain_rules
from glem.core.errors import GlemError, check_arguments
from glem.core.machine.locks import LONGEST_WAIT

T = TypeVar("T")
R = TypeVar("R")

_IN_FLIGHT_PER_WORKER = 2
_IN_FLIGHT_ELSEWHERE = 256
SAFE_PATH = "PYTHONSAFEPATH"
"""Variable of the environment by which Python imports nothing from the current folder."""

CARRIED: dict[Callable[[Any], AbstractContextManager[None]], Any] = {}
"""Module-level functions whose blocks a worker does each task in, with what the process that hands it out has here."""

_environment = threading.RLock()


class Member(NamedTuple):
    """A worker that can be named: what hands tasks to it, and its threads."""

    executor: Executor
    threads: int


@define(frozen=True)
class Workers:
    """Where tasks run: in this process and in order, unless more workers or an executor are given.

    Parameters
    ----------
    workers
        Number of local processes; 1 for none but this one.
    executor
        Where the tasks run instead; it stays open.
    in_flight
        Most tasks that are handed out at a time; by default twice the local processes, 256 for an executor.
    members
        Finds the executor's workers by name, where they can keep something from task to task.
    is_lost
        Whether the worker that had a task is gone, of which the executor says nothing; it is asked while nothing ends.

    Raises
    ------
    BadInputError
        No worker, or nothing in flight.
    """

    workers: int = 1
    executor: Executor | None = None
    in_flight: int | None = None
    members: Callable[[], Mapping[str, Member]] | None = None
    is_lost: Callable[[Any], bool] | None = None

    def __attrs_post_init__(self) -> None:
        check_arguments(self, workers=(1,), in_flight=(1,))


@contextlib.contextmanager
def _later_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block.

    In the middle of what an executor does, it would leave locks locked for ever that another thread waits for.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])


@contextlib.contextmanager
def importing_nothing_from_here() -> Iterator[None]:
    """Let Python processes that start in the block import nothing from the current folder.

    Python's own processes begin with ``python -c``, which looks there first: a stranger's ``signal.py`` would run.
    """
    with _environment:
        before = os.environ.get(SAFE_PATH)
        os.environ[SAFE_PATH] = "1"
        try:
            yield
        finally:
            _restore_path(before)


def _restore_path(before: str | None) -> None:
    if before is None:
        os.environ.pop(SAFE_PATH, None)
    else:
        os.environ[SAFE_PATH] = before


class _Worker(SpawnProcess):
    def start(self) -> None:
        with importing_nothing_from_here():
            super().start()


class _Spawning(SpawnContext):
    # Spawned, not forked: a fork copies the locks that numba's and the caller's threads hold.
    Process = _Worker


class LocalWorkers(ProcessPoolExecutor):
    """Processes of this machine that end with the process that started them, however it ends."""

    def __init__(self, workers: int) -> None:
        context = _Spawning()
        worker_end, self._lifeline = context.Pipe(duplex=False)
        initial: tuple[Any, str | None] = (worker_end, os.environ.get(SAFE_PATH))
        with importing_nothing_from_here():
            _start_quiet_tracker()
            super().__init__(workers, mp_context=context, initializer=_begin_worker, initargs=initial)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers; with ``cancel_futures`` at once, also those that are in the middle of a task."""
        with _later_interrupts():
            if cancel_futures:
                self._lifeline.close()
            super().shutdown(wait=wait, cancel_futures=cancel_futures)
            if wait:
                self._lifeline.close()


def _start_quiet_tracker() -> None:
    """Start the process that removes what killed ones leave, unless it runs; else it would say so on the screen."""
    silence = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(silence)
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(silence)


@contextlib.contextmanager
def kept_workers(workers: Workers | None = None) -> Iterator[Workers]:
    """Keep local processes, and what they keep, for several calls of :func:`run_tasks`; an error ends them at once."""
    where = workers or Workers()
    if where.executor is not None or where.workers == 1:
        yield where
        return
    pool = LocalWorkers(where.workers)
    try:
        yield evolve(where, executor=pool, in_flight=where.in_flight or _IN_FLIGHT_PER_WORKER * where.workers)
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _begin_worker(lifeline: Any, safe_path: str | None) -> None:
    """Begin a worker process: it ends when the other end of ``lifeline`` is closed, by the parent or by its death."""
    # Programs that the worker starts, engines in Python for one, find their modules as ever.
    _restore_path(safe_path)
    # Ctrl-C reaches every process of the terminal; the parent alone decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def run_tasks(
    function: Callable[[T], R],
    tasks: Iterable[T],
    workers: Workers | None = None,
    *,
    retries: int = 3,
) -> Generator[tuple[int, R], None, None]:
    """Apply a function to tasks and yield the results as they come.

    Ctrl-C, an error of a task and an iterator that is closed early cancel what has not begun; local workers end at
    once, in the middle of what they do.

    Parameters
    ----------
    function
        A module-level function. It is called once per task, or again where a worker died, so it must not leave
        traces that a second call would add to.
    tasks
        Arguments, taken as they are needed. With any executor they, the results and the errors are pickled.
    workers
        Where the tasks run; by default in this process, in order.
    retries
        How often a task is run again when the worker that had it died.

    Yields
    ------
    index, result
        Index of the task among ``tasks``, from 0, and what the function returned.

    Raises
    ------
    GlemError
        A given executor broke, or the workers died too often.
    Exception
        What the function raised.
    """
    where = workers or Workers()
    if where.executor is None and where.workers == 1:
        return ((index, function(task)) for index, task in enumerate(tasks))
    return _Distribution(function, tasks, where, retries).results()


def _call(
    function: Callable[[T], R], task: T, carried: Sequence[tuple[Callable[[Any], AbstractContextManager[None]], Any]]
) -> tuple[R, list[PlainReason]]:
    """Call the function in a worker; what it would warn of is for the process that asked to say, once for all."""
    with contextlib.ExitStack() as blocks, collected_reasons() as reasons:
        for block, value in carried:
            blocks.enter_context(block(value))
        return function(task), reasons


@define
class _Attempt(Generic[T]):
    index: int
    task: T
    executor: Executor | None = None
    lost: int = 0
    """How often a worker died that had it."""


class _Distribution(Generic[T, R]):
    """One run over an executor: what waits, what runs where."""

    def __init__(self, function: Callable[[T], R], tasks: Iterable[T], where: Workers, retries: int) -> None:
        self._function = function
        self._fresh = enumerate(tasks)
        self._again: deque[_Attempt[T]] = deque()
        self._running: dict[Future[tuple[R, list[PlainReason]]], _Attempt[T]] = {}
        self._done: queue.SimpleQueue[Future[tuple[R, list[PlainReason]]]] = queue.SimpleQueue()
        self._executor = where.executor
        self._owned: LocalWorkers | None = None
        self._workers = where.workers
        most = _IN_FLIGHT_PER_WORKER * where.workers if where.executor is None else _IN_FLIGHT_ELSEWHERE
        self._in_flight = where.in_flight or most
        self._retries = retries
        self._is_lost = where.is_lost

    def results(self) -> Generator[tuple[int, R], None, None]:
        try:
            while True:
                self._hand_out()
                if not self._running:
                    return
                for future in self._next_done():
                    attempt = self._running.pop(future)
                    try:
                        with _later_interrupts():
                            result, reasons = future.result()
                    except (BrokenExecutor, CancelledError) as error:
                        self._lose(attempt, error)
                    except Exception as error:
                        if _comes_from_dask_itself(error):
                            if isinstance(error.__cause__, ImportError | AttributeError):
                                raise GlemError(
                                    f"the scheduler has another glem than this command, or none ({error.__cause__})"
                                ) from error
                            self._lose(attempt, error)
                            continue
                        if not _tells_of_dead_worker(error):
                            raise
                        raise _too_many_deaths(attempt) from error
                    else:
                        warn_of_plain_rules(reasons)
                        yield attempt.index, result
        finally:
            self._close()

    def _hand_out(self) -> None:
        while len(self._running) < self._in_flight:
            attempt = self._next()
            if attempt is None:
                return
            attempt.executor = self._current_executor()
            try:
                with _later_interrupts():
                    future = attempt.executor.submit(_call, self._function, attempt.task, list(CARRIED.items()))
                    self._running[future] = attempt
                    future.add_done_callback(self._done.put)
            except BrokenExecutor as error:
                self._again.appendleft(attempt)
                self._replace(attempt.executor, error)

    def _next_done(self) -> list[Future[tuple[R, list[PlainReason]]]]:
        """Wait for a task to end; give all that have ended, in their order."""
        done: list[Future[tuple[R, list[PlainReason]]]] = []
        while not done:
            try:
                done.append(self._done.get(timeout=LONGEST_WAIT))
            except queue.Empty:
                for future, attempt in list(self._running.items()):
                    if self._is_lost is not None and self._is_lost(attempt.task):
                        future.cancel()
        with contextlib.suppress(queue.Empty):
            while True:
                done.append(self._done.get_nowait())
        return sorted(done, key=lambda future: self._running[future].index)

    def _next(self) -> _Attempt[T] | None:
        if self._again:
            return self._again.popleft()
        fresh = next(self._fresh, None)
        return None if fresh is None else _Attempt(*fresh)

    def _current_executor(self) -> Executor:
        if self._executor is None:
            self._executor = self._owned = LocalWorkers(self._workers)
        return self._executor

    def _lose(self, attempt: _Attempt[T], error: BaseException) -> None:
        """Put a task back whose worker died."""
        attempt.lost += 1
        if attempt.lost > self._retries:
            raise _too_many_deaths(attempt) from error
        self._again.append(attempt)
        if isinstance(error, BrokenExecutor):
            self._replace(attempt.executor, error)

    def _replace(self, broken: Executor | None, error: BrokenExecutor) -> None:
        """Give up a broken executor; what else is in flight on it comes back as lost by itself."""
        if broken is not self._executor:
            return
        if self._owned is None:
            raise GlemError(f"the workers broke down ({error}); the same command continues where it can") from error
        self._owned.shutdown(wait=True)
        self._executor = self._owned = None

    def _close(self) -> None:
        with _later_interrupts():
            if self._owned is not None:
                self._owned.shutdown(wait=True, cancel_futures=bool(self._running))
            else:
                for future in self._running:
                    future.cancel()
            self._running.clear()


def _tells_of_dead_worker(error: Exception) -> bool:
    # dask runs lost tasks again by itself and gives up with this one; naming its class would need dask installed.
    return type(error).__module__.startswith("distributed.") and type(error).__name__ == "KilledWorker"


def _comes_from_dask_itself(error: Exception) -> bool:
    """Whether the executor stumbled, not the task: so dask's does when a worker dies with a result that was ready."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_globals.get("__name__") == "distributed.cfexecutor"


def _too_many_deaths(attempt: _Attempt[Any]) -> GlemError:
    return GlemError(
        f"workers died again and again while they had task {attempt.index}: they were killed, ran out of memory, or "
        "belong to a script that starts them outside `if __name__ == '__main__':`"
    )
