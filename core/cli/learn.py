"""``glem learn``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, old_quiet, print_json, print_table
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted, interval_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glem.core.evaluation.with_drawishness import ResultEvaluation
    from glem.core.game.game import Game
    from glem.core.grading.changes import CandidateChange, Refit
    from glem.core.grading.trials import Candidate, Evaluation, LearningRun, Verdict
    from glem.core.positions.positions import Positions
    from glem.core.positions.selection.reading import FileSummary

__all__ = ["command"]


@click.command(
    "learn",
    epilog="""\b
Examples:
  glem learn GAME games.pgn --changes changes.txt --split 0.5
  glem learn GAME games.pgn --baseline old.npz --candidate new.npz --log learn.jsonl""",
)
@click.argument("game_name", metavar="GAME")
@click.argument("files", metavar="GAMES...", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option(
    "--baseline", default="default", show_default=True, metavar="EVALUATION", help="Evaluation file to begin with."
)
@click.option(
    "--candidate", "candidates", multiple=True, metavar="EVALUATION",
    help="Evaluation file to try; may be repeated, the changes come after them.",
)  # fmt: skip
@click.option("--changes", type=click.Path(dir_okay=False), help="File of changes to try, one candidate a line.")
@click.option(
    "--tuning", multiple=True, type=click.Path(dir_okay=False),
    help="Games that candidates were or will be fitted to; may be repeated. They must not decide.",
)  # fmt: skip
@click.option(
    "--split", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="SHARE",
    help="Let this share of the games decide, chosen by the seed, and tune to the others.",
)  # fmt: skip
@click.option("--leave-out-tuned", is_flag=True, help="Leave tuning games out of those that decide; else an error.")
@click.option(
    "--level", type=float, default=0.05, show_default=True, help="Accept an increase significant at this level."
)
@click.option("--any-increase", is_flag=True, help="Accept any increase, as the paper does.")
@click.option("--log", type=click.Path(dir_okay=False), help="JSON lines to write; the same command continues there.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Evaluation file (.npz) for the last baseline.")
@click.option(
    "--select", default="random", show_default=True, metavar="RULE",
    help="Positions of each deciding game: random (one), last (one), all, or every:N.",
)  # fmt: skip
@click.option(
    "--tuning-select", default="every:7", show_default=True, metavar="RULE", help="Positions of each tuning game."
)
@click.option(
    "--skip-moves", type=click.IntRange(0), default=10, show_default=True, help="First moves of each side left out."
)
@click.option(
    "--skip-end", type=click.FloatRange(0, 0.99), default=0.1, show_default=True,
    help="Share of each game left out at its end.",
)  # fmt: skip
@click.option(
    "--quiet-positions",
    "quiet",
    is_flag=True,
    help="Leave out positions with tactical moves, which a search never evaluates.",
)
@click.option("--quiet", "quiet_as_before", is_flag=True, hidden=True, callback=old_quiet)
@click.option("--l2", type=click.FloatRange(0, 1e9), default=4.0, show_default=True, help="Penalty where `fit` fits.")
@click.option("--resamples", type=click.IntRange(100), default=10_000, show_default=True, help="Samples of each test.")
@click.option("--seed", default=0, show_default=True, help="Chooses positions, games and resamples.")
@click.option("--skip-bad", is_flag=True, help="Leave bad game records out instead of stopping.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game_name: str,
    files: tuple[str, ...],
    baseline: str,
    candidates: tuple[str, ...],
    changes: str | None,
    tuning: tuple[str, ...],
    split: float | None,
    leave_out_tuned: bool,
    level: float,
    any_increase: bool,
    log: str | None,
    output: str | None,
    select: str,
    tuning_select: str,
    skip_moves: int,
    skip_end: float,
    quiet: bool,
    quiet_as_before: bool,
    l2: float,
    resamples: int,
    seed: int,
    skip_bad: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Try candidates against a baseline evaluation of GAME on the results of GAMES (Ban 2012, algorithm 3).

    A candidate that grades higher, significantly, becomes the baseline. Candidates are evaluation files, or changes to
    the baseline such as `scale mobility 1.2`, one a line of a file. GAMES are game records or Parquet files of
    `glem positions --label result`.
    """
    import numpy as np

    from glem.core.discovery.game_positions import read_game_positions
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import load_evaluation
    from glem.core.files.names import distinct_names
    from glem.core.game.game import load_game
    from glem.core.grading.trials import LearningRule, deciding_games, learn
    from glem.core.positions.positions import keys_digest
    from glem.core.positions.selection.reading import reading_remarks
    from glem.core.positions.selection.selection import SelectionRule

    if tuning and split is not None:
        raise BadInputError("--tuning names the tuning games, --split takes them from the files: give one of them")
    game = load_game(game_name)
    rule, tuning_rule = (
        SelectionRule.parse(text, skip_moves=skip_moves, skip_end=skip_end, seed=seed)
        for text in (select, tuning_select)
    )
    learning_rule = LearningRule(level, any_increase, resamples=resamples, seed=seed)
    check_outputs(log, output, folders=() if log is None else [f"{log}.accepted"])
    first = load_evaluation(baseline, game)
    tried = [_file_candidate(game, text) for text in candidates]
    found = _changes(changes, first, tried, is_tuned=bool(tuning) or split is not None) if changes is not None else ()
    progress = display_progress(quiet=as_json)
    quiet = quiet or quiet_as_before
    summaries: list[FileSummary] = []
    parts = read_game_positions(
        game, files, rule, quiet=quiet, skip_bad=skip_bad, observe=summaries.append, progress=progress
    )
    tuned: NDArray[np.uint64] | None = None
    refit: Refit | None = None
    if tuning or split is not None:
        read = read_game_positions(
            game,
            tuning or files,
            tuning_rule,
            quiet=quiet,
            skip_bad=skip_bad,
            observe=summaries.append if tuning else None,
            progress=progress,
        )
        tuning_parts = list(read) if split is None else [part.split_by_game(split, seed)[0] for part in read]
        tuned = np.unique(np.concatenate([np.zeros(0, np.uint64), *(part.game_key for part in tuning_parts)]))
        refit = _refit(tuning_parts, l2, jobs)
    tried += [_candidate(change, refit, tuning or files) for change in found]
    if split is not None:
        parts = (part.split_by_game(split, seed)[1] for part in parts)
    deciding, left_out = deciding_games(parts, tuned=tuned, leave_out=leave_out_tuned)
    facts: dict[str, Any] = {
        "selection": str(rule) + (", quiet ones" if quiet else ""),
        "files": distinct_names(files),
        "tuning_files": distinct_names(tuning),
        "split": split,
        "tuning_games": 0 if tuned is None else len(tuned),
        "tuning_digest": None if tuned is None else keys_digest(tuned),
        "left_out": left_out,
        "l2": l2,
    }
    remarks = reading_remarks(summaries)
    if not as_json:
        against = f", {facts['tuning_games']:,} others to tune to" if tuned is not None else ""
        games = counted(deciding.game_count, "game")
        click.echo(f"{counted(len(deciding), 'position')} of {games} to decide{against}: {rule}")
        click.echo(f"accepted: {learning_rule}")
        for remark in remarks:
            click.echo(f"note: {remark}")
        click.echo()
    run = learn(
        first,
        tried,
        deciding,
        name=Path(baseline).stem,
        rule=learning_rule,
        log=None if log is None else Path(log),
        facts=facts,
        jobs=jobs,
        said=(lambda verdict: None) if as_json else _say,
        progress=progress,
    )
    if output is not None:
        run.evaluation.save(output)
    if as_json:
        print_json(_as_json(run, {**facts, "remarks": remarks}, keys_digest(deciding.game_key)))
        return
    _print(run)
    if output is not None:
        click.echo(f"wrote {output}")


