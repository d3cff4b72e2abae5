"""Options that mean the same in every command."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.options.making import F, group, option

if TYPE_CHECKING:
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.search.results import Limits
    from glem.core.tasks.chunked_work import Workers

__all__ = [
    "as_json",
    "evaluation_output",
    "even_within",
    "held_out",
    "jobs",
    "limits",
    "output",
    "quiet_positions",
    "seed",
    "selection",
    "workers",
]

_LOCAL = "local"
_IN_FLIGHT_PER_THREAD = 2
_CONNECT_SECONDS = 10
_PROCESSORS = os.cpu_count() or 1

as_json = option("--json", "as_json", is_flag=True, help="Print JSON.")
jobs = option(
    "--jobs",
    type=click.IntRange(1),
    default=_PROCESSORS,
    show_default="processors",
    help="Threads; the result does not depend on their number.",
)
seed = option(
    "--seed", type=click.IntRange(0, (1 << 32) - 1), default=0, show_default=True, help="Seed of all that is random."
)


def output(text: str, *, required: bool = True, is_folder: bool = False) -> Callable[[F], F]:
    """Add ``-o``: the file or folder to write, of which the text tells."""
    kind = click.Path(file_okay=not is_folder, dir_okay=is_folder)
    return option("-o", "--output", required=required, type=kind, help=text)


evaluation_output = output("Evaluation file to write (.npz).")


def held_out(
    default: float | None, purpose: str, *, least: float = 0, most: float = 0.9, was: Iterable[str] = ()
) -> Callable[[F], F]:
    """Add ``--held-out``: the share of the games that something else is done with than with the others."""
    return option(
        "--held-out",
        type=click.FloatRange(least, most),
        default=default,
        show_default=default is not None,
        metavar="SHARE",
        help=f"Hold out this share of the games{purpose}.",
        was=was,
    )


# ----------------------------------------------------------------------------------------- which positions


def _rule(*, select: str = "random", skip_moves: int, skip_end: float, seed: int) -> SelectionRule:
    from glem.core.positions.selection.selection import SelectionRule

    return SelectionRule.parse(select, skip_moves=skip_moves, skip_end=skip_end, seed=seed)


def selection(default: str | None = "random") -> Callable[[F], F]:
    """Add ``--select``, ``--skip-moves`` and ``--skip-end``; the command gets a SelectionRule as ``rule``.

    The command has ``--seed`` too. Without a default there is no ``--select``: one position of each game is drawn.
    """
    select = option(
        "--select",
        default=default,
        show_default=True,
        metavar="RULE",
        help="Positions of each game: random (one), last (one), all, or every:N.",
    )
    skips = (
        option(
            "--skip-moves",
            type=click.IntRange(0),
            default=10,
            show_default=True,
            help="Leave out the first moves of each side.",
        ),
        option(
            "--skip-end",
            type=click.FloatRange(0, 0.99),
            default=0.1,
            show_default=True,
            help="Leave out this share of each game, at its end.",
        ),
    )
    return group("rule", _rule, *(() if default is None else (select,)), *skips, needs=("seed",))


def quiet_positions(*, default: bool) -> Callable[[F], F]:
    """Add ``--quiet-positions``; the command gets ``quiet``."""
    return option(
        "--quiet-positions/--any-position",
        "quiet",
        default=default,
        show_default=True,
        help="Leave out positions with tactical moves, which a search never evaluates.",
        was=("--quiet",),
    )


def even_within(text: str, default: float | None = None) -> Callable[[F], F]:
    """Add ``--even-within``: up to which value a position is near even; the text says what follows from it."""
    kind = click.FloatRange(0, min_open=True)
    return option(
        "--even-within", type=kind, default=default, show_default=True, metavar="VALUE", help=text, was=("--window",)
    )


# ------------------------------------------------------------------------------------------------- searches

LIMITS = {
    "depth": option("--depth", type=click.IntRange(1), help="Search this many plies deep at most."),
    "nodes": option("--nodes", type=click.IntRange(1), help="Visit this many positions at most."),
    "seconds": option("--seconds", type=click.FloatRange(0, min_open=True), help="Search this many seconds at most."),
}


def limits(*kinds: str) -> Callable[[F], F]:
    """Add those of ``--depth``, ``--nodes`` and ``--seconds`` that are named; the command gets Limits as ``limits``."""

    def make(**values: Any) -> Limits:
        from glem.core.search.results import Limits

        return Limits(**values)

    return group("limits", make, *(LIMITS[kind] for kind in kinds))


# ---------------------------------------------------------------------------------------- where tasks run


def opened_workers(workers: int, dask: str | None) -> Workers:
    """Connect to what the options name, until the command ends.

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
    from glem.core.errors import BadInputError
    from glem.core.tasks.chunked_work import Workers

    if dask is None:
        return Workers(workers)
    try:
        import distributed
    except ImportError:
        raise BadInputError("--dask needs dask.distributed: pip install 'glem[distributed]'") from None
    dask_distributed: Any = distributed  # it has no types
    context = click.get_current_context()
    address: Any = dask
    if dask == _LOCAL:
        address = context.with_resource(
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
        client = context.with_resource(dask_distributed.Client(address, timeout=_CONNECT_SECONDS))
    except (OSError, ValueError) as error:
        raise BadInputError(f"--dask {dask}: no scheduler answers there ({error})") from error
    threads = sum(client.nthreads().values())
    executor = client.get_executor()
    # Tasks that nobody waits for any more are not waited for.
    context.call_on_close(lambda: executor.shutdown(wait=False))
    return Workers(workers, executor, _IN_FLIGHT_PER_THREAD * max(1, threads))


workers = group(
    "workers",
    opened_workers,
    option(
        "--workers",
        type=click.IntRange(1, 4096),
        default=_PROCESSORS,
        show_default="processors",
        help="Local processes; the result does not depend on their number.",
    ),
    option(
        "--dask",
        metavar="ADDRESS",
        help="Run on the workers of a dask.distributed scheduler (tcp://host:8786), or of a local one (local).",
    ),
)
