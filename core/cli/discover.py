"""``glem discover``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.outputs import check_outputs

if TYPE_CHECKING:
    from glem.core.report.data import DiscoveryReport

__all__ = ["command", "show_discovery"]


def show_discovery(report: DiscoveryReport, folder: Path, seconds: float, *, as_json: bool) -> None:
    """Print the errors by phase and where the files are."""
    from glem.core.report.data import to_json

    if as_json:
        print_json({"folder": str(folder), "seconds": round(seconds, 2), **to_json(report)})
        return
    errors = report.errors
    columns = {name: (*values, errors.overall(name)) for name, values in errors.models.items()}
    counts = {"positions": errors.counts, **({"weight": errors.weights} if errors.is_weighted else {})}
    numbers = [[f"{value:,.0f}" for value in (*values, sum(values))] for values in counts.values()]
    numbers += [["" if value != value else f"{value:.2f}" for value in values] for values in columns.values()]
    click.echo(report.summary)
    print_table(
        f"Root mean square error on held-out games ({report.unit})",
        ("phase", *counts, *columns),
        list(zip((*report.phases, "all"), *numbers, strict=True)),
    )
    click.echo(f"{seconds:.1f} s; open {folder / 'report.html'} in a browser")


@click.command("discover")
@click.argument("positions", type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Folder for the results.")
@click.option(
    "--within",
    type=click.Choice(["all", "patterns"]),
    default="all",
    show_default=True,
    help="Combine all features, or those of one pattern at a time.",
)
@click.option("--groups", help="Feature groups to combine, with commas; the board's cells by default.")
@click.option(
    "-n",
    "--minimum-matches",
    type=click.IntRange(1),
    help="Minimal match count; 0.5 % of the sample, 75 within patterns, by default.",
)
@click.option("--maximum-size", type=click.IntRange(1), help="Most relations; 4, no limit within patterns, by default.")
@click.option("--sample", type=click.IntRange(100), default=200_000, show_default=True, help="Positions to mine.")
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=4_000,
    show_default=True,
    help="Symmetry classes of configurations to keep.",
)
@click.option(
    "--gain",
    type=click.FloatRange(0),
    default=3.0,
    show_default=True,
    help="Least gain over all generalizations, in standard errors.",
)
@click.option("--sequential", is_flag=True, help="Reject rare configurations by the sequential test: faster, inexact.")
@click.option("--patterns", help="Pattern set; the game's first by default, `none` for none.")
@click.option(
    "--held-out",
    type=click.FloatRange(0.001, 0.9),
    default=0.1,
    show_default=True,
    help="Share of games that only the errors in the report see.",
)
@click.option("--iterations", type=click.IntRange(1), default=60, show_default=True, help="Most iterations of a fit.")
@click.option("--l2", type=click.FloatRange(0, 1e9), default=25.0, show_default=True, help="Penalty, in positions.")
@click.option(
    "--smoothing",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="Factor for positions of adjacent phases.",
)
@click.option("--seed", default=0, show_default=True, help="Chooses games and sample.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    positions: str,
    output: str,
    within: Any,
    groups: str | None,
    minimum_matches: int | None,
    maximum_size: int | None,
    sample: int,
    keep: int,
    gain: float,
    sequential: bool,
    patterns: str | None,
    held_out: float,
    iterations: int,
    l2: float,
    smoothing: float,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Mine configurations and patterns from scored POSITIONS (Parquet), fit their weights, write a report.

    Interrupted or killed, the same command continues.
    """
    from glem.core.discovery.candidates import MiningPlan
    from glem.core.discovery.discovery import RESULTS, DiscoverySettings, discover
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.features.learning import load_learning
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.least_squares import FitSettings
    from glem.core.positions.files import read_positions
    from glem.core.report.discovered import write_discovery

    started = time.monotonic()
    folder = Path(output)
    check_outputs(*(folder / name for name in RESULTS if folder.is_dir()), folders=[folder / "work"])
    scored = read_positions(positions)
    settings = DiscoverySettings(
        mining=MiningPlan(
            groups=tuple(groups.split(",")) if groups else (),
            within=within,
            minimum_matches=minimum_matches,
            maximum_size=maximum_size,
            sample=sample,
            keep=keep,
            least_gain=gain,
            method="sequential" if sequential else "exact",
        ),
        fit=FitSettings(ConjugateGradient(iterations=iterations, patience=5), l2=l2, smoothing=smoothing),
        pattern_set="" if patterns == "none" else patterns,
        held_out=held_out,
        seed=seed,
    )
    learning = load_learning(scored.game.name)
    provenance = {FITTED_FILES: fitted_files_text([positions])}
    with discover(
        scored, learning, folder, settings, provenance=provenance, jobs=jobs, progress=display_progress()
    ) as found:
        report = write_discovery(found, folder)
    show_discovery(report, folder, time.monotonic() - started, as_json=as_json)
