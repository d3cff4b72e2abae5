"""Reading positions of games whose results are known: all of them, quiet ones, or those where exchanges end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.game.game import Game
from glem.core.positions.selection.game_keys import game_keys_of
from glem.core.positions.selection.reading import FileSummary, read_selected, why_nothing_is_left
from glem.core.positions.selection.selected import GamePositions
from glem.core.positions.selection.selection import SelectionRule
from glem.core.search.quiet import quiet_positions, settled_positions
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["read_game_positions"]


def read_game_positions(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    rule: SelectionRule,
    *,
    quiet: bool = False,
    settle: LinearEvaluation | None = None,
    skip_bad: bool = False,
    observe: Callable[[FileSummary], None] | None = None,
    progress: Progress = SILENT,
) -> Iterator[GamePositions]:
    """Read selected positions of games, part by part; memory holds one part.

    Parameters
    ----------
    game
        The game.
    files
        Scored positions (``.parquet``), of which the signs of the labels count, or game records.
    rule
        Which positions of each game.
    quiet
        Only quiet ones of these (:mod:`glem.core.search.quiet`).
    settle
        In place of each of them that to which quiescence with this evaluation leads from it
        (:mod:`glem.core.search.quiet`).
    skip_bad
        Leave bad game records out instead of raising.
    observe
        Is shown what each file held, after its parts.
    progress
        Counts files.

    Raises
    ------
    BadInputError
        A file cannot be read, positions of several games were merged, or no position is left.
    """
    first = count = 0
    summaries: list[FileSummary] = []
    with progress("Reading", len(files)) as bar:
        for file in files:
            bar.note(Path(file).name)
            for part in read_selected(game, file, rule, skip_bad=skip_bad):
                if isinstance(part, FileSummary):
                    first += part.games
                    summaries.append(part)
                    if observe is not None:
                        observe(part)
                elif len(part.selected):
                    found = GamePositions(
                        part.selected.positions,
                        np.sign(part.label).astype(np.int8),
                        part.selected.game_number + first,
                        game_keys_of(game, part),
                    )
                    if quiet:
                        found = found.select(quiet_positions(game, found.positions))
                    if settle is not None:
                        found = _settled(found, settle)
                    if len(found):
                        count += len(found)
                        yield found
            bar.advance()
    if count == 0:
        chosen = sum(summary.counts.chosen for summary in summaries)
        why = f"none of the {chosen:,} selected ones is quiet" if chosen else why_nothing_is_left(summaries)
        raise BadInputError(f"no position is left: {why}")


def _settled(found: GamePositions, evaluation: LinearEvaluation) -> GamePositions:
    settled = settled_positions(evaluation, found.positions)
    result = np.where(settled.plies % 2 == 1, -found.result, found.result).astype(np.int8)
    return GamePositions(settled.positions, result, found.game, found.game_key).select(settled.plies >= 0)
