"""``glem improve``."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.cli.outputs import check_outputs
from glem.core.cli.search_labels import labelling_options, search_labelling
from glem.core.cli.thinking import named_evaluation

__all__ = ["command"]


@click.command("improve")
@click.argument("evaluation", type=click.Path(dir_okay=False))
@click.argument("positions", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Evaluation file to write (.npz).")
@click.option(
    "--by",
    "labeller",
    default="depth=6",
    show_default=True,
    metavar="TEXT",
    help="How positions are labelled: depth= or nodes=, and solve= moves before the end.",
)
@click.option(
    "--positions-per-phase", type=click.IntRange(1), default=100_000, show_default=True, help="Most given ones."
)
@labelling_options
@click.option("--l2", type=click.FloatRange(0, 1e9), default=25.0, show_default=True, help="Penalty, in positions.")
@click.option(
    "--smoothing", type=click.FloatRange(0, 1), default=0.25, show_default=True,
    help="Factor for positions of the phase behind.",
)  # fmt: skip
@click.option(
    "--validation",
    type=click.FloatRange(0, 0.9),
    default=0.05,
    show_default=True,
    help="Share of games for early stopping.",
)
@click.option("--seed", type=click.IntRange(0, (1 << 31) - 1), default=0, show_default=True, help="Random seed.")
@click.option("--keep", is_flag=True, help="Keep the labelled positions of each phase, in OUTPUT.work.")
@executor_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    evaluation: str,
    positions: tuple[str, ...],
    output: str,
    labeller: str,
    positions_per_phase: int,
    l2: float,
    smoothing: float,
    validation: float,
    seed: int,
    keep: bool,
    workers: int,
    dask: str | None,
    as_json: bool,
    **added: Any,
) -> None:
    """Make the next generation of EVALUATION from POSITIONS (Parquet files), whose own labels are not looked at.

    EVALUATION is a file, or "default" for the one that comes with the positions' game.

    The last phase is fitted first; each phase before it is labelled by searches with the weights fitted so far.
    Interrupted or killed, the same command continues; what is done so far lies in OUTPUT.work.
    """
    import attrs

    from glem.core.errors import BadInputError
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.least_squares import FitSettings
    from glem.core.labelling.improving import ImproveSettings, improve
    from glem.core.positions.files import read_positions
    from glem.core.positions.positions import Positions
    from glem.core.tasks.chunked_work import Workers
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    if "evaluation=" in labeller or not labeller.split(",")[0].count("="):
        raise BadInputError(f"--by {labeller!r} must not name an evaluation: the newest one labels")
    first = named_evaluation(evaluation, positions[0])
    sets = [read_positions(file, first.learning.game) for file in positions]
    given = Positions.concatenate([attrs.evolve(part, label_kind="given") for part in sets]).merge_duplicates()
    settings = ImproveSettings(
        search_labelling(labeller, seed=seed, **added),
        FitSettings(
            ConjugateGradient(iterations=60, patience=5 if validation else None),
            link=first.link,
            l2=l2,
            smoothing=smoothing,
        ),
        positions_per_phase=positions_per_phase,
        validation=validation,
        seed=seed,
    )
    with run_folder(work, keep=keep), opened_executor(workers, dask) as where:
        found = improve(
            given,
            first,
            settings,
            work,
            workers=Workers(**where),
            provenance={FITTED_FILES: fitted_files_text(positions, first.provenance.get(FITTED_FILES, ""))},
            jobs=min(workers, os.cpu_count() or 1),
            progress=display_progress(quiet=as_json),
        )
        found.evaluation.save(output)
    rows = list(zip(first.learning.phases.names, found.given, found.labelled, found.errors, strict=True))
    if as_json:
        names = ("phase", "given", "labelled", "error")
        print_json({"output": output, "phases": [dict(zip(names, row, strict=True)) for row in rows]})
        return
    cells = [
        (name, f"{count:,}", f"{every:,}", "" if math.isnan(error) else f"{error:.2f}")
        for name, count, every, error in rows
    ]
    print_table("Fitted from the end backwards", ("phase", "given", "labelled", "error"), cells)
    click.echo(f"wrote {output}")
