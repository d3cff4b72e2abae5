"""``glem discover``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, prints_json, tell
from glem.core.cli.options.described import described
from glem.core.cli.outputs import check_outputs
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.errors import BadInputError
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.features.learning import Learning
    from glem.core.positions.positions import Positions
    from glem.core.tasks.progress import Progress
    from glem.functions import DiscoveryResult

_DEMO = {"output": "glem-demo", "sample": 60_000, "maximum_size": 3, "keep": 160, "iterations": 20}


def _demo_learning(name: str | None) -> Learning:
    """Find the named game's learning, or that of the first installed game that brings a sample, or of the first."""
    from glem.core.features.learning import learning_names, load_learning
    from glem.core.game.game import game_names

    if name is not None:
        return load_learning(name)
    names = [game for game in learning_names() if game in game_names()]
    if not names:
        raise BadInputError("no games that learn are installed; install glem anew, or a package that brings one")
    with_samples = (learning for learning in map(load_learning, names) if learning.sample is not None)
    return next(with_samples, None) or load_learning(names[0])


def _demo_positions(name: str | None, seed: int, progress: Progress) -> Positions:
    """Load the sample of a game, or let it play one."""
    from glem.core.labelling.first_games import sample_positions

    learning = _demo_learning(name)
    if learning.sample is not None:
        positions: Positions = learning.sample()
        return positions
    if not prints_json():
        click.echo(f"No sample of positions comes with {learning.game.title}: it plays some thousand games now.")
    return sample_positions(learning.game, seed=seed, progress=progress)


def _let_demo_be_small(context: click.Context, _option: click.Parameter, given: bool) -> bool:
    if given:
        context.default_map = {**(context.default_map or {}), **_DEMO}
    return given


@options.command(
    "discover",
    "discover --demo",
    "discover positions.parquet --within patterns --sequential --sample 100000 -o found",
)
@options.files("POSITIONS", options.file_format, options.skip_bad, is_required=False, was_option=True)
@options.flag(
    "--demo",
    "In place of POSITIONS take the sample that comes with a game, without GAME the first that has one; a game without "
    "a sample plays. Unless you say otherwise: "
    + ", ".join(f"--{name.replace('_', '-')} {value}" for name, value in _DEMO.items())
    + ".",
    is_eager=True,
    callback=_let_demo_be_small,
)
@options.output("Folder for the results.", is_folder=True)
@described(DiscoveryPlan)
@options.seed
@options.jobs
@options.memory
@options.fitting_workers
def command(files: options.GameFiles, demo: bool, output: str, seed: int, **how: Any) -> None:
    """Mine configurations and patterns from scored POSITIONS, fit their weights, write a report.

    POSITIONS are a Parquet file of "glem positions", or another file of positions with scores or results.

    Interrupted or killed, the same command continues.
    """
    from pathlib import Path

    from glem.core.discovery.discovery import RESULTS
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.functions import discover

    started, folder, progress = time.monotonic(), Path(output), display_progress()
    check_outputs(*(folder / name for name in RESULTS if folder.is_dir()), folders=[folder / "work"])
    if demo:
        positions = _demo_positions(files.game_name or next(iter(files.paths), None), seed, progress)
    else:
        positions = _read_positions(files)
    found = discover(
        positions,
        folder,
        provenance=None if demo else {FITTED_FILES: fitted_files_text(files.paths)},
        seed=seed,
        progress=progress,
        **how,
    )
    _show(found, time.monotonic() - started)


def _read_positions(files: options.GameFiles) -> Positions:
    from glem.core.positions.files import read_positions
    from glem.core.positions.positions import Positions
    from glem.core.positions.reading import ReadingNotes, is_position_file, stream_scored

    if len(files.paths) != 1:
        raise BadInputError(f"one file of positions is needed, got {len(files.paths)}")
    if files.format is None and is_position_file(files.paths[0]):
        return read_positions(files.paths[0], files.game())
    notes = ReadingNotes()
    sets = [*stream_scored(files.game(), files.paths[0], format=files.format, skip_bad=files.skip_bad, notes=notes)]
    for text in notes.texts():
        tell(text)
    return Positions.concatenate(sets, renumber=False)


def _show(found: DiscoveryResult, seconds: float) -> None:
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
