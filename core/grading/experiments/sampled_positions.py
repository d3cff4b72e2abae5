"""The positions of an experiment: one of each game, of so many games drawn from a collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.positions.positions import Positions
from glem.core.positions.selection.reading import FileSummary, read_selected, why_nothing_is_left
from glem.core.positions.selection.selection import PAPER_RULE, SelectionCounts, SelectionRule
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["sample_positions"]


def sample_positions(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    *,
    rule: SelectionRule = PAPER_RULE,
    most: int | None = None,
    skip_bad: bool = False,
    progress: Progress = SILENT,
) -> tuple[Positions, SelectionCounts]:
    """Select positions of game records, and keep at most so many of them; the second part counts what the files hold.

    Parameters
    ----------
    game
        The game.
    files
        Game records in any of its formats.
    rule
        Which positions of each game; its seed also draws those that are kept.
    most
        Positions to keep, each as likely; None for all.
    skip_bad
        Leave bad records out instead of stopping.
    progress
        Display.

    Raises
    ------
    BadInputError
        A file is bad, or no position is left.
    """
    if most is not None and most < 1:
        raise BadInputError(f"an experiment needs at least one position, got {most}")
    parts: list[Positions] = []
    summaries: list[FileSummary] = []
    counts = SelectionCounts()
    with progress("Reading", len(files)) as bar:
        for file in files:
            bar.note(Path(file).name)
            for part in read_selected(game, file, rule, skip_bad=skip_bad):
                if isinstance(part, FileSummary):
                    summaries.append(part)
                    counts.add(part.counts)
                else:
                    record = part.record + sum(summary.games for summary in summaries)
                    parts.append(attrs.evolve(part, record=record, game_key=part.game_key, records=None))
            bar.advance()
    if not counts.chosen:
        raise BadInputError(f"no position is left: {why_nothing_is_left(summaries)}")
    positions = Positions.concatenate(parts, renumber=False)
    if most is not None and most < len(positions):
        kept = np.sort(np.random.default_rng(rule.seed).permutation(len(positions))[:most])
        positions = positions.select(kept)
    return positions, counts
