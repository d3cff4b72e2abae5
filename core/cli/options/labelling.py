"""Options of commands that label positions by search: who labels, and which positions are added to the given ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.options.making import F, count, group, option

if TYPE_CHECKING:
    from glem.core.labelling.by_search import SearchLabelling

__all__ = ["labelling"]


def _labelling(**values: Any) -> SearchLabelling:
    from glem.functions import search_labelling

    return search_labelling(**values)


def labelling(*settings: Callable[[Any], Any]) -> Callable[[F], F]:
    """Add the options; the command, which has ``--seed`` too, gets a SearchLabelling as ``labelling``.

    Parameters
    ----------
    settings
        The command's own ``--by``, and what else a SearchLabelling takes.
    """
    return group(
        "labelling",
        _labelling,
        *settings,
        option(
            "--sampled",
            type=click.IntRange(0, 1000),
            default=0,
            metavar="N",
            help="Add N positions that the search of each position evaluates.",
        ),
        option("--even", type=click.IntRange(0, 1000), default=0, metavar="N", help="Add N near-even ones of those."),
        options.even_within(
            "Greatest static score of near-even ones; 1/16 of the greatest score, or a quarter win, by default."
        ),
        count("--sample-depth", help="Depth of the searches that positions are drawn from."),
        option(
            "--successors/--no-successors",
            default=True,
            help="Add the successor by the principal variation with the negated label.",
        ),
        needs=("seed",),
    )
