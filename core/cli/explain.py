"""``glem explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import print_json, print_table

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.with_drawishness import ResultEvaluation
    from glem.core.features.learning import Learning

__all__ = ["command"]

_GLYPHS = {"own": "●", "opponent": "○", "empty": "·"}


def _board(learning: Learning, position: Any) -> list[str]:
    """Lines of text that draw a position: the first letter of each cell's value, discs for the usual names."""
    from glem.core.game.drawing import draw_position

    layout = learning.game.layout
    if layout is None:
        return []
    values = learning.features.values_of(position)
    cells: dict[int, str] = {}
    names: dict[str, str] = {}
    for feature, value in zip(learning.features.features, values, strict=True):
        if feature.cell is not None and feature.cell not in cells:
            name = feature.value_name(int(value))
            cells[feature.cell] = _GLYPHS.get(name, name[:1])
            if names.setdefault(cells[feature.cell], name) != name:
                # Letters that say too little: the game's own text has better ones.
                drawing = draw_position(learning.game, position)
                return [] if drawing is None else drawing.lines()
    return [
        " ".join(cells.get(row * layout.columns + column, " ") for column in range(layout.columns))
        for row in range(layout.rows)
    ]


def _evaluation(model: str, game_name: str | None) -> LinearEvaluation | ResultEvaluation:
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import load_evaluation
    from glem.core.game.game import load_game

    if game_name is not None:
        return load_evaluation(model, load_game(game_name))
    if not Path(model).exists():
        raise BadInputError(f"{model}: no such file; for an evaluation that comes with a game, name it by --game")
    return load_evaluation(model)


# A position may begin with a hyphen, which is no option.
@click.command("explain", context_settings={"ignore_unknown_options": True})
@click.argument("model")
@click.argument("position")
@click.option("--game", "game_name", metavar="NAME", help="Game of `default` or another MODEL that is no file.")
@click.option("--top", default=20, show_default=True, type=click.IntRange(1), help="Contributions to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all contributions.")
def command(model: str, position: str, game_name: str | None, top: int, as_json: bool) -> None:
    """Show which items of MODEL are active in POSITION, and how much each adds to its value.

    MODEL is an evaluation file, or with --game one that comes with the game, such as `default`. POSITION is a line of
    text in the game's own notation; "start" is the initial position.
    """
    import numpy as np

    from glem.core.errors import BadInputError
    from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part

    chosen = _evaluation(model, game_name)
    evaluation = value_part(chosen)
    learning = evaluation.learning
    game = learning.game
    parsed = game.initial_position if position == "start" else game.parse_position(position)
    if game.is_over(parsed):
        raise BadInputError(
            f"the game is over, with the score {game.final_score(parsed):+d} for the side to move; an evaluation is "
            "asked while it goes on"
        )
    explanation = evaluation.explain(parsed)
    features = learning.features
    rows: list[dict[str, Any]] = [
        {
            "kind": item.kind,
            "name": item.name,
            "relations": [features.describe(relation) for relation in item.relations],
            "amount": item.amount,
        }
        for item in explanation.contributions
    ]
    results: dict[str, float] | None = None
    if isinstance(chosen, ResultEvaluation):
        columns = type(parsed)(*(np.array([value]) for value in parsed))
        probabilities = chosen.distribution(columns)[0].tolist()
        drawishness = float(chosen.predict(columns)[1][0])
        results = {"drawishness": drawishness, **dict(zip(("win", "draw", "loss"), probabilities, strict=True))}
    if as_json:
        print_json(
            {
                "position": game.format_position(parsed),
                "phase": learning.phases.names[explanation.phase],
                "sum": explanation.total,
                "value": explanation.value,
                "unit": evaluation.unit,
                "link": evaluation.link.name,
                "contributions": rows,
                **({} if results is None else results),
            }
        )
        return
    board = _board(learning, parsed)
    for line in board:
        click.echo(f"  {line}")
    own = f" ({_GLYPHS['own']})" if any(_GLYPHS["own"] in line for line in board) else ""
    click.echo(
        f"phase {learning.phases.names[explanation.phase]}, "
        f"value {explanation.value:+.2f} ({evaluation.unit}) for the side to move{own}"
    )
    if evaluation.link.span:
        click.echo(
            f"the items add up to {explanation.total:+.3f}, from which the {evaluation.link.name} link makes the value"
        )
    if results is not None:
        click.echo(", ".join(f"{name} {value:.2f}" for name, value in results.items()))
    shown = rows[:top]
    print_table(
        f"{len(shown)} of {len(rows)} active items",
        ("item", "what holds", "adds"),
        [
            (
                row["kind"] if row["kind"] == "configuration" else f"{row['kind']} {row['name']}",
                " ".join(row["relations"]),
                f"{row['amount']:+.3f}",
            )
            for row in shown
        ],
    )
    rest = sum(row["amount"] for row in rows[top:])
    if rows[top:]:
        click.echo(f"the other {len(rows) - top} add {rest:+.3f}")
