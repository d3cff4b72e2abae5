"""``glem probcut``."""

from __future__ import annotations

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.cli.outputs import check_outputs
from glem.core.cli.thinking import named_evaluation

__all__ = ["command"]


@click.command("probcut")
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("positions", type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Parameter file (.npz) to write.")
@click.option("--depth", default=10, show_default=True, type=click.IntRange(5, 60), help="Search up to this depth.")
@click.option("--per-phase", default=100, show_default=True, type=click.IntRange(1), help="Positions of each phase.")
@click.option(
    "--deepest",
    default=24,
    show_default=True,
    type=click.IntRange(5, 60),
    help="Greatest depth with parameters; those beyond --depth are extrapolated.",
)
@click.option(
    "--threshold",
    default=None,
    type=click.FloatRange(0),
    help="Standard deviations by which a check search must clear a bound.",
)
@click.option("--seed", default=0, show_default=True, help="Chooses the positions.")
@executor_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    model: str,
    positions: str,
    output: str,
    depth: int,
    per_phase: int,
    deepest: int,
    threshold: float | None,
    seed: int,
    workers: int,
    dask: str | None,
    as_json: bool,
) -> None:
    """Fit selective search (Multi-ProbCut) to MODEL by full-width searches of some of the POSITIONS (Parquet).

    MODEL is a file, or "default" for the evaluation that comes with the positions' game.

    A killed run continues where it was when the same command is given again.
    """
    from pathlib import Path

    from glem.core.positions.files import stream_positions
    from glem.core.search.probcut_fitting import ProbCutSample, fit_probcut
    from glem.core.tasks.chunked_work import Workers
    from glem.core.tasks.run_folder import run_folder

    folder = Path(f"{output}.work")
    check_outputs(output, folders=[folder])
    sample = ProbCutSample(depth=depth, per_phase=per_phase, deepest=deepest, seed=seed)
    evaluation = named_evaluation(model, positions)
    with run_folder(folder), opened_executor(workers, dask) as where:
        probcut = fit_probcut(
            evaluation,
            stream_positions(positions, game=evaluation.learning.game),
            sample,
            folder=folder,
            workers=Workers(**where),
            progress=display_progress(quiet=as_json),
        )
        if threshold is not None:
            probcut = probcut.with_threshold(threshold)
        probcut.save(output)
    if as_json:
        names = ("check_depths", "slopes", "offsets", "deviations", "counts")
        print_json({"phases": probcut.phases, "unit": probcut.unit, **{name: getattr(probcut, name) for name in names}})
        return
    checks = [place for place, check in enumerate(probcut.check_depths[depth]) if check >= 0]
    print_table(
        f"Searches of depth {depth} by check searches: slope, offset and deviation ({probcut.unit})",
        ("phase", "positions", *(f"from depth {probcut.check_depths[depth, place]}" for place in checks)),
        [
            (
                name,
                f"{probcut.counts[phase, depth, checks[0]]:,}",
                *(
                    f"{probcut.slopes[phase, depth, place]:.2f} {probcut.offsets[phase, depth, place]:+.2f} "
                    f"{probcut.deviations[phase, depth, place]:.2f}"
                    for place in checks
                ),
            )
            for phase, name in enumerate(probcut.phases)
        ],
    )
    click.echo(f"wrote {output}")
