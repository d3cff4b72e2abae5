"""Positions of games whose results are known, with the games told apart: to fit evaluations to, and to grade them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.game.game import Game
from glem.core.positions.selection.game_keys import game_keys_of
from glem.core.positions.selection.reading import FileSummary, SelectedPart, read_selected, why_nothing_is_left
from glem.core.positions.selection.selection import SelectionRule
from glem.core.search.quiet import quiet_positions
from glem.core.search.settled import settled_positions
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["GamePositions", "keys_digest", "read_game_positions"]


@define(frozen=True, eq=False)
class GamePositions:
    """N positions of games.

    Parameters
    ----------
    positions
        Position of columns [N].
    result
        int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost.
    game
        int64 [N]: number of each position's game among all that were read.
    game_key
        uint64 [N]: hash of the game, equal for the same game in every file (``game_key`` of
        :class:`~glem.core.positions.positions.PositionSet`).
    """

    positions: Any
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    game_key: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.result)

    def select(self, chosen: NDArray[np.bool_]) -> GamePositions:
        """Pick some of the positions by a mask [N]."""
        positions = type(self.positions)(*(column[chosen] for column in self.positions))
        return GamePositions(positions, self.result[chosen], self.game[chosen], self.game_key[chosen])


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
        (:mod:`glem.core.search.settled`).
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
                    found = _with_keys(game, part, first)
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


def _with_keys(game: Game, part: SelectedPart, first: int) -> GamePositions:
    selected, result = part.selected, np.sign(part.label).astype(np.int8)
    return GamePositions(selected.positions, result, selected.game_number + first, game_keys_of(game, part))


def _settled(found: GamePositions, evaluation: LinearEvaluation) -> GamePositions:
    settled = settled_positions(evaluation, found.positions)
    result = np.where(settled.plies % 2 == 1, -found.result, found.result).astype(np.int8)
    return GamePositions(settled.positions, result, found.game, found.game_key).select(settled.plies >= 0)


def keys_digest(keys: NDArray[np.uint64]) -> str:
    """Digest of a set of games, from their keys in any order."""
    return hashlib.sha256(np.unique(keys).astype("<u8").tobytes()).hexdigest()[:32]
