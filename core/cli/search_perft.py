"""``glem search perft``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.options import playing
from glem.core.tasks.progress import SILENT

if TYPE_CHECKING:
    from glem.core.game.game import Game


@options.command("search perft", "search perft GAME 9", "search perft GAME 5 --divide --jobs 4", features=False)
@playing.game
@options.argument("depth", type=click.IntRange(min=0))
@playing.position
@options.flag("--divide", "Print the count below each move of the position as well.")
@options.flag("--plain", "Use the plain Python rules instead of the compiled ones.")
@options.count("--jobs", 1, "Threads.")
def command(game: Game, depth: int, position: str | None, divide: bool, plain: bool, jobs: int) -> None:
    """Count the move sequences of exactly DEPTH plies from a position of GAME.

    The time is without compilation.
    """
    import time

    from glem.core.game.perft import perft

    start = game.initial_position if position is None else game.parse_position(position)
    perft(game, min(depth, 2), start, plain=plain)
    began = time.perf_counter()
    moves = game.list_legal_moves(start) if divide and depth > 0 else []
    progress = SILENT if moves else display_progress()
    counts = {
        game.move_text(start, move): perft(game, depth - 1, game.play(start, move), plain=plain, jobs=jobs)
        for move in moves
    }
    leaves = sum(counts.values()) or perft(game, depth, start, plain=plain, jobs=jobs, progress=progress)
    seconds = time.perf_counter() - began
    figures = {"game": game.name, "position": game.format_position(start), "depth": depth, "leaves": leaves}
    reached = f"{leaves:,} leaves in {seconds:.3f} s, {leaves / seconds / 1e6:,.1f} million/s"
    print_result(
        {**figures, **({"moves": counts} if divide else {}), "seconds": seconds},
        (*(f"{text}: {count:,}" for text, count in counts.items()), f"perft {depth} of {game.title}: {reached}"),
    )
