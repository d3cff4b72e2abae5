"""``glem grade``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs

if TYPE_CHECKING:
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.tasks import Workers


_OWN, _FEATURES = "own", "features"


@options.command(
    "grade",
    "grade games.pgn --evaluation default --evaluation model.npz",
    "grade games.pgn --evaluation model.npz --evaluation model.npz,depth=4,name=deep --report grades.html",
)
@options.files("GAMES...", options.file_format, options.skip_bad)
@options.evaluations(
    "Evaluation file or `default`, with depth=, nodes= or seconds= after a search; `comments`, csv:FILE, "
    "python:MODULE:FUNCTION; an external engine. May be repeated."
)
@options.option(
    "--scale",
    "scales",
    multiple=True,
    default=(_OWN,),
    metavar="B",
    help="Scale b of the expectation, in units of the evaluation; fit; or own: that of probabilities is 1, others are "
    "fitted. Once for all, or once for each.",
)
@options.option(
    "--drawishness",
    multiple=True,
    default=(_OWN,),
    metavar="ALPHA",
    help="Constant drawishness, 0 to 1; fit: one for all positions; features: fitted from features of the positions, "
    "on other games than are graded; or own: the evaluation's, fitted if it has none. Once for all, or once for each.",
)
@options.seed
@options.selection
@options.tuning(
    "Games that a drawishness from features is fitted to; may be repeated. By default each fifth of the graded games "
    "has one fitted to the others."
)
@options.flag(
    "--as-given",
    "Grade and compare evaluations with the scales and drawishnesses that they come with or are given, not "
    "recalibrated: who is calibrated better counts as well.",
)
@options.option("--floor", default=1e-12, help="A correctness below this counts as this.")
@options.confidence
@options.resamples
@options.count("--bins", 20, "Bins of the reliability curves.")
@options.option(
    "--group-by",
    "groupings",
    multiple=True,
    default=("phase", "result"),
    metavar="NAME",
    help="Print grades by this, or by `all`: phase, ply, tenth of the game, result and so on. May be repeated.",
    was=("--by",),
)
@options.file("--write-positions", "Write the selected positions as CSV.")
@options.scores
@options.report
@options.jobs
@options.workers
def command(
    files: options.GameFiles,
    evaluations: tuple[str, ...],
    scales: tuple[str, ...],
    drawishness: tuple[str, ...],
    seed: int,
    rule: SelectionRule,
    tuning: options.TuningGames,
    as_given: bool,
    groupings: tuple[str, ...],
    write_positions: str | None,
    scores: Path | None,
    report: str | None,
    jobs: int,
    workers: Workers,
    **settings: Any,
) -> None:
    """Grade evaluations of GAME by how well they predict the results of games (Ban 2012).

    GAMES are game records, positions with results (FEN and EPD lines, CSV, Parquet and the like), or Parquet files of
    `glem positions --label result`. The grade is the geometric mean of
    the probabilities that the evaluation gave to what happened; 1/3 is that of knowing nothing. Every two evaluations
    are compared on the same positions, recalibrated to the games alike; the grades as given stand beside.
    """
    from glem.core.grading.collection import grade
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.scorers.scorers import scorer_of
    from glem.core.positions.selection.written_positions import PositionTable

    game = files.game()
    chosen = GradingSettings(seed=seed, recalibrate=not as_given, **settings)
    check_outputs(report, write_positions)
    written = PositionTable(game) if write_positions is not None else None
    scorers = [scorer_of(game, text, jobs=jobs, workers=workers, kept=scores) for text in evaluations]
    found = grade(
        game,
        files.paths,
        *scorers,
        select=rule,
        settings=chosen,
        scales=[options.number_or_word(text, "--scale", _OWN) for text in scales],
        drawishness=[options.number_or_word(text, "--drawishness", _FEATURES, _OWN) for text in drawishness],
        tuning=tuning.files,
        tuning_rule=tuning.rule,
        format=files.format,
        skip_bad=files.skip_bad,
        jobs=jobs,
        observe=None if written is None else written.add,
        progress=display_progress(),
    )
    if written is not None and write_positions is not None:
        written.write(write_positions)
    if report is not None:
        from glem.core.files.atomic import write_text
        from glem.core.report.pages.grading import render_grading

        write_text(report, render_grading(found, game_title=game.title))
    wrote = (f"wrote {path}" for path in (write_positions, report) if path is not None)
    print_result(found.as_json(), (*found.lines(groupings), *wrote))
