"""``glem train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.tasks.tasks import Workers


@options.command(
    "train", "train GAME --hours 0.5 -o trained", "train GAME --generations 4 --games games.txt -o trained"
)
@click.argument("game_name", metavar="GAME")
@options.output("Folder of the training; best.npz in it is the best evaluation so far.", is_folder=True)
@options.amount("--hours", None, "Time to train.")
@options.count("--generations", None, "How many generations there are to be in the folder.")
@options.option("--games", "files", multiple=True, metavar="FILE", help="Records to begin with; may be repeated.")
@options.count("--positions", 10_000, "Positions that the second generation labels; each later one twice as many.")
@options.count("--depth", 4, "Plies of the searches that label and of those that play matches.")
@options.count("--solve", 10, "Moves left from which on positions are solved, where the game can be.", least=0)
@options.count("--pairs", 200, "Most game pairs of a match.")
@options.amount("--elo", 20.0, "Elo by which the tests of matches ask whether a generation is stronger.")
@options.l2(5.0)
@options.seed
@options.workers
@options.as_json
def command(
    game_name: str,
    output: str,
    hours: float | None,
    generations: int | None,
    files: tuple[str, ...],
    workers: Workers,
    **how: Any,
) -> None:
    """Train an evaluation of GAME from its rules, or from games, as far as time allows.

    Every generation learns from positions that the best one before has labelled, and must beat it in a match. The best
    so far is always in the folder, and plays: `glem play GAME folder/best.npz`.

    Interrupted or killed, the same command continues; with more time or generations it goes on.
    """
    import os

    from glem.core.features.learning import load_learning
    from glem.core.labelling.training import BEST, TrainingSettings, train_generations
    from glem.core.positions.reading import read_all_records

    learning = load_learning(game_name)
    records = list(read_all_records(learning.game, list(files), keep_replay=True)) if files else []
    done = train_generations(
        learning,
        Path(output),
        TrainingSettings(**how),
        generations=generations,
        seconds=None if hours is None else hours * 3600,
        records=records,
        sources=", ".join(Path(file).name for file in files),
        workers=workers,
        jobs=min(workers.workers, os.cpu_count() or 1),
        progress=display_progress(),
    )
    table = Table.of(
        "Generations",
        done,
        {
            "": lambda each: str(each.number),
            "positions": lambda each: f"{each.positions:,}",
            "labels": lambda each: f"{each.labels:,}",
            "error": lambda each: f"{each.error[-1]:.3f}",
            "choice error": lambda each: f"{each.choice_error:.3f} +- {each.choice_error_spread:.3f}",
            "match": lambda each: f"{each.wins}-{each.draws}-{each.losses}",
            "Elo": lambda each: f"{each.elo.elo:+.0f} +- {each.elo.error:.0f}",
            "best": lambda each: "yes" if each.is_best else "",
            "Elo over nothing": lambda each: f"{each.rating:+.0f}",
            "linear only": lambda each: ", ".join(each.linear_phases),
        },
    )
    best = Path(output) / BEST
    reached = f"the best evaluation is {best}" if best.exists() else "no generation beats an empty evaluation yet"
    print_result({"output": output, "generations": [attrs.asdict(each) for each in done]}, (table, reached))
