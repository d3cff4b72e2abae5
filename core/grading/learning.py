"""What learning by grading needs from files: games that decide, games to tune to, and candidates."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.discovery.game_positions import read_game_positions
from glem.core.errors import BadInputError
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.files.digests import file_digest
from glem.core.files.names import distinct_names
from glem.core.fitting.likelihood import BIAS, LikelihoodSettings, fit_likelihood, prior_of
from glem.core.game.game import Game
from glem.core.grading.changes import CandidateChange, Refit, apply_changes, check_candidates, read_candidates
from glem.core.grading.trials import Candidate, Evaluation, deciding_games
from glem.core.positions.positions import Positions, keys_digest
from glem.core.positions.selection.reading import FileSummary, reading_remarks
from glem.core.positions.selection.selection import SelectionRule
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["LearningGames", "listed_candidates", "read_learning_games"]

_CHANGED = "changed by learn"
_LONGEST_HISTORY = 2000


@define(frozen=True, eq=False)
class LearningGames:
    """Games to learn from.

    Parameters
    ----------
    deciding
        Positions of the games that decide.
    refit
        Fits candidates to the tuning games; None without any.
    tuning_files
        Where the tuning games come from.
    facts
        What determines the games, as JSON values.
    remarks
        What a reader should know about the files, one sentence each.
    """

    deciding: Positions
    refit: Refit | None
    tuning_files: Sequence[str]
    facts: dict[str, Any]
    remarks: list[str]


def read_learning_games(
    game: Game,
    files: Sequence[str],
    rule: SelectionRule,
    *,
    tuning: Sequence[str] = (),
    tuning_rule: SelectionRule,
    held_out: float | None = None,
    leave_out_tuned: bool = False,
    quiet: bool = False,
    l2: float = 4.0,
    skip_bad: bool = False,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> LearningGames:
    """Read the games that decide and those to tune to.

    Parameters
    ----------
    game
        The game.
    files
        Game records, or Parquet files of positions labelled with results.
    rule, tuning_rule
        Which positions of the games that decide, and of those to tune to. The seed of ``rule`` splits games.
    tuning
        Files of games to tune to.
    held_out
        Share of the games of ``files`` that decides, while the others are tuned to.
    leave_out_tuned
        Leave tuning games out of those that decide, instead of refusing them.
    quiet
        Leave out positions with tactical moves.
    l2
        Penalty of fits to the tuning games.
    skip_bad
        Leave bad records out.
    jobs
        Threads of fits.
    progress
        Display.

    Raises
    ------
    BadInputError
        Both ways to name tuning games, bad files, or no game is left to decide.
    """
    if tuning and held_out is not None:
        raise BadInputError("--tuning names the tuning games, --held-out takes the others of the files: give one")
    summaries: list[FileSummary] = []

    def read(paths: Sequence[str], chosen: SelectionRule, *, observed: bool = True) -> Iterable[Positions]:
        observe = summaries.append if observed else None
        return read_game_positions(
            game, paths, chosen, quiet=quiet, skip_bad=skip_bad, observe=observe, progress=progress
        )

    parts = read(files, rule)
    tuned: NDArray[np.uint64] | None = None
    refit: Refit | None = None
    if tuning or held_out is not None:
        others = read(tuning or files, tuning_rule, observed=bool(tuning))
        if held_out is not None:
            others = (part.split_by_game(held_out, rule.seed)[0] for part in others)
            parts = (part.split_by_game(held_out, rule.seed)[1] for part in parts)
        tuning_parts = list(others)
        tuned = np.unique(np.concatenate([np.zeros(0, np.uint64), *(part.game_key for part in tuning_parts)]))
        refit = _refit(tuning_parts, l2, jobs)
    deciding, left_out = deciding_games(parts, tuned=tuned, leave_out=leave_out_tuned)
    facts = {
        "selection": str(rule) + (", quiet ones" if quiet else ""),
        "files": distinct_names(files),
        "tuning_files": distinct_names(tuning),
        "split": held_out,
        "tuning_games": 0 if tuned is None else len(tuned),
        "tuning_digest": None if tuned is None else keys_digest(tuned),
        "left_out": left_out,
        "l2": l2,
    }
    return LearningGames(deciding, refit, tuning or files, facts, list(reading_remarks(summaries)))


def listed_candidates(
    first: Evaluation, files: Iterable[str], changes: str | os.PathLike[str] | None, *, is_tuned: bool
) -> Callable[[LearningGames], list[Candidate]]:
    """Load evaluation files and read changes that are to be tried; what is fitted waits for the games.

    Parameters
    ----------
    first
        The baseline to begin with.
    files
        Evaluation files, or ``default``.
    changes
        File of changes, one candidate a line, that come after the files.
    is_tuned
        Whether there will be tuning games.

    Raises
    ------
    BadInputError
        There is no such evaluation, or a change makes no sense.
    """
    tried = [_file_candidate(text, first.learning.game) for text in files]
    found = () if changes is None else read_candidates(changes)
    for change in found:
        if change.is_fitted and not is_tuned:
            raise BadInputError(f"{change.place}: there are no games to fit to; name --tuning files or give --held-out")
    if found:
        check_candidates(found, prior_of(first), [prior_of(one.make(first)) for one in tried])
    return lambda games: [*tried, *(_candidate(change, games) for change in found)]


def _file_candidate(text: str, game: Game) -> Candidate:
    loaded = load_evaluation(text, game)
    return Candidate(Path(text).stem, text, lambda _: loaded, file_digest(text) if Path(text).is_file() else "")


def _candidate(change: CandidateChange, games: LearningGames) -> Candidate:
    # An evaluation without a drawishness gets one on the way; b is fitted in any case.
    def make(best: Evaluation) -> ResultEvaluation:
        told = dict(best.provenance)
        told[_CHANGED] = "; ".join([told.get(_CHANGED, ""), change.text])[-_LONGEST_HISTORY:].strip("; ")
        if change.is_fitted:
            told[FITTED_FILES] = fitted_files_text(games.tuning_files, told.get(FITTED_FILES, ""))
        return attrs.evolve(apply_changes(change, prior_of(best), games.refit), provenance=told)

    return Candidate(change.name, change.text, make)


def _refit(parts: list[Positions], l2: float, jobs: int) -> Refit:
    def refit(
        evaluation: ResultEvaluation, names: tuple[str, ...], drawishness_names: tuple[str, ...]
    ) -> ResultEvaluation:
        settings = LikelihoodSettings(l2=l2, names=names, drawishness_names=drawishness_names)
        value, drawn = (tuple(name for name in each if name != BIAS) for each in (names, drawishness_names))
        return fit_likelihood(parts, evaluation, settings, linear=value, drawishness=drawn, jobs=jobs).evaluation

    return refit
