"""``glem label``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.cli.outputs import check_outputs
from glem.core.cli.search_labels import labelling_options, search_labelling
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.positions.positions import Positions

__all__ = ["command"]


@click.command("label")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Parquet file to write.")
@click.option("--game", "game_name", metavar="NAME", help="Game of the files; needed where they do not tell.")
@click.option("--format", "file_format", metavar="NAME", help="Format of game records, if their names do not tell.")
@click.option(
    "--by",
    "labeller",
    default="default,depth=6",
    show_default=True,
    metavar="TEXT",
    help="Who labels: an evaluation file, depth= or nodes=, and solve= moves before the end.",
)
@click.option("--plies", metavar="FIRST-LAST", help="Only these plies of game records; 0 is the starting position.")
@click.option(
    "--per-game", type=click.IntRange(1, 1_000_000), metavar="N", help="At most N random positions of each game."
)
@click.option(
    "--given/--no-given", default=True, show_default=True, help="Label the positions of the files themselves."
)
@labelling_options
@click.option("--merge", is_flag=True, help="Merge equal positions of the result; labels are averaged.")
@click.option("--skip-bad", is_flag=True, help="Leave bad records out instead of stopping.")
@click.option("--seed", type=click.IntRange(0, (1 << 31) - 1), default=0, show_default=True, help="Random seed.")
@executor_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    files: tuple[str, ...],
    output: str,
    game_name: str | None,
    file_format: str | None,
    labeller: str,
    plies: str | None,
    per_game: int | None,
    given: bool,
    merge: bool,
    skip_bad: bool,
    seed: int,
    workers: int,
    dask: str | None,
    as_json: bool,
    **added: Any,
) -> None:
    """Label the positions of FILES, game records or Parquet, by search and solver.

    Equal positions are labelled once. Interrupted or killed, the same command continues; what is done so far lies
    beside the output in a folder that ends in .work.
    """
    from glem.core.files.atomic import temporary_folder
    from glem.core.labelling.by_search import SearchCounts, label_by_search
    from glem.core.positions.files import PositionWriter, merge_file
    from glem.core.tasks.chunked_work import Workers
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    settings = search_labelling(labeller, given=given, seed=seed, **added)
    game, positions = _given_positions(files, game_name, file_format, plies, per_game, skip_bad, seed)
    counts = SearchCounts()
    with run_folder(work), temporary_folder(output) as folder:
        # Nothing appears under the output's name before it is merged.
        whole = folder / "labelled.parquet"
        with opened_executor(workers, dask) as where, PositionWriter(whole, game, "search") as writer:
            progress = display_progress(quiet=as_json)
            for part in label_by_search(positions, settings, work, workers=Workers(**where), progress=progress):
                writer.append(part)
                counts.add(part)
        if merge:
            merge_file(whole, whole)
        whole.replace(output)
    if as_json:
        names = ("side", "positions", "mean", "with_successors", "mean_with_successors")
        means = [dict(zip(names, row, strict=True)) for row in counts.mean_labels()]
        print_json({"output": output, "positions": writer.count, "origins": counts.origins, "mean_labels": means})
        return
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.origins.items())
    click.echo(f"{counted(writer.count, 'position')} labelled: {kinds}")
    rows = [
        (name, f"{count:,}", f"{mean:+.2f}", f"{every:,}", f"{all_mean:+.2f}")
        for name, count, mean, every, all_mean in counts.mean_labels()
    ]
    print_table("Mean label by side to move", ("", "positions", "mean", "with successors", "mean"), rows)
    click.echo(f"wrote {output}")


def _given_positions(
    files: tuple[str, ...],
    game_name: str | None,
    file_format: str | None,
    plies: str | None,
    per_game: int | None,
    skip_bad: bool,
    seed: int,
) -> tuple[Game, Positions]:
    """Distinct positions of Parquet files and game records."""
    import attrs

    from glem.core.cli.game_choice import choose_game
    from glem.core.cli.positions import ply_range
    from glem.core.errors import BadInputError
    from glem.core.positions.files import read_positions
    from glem.core.positions.labels import Selection, positions_of_records
    from glem.core.positions.positions import Positions
    from glem.core.positions.reading import read_all_records

    scored = [file for file in files if Path(file).suffix == ".parquet"]
    if scored and len(scored) < len(files):
        raise BadInputError(f"{scored[0]} holds positions, other files hold games; label them one after the other")
    if scored:
        sets = [read_positions(file) for file in scored]
        given = Positions.concatenate([attrs.evolve(part, label_kind="given") for part in sets])
        return given.game, given.merge_duplicates()
    game = choose_game(game_name, files=files, format=file_format)
    selection = Selection(plies=None if plies is None else ply_range(plies, "--plies"), per_game=per_game)
    records = read_all_records(game, files, format=file_format, skip_bad=skip_bad)
    given = positions_of_records(game, records, selection=selection, seed=seed)
    if len(given) == 0:
        raise BadInputError("the games have no positions to label: none is finished, or none has these plies")
    return game, given.merge_duplicates()
