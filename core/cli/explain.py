"""``glem explain``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glem.core.cli import options
from glem.core.cli.display import print_result
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted, interval_text
from glem.core.tasks.tables import Table


@options.command(
    "explain",
    "explain model.npz start",
    "explain GAME default start --top 5",
    # A position may begin with a hyphen, which is no option.
    context_settings={"ignore_unknown_options": True},
)
@options.argument("words", nargs=-1, required=True, metavar="[GAME] EVALUATION POSITION", was=("--game",))
@options.count("--top", 20, "Contributions to show.")
@options.own_features
@options.as_json
def command(words: tuple[str, ...], top: int) -> None:
    """Show which items of EVALUATION are active in POSITION, and how much each adds to its value.

    EVALUATION is a file, or after GAME one that comes with the game, such as `default`. POSITION is a line of text in
    the game's own notation; "start" is the initial position. JSON has all contributions. Coefficients that were fitted
    by --method logistic or fisher stand with their intervals.
    """
    from glem.core.compiling.columns import column_of_one
    from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
    from glem.core.game.drawing import draw_position
    from glem.functions import load_evaluation, position_of

    game_name, rest = options.split_game(words)
    if len(rest) != 2:
        raise click.UsageError("Give one EVALUATION and one POSITION.", click.get_current_context())
    name, text = rest
    if game_name is None and not Path(name).exists():
        raise BadInputError(f"{name}: no such file; for an evaluation that comes with a game, name the game before it")
    chosen = load_evaluation(name, game_name)
    evaluation = value_part(chosen)
    learning = evaluation.learning
    game = learning.game
    parsed = position_of(game, None if text == "start" else text)
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
    results: dict[str, float] = {}
    if isinstance(chosen, ResultEvaluation):
        columns = column_of_one(parsed)
        probabilities = chosen.distribution(columns)[0].tolist()
        drawishness = float(chosen.predict(columns)[1][0])
        results = {"drawishness": drawishness, **dict(zip(("win", "draw", "loss"), probabilities, strict=True))}
    phase = learning.phases.names[explanation.phase]
    data = {
        "position": game.format_position(parsed),
        "phase": phase,
        "sum": explanation.total,
        "value": explanation.value,
        "unit": evaluation.unit,
        "link": evaluation.link.name,
        "contributions": rows,
        **results,
    }
    first_moves = text == "start" or game.first_moves_in(text)
    drawing = draw_position(game, parsed, first_to_move=first_moves)
    told: list[str | Table] = [] if drawing is None else [f"  {line}" for line in drawing.lines()]
    own = "" if drawing is None or not drawing.players[0] else f" ({drawing.players[0 if first_moves else 1]})"
    told.append(f"phase {phase}, value {explanation.value:+.2f} ({evaluation.unit}) for the side to move{own}")
    if evaluation.link.span:
        told.append(
            f"the items add up to {explanation.total:+.3f}, from which the {evaluation.link.name} link makes the value"
        )
    if results:
        told.append(", ".join(f"{name} {value:.2f}" for name, value in results.items()))
    shown = rows[:top]
    cells: dict[str, Callable[[Any], object]] = {
        "item": lambda row: row["kind"] if row["kind"] == "configuration" else f"{row['kind']} {row['name']}",
        "what holds": lambda row: " ".join(row["relations"]),
        "adds": lambda row: f"{row['amount']:+.3f}",
    }
    told.append(Table.of(f"{len(shown)} of {counted(len(rows), 'active item')}", shown, cells))
    if rows[top:]:
        told.append(f"the other {len(rows) - top} add {sum(row['amount'] for row in rows[top:]):+.3f}")
    if evaluation.coefficients is not None:
        found = zip(*evaluation.coefficients[:, explanation.phase].astype(float).tolist(), strict=True)
        named = dict(zip((*evaluation.terms, "constant"), found, strict=True))
        data["coefficients"] = {name: {"value": value, "error": error} for name, (value, error) in named.items()}
        terms = [
            (name, f"{value:+.3f}", interval_text(value - 1.96 * error, value + 1.96 * error, 3))
            for name, (value, error) in named.items()
        ]
        header = ("term", "coefficient", "0.95 interval")
        told.append(Table(f"Coefficients in phase {phase}, intervals by game", header, terms))
    print_result(data, told)