def _file_candidate(game: Game, text: str) -> Candidate:
    from glem.core.evaluation.named import load_evaluation
    from glem.core.files.digests import file_digest
    from glem.core.grading.trials import Candidate

    loaded = load_evaluation(text, game)
    digest = file_digest(text) if Path(text).is_file() else ""
    return Candidate(Path(text).stem, text, lambda _: loaded, digest)


def _changes(path: str, first: Evaluation, files: list[Candidate], *, is_tuned: bool) -> tuple[CandidateChange, ...]:
    """Candidates of a file of changes, each of which can be made if it comes to that."""
    from glem.core.errors import BadInputError
    from glem.core.fitting.likelihood import prior_of
    from glem.core.grading.changes import check_candidates, read_candidates

    found = read_candidates(path)
    for change in found:
        if change.is_fitted and not is_tuned:
            raise BadInputError(f"{change.place}: there are no games to fit to; name --tuning files or give --split")
    check_candidates(found, prior_of(first), [prior_of(candidate.make(first)) for candidate in files])
    return found


def _candidate(change: CandidateChange, refit: Refit | None, tuning: Sequence[str]) -> Candidate:
    import attrs

    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.fitting.likelihood import prior_of
    from glem.core.grading.changes import apply_changes
    from glem.core.grading.trials import Candidate

    # An evaluation without a drawishness gets one on the way; b is fitted in any case.
    def make(best: Evaluation) -> ResultEvaluation:
        told = dict(best.provenance)
        told["changed by learn"] = "; ".join([told.get("changed by learn", ""), change.text])[-2000:].strip("; ")
        if change.is_fitted:
            told[FITTED_FILES] = fitted_files_text(tuning, told.get(FITTED_FILES, ""))
        return attrs.evolve(apply_changes(change, prior_of(best), refit), provenance=told)

    return Candidate(change.name, change.text, make)


