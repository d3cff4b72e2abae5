"""Fitting the weights of an engine's own terms to the results of games, or to a table of their coefficients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from glem.core.discovery.game_positions import Games
from glem.core.errors import BadInputError
from glem.core.features.functions import load_function
from glem.core.positions.selection.reading import FileSummary, reading_remarks
from glem.core.positions.selection.selection import SelectionRule
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tuning.coefficients import blocks_of_positions, blocks_of_table
from glem.core.tuning.fitting import TermSettings, TermsFit, fit_terms


def tune_terms(
    terms: str,
    games: Games | None,
    rule: SelectionRule,
    settings: TermSettings | None = None,
    *,
    weights: str | os.PathLike[str] | None = None,
    hold: Sequence[str] = (),
    quiet: bool = True,
    held_out: float = 0.05,
    seed: int = 0,
    work: Path | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> TermsFit:
    """Fit the weights of an engine's own terms to the results of games, as ``glem fit likelihood --terms`` does.

    Parameters
    ----------
    terms
        What gives the coefficients of positions (:func:`~glem.core.tuning.coefficients.blocks_of_positions`), as
        ``file.py:function``; or a table of them (:func:`~glem.core.tuning.coefficients.blocks_of_table`).
    games
        Games, or positions with results; None for a table.
    rule
        Positions of each game. Each counts once.
    settings
        How to fit.
    weights
        What the fit begins with, a file of JSON; zeros if not given.
    hold
        Names or patterns of terms whose weights stay.
    quiet
        Leave out positions with tactical moves.
    held_out
        Share of the games that is not fitted, and tells what was gained.
    seed
        Chooses these games.
    work
        Folder where the state of the unfinished fit is kept; the same call continues it, with the same result.
    jobs
        Threads; they change no result.

    Raises
    ------
    BadInputError
        No such files or function, terms or weights do not fit, no positions, or the folder has another fit.
    """
    summaries: list[FileSummary] = []
    if ":" not in terms:
        if games is not None:
            raise BadInputError(f"{terms}: a table has the results; name no games beside it")
        found = [*blocks_of_table(terms, held_out=held_out, seed=seed)]
    else:
        if games is None:
            raise BadInputError("a function needs positions: name games, or positions with results")
        parts = games.positions(rule, quiet=quiet, observe=summaries.append, progress=progress)
        found = [*blocks_of_positions(load_function(terms), parts, name=terms, held_out=held_out, seed=seed)]
    if not found:
        raise BadInputError("there is no position")
    own = found[0][0]
    start = None if weights is None else own.read(weights)[0]
    blocks = [block for _, block in found]
    fit = fit_terms(own, blocks, start, settings, held=own.matching(hold), work=work, jobs=jobs, progress=progress)
    return evolve(fit, notes=(*fit.notes, *reading_remarks(summaries)))
