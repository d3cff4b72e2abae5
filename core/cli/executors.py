"""Where a command's tasks run: the options ``--workers`` and ``--dask``, and what they open."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["WhereToRun", "executor_options", "opened_executor"]

F = TypeVar("F", bound=Callable[..., Any])

_LOCAL = "local"
_IN_FLIGHT_PER_THREAD = 2
_CONNECT_SECONDS = 10


class WhereToRun(TypedDict, total=False):
    """Named arguments of :func:`glem.core.tasks.tasks.run_tasks`."""

    executor: Executor
    workers: int
    in_flight: int


def executor_options(command: F) -> F:
    """Add ``--workers`` and ``--dask`` to a command."""
    workers = click.option(
        "--workers",
        type=click.IntRange(1, 4096),
        default=os.cpu_count() or 1,
        show_default="processors",
        help="Local processes; the result does not depend on their number.",
    )
    dask = click.option(
        "--dask",
        metavar="ADDRESS",
        help="Run on the workers of a dask.distributed scheduler (tcp://host:8786), or of a local one (local).",
    )
    return workers(dask(command))


@contextlib.contextmanager
def opened_executor(workers: int, dask: str | None) -> Iterator[WhereToRun]:
    """Open what the options say.

    Parameters
    ----------
    workers
        Local processes; also those of a local dask cluster.
    dask
        Address of a scheduler, ``local``, or None for plain processes.

    Raises
    ------
    BadInputError
        dask.distributed is not installed, or nothing answers at the address.
    """
    if dask is None:
        yield {"workers": workers}
        return
    from glem.core.errors import BadInputError

    try:
        import distributed
    except ImportError:
        raise BadInputError("--dask needs dask.distributed: pip install 'glem[distributed]'") from None
    dask_distributed: Any = distributed  # it has no types
    with contextlib.ExitStack() as stack:
        address: Any = dask
        if dask == _LOCAL:
            address = stack.enter_context(
                dask_distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    # Without an address the scheduler tries a fixed port, which another cluster here may have.
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            )
        try:
            client = stack.enter_context(dask_distributed.Client(address, timeout=_CONNECT_SECONDS))
        except (OSError, ValueError) as error:
            raise BadInputError(f"--dask {dask}: no scheduler answers there ({error})") from error
        threads = sum(client.nthreads().values())
        executor = client.get_executor()
        # Tasks that nobody waits for any more are not waited for.
        stack.callback(executor.shutdown, wait=False)
        yield {"executor": executor, "in_flight": _IN_FLIGHT_PER_THREAD * max(1, threads)}
