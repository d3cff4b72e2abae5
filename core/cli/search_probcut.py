"""``glem search probcut``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.tasks.tasks import Workers


@options.command(
    "search probcut",
    "search probcut default positions.parquet -o probcut.npz",
    "search probcut model.npz positions.parquet --depth 12 --per-phase 300 -o probcut.npz",
)
@options.argument("evaluation", type=click.Path(dir_okay=False))
@options.argument("positions", type=options.INPUT)
@options.output("Parameter file to write (.npz).")
@options.count("--depth", 10, "Search up to this depth.", least=5, most=60)
@options.count("--per-phase", 100, "Positions of each phase.")
@options.count(
    "--deepest", 60, "Greatest depth with parameters; those beyond --depth are extrapolated.", least=5, most=60
)
@options.amount("--threshold", None, "Standard deviations by which a check search must clear a bound.")
@options.seed
@options.workers
def command(
    evaluation: str,
    positions: str,
    output: str,
    threshold: float | None,
    workers: Workers,
    **sampling: Any,
) -> None:
    """Fit selective search (Multi-ProbCut) to an EVALUATION by full-width searches of some POSITIONS (Parquet).

    A killed run continues where it was when the same command is given again.
    """
    from pathlib import Path

    from glem.core.evaluation.named import load_value
    from glem.core.positions.files import PositionFiles
    from glem.core.search.probcut_fitting import ProbCutSample, fit_probcut
    from glem.core.tasks.run_folder import run_folder

    folder = Path(f"{output}.work")
    check_outputs(output, folders=[folder])
    sample = ProbCutSample(**sampling)
    sets = PositionFiles.of([positions])
    with run_folder(folder):
        probcut = fit_probcut(
            load_value(evaluation, sets.game),
            sets(),
            sample,
            folder=folder,
            workers=workers,
            progress=display_progress(),
        )
        if threshold is not None:
            probcut = probcut.with_threshold(threshold)
        probcut.save(output)
    depth = sample.depth
    checks = [place for place, check in enumerate(probcut.check_depths[depth]) if check >= 0]
    slopes, offsets, deviations = (each[:, depth] for each in (probcut.slopes, probcut.offsets, probcut.deviations))
    table = Table(
        f"Searches of depth {depth} by check searches: slope, offset and deviation ({probcut.unit})",
        ("phase", "positions", *(f"from depth {probcut.check_depths[depth, place]}" for place in checks)),
        [
            (
                name,
                f"{probcut.counts[phase, depth, checks[0]]:,}",
                *(
                    f"{slopes[phase, place]:.2f} {offsets[phase, place]:+.2f} {deviations[phase, place]:.2f}"
                    for place in checks
                ),
            )
            for phase, name in enumerate(probcut.phases)
        ],
    )
    names = ("phases", "unit", "check_depths", "slopes", "offsets", "deviations", "counts")
    print_result({name: getattr(probcut, name) for name in names}, (table, f"wrote {output}"))
