"""``glem label by-results``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.positions.files import write_positions
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from glem.core.labelling.corrected import Correction
    from glem.core.positions.game_tree import GameTree, LabelChanges
    from glem.core.tasks.tasks import Workers


@options.command(
    "label by-results",
    "label by-results GAME games.pgn -o labelled.parquet",
    "label by-results GAME games.pgn --quick model.npz,depth=4 --again model.npz,depth=10,solve=16 -o labelled.parquet",
)
@options.files("FILES...", options.file_format, options.skip_bad, was_option=True)
@options.output("Parquet file to write.", required=False)
@options.option("--exact/--no-exact", default=True, help="Let exact scores of the records stand.")
@options.choice(
    "--against",
    ["result", "theoretical", "auto"],
    "Labels of single games that the new ones are compared with in the table.",
)
@options.option(
    "--quick",
    metavar="PLAYER",
    help="Search all positions so: model.npz,depth=4. Without it, no search.",
    was=("--by",),
)
@options.option("--again", "thorough", metavar="PLAYER", help="Search suspicious ones so: model.npz,depth=10,solve=16.")
@options.amount(
    ("--suspect-above", "threshold"),
    None,
    "A label is suspicious where a search promises so much more; an eighth of the greatest score, or half a win, "
    "by default.",
    metavar="VALUE",
    was=("--threshold",),
)
@options.amount("--loss", None, "All played moves lose so much; the same by default.")
@options.count(
    ("--outcomes", "outcome_from"),
    0,
    "Search for the outcome where at most N moves are left.",
    least=0,
    metavar="N",
)
@options.option("--plies", type=options.Range(), metavar="FIRST-LAST", help="Search positions of these plies only.")
@options.count("--rounds", 3, "Most rounds of corrections.", most=100)
@options.flag("--distinct", "Write every position once, with its number of occurrences as weight.")
@options.workers
def command(
    files: options.GameFiles,
    output: str | None,
    exact: bool,
    against: str,
    quick: str | None,
    thorough: str | None,
    distinct: bool,
    workers: Workers,
    **corrections: Any,
) -> None:
    """Label the positions of game records by the results of all games, propagated by negamax.

    With --quick and --again obvious mistakes are searched again, corrected, and propagated anew, round by round, in the
    plies of --plies. Then is printed how many outcomes were searched for and were wrong, how many positions were
    searched by --quick, and of each round how many were suspicious (searched by --again) and how many of those have
    more than their label, which was raised.

    Interrupted or killed, the same command continues; what is done so far lies beside the output in a folder that ends
    in .work.
    """
    import numpy as np

    from glem.core.labelling.corrected import RelabelSettings, relabel
    from glem.core.players.spec import parse_player
    from glem.core.positions.game_tree import GameTree
    from glem.core.positions.reading import read_all_records
    from glem.core.tasks.run_folder import run_folder

    for option, name in (("--suspect-above", "threshold"), ("--loss", "loss")):
        if (number := corrections[name]) is not None and not isfinite(number):
            raise BadInputError(f"{option} must be a finite number of label units, got {number}")
    if (quick is None) != (thorough is None):
        raise BadInputError(
            "--quick and --again belong together: the first finds suspicious labels, the second corrects them"
        )
    of_searches = {"outcome_from": "--outcomes", "plies": "--plies", "threshold": "--suspect-above", "loss": "--loss"}
    given = [option for name, option in of_searches.items() if corrections[name] not in (None, 0)]
    if quick is None and given:
        raise BadInputError(f"{given[0]} is for searches: give --quick and --again")
    if quick is not None and output is None:
        raise BadInputError("corrections need -o, beside which unfinished work is kept")
    work = Path(f"{output}.work")
    check_outputs(output, folders=() if quick is None else [work])
    game = files.game()
    records = read_all_records(game, files.paths, format=files.format, skip_bad=files.skip_bad)
    tree = GameTree.from_records(game, records)
    if len(tree) == 0:
        raise BadInputError("the files hold no games to label the positions of")
    if not exact:
        tree = attrs.evolve(tree, exact=np.full(len(tree), np.nan, np.float32))
    value, correction = tree.propagate(), None
    with contextlib.ExitStack() as stack:
        if quick is not None and thorough is not None:
            stack.enter_context(run_folder(work))
            settings = RelabelSettings(parse_player(quick), parse_player(thorough), **corrections)
            correction = relabel(tree, settings, work, workers=workers, progress=display_progress())
            value = correction.after
        if output is not None:
            write_positions(output, tree.labelled(value, distinct=distinct))
    rows = _changes(tree, against, value)
    data = {"games": len(tree.number), "positions": len(tree), "changes": [attrs.asdict(row) for row in rows]}
    told: list[str | Table] = [f"{counted(len(tree.number), 'game')} with {counted(len(tree), 'different position')}"]
    by_games = f"Labels by all games against `{against}`"
    if correction is None:
        told.append(_table(by_games, rows))
    else:
        names = ("outcomes", "wrong_outcomes", "quick", "suspicious", "raised")
        data |= {name: getattr(correction, name) for name in names}
        told += [_table(by_games, _changes(tree, against, correction.before)), *_search_lines(correction)]
        told.append(_table(f"Corrected labels against `{against}`", rows))
    print_result(data, told if output is None else (*told, f"wrote {output}"))


def _changes(tree: GameTree, against: str, value: NDArray[np.float32]) -> list[LabelChanges]:
    """Compare each position's new label with that of its own game; the last position of a finished game is no label."""
    import numpy as np

    from glem.core.features.learning import load_learning
    from glem.core.positions.game_tree import label_changes

    phases = load_learning(tree.game.name).phases
    played = tree.played
    before = tree.labels_of_games(against)
    before[played.finished] = np.nan
    return label_changes(before, value[tree.node], phases.of(played.positions), phases.names)


def _search_lines(correction: Correction) -> list[str]:
    """Tell what was searched, in words."""
    lines = [f"{counted(correction.quick, 'position')} searched quickly"]
    if correction.outcomes:
        outcomes = counted(correction.outcomes, "outcome")
        lines.insert(0, f"{outcomes} searched for, {correction.wrong_outcomes:,} of them wrong")
    if correction.suspicious:
        lines += [
            f"{_in_turn(correction.suspicious)} positions suspicious and searched again, round by round",
            f"{_in_turn(correction.raised)} of them worth more than their labels",
        ]
    return lines


def _in_turn(counts: tuple[int, ...]) -> str:
    return ", then ".join(f"{count:,}" for count in counts)


def _table(title: str, rows: list[LabelChanges]) -> Table:
    columns: dict[str, Callable[[LabelChanges], object]] = {
        "phase": lambda row: row.name,
        "positions": lambda row: f"{row.positions:,}",
        "changed": lambda row: f"{row.changed:,}",
        "share": lambda row: f"{row.changed / max(row.positions, 1):.1%}",
        "other winner": lambda row: f"{row.turned / max(row.positions, 1):.1%}",
        "mean change": lambda row: f"{row.mean_change:.2f}",
    }
    return Table.of(title, rows, columns)
