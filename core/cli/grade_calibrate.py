"""``glem grade calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs

if TYPE_CHECKING:
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.tasks import Workers


@options.command(
    "grade calibrate",
    "grade calibrate games.pgn --evaluation comments -o comments.json --report comments.html",
    "grade calibrate games.pgn --evaluation model.npz --scale 1 --select every:5 -o model.json --code model.hpp",
)
@options.files("GAMES...", options.file_format, options.skip_bad)
@options.option(
    "--evaluation",
    required=True,
    metavar="EVALUATION",
    help="What `glem grade` takes: an evaluation file or `default`, `comments`, csv:FILE, an external engine.",
)
@options.output("Calibration to write (.json), for `glem engine --calibration`.")
@options.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="NAME",
    help="Covariate that a and b depend on: `move`, or one of the game's, such as material. May be repeated; all by "
    "default.",
    was=("--measure",),
)
@options.option(
    "--model", metavar="NAME", help="Model that the calibration stands for: Ban, or a covariate; the best by default."
)
@options.option("--scale", default="own", metavar="B", help="Scale b as given: a number, fit, or own.")
@options.option(
    "--drawishness",
    default="own",
    metavar="ALPHA",
    help="Drawishness as given, and whose log odds Ban's model keeps: a number, fit (one for all positions), or own.",
)
@options.seed
@options.selection
@options.confidence
@options.resamples
@options.file("--code", "Write as[] and bs[] of WDL_model as C++.", metavar="FILE")
@options.scores
@options.report
@options.jobs
@options.workers
def command(
    files: options.GameFiles,
    evaluation: str,
    output: str,
    covariates: tuple[str, ...],
    model: str | None,
    scale: str,
    drawishness: str,
    seed: int,
    rule: SelectionRule,
    code: str | None,
    scores: Path | None,
    report: str | None,
    jobs: int,
    workers: Workers,
    **settings: Any,
) -> None:
    """Fit what the values of an evaluation mean for the results of GAMES: probabilities of win, draw and loss.

    Two models are fitted by likelihood: Ban's, a scale b and the drawishness; and that of Stockfish's WDL_model, whose
    a and b are polynomials of a covariate of the position. All are graded on games that they were not fitted to, beside
    the evaluation as given.
    """
    from glem.core.files.atomic import write_text
    from glem.core.grading.calibrating import calibrate
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.scorers.scorers import scorer_of

    game = files.game()
    check_outputs(output, code, report)
    scorer = scorer_of(game, evaluation, jobs=jobs, workers=workers, kept=scores)
    collection = calibrate(
        game,
        files.paths,
        scorer,
        output,
        by=covariates,
        chosen=model,
        select=rule,
        settings=GradingSettings(seed=seed, **settings),
        scale=options.number_or_word(scale, "--scale", "own"),
        drawishness=options.number_or_word(drawishness, "--drawishness", "own"),
        format=files.format,
        skip_bad=files.skip_bad,
        jobs=jobs,
        progress=display_progress(),
    )
    if code is not None:
        write_text(code, collection.found.source())
    if report is not None:
        from glem.core.report.pages.calibration import render_calibration

        write_text(report, render_calibration(collection, game_title=game.title))
    wrote = [f"wrote {path}" for path in (output, code, report) if path is not None]
    print_result(collection.as_json(), (*collection.lines(is_asked=model is not None), *wrote))
