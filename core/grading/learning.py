"""Learning by grading: candidate after candidate against the best evaluation so far (Ban 2012, algorithm 3).

The baseline and a candidate predict the results of the same games; the candidate is accepted, and is the baseline from
then on, if it grades higher and that is unlikely to be chance. The paper accepts any increase, which is an option here.

The games that decide must not be those that a candidate was tuned to: a candidate fitted to the games that grade it
would grade higher for knowing their results. So games are told apart by their keys, and tuning games among the
deciding ones are refused.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.discovery.game_positions import Games
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.files.digests import file_digest
from glem.core.files.json_values import instance_of
from glem.core.files.names import distinct_names
from glem.core.fitting.likelihood import BIAS, LikelihoodSettings, fit_likelihood, prior_of
from glem.core.game.game import Game
from glem.core.grading.calibration import ScaleFit, log_correctness_of, recalibrated
from glem.core.grading.changes import CandidateChange, Refit, apply_changes, check_candidates, read_candidates
from glem.core.grading.comparison import compare
from glem.core.grading.correctness import LEAST_CORRECTNESS, GradingSettings, grade_of
from glem.core.grading.scorers.searching import StaticScorer
from glem.core.positions.positions import Positions, keys_digest
from glem.core.positions.selection.reading import FileSummary, reading_remarks
from glem.core.positions.selection.selection import SelectionRule
from glem.core.tasks.counts import counted
from glem.core.tasks.journal import Journal
from glem.core.tasks.progress import SILENT, Progress

Evaluation = LinearEvaluation | ResultEvaluation
Floats = NDArray[np.float64]

_CHANGED = "changed by learn"
_LONGEST_HISTORY = 2000
_COMPARED = ("difference", "low", "high", "p_value", "positions", "games")
"""What a verdict takes over from a comparison as it is."""


def deciding_games(
    parts: Iterable[Positions], *, tuned: NDArray[np.uint64] | None = None, leave_out: bool = False
) -> tuple[Positions, int]:
    """Put the positions of the games that decide together; the second part is the number of games left out.

    Parameters
    ----------
    parts
        At least one position.
    tuned
        Keys of the games that candidates were tuned to.
    leave_out
        Leave such games out instead of refusing.

    Raises
    ------
    BadInputError
        There are no positions, or games that candidates were tuned to.
    """
    found = [part for part in parts if len(part)]
    if not found:
        raise BadInputError("no position is left to decide by: no finished games, or too short for the selection")
    games = Positions.concatenate(found, renumber=False)
    if tuned is None:
        return games, 0
    known = np.isin(games.game_key, tuned)
    number = len(np.unique(games.record[known]))
    if number and not leave_out:
        raise BadInputError(
            f"{number:,} of the {counted(games.game_count, 'game')} that decide are tuning games as well; take other "
            "files, split one collection by --held-out, or leave these games out by --leave-out-tuned"
        )
    if known.all():
        raise BadInputError("all games that decide are tuning games as well")
    return games.select(~known), number


@define(frozen=True)
class LearningRule:
    """When a candidate is accepted.

    Parameters
    ----------
    level
        Two-sided level of the test: the difference must be positive, its p-value below the level and its interval
        above 0.
    any_increase
        The rule of the paper: any higher grade is accepted.
    floor, resamples, seed
        As of :class:`~glem.core.grading.correctness.GradingSettings`.
    """

    level: float = 0.05
    any_increase: bool = False
    floor: float = LEAST_CORRECTNESS
    resamples: int = 10_000
    seed: int = 0

    def __attrs_post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise BadInputError(f"the level of a test is between 0 and 1, got {self.level}")
        # Floor, resamples and seed are checked there.
        _ = self.settings

    @property
    def settings(self) -> GradingSettings:
        """How candidates are graded and compared."""
        return GradingSettings(self.floor, 1 - self.level, self.resamples, self.seed)

    def __str__(self) -> str:
        return "any higher grade" if self.any_increase else f"a higher grade, significant at {self.level:.3g}"


_PLAIN_RULE = LearningRule()


@define(frozen=True)
class Candidate:
    """What is tried.

    Parameters
    ----------
    name
        For people.
    text
        What it is: the change, or the evaluation's file.
    make
        Makes it out of the baseline.
    digest
        Of the evaluation's file; "" for a change.
    """

    name: str
    text: str
    make: Callable[[Evaluation], Evaluation]
    digest: str = ""


@define(frozen=True)
class Verdict:
    """What became of a candidate.

    Parameters
    ----------
    number
        Of the candidate, from 1.
    name, text
        The candidate.
    baseline
        Name of what it was compared with.
    grade, baseline_grade
        Grades of both on the same positions.
    difference
        Mean log correctness of the candidate less that of the baseline.
    error, low, high
        Its standard error and bootstrap interval, by game.
    p_value
        Two-sided, of the sign-flip test.
    accepted
        Whether it is the baseline from now on.
    scale, drawishness
        b of the candidate, and its constant drawishness; None where it has its own.
    positions, games
        What decided.
    seconds
        Time it took.
    digest
        Of the candidate's file; "" for a change.
    recalibrated, baseline_recalibrated
        Grades of both with b and drawishness fitted to other games than are graded; None with too few games.
    """

    number: int
    name: str
    text: str
    baseline: str
    grade: float
    baseline_grade: float
    difference: float
    error: float
    low: float
    high: float
    p_value: float
    accepted: bool
    scale: float
    drawishness: float | None
    positions: int
    games: int
    seconds: float
    digest: str = ""
    recalibrated: float | None = None
    baseline_recalibrated: float | None = None

    @property
    def verdict(self) -> str:
        """One word."""
        return "accepted" if self.accepted else "rejected"

    @property
    def recalibrated_text(self) -> str:
        """Recalibrated grade less that of the baseline, and whether it tells otherwise; "" where there is none."""
        if self.recalibrated is None or self.baseline_recalibrated is None:
            return ""
        difference = math.log(self.recalibrated / self.baseline_recalibrated)
        scaled = ", better scaled, not better ordered" if self.difference > 0 >= difference else ""
        return f"{difference:+.5f}{scaled}"


@define(frozen=True, eq=False)
class _Graded:
    """An evaluation on the deciding positions."""

    name: str
    evaluation: Evaluation
    fit: ScaleFit
    logs: Floats
    grade: float
    recalibrated: float | None


@define(frozen=True, eq=False)
class LearningRun:
    """Verdicts so far, and the best evaluation.

    Parameters
    ----------
    baseline
        Name of the best evaluation so far.
    grade
        Its grade.
    verdicts
        In the order in which they were spoken; those of an earlier run come first.
    """

    baseline: str
    evaluation: Evaluation
    grade: float
    verdicts: list[Verdict]

    @property
    def accepted(self) -> int:
        """Number of candidates accepted."""
        return sum(verdict.accepted for verdict in self.verdicts)


def learn(
    baseline: Evaluation,
    candidates: Iterable[Candidate],
    games: Positions,
    *,
    name: str = "baseline",
    rule: LearningRule = _PLAIN_RULE,
    log: Path | None = None,
    facts: dict[str, Any] | None = None,
    jobs: int = 1,
    said: Callable[[Verdict], None] = lambda verdict: None,
    progress: Progress = SILENT,
) -> LearningRun:
    """Put candidates to the test, one after the other (Ban 2012, algorithm 3).

    Parameters
    ----------
    baseline
        The evaluation to begin with.
    candidates
        What to try, in this order; each is made out of the baseline of its time.
    games
        The games that decide.
    name
        Of the baseline.
    rule
        When a candidate is accepted.
    log
        JSON lines: a header with the settings and the digests of the games, and each verdict as soon as it is spoken.
        The same call continues with the candidates behind those that are there already; new ones may be appended.
        Accepted evaluations are kept in the folder ``LOG.accepted``.
    facts
        More that determines the work, kept in the header.
    jobs
        Threads.
    said
        Called with each new verdict.
    progress
        Counts candidates.

    Raises
    ------
    BadInputError
        The log belongs to other work or candidates, or what making a candidate raises.
    """
    tried = list(candidates)
    if not tried:
        raise BadInputError("there is nothing to try: name candidates, or a file of changes")
    trials = _Trials(games, rule, jobs, log)
    best = trials.graded(name, baseline)
    settings = {
        "game": baseline.learning.game.name,
        "baseline": name,
        "baseline_grade": round(best.grade, 9),
        "rule": attrs.asdict(rule),
        "deciding_games": games.game_count,
        "deciding_digest": keys_digest(games.game_key),
        "positions": len(games),
        **(facts or {}),
    }
    opened = nullcontext() if log is None else Journal(log, "learning", settings)
    with opened as journal, progress("Trying", len(tried)) as task:
        verdicts, best = ([], best) if journal is None else trials.resumed(journal, tried, best)
        task.advance(len(verdicts))
        for number, candidate in enumerate(tried[len(verdicts) :], len(verdicts) + 1):
            task.note(candidate.name)
            verdict, best = trials.tried(number, candidate, best)
            verdicts.append(verdict)
            if journal is not None:
                journal.append(attrs.asdict(verdict))
            said(verdict)
            task.advance()
    return LearningRun(best.name, best.evaluation, best.grade, verdicts)


@define(frozen=True, eq=False)
class _Trials:
    """What decides, and how."""

    games: Positions
    rule: LearningRule
    jobs: int
    log: Path | None

    def graded(self, name: str, evaluation: Evaluation) -> _Graded:
        prediction = StaticScorer(name, evaluation, jobs=self.jobs).predict(self.games)
        fit, logs = log_correctness_of(prediction, self.games.result, self.games.record, self.rule.floor)
        anew = recalibrated(prediction, self.games.result, self.games.record, self.rule.settings)
        own = grade_of(logs, self.games.record, self.rule.settings).grade
        other = None if anew is None else grade_of(anew.logs, self.games.record, self.rule.settings).grade
        return _Graded(name, evaluation, fit, logs, own, other)

    def tried(self, number: int, candidate: Candidate, best: _Graded) -> tuple[Verdict, _Graded]:
        """Put a candidate to the test; the verdict, and the better one of the two."""
        began = time.monotonic()
        graded = self.graded(candidate.name, candidate.make(best.evaluation))
        names = candidate.name, best.name
        found = compare(graded.logs, best.logs, self.games.record, names=names, settings=self.rule.settings)
        accepted = found.difference > 0 and (self.rule.any_increase or found.is_significant)
        verdict = Verdict(
            number=number,
            name=candidate.name,
            text=candidate.text,
            baseline=best.name,
            grade=graded.grade,
            baseline_grade=best.grade,
            **{name: getattr(found, name) for name in _COMPARED},
            error=found.error if math.isfinite(found.error) else 0.0,
            accepted=accepted,
            scale=graded.fit.scale,
            drawishness=graded.fit.drawishness,
            seconds=round(time.monotonic() - began, 3),
            digest=candidate.digest,
            recalibrated=graded.recalibrated,
            baseline_recalibrated=best.recalibrated,
        )
        if accepted and self.log is not None:
            # Kept before the log tells of it: who continues finds it there.
            path = self._accepted_path(number)
            path.parent.mkdir(exist_ok=True)
            graded.evaluation.save(path)
        return verdict, graded if accepted else best

    def resumed(self, journal: Journal, tried: list[Candidate], best: _Graded) -> tuple[list[Verdict], _Graded]:
        """Take over the verdicts of an earlier run, and the best evaluation after them."""
        verdicts = list(journal.records(partial(instance_of, Verdict)))
        for place, verdict in enumerate(verdicts):
            if place >= len(tried) or tried[place].text != verdict.text:
                now = f"{tried[place].text!r}" if place < len(tried) else "nothing"
                raise BadInputError(
                    f"{self.log}: candidate {place + 1} was {verdict.text!r}, now it is {now}; new candidates go "
                    "behind the old ones, or name another log"
                )
            if verdict.digest and tried[place].digest != verdict.digest:
                raise BadInputError(
                    f"{self.log}: candidate {place + 1}, {verdict.text!r}, is another file now than when it was tried; "
                    "give it another name, or name another log"
                )
        accepted = [verdict for verdict in verdicts if verdict.accepted]
        if accepted:
            latest = accepted[-1]
            best = self.graded(latest.name, load_evaluation(self._accepted_path(latest.number)))
        return verdicts, best

    def _accepted_path(self, number: int) -> Path:
        assert self.log is not None
        return self.log.with_name(f"{self.log.name}.accepted") / f"{number:04d}.npz"


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
        games = Games(game, paths, skip_bad=skip_bad)
        return games.positions(chosen, quiet=quiet, observe=observe, progress=progress)

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
