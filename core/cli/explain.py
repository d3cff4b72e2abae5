"""``glem explain``."""

from __future__ import annotations

from typing import Any

import click

from glem.core.cli.display import print_json, print_table

__all__ = ["command"]

_GLYPHS = {"own": "●", "opponent": "○", "empty": "·"}


def _board(learning: Any, position: Any) -> list[str]:
    """Lines of text that draw a position: the first letter of each cell's value, discs for the usual names."""
    layout = learning.game.layout
    if layout is None:
        return []
    values = learning.features.values_of(position)
    cells = {}
    for feature, value in zip(learning.features.features, values, strict=True):
        if feature.cell is not None and feature.cell not in cells:
            name = feature.value_name(int(value))
            cells[feature.cell] = _GLYPHS.get(name, name[:1])
    return [
        " ".join(cells.get(row * layout.columns + column, " ") for column in range(layout.columns))
        for row in range(layout.rows)
    ]


# A position may begin with a hyphen, which is no option.
@click.command("explain", context_settings={"ignore_unknown_options": True})
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("position")
@click.option("--top", default=20, show_default=True, type=click.IntRange(1), help="Contributions to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all contributions.")
def command(model: str, position: str, top: int, as_json: bool) -> None:
    """Show which items of MODEL are active in POSITION, and how much each adds to its value.

    POSITION is a line of text in the game's own notation; "start" is the initial position.
    """
    from glem.core.evaluation import LinearEvaluation

    evaluation = LinearEvaluation.load(model)
    learning = evaluation.learning
    game = learning.game
    parsed = game.initial_position if position == "start" else game.parse_position(position)
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
            }
        )
        return
    for line in _board(learning, parsed):
        click.echo(f"  {line}")
    click.echo(
        f"phase {learning.phases.names[explanation.phase]}, "
        f"value {explanation.value:+.2f} ({evaluation.unit}) for the side to move ({_GLYPHS['own']})"
    )
    if evaluation.link.span:
        click.echo(
            f"the items add up to {explanation.total:+.3f}, from which the {evaluation.link.name} link makes the value"
        )
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
