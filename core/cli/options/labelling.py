"""Options of commands that label positions by search: who labels, and which positions are added to the given ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.options.making import F, count, flag, group

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
        count(
            "--sampled",
            0,
            "Add N positions that the search of each position evaluates.",
            least=0,
            most=1000,
            metavar="N",
        ),
        count("--even", 0, "Add N near-even ones of those.", least=0, most=1000, metavar="N"),
        options.even_within(
            "Greatest static score of near-even ones; 1/16 of the greatest score, or a quarter win, by default."
        ),
        count("--sample-depth", None, "Depth of the searches that positions are drawn from."),
        flag(
            "--successors/--no-successors",
            "Add the successor by the principal variation with the negated label.",
            default=True,
        ),
        needs=("seed",),
    )
