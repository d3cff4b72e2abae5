"""``glem improve``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, print_told, prints_json
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted, interval_text
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.grading.learning import Verdict
    from glem.core.positions.selection.selection import SelectionRule


@options.command(
    "improve",
    "improve games.pgn --changes changes.txt --held-out 0.5",
    "improve games.pgn --start old.npz --candidate new.npz --log learn.jsonl",
)
@options.files("GAMES...", options.skip_bad)
@options.option(
    "--start", default="default", metavar="EVALUATION", help="Evaluation file to begin with.", was=("--baseline",)
)
@options.option(
    "--candidate",
    "candidates",
    multiple=True,
    metavar="EVALUATION",
    help="Evaluation file to try; may be repeated, the changes come after them.",
)
@options.file("--changes", "File of changes to try, one candidate a line.")
@options.seed
@options.selection
@options.tuning("Games that candidates were or will be fitted to; may be repeated. They must not decide.")
@options.held_out(None, ", chosen by the seed: they decide, and the others are tuned to", most=1, was=("--split",))
@options.flag("--leave-out-tuned", "Leave tuning games out of those that decide; else an error.")
@options.option("--level", default=0.05, help="Accept an increase significant at this level.")
@options.flag("--any-increase", "Accept any increase, as the paper does.")
@options.file("--log", "JSON lines to write; the same command continues there.", path_type=Path)
@options.output("Evaluation file (.npz) for the last baseline.", required=False)
@options.quiet_positions(default=False)
@options.amount("--l2", 4.0, "Penalty on weights where `fit` fits.", most=1e9)
@options.resamples
@options.jobs
def command(
    files: options.GameFiles,
    start: str,
    candidates: tuple[str, ...],
    changes: str | None,
    seed: int,
    rule: SelectionRule,
    tuning: options.TuningGames,
    held_out: float | None,
    level: float,
    any_increase: bool,
    log: Path | None,
    output: str | None,
    resamples: int,
    jobs: int,
    **how: Any,
) -> None:
    """Try candidates against a baseline evaluation of GAME on the results of GAMES (Ban 2012, algorithm 3).

    A candidate that grades higher, significantly, becomes the baseline. Candidates are evaluation files, or changes to
    the baseline such as `scale mobility 1.2`, one a line of a file. GAMES are game records or Parquet files of
    `glem positions --label result`.
    """
    import attrs

    from glem.core.evaluation.named import load_evaluation
    from glem.core.grading.learning import LearningRule, learn, listed_candidates, read_learning_games
    from glem.core.positions.positions import keys_digest

    game, progress = files.game(), display_progress()
    learning_rule = LearningRule(level, any_increase, resamples=resamples, seed=seed)
    check_outputs(log, output, folders=() if log is None else [f"{log}.accepted"])
    first = load_evaluation(start, game)
    listed = listed_candidates(first, candidates, changes, is_tuned=bool(tuning.files) or held_out is not None)
    games = read_learning_games(
        game,
        files.paths,
        rule,
        tuning=tuning.files,
        tuning_rule=tuning.rule,
        held_out=held_out,
        skip_bad=files.skip_bad,
        jobs=jobs,
        progress=progress,
        **how,
    )
    if not prints_json():
        others = games.facts["tuning_games"]
        against = "" if games.refit is None else f", {others:,} others to tune to"
        decide = counted(games.deciding.game_count, "game")
        begun = f"{counted(len(games.deciding), 'position')} of {decide} to decide{against}: {rule}"
        print_told([begun, f"accepted: {learning_rule}", *(f"note: {remark}" for remark in games.remarks), ""])
    run = learn(
        first,
        listed(games),
        games.deciding,
        name=Path(start).stem,
        rule=learning_rule,
        log=log,
        facts=games.facts,
        jobs=jobs,
        said=(lambda verdict: None) if prints_json() else _say,
        progress=progress,
    )
    if output is not None:
        run.evaluation.save(output)
    table = Table.of(
        "Candidates: mean log probability of the results, less that of the baseline of the time",
        run.verdicts,
        {
            "candidate": lambda one: f"{one.number} {one.name}",
            "grade": lambda one: f"{one.grade:.5f}",
            "difference": lambda one: f"{one.difference:+.5f}",
            "error": lambda one: f"{one.error:.5f}",
            "interval": lambda one: interval_text(one.low, one.high, 5),
            "p": lambda one: f"{one.p_value:.2g}",
            "recalibrated": lambda one: one.recalibrated_text,
            "verdict": lambda one: one.verdict,
        },
    )
    begin = run.verdicts[0].baseline_grade if run.verdicts else run.grade
    summary = f"{run.accepted} of {len(run.verdicts)} accepted; grade {begin:.5f}, now {run.grade:.5f}: {run.baseline}"
    print_result(
        {
            **games.facts,
            "remarks": games.remarks,
            "deciding_digest": keys_digest(games.deciding.game_key),
            **{name: getattr(run, name) for name in ("baseline", "grade", "accepted")},
            "verdicts": [{**attrs.asdict(verdict), "verdict": verdict.verdict} for verdict in run.verdicts],
        },
        (table, summary, *([] if output is None else [f"wrote {output}"])),
    )


def _say(verdict: Verdict) -> None:
    click.echo(
        f"{verdict.number:>3} {verdict.verdict}: {verdict.name}: {verdict.difference:+.5f} "
        f"({interval_text(verdict.low, verdict.high, 5)}), p = {verdict.p_value:.2g}"
        + (f"; recalibrated {verdict.recalibrated_text}" if verdict.recalibrated_text else "")
    )
