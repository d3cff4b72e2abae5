"""Options of commands that grade evaluations on games."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import click

from glem.core.cli.options.making import F, file, group, option

if TYPE_CHECKING:
    from glem.core.positions.selection.selection import SelectionRule

__all__ = ["TuningGames", "confidence", "evaluations", "report", "resamples", "tuning"]


def evaluations(text: str) -> Callable[[F], F]:
    """Add ``--evaluation``, which may be repeated; the text says what it may be."""
    return option("--evaluation", "evaluations", multiple=True, required=True, metavar="EVALUATION", help=text)


resamples = option("--resamples", type=click.IntRange(100), default=10_000, help="Samples of each test.")
confidence = option("--confidence", default=0.95, help="Confidence level.")
report = file("--report", metavar="FILE", help="Write an HTML report.")


@attrs.define(frozen=True)
class TuningGames:
    """Games that something is fitted to, and not graded on.

    Parameters
    ----------
    files
        Their files.
    rule
        Which of their positions.
    """

    files: tuple[str, ...]
    rule: SelectionRule


def tuning(text: str) -> Callable[[F], F]:
    """Add ``--tuning`` and ``--tuning-select``; the text says what the games serve for.

    It stands below the selection of the games that are graded; the command gets :class:`TuningGames` as ``tuning``.
    """

    def make(rule: SelectionRule, tuning: tuple[str, ...], tuning_select: str) -> TuningGames:
        from glem.core.positions.selection.selection import SelectionRule

        chosen = SelectionRule.parse(tuning_select, skip_moves=rule.skip_moves, skip_end=rule.skip_end, seed=rule.seed)
        return TuningGames(tuning, chosen)

    return group(
        "tuning",
        make,
        file("--tuning", multiple=True, metavar="FILE", help=text),
        option("--tuning-select", default="every:7", metavar="RULE", help="Positions of each tuning game."),
        needs=("rule",),
    )
