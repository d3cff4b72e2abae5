"""``glem search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import print_json
from glem.core.cli.thinking import player_of, thinking_options
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.players.engine import Engine
    from glem.core.search.results import SearchResult

__all__ = ["command"]

_USUAL_SECONDS = 5.0


def _variation(engine: Engine, moves: tuple[int, ...]) -> str:
    return " ".join(engine.game.move_texts(engine.position, moves))


def _rate(analysis: SearchResult) -> str:
    return f"{analysis.nodes / analysis.seconds:,.0f}" if analysis.seconds > 0 else ""


def _print_iteration(engine: Engine, analysis: SearchResult) -> None:
    for place, line in enumerate(analysis.lines):
        figures = f"{analysis.depth:>5} {engine.line_text(line):>8}"
        if place == 0:
            figures += f" {analysis.nodes:>14,} {_rate(analysis):>12} {analysis.seconds:>8.2f}"
        else:
            figures += " " * 37
        click.echo(f"{figures}  {_variation(engine, line.moves)}")


def _as_json(engine: Engine, analysis: SearchResult) -> dict[str, Any]:
    return {
        "depth": analysis.depth,
        "nodes": analysis.nodes,
        "seconds": analysis.seconds,
        "stopped": analysis.stopped,
        "proven": analysis.proven,
        "lines": [
            {
                "depth": line.depth,
                "value": line.value,
                "text": engine.line_text(line),
                "bound": line.bound.value,
                "moves": [engine.game.format_move(move) for move in line.moves],
            }
            for line in analysis.lines
        ],
    }


@click.command("search")
@click.argument("game_name", metavar="GAME")
@click.option("--position", "position_text", metavar="TEXT", help="Position, as the game writes it; else the start.")
@click.option("--moves", "moves_text", default="", metavar="TEXT", help="Moves to play first, such as f5d6c3.")
@thinking_options
@click.option("--lines", default=1, show_default=True, type=click.IntRange(1), help="Number of best moves to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game_name: str, position_text: str | None, moves_text: str, lines: int, as_json: bool, **thinking: Any
) -> None:
    """Search a position of GAME and print the best line of each iteration.

    The search ends at the first limit, after five seconds if there is none, and at Ctrl-C. Values are from the side to
    move, in units of the evaluation. Where it ends inside an iteration, each line tells its depth: values of two depths
    do not compare.
    """
    from glem.core.game.drawing import draw_position
    from glem.core.game.game import load_game
    from glem.core.players.analysis import depth_texts
    from glem.core.players.engine import Engine
    from glem.core.search.results import Limits

    game = load_game(game_name)
    engine = Engine(game, player_of(default=Limits(seconds=_USUAL_SECONDS), **thinking))
    if position_text is not None:
        engine.set_position_text(position_text)
    engine.play_text(moves_text)
    found: list[SearchResult] = []
    unit = engine.unit
    if not as_json:
        drawing = draw_position(game, engine.position, first_to_move=engine.first_to_move)
        click.echo("\n".join([game.format_position(engine.position)] if drawing is None else drawing.lines()))
        click.echo(f"\ndepth {'value':>8} {'nodes':>14} {'nodes/s':>12} {'seconds':>8}  line ({unit})")

    def show(analysis: SearchResult) -> None:
        found.append(analysis)
        if not as_json:
            _print_iteration(engine, analysis)

    stopped = False
    try:
        found.append(engine.analyse(lines=lines, on_iteration=show))
    except KeyboardInterrupt:
        stopped = True
        if not found:
            raise
    result = found[-1]
    if as_json:
        iterations = [_as_json(engine, iteration) for iteration in found[: len(found) if stopped else -1]]
        print_json(
            {
                "game": game.name,
                "position": game.format_position(engine.position),
                "unit": unit,
                **_as_json(engine, result),
                "iterations": iterations,
            }
        )
        return
    state = "stopped" if stopped or result.stopped else "proven" if result.proven else "complete"
    click.echo(
        f"\ndepth {result.depth} ({state}), {counted(result.nodes, 'node')} in {result.seconds:.2f} s, "
        f"{_rate(result)} nodes/s"
    )
    for place, (line, depth) in enumerate(zip(result.lines, depth_texts(result), strict=True), 1):
        click.echo(f"{place:>5} {engine.line_text(line):>8}  {depth}{_variation(engine, line.moves)}")
