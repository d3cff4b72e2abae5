"""The positions of an experiment: one of each game, of so many games drawn from a collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.positions.reading import read_records
from glem.core.positions.selection.record_selection import selected_from_records
from glem.core.positions.selection.selected import SelectedPositions
from glem.core.positions.selection.selection import PAPER_RULE, SelectionRule
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["SampledPositions", "sample_positions"]


@define(frozen=True, eq=False)
class SampledPositions:
    """Positions of an experiment and the results of their games.

    Parameters
    ----------
    selected
        N positions without their records, in the order of the files.
    result
        int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost.
    games
        Finished games that the files hold.
    without
        Those of them of which the selection leaves no position.
    """

    selected: SelectedPositions
    result: NDArray[np.int8]
    games: int
    without: int


def sample_positions(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    *,
    rule: SelectionRule = PAPER_RULE,
    most: int | None = None,
    skip_bad: bool = False,
    progress: Progress = SILENT,
) -> SampledPositions:
    """Select positions of game records, and keep at most so many of them.

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
    parts: list[SelectedPositions] = []
    results: list[NDArray[np.int8]] = []
    games = without = skipped = 0
    problem = ""
    with progress("Reading", len(files)) as bar:
        for file in files:
            bar.note(Path(file).name)
            for records in read_records(game, file, skip_bad=skip_bad):
                finished = records.select(np.isfinite(records.score))
                selected, _ = selected_from_records(game, finished, rule, first_number=games)
                games += len(finished)
                skipped += records.skipped
                problem = problem or next(iter(records.problems), "")
                assert selected.record is not None
                without += len(finished) - len(np.unique(selected.record))
                results.append((np.sign(finished.score[selected.record]) * selected.side).astype(np.int8))
                parts.append(attrs.evolve(selected, records=None, record=None, move=None))
            bar.advance()
    count = sum(map(len, parts))
    if count == 0:
        why = "all games are too short for the selection" if games else "the files hold no finished game"
        if skipped:
            why = f"{why}; {skipped:,} bad records skipped, the first: {problem}"
        raise BadInputError(f"no position is left: {why}")
    kept = np.arange(count)
    if most is not None and most < count:
        kept = np.sort(np.random.default_rng(rule.seed).permutation(count)[:most])
    kind = type(parts[0].positions)
    columns = kind(*(np.concatenate(column)[kept] for column in zip(*(part.positions for part in parts), strict=True)))
    return SampledPositions(
        SelectedPositions(
            columns,
            _joined(parts, "ply")[kept],
            _joined(parts, "game_number")[kept],
            _joined(parts, "side")[kept],
        ),
        np.concatenate(results)[kept],
        games,
        without,
    )


def _joined(parts: Sequence[SelectedPositions], name: str) -> NDArray[Any]:
    return np.concatenate([getattr(part, name) for part in parts])
