"""``glem search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import print_result, prints_json
from glem.core.cli.options import playing
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.players.engine import Engine
    from glem.core.players.spec import PlayerSpec
    from glem.core.search.results import SearchResult


def _rate(analysis: SearchResult) -> str:
    return f"{analysis.nodes / analysis.seconds:,.0f}" if analysis.seconds > 0 else ""


def _print_iteration(engine: Engine, analysis: SearchResult) -> None:
    for place, line in enumerate(analysis.lines):
        figures = f"{analysis.depth_text:>6} {engine.line_text(line):>8}"
        if place == 0:
            figures += f" {analysis.nodes:>14,} {_rate(analysis):>12} {analysis.seconds:>8.2f}"
        else:
            figures += " " * 37
        click.echo(f"{figures}  {engine.game.line_text(engine.position, line.moves)}")


def _as_json(engine: Engine, analysis: SearchResult) -> dict[str, Any]:
    lines = [
        {
            "depth": line.depth,
            "value": line.value,
            "text": engine.line_text(line),
            "bound": line.bound.value,
            "moves": [engine.game.format_move(move) for move in line.moves],
        }
        for line in analysis.lines
    ]
    names = ("depth", "confidence", "nodes", "seconds", "stopped", "proven")
    return {**{name: getattr(analysis, name) for name in names}, "lines": lines}


@options.command(
    "search",
    "search GAME --moves f5d6c3 --seconds 10 --lines 3",
    "search GAME --position TEXT --depth 12 --evaluation model.npz",
)
@playing.game
@playing.position
@playing.moves
@playing.thinker(seconds=5.0)
@options.count("--lines", 1, "Number of best moves to show.")
def command(game: Game, player: PlayerSpec, position: str | None, moves: str, lines: int) -> None:
    """Search a position of GAME and print the best line of each iteration.

    The search ends at the first limit, after five seconds if there is none, and at Ctrl-C. Values are from the side to
    move, in units of the evaluation. Where it ends inside an iteration, each line tells its depth: values of two depths
    do not compare.
    """
    from glem.core.game.drawing import draw_position
    from glem.core.players.engine import Engine, depth_texts

    engine = Engine(game, player)
    if position is not None:
        engine.set_position_text(position)
    engine.play_text(moves)
    found: list[SearchResult] = []
    unit = engine.unit
    # Asked here: iterations are shown by the thread that searches, which knows of no command.
    as_json = prints_json()
    if not as_json:
        drawing = draw_position(game, engine.position, first_to_move=engine.first_to_move)
        click.echo("\n".join([game.format_position(engine.position)] if drawing is None else drawing.lines()))
        click.echo(f"\n depth {'value':>8} {'nodes':>14} {'nodes/s':>12} {'seconds':>8}  line ({unit})")

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
    iterations = [_as_json(engine, iteration) for iteration in found[: len(found) if stopped else -1]]
    head = {"game": game.name, "position": game.format_position(engine.position), "unit": unit}
    state = "stopped" if stopped or result.stopped else "proven" if result.proven else "complete"
    reached = f"{counted(result.nodes, 'node')} in {result.seconds:.2f} s, {_rate(result)} nodes/s"
    best = (
        f"{place:>6} {engine.line_text(line):>8}  {depth}{engine.game.line_text(engine.position, line.moves)}"
        for place, (line, depth) in enumerate(zip(result.lines, depth_texts(result), strict=True), 1)
    )
    print_result(
        {**head, **_as_json(engine, result), "iterations": iterations},
        (f"\ndepth {result.depth_text} ({state}), {reached}", *best),
    )
