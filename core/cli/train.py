"""``glem train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.options.described import described
from glem.core.labelling.plan import TrainingSettings

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
@described(TrainingSettings)
@options.workers
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
    so far is always in the folder: `glem play GAME --evaluation folder/best.npz`. report.html tells the rest.

    Interrupted or killed, the same command continues; with more time or generations it goes on.
    """
    import os

    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.features.learning import load_learning
    from glem.core.files.atomic import write_text
    from glem.core.labelling.training import BEST, train_generations
    from glem.core.positions.reading import read_all_records
    from glem.core.report.pages.training import generation_table, render_training

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
    best = Path(output) / BEST
    reached = (
        f"the best evaluation is {best}" if best.exists() else "no generation is as good as an empty evaluation yet"
    )
    if done:
        page = render_training(done, LinearEvaluation.load(best) if best.exists() else None)
        write_text(Path(output) / "report.html", page)
    generations_found = [attrs.asdict(each) for each in done]
    print_result({"output": output, "generations": generations_found}, (generation_table(done), reached))
