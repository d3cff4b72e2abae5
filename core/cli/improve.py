"""``glem improve``."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.labelling.by_search import SearchLabelling
    from glem.core.tasks.tasks import Workers


def _without_evaluation(_context: click.Context, _option: click.Parameter, text: str) -> str:
    if "evaluation=" in text or not text.split(",")[0].count("="):
        raise BadInputError(f"--by {text!r} must not name an evaluation: the newest one labels")
    return text


@options.command(
    "improve",
    "improve model.npz positions.parquet -o better.npz",
    "improve default positions.parquet --by depth=8,solve=14 --even 2 -o better.npz",
)
@click.argument("evaluation", type=click.Path(dir_okay=False))
@click.argument("positions", nargs=-1, required=True, type=click.Path(dir_okay=False))
@options.evaluation_output
@options.labelling(
    options.option(
        "--by",
        default="depth=6",
        metavar="PLAYER",
        callback=_without_evaluation,
        help="How positions are labelled: depth= or nodes=, and solve= moves before the end.",
    )
)
@options.count("--positions-per-phase", 100_000, "Most given ones.")
@options.l2()
@options.smoothing
@options.held_out(0.05, " for early stopping; 0 fits to the last iteration", was=("--validation",))
@options.seed
@options.flag("--keep-labels", "Keep the labelled positions of each phase, in OUTPUT.work.", was=("--keep",))
@options.workers
@options.as_json
def command(
    evaluation: str,
    positions: tuple[str, ...],
    output: str,
    labelling: SearchLabelling,
    l2: float,
    smoothing: float,
    held_out: float,
    keep_labels: bool,
    workers: Workers,
    **how: Any,
) -> None:
    """Make the next generation of EVALUATION from POSITIONS (Parquet files), whose own labels are not looked at.

    EVALUATION is a file, or "default" for the one that comes with the positions' game.

    The last phase is fitted first; each phase before it is labelled by searches with the weights fitted so far.
    Interrupted or killed, the same command continues; what is done so far lies in OUTPUT.work.
    """
    from glem.core.cli.game_choice import choose_game
    from glem.core.evaluation.named import load_value
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.least_squares import FitSettings
    from glem.core.labelling.improving import ImproveSettings, improve
    from glem.core.positions.files import read_positions
    from glem.core.positions.positions import Positions
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    first = load_value(evaluation, choose_game(None, files=positions[:1]))
    sets = (attrs.evolve(read_positions(file, first.learning.game), label_kind="given") for file in positions)
    fitter = ConjugateGradient(iterations=60, patience=5 if held_out else None)
    with run_folder(work, keep=keep_labels):
        found = improve(
            Positions.concatenate(list(sets)).merge_duplicates(),
            first,
            ImproveSettings(
                labelling,
                FitSettings(fitter, link=first.link, l2=l2, smoothing=smoothing),
                validation=held_out,
                **how,
            ),
            work,
            workers=workers,
            provenance={FITTED_FILES: fitted_files_text(positions, first.provenance.get(FITTED_FILES, ""))},
            jobs=min(workers.workers, os.cpu_count() or 1),
            progress=display_progress(),
        )
        found.evaluation.save(output)
    rows = list(zip(first.learning.phases.names, found.given, found.labelled, found.errors, strict=True))
    names = ("phase", "given", "labelled", "error")
    cells = [
        (name, f"{count:,}", f"{every:,}", "" if math.isnan(error) else f"{error:.2f}")
        for name, count, every, error in rows
    ]
    print_result(
        {"output": output, "phases": [dict(zip(names, row, strict=True)) for row in rows]},
        (Table("Fitted from the end backwards", names, cells), f"wrote {output}"),
    )
