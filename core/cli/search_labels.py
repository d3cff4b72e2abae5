"""Options of commands that label positions by search: which positions they add to the given ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from glem.core.labelling.by_search import SearchLabelling

__all__ = ["labelling_options", "search_labelling"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--sampled",
        type=click.IntRange(0, 1000),
        default=0,
        show_default=True,
        metavar="N",
        help="Add N positions that the search of each position evaluates.",
    ),
    click.option(
        "--even",
        type=click.IntRange(0, 1000),
        default=0,
        show_default=True,
        metavar="N",
        help="Add N near-even ones of those.",
    ),
    click.option(
        "--window",
        type=click.FloatRange(0),
        help="Greatest static score of near-even ones; 1/16 of the greatest score, or a quarter win, by default.",
    ),
    click.option("--sample-depth", type=click.IntRange(1), help="Depth of the searches that positions are drawn from."),
    click.option(
        "--successors/--no-successors",
        default=True,
        show_default=True,
        help="Add the successor by the principal variation with the negated label.",
    ),
)


def labelling_options(command: F) -> F:
    """Add the options to a command; their values are arguments of :func:`search_labelling`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def search_labelling(
    labeller: str,
    *,
    sampled: int,
    even: int,
    window: float | None,
    sample_depth: int | None,
    successors: bool,
    seed: int,
    given: bool = True,
) -> SearchLabelling:
    """Describe the labelling that the options ask for.

    Parameters
    ----------
    labeller
        Text of the player that labels.
    sampled, even, window, sample_depth, successors
        Values of the options.
    seed
        Of what is drawn.
    given
        Whether the given positions are labelled themselves.

    Raises
    ------
    BadInputError
        The window is not finite, or the player is none that labels.
    """
    from glem.core.errors import BadInputError
    from glem.core.labelling.by_search import SearchLabelling
    from glem.core.players.spec import parse_player
    from glem.core.search.results import Limits

    if window is not None and not math.isfinite(window):
        raise BadInputError(f"--window must be a finite score, got {window}")
    return SearchLabelling(
        labeller=parse_player(labeller),
        given=given,
        sampled=sampled,
        even=even,
        window=window,
        sampling=None if sample_depth is None else Limits(depth=sample_depth),
        successors=successors,
        seed=seed,
    )
