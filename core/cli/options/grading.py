"""Options of commands that grade evaluations on games."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from glem.core.cli.options.making import F, count, file, group, option

if TYPE_CHECKING:
    from glem.core.positions.selection.selection import SelectionRule

__all__ = ["TuningGames", "confidence", "evaluations", "report", "resamples", "tuning"]


def evaluations(text: str) -> Callable[[F], F]:
    """Add ``--evaluation``, which may be repeated; the text says what it may be."""
    return option("--evaluation", "evaluations", multiple=True, required=True, metavar="EVALUATION", help=text)


resamples = count("--resamples", 10_000, "Samples of each test.", least=100)
confidence = option("--confidence", default=0.95, help="Confidence level.")
report = file("--report", "Write an HTML report.", metavar="FILE")


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
        file("--tuning", text, multiple=True, metavar="FILE"),
        option("--tuning-select", default="every:7", metavar="RULE", help="Positions of each tuning game."),
        needs=("rule",),
    )
