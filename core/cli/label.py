"""``glem label``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.options.described import described
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.labelling.plan import LabellingPlan
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.positions.positions import Positions
    from glem.core.tasks.tasks import Workers


@options.command(
    "label",
    "label positions.parquet --by model.npz,depth=8,solve=14 -o labelled.parquet",
    "label GAME games.pgn --per-game 1 --choices --by default,depth=12 -o choices.parquet",
)
@options.files("FILES...", options.file_format, options.skip_bad, was_option=True)
@options.output("Parquet file to write.")
@described(LabellingPlan)
@options.plies
@options.per_game
@options.merge
@options.seed
@options.workers
def command(
    files: options.GameFiles,
    output: str,
    plies: tuple[int, int] | None,
    per_game: int | None,
    merge: bool,
    seed: int,
    workers: Workers,
    **how: Any,
) -> None:
    """Label the positions of FILES, game records or Parquet, by search and solver.

    Where results alone count, a label is the expected one, from -1 to 1.

    Equal positions are labelled once. Interrupted or killed, the same command continues; what is done so far lies
    beside the output in a folder that ends in .work.
    """
    from glem.core.files.atomic import temporary_folder
    from glem.core.labelling.by_search import SearchCounts, SearchLabelling, label_by_search
    from glem.core.positions.files import PositionWriter, merge_file
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    labelling = SearchLabelling(**how, seed=seed)
    positions = _given_positions(files, plies, per_game, seed)
    counts = SearchCounts()
    with run_folder(work), temporary_folder(output) as folder:
        # Nothing appears under the output's name before it is merged.
        whole = folder / "labelled.parquet"
        with PositionWriter(whole, positions.game, labelling.label_kind) as writer:
            for part in label_by_search(positions, labelling, work, workers=workers, progress=display_progress()):
                writer.append(part)
                counts.add(part)
        if merge and not labelling.choices:
            merge_file(whole, whole)
        whole.replace(output)
    names = ("side", "positions", "mean", "with_successors", "mean_with_successors")
    means = [dict(zip(names, row, strict=True)) for row in counts.mean_labels()]
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.origins.items())
    rows = [
        (name, f"{count:,}", f"{mean:+.2f}" if count else "-", f"{every:,}", f"{all_mean:+.2f}")
        for name, count, mean, every, all_mean in counts.mean_labels()
    ]
    table = Table("Mean label by side to move", ("", "positions", "mean", "with successors", "mean"), rows)
    print_result(
        {"output": output, "positions": writer.count, "origins": counts.origins, "mean_labels": means},
        (f"{counted(writer.count, 'position')} labelled: {kinds}", table, f"wrote {output}"),
    )


def _given_positions(
    files: options.GameFiles, plies: tuple[int, int] | None, per_game: int | None, seed: int
) -> Positions:
    """Distinct positions of Parquet files or game records."""
    from glem.core.positions.files import read_positions
    from glem.core.positions.labels import Selection, positions_of_records
    from glem.core.positions.positions import Positions
    from glem.core.positions.reading import read_all_records

    scored = [file for file in files.paths if Path(file).suffix == ".parquet"]
    if scored and len(scored) < len(files.paths):
        raise BadInputError(f"{scored[0]} holds positions, other files hold games; label them one after the other")
    if scored:
        sets = (attrs.evolve(read_positions(file), label_kind="given") for file in scored)
        found = Positions.concatenate(list(sets))
        if plies is not None:
            found = found.select((found.ply >= plies[0]) & (found.ply <= plies[1]))
        found = found if per_game is None else found.some_of_each_game(per_game, seed)
        if len(found) == 0:
            raise BadInputError("no position of the files has these plies")
        return found.merge_duplicates()
    game, selection = files.game(), Selection(plies=plies, per_game=per_game)
    records = read_all_records(game, files.paths, format=files.format, skip_bad=files.skip_bad, keep_replay=True)
    given = positions_of_records(game, records, selection=selection, seed=seed)
    if len(given) == 0:
        raise BadInputError("the games have no positions to label: none is finished, or none has these plies")
    return given.merge_duplicates()
