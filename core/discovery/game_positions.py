"""Reading positions of games whose results are known: all of them, quiet ones, or those where exchanges end."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from attrs import define, evolve

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.game.game import Game
from glem.core.positions.positions import Positions
from glem.core.positions.selection.reading import FileSummary, read_selected, why_nothing_is_left
from glem.core.positions.selection.selection import SelectionRule
from glem.core.search.quiet import quiet_positions, settled_positions
from glem.core.tasks.progress import SILENT, Progress


@define(frozen=True)
class Games:
    """Files of games whose results are known.

    Parameters
    ----------
    game
        The game.
    paths
        Game records, or positions with results.
    format
        Name of the files' format, if their names and content do not tell.
    skip_bad
        Leave bad game records out.
    """

    game: Game
    paths: Sequence[str | os.PathLike[str]]
    format: str | None = None
    skip_bad: bool = False

    def positions(
        self,
        rule: SelectionRule,
        *,
        quiet: bool = False,
        settle: LinearEvaluation | None = None,
        observe: Callable[[FileSummary], None] | None = None,
        progress: Progress = SILENT,
    ) -> Iterator[Positions]:
        """Read selected positions, part by part; memory holds one part.

        Records are numbered through the files, and labels are the results, 1, 0 or -1 for the side to move.

        Parameters
        ----------
        rule
            Which positions of each game.
        quiet
            Only quiet ones of these (:mod:`glem.core.search.quiet`).
        settle
            In place of each of them that to which quiescence with this evaluation leads from it
            (:mod:`glem.core.search.quiet`).
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
        with progress("Reading", len(self.paths)) as bar:
            for file in self.paths:
                bar.note(Path(file).name)
                tactical = 0
                for part in read_selected(self.game, file, rule, format=self.format, skip_bad=self.skip_bad):
                    if isinstance(part, FileSummary):
                        first += part.games
                        part.counts.tactical = tactical
                        summaries.append(part)
                        if observe is not None:
                            observe(part)
                    elif len(part):
                        label, record = part.result.astype(np.float32), part.record + np.int32(first)
                        found = evolve(part, label=label, record=record, game_key=part.game_key, records=None, extra={})
                        if quiet:
                            found = found.select(quiet_positions(self.game, found.positions))
                            tactical += len(part) - len(found)
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


def _settled(found: Positions, evaluation: LinearEvaluation) -> Positions:
    settled, plies = settled_positions(evaluation, found.positions)
    label = np.where(plies % 2 == 1, -found.label, found.label)
    return evolve(found, positions=settled, label=label).select(plies >= 0)
