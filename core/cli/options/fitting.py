"""Options of commands that fit evaluations."""

from __future__ import annotations

from collections.abc import Callable

import click

from glem.core.cli.options.making import F, option

__all__ = ["configurations", "iterations", "l2", "linear", "patterns", "smoothing"]

configurations = option(
    "--configurations", type=click.Path(dir_okay=False), metavar="FILE", help="Use mined configurations (.npz) too."
)
linear = option("--linear/--no-linear", default=True, show_default=True, help="Let the game's linear features enter.")
smoothing = option(
    "--smoothing",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="Factor for positions of adjacent phases.",
)


def patterns(more: str = "; the game's first by default, `none` for none") -> Callable[[F], F]:
    """Add ``--patterns``, with words on what is used without it."""
    return option("--patterns", metavar="NAME", help=f"Pattern set{more}.")


def iterations(default: int | None, more: str = "") -> Callable[[F], F]:
    """Add ``--iterations``."""
    return option(
        "--iterations", type=click.IntRange(1), default=default, show_default=True, help=f"Most iterations{more}."
    )


def l2(default: float = 25.0, unit: str = ", in positions") -> Callable[[F], F]:
    """Add ``--l2``, the penalty on squared weights."""
    kind = click.FloatRange(0, 1e9)
    return option("--l2", type=kind, default=default, show_default=True, help=f"Penalty on weights{unit}.")