def _refit(parts: list[Positions], l2: float, jobs: int) -> Refit:
    from glem.core.fitting.likelihood import BIAS, LikelihoodSettings, fit_likelihood

    def refit(
        evaluation: ResultEvaluation, names: tuple[str, ...], drawishness_names: tuple[str, ...]
    ) -> ResultEvaluation:
        settings = LikelihoodSettings(l2=l2, names=names, drawishness_names=drawishness_names)
        value, drawn = (tuple(name for name in each if name != BIAS) for each in (names, drawishness_names))
        return fit_likelihood(parts, evaluation, settings, linear=value, drawishness=drawn, jobs=jobs).evaluation

    return refit


def _say(verdict: Verdict) -> None:
    click.echo(
        f"{verdict.number:>3} {verdict.verdict}: {verdict.name}: {verdict.difference:+.5f} "
        f"({interval_text(verdict.low, verdict.high, 5)}), p = {verdict.p_value:.2g}"
    )


def _print(run: LearningRun) -> None:
    rows = [
        (
            f"{verdict.number} {verdict.name}",
            f"{verdict.grade:.5f}",
            f"{verdict.difference:+.5f}",
            f"{verdict.error:.5f}",
            interval_text(verdict.low, verdict.high, 5),
            f"{verdict.p_value:.2g}",
            verdict.verdict,
        )
        for verdict in run.verdicts
    ]
    print_table(
        "Candidates: mean log probability of the results, less that of the baseline of the time",
        ("candidate", "grade", "difference", "error", "interval", "p", "verdict"),
        rows,
    )
    begin = run.verdicts[0].baseline_grade if run.verdicts else run.grade
    click.echo(
        f"{run.accepted} of {len(run.verdicts)} accepted; grade {begin:.5f}, now {run.grade:.5f}: {run.baseline}"
    )


def _as_json(run: LearningRun, facts: dict[str, Any], digest: str) -> dict[str, Any]:
    import attrs

    return {
        **facts,
        "deciding_digest": digest,
        "baseline": run.baseline,
        "grade": run.grade,
        "accepted": run.accepted,
        "verdicts": [{**attrs.asdict(verdict), "verdict": verdict.verdict} for verdict in run.verdicts],
    }
