"""``glem discover``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.functions import DiscoveryResult


def show_discovery(found: DiscoveryResult, seconds: float) -> None:
    """Print the errors by phase and where the files are."""
    from glem.core.report.data import to_json

    report = found.report
    errors = report.errors
    columns = {name: (*values, errors.overall(name)) for name, values in errors.models.items()}
    counts = {"positions": errors.counts, **({"weight": errors.weights} if errors.is_weighted else {})}
    numbers = [[f"{value:,.0f}" for value in (*values, sum(values))] for values in counts.values()]
    numbers += [["" if value != value else f"{value:.2f}" for value in values] for values in columns.values()]
    table = Table(
        f"Root mean square error on held-out games ({report.unit})",
        ("phase", *counts, *columns),
        list(zip((*report.phases, "all"), *numbers, strict=True)),
    )
    print_result(
        {"folder": str(found.folder), "seconds": round(seconds, 2), **to_json(report)},
        (report.summary, table, f"{seconds:.1f} s; open {found.folder / 'report.html'} in a browser"),
    )


@options.command(
    "discover",
    "discover positions.parquet -o found",
    "discover positions.parquet --within patterns --sequential --sample 100000 -o found",
)
@options.files("POSITIONS", options.file_format, options.skip_bad)
@options.output("Folder for the results.", is_folder=True)
@options.choice("--within", ["all", "patterns"], "Combine all features, or those of one pattern at a time.")
@options.option("--groups", help="Feature groups to combine, with commas; the board's cells by default.")
@options.count(
    ("-n", "--minimum-matches"), None, "Minimal match count; 0.5 % of the sample, 75 within patterns, by default."
)
@options.count("--maximum-size", None, "Most relations; 4, no limit within patterns, by default.")
@options.count("--sample", 200_000, "Positions to mine.", least=100)
@options.count("--keep", 4_000, "Symmetry classes of configurations to keep.")
@options.amount("--gain", 3.0, "Least gain over all generalizations, in standard errors.")
@options.flag("--sequential", "Reject rare configurations by the sequential test: faster, inexact.")
@options.patterns()
@options.held_out(0.1, ", which only the errors in the report see", least=0.001)
@options.iterations(60)
@options.l2()
@options.smoothing
@options.seed
@options.jobs
@options.own_features
@options.as_json
def command(files: options.GameFiles, output: str, groups: str | None, **how: Any) -> None:
    """Mine configurations and patterns from scored POSITIONS, fit their weights, write a report.

    POSITIONS are a Parquet file of "glem positions", or another file of positions with scores or results.

    Interrupted or killed, the same command continues.
    """
    from pathlib import Path

    from glem.core.cli.display import tell
    from glem.core.discovery.discovery import RESULTS
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.positions.positions import Positions
    from glem.core.positions.reading import ReadingNotes, stream_scored
    from glem.functions import discover

    started, folder = time.monotonic(), Path(output)
    check_outputs(*(folder / name for name in RESULTS if folder.is_dir()), folders=[folder / "work"])
    if len(files.paths) != 1:
        raise BadInputError(f"one file of positions is needed, got {len(files.paths)}")
    positions, game, notes = files.paths[0], files.game(), ReadingNotes()
    sets = [*stream_scored(game, positions, format=files.format, skip_bad=files.skip_bad, notes=notes)]
    for text in notes.texts():
        tell(text)
    found = discover(
        Positions.concatenate(sets, renumber=False),
        folder,
        groups=groups.split(",") if groups else (),
        provenance={FITTED_FILES: fitted_files_text([positions])},
        progress=display_progress(),
        **how,
    )
    show_discovery(found, time.monotonic() - started)
