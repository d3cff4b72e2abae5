"""``glem perft``."""

from __future__ import annotations

import click

from glem.core.cli.display import display_progress, print_json

__all__ = ["command"]


@click.command("perft")
@click.argument("game_name", metavar="GAME")
@click.argument("depth", type=click.IntRange(min=0))
@click.option("--position", "position_text", metavar="TEXT", help="Where to start, as the game writes positions.")
@click.option("--divide", is_flag=True, help="Print the count below each move of the position as well.")
@click.option("--plain", is_flag=True, help="Run the plain Python rules instead of the compiled ones.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game_name: str, depth: int, position_text: str | None, divide: bool, plain: bool, jobs: int, as_json: bool
) -> None:
    """Count the move sequences of exactly DEPTH plies from the start of a game.

    The time is without compilation.
    """
    import time

    from glem.core.game.game import load_game
    from glem.core.game.perft import perft

    game = load_game(game_name)
    position = game.initial_position if position_text is None else game.parse_position(position_text)
    perft(game, min(depth, 2), position, plain=plain)
    start = time.perf_counter()
    moves = game.list_legal_moves(position) if divide and depth > 0 else []
    progress = display_progress(quiet=as_json or bool(moves))
    counts = {
        game.move_text(position, move): perft(
            game, depth - 1, game.play(position, move), plain=plain, jobs=jobs, progress=progress
        )
        for move in moves
    }
    leaves = sum(counts.values()) or perft(game, depth, position, plain=plain, jobs=jobs, progress=progress)
    seconds = time.perf_counter() - start
    if as_json:
        print_json(
            {
                "game": game_name,
                "position": game.format_position(position),
                "depth": depth,
                "leaves": leaves,
                **({"moves": counts} if divide else {}),
                "seconds": seconds,
            }
        )
        return
    for text, count in counts.items():
        click.echo(f"{text}: {count:,}")
    click.echo(
        f"perft {depth} of {game.title}: {leaves:,} leaves in {seconds:.3f} s, {leaves / seconds / 1e6:,.1f} million/s"
    )
