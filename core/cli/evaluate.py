"""``glem evaluate``."""

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError


@options.command(
    "evaluate",
    "evaluate model.npz positions.parquet",
    "evaluate old.npz new.npz positions.parquet --measure rmse --measure calibration-error,bins=10",
)
@options.files("EVALUATION... POSITIONS", options.file_format, options.skip_bad)
@options.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="What to measure: rmse, mae, mean-error, calibration-error, grade, of a choice set choice-error, best-move, "
    "rank-correlation; one that a package brings; or your own, FILE.py:NAME. May be repeated.",
)
@options.output("Write the value of every position (.npy).", required=False)
@options.jobs
def command(files: options.GameFiles, measures: tuple[str, ...], output: str | None, jobs: int) -> None:
    """Measure each EVALUATION on scored POSITIONS, by phase and over all, with standard errors by game.

    POSITIONS are a Parquet file of "glem positions", or another file of positions with scores or results. By default
    the measures are the root mean square, the mean absolute and the mean error.

    Where POSITIONS is a choice set ("glem label --choices"), the first tables have the mean choice error: the score
    of the best move less that of the move that EVALUATION would choose.

    Of several evaluations the last tables have the differences to the first, on the same positions. JSON also has the
    measures by the number of moves left, where the game can say it.

    Settings of a measure follow its name after commas: calibration-error,bins=10; grade,scale=2,drawishness=0.3 or
    grade,calibration=FILE of "glem grade calibrate".

    Labels of winning chances are 0.9 for what is won and 0.1 for what is lost, as fits take them, but 1 and 0 where an
    EVALUATION has a hidden layer.

    Every position counts with its weight; that of a merged one is the number of equal positions.

    The positions are read in chunks: memory does not grow with their number, but for the values of -o.
    """
    from glem.core.cli.game_choice import choose_game
    from glem.functions import evaluate

    *models, positions = files.paths
    if not models:
        raise click.UsageError("Missing argument 'POSITIONS'.", click.get_current_context())
    if output is not None and len(models) > 1:
        raise BadInputError("-o takes the values of one model; name one")
    check_outputs(output)
    found = evaluate(
        models,
        positions,
        measures or None,
        game=choose_game(files.game_name, files=[positions], format=files.format, evaluations=models),
        output=output,
        format=files.format,
        skip_bad=files.skip_bad,
        jobs=jobs,
        progress=display_progress(),
    )
    print_result(found.as_json(), [*found.tables(), *(f"note: {text}" for text in found.remarks)])
