"""``glem show``: what is in a file, how two evaluations differ, what one sees in a position."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import Told, print_result
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted, interval_text
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.with_drawishness import ResultEvaluation

_ARCHIVE = ".npz"


@options.command(
    "show",
    "show model.npz --command",
    "show GAME default start --top 5",
    # A position may begin with a hyphen, which is no option.
    context_settings={"ignore_unknown_options": True},
)
@options.argument("words", nargs=-1, required=True, metavar="[GAME] FILE [FILE|POSITION]", was=("--game",))
@options.flag(("as_command", "--command"), "Print only the command that makes FILE again.")
@options.count("--top", 20, "Contributions to show.")
def command(words: tuple[str, ...], as_command: bool, top: int) -> None:
    """Show what is in a FILE that glem wrote and where it came from; or compare two; or evaluate one POSITION.

    A file alone: its kind and game, how much it holds, settings, and for an evaluation its terms and what it was fitted
    to. Two evaluation files: how the weights differ. An evaluation and a position: which items are active, and how much
    each adds to the value, with intervals of fitted coefficients.

    After GAME, FILE may be an evaluation that comes with the game, such as `default`, or hold openings, which do not
    name their game. POSITION is a line of text in the game's own notation; "start" is the initial position. JSON has
    all that is cut short here.
    """
    from glem.core.evaluation.named import load_evaluation

    game_name, rest = options.split_game(words)
    if not 1 <= len(rest) <= 2:
        raise click.UsageError("Give one FILE, two, or a FILE and a POSITION.", click.get_current_context())
    name, *other = rest
    if game_name is None and not Path(name).exists():
        raise BadInputError(f"{name}: no such file; for an evaluation that comes with a game, name the game before it")
    if not other:
        import attrs

        from glem.core.cli.contents import contents_of_evaluation, contents_of_file

        is_file = game_name is None or Path(name).is_file()
        contents = (
            contents_of_file(name, game_name) if is_file else contents_of_evaluation(load_evaluation(name, game_name))
        )
        if as_command:
            if not contents.command:
                raise BadInputError(
                    f"{name}: names no command: made in Python or by an earlier glem, or ships with a game"
                )
            print_result({"command": contents.command}, [shlex.join(contents.command)])
        else:
            print_result(attrs.asdict(contents), contents.told())
        return
    if as_command:
        raise click.UsageError("--command takes one FILE.", click.get_current_context())
    chosen, second = load_evaluation(name, game_name), other[0]
    if Path(second).is_file() or Path(second).suffix == _ARCHIVE:
        print_result(*_compared(chosen, load_evaluation(second, game_name)))
    else:
        print_result(*_explained(chosen, second, top))


def _compared(
    first: LinearEvaluation | ResultEvaluation, second: LinearEvaluation | ResultEvaluation
) -> tuple[dict[str, Any], Told]:
    from glem.core.evaluation.comparing import compare_evaluations
    from glem.core.evaluation.with_drawishness import value_part

    comparison = compare_evaluations(value_part(first), value_part(second))
    names = ("rms_difference", "largest_difference", "correlation")
    weights = {name: dict(zip(names, figures, strict=True)) for name, figures in comparison.weights.items()}
    table = Table(
        "the evaluations are equal" if comparison.equal else "Weights that belong to the same items",
        ("weights", "rms difference", "largest", "correlation"),
        [(name, *(f"{figure:.6g}" for figure in figures)) for name, figures in comparison.weights.items()],
    )
    data = {"equal": comparison.equal, "differences": comparison.differences, "weights": weights}
    return data, (*(f"not comparable: {name}" for name in comparison.differences), table)


def _explained(chosen: LinearEvaluation | ResultEvaluation, text: str, top: int) -> tuple[dict[str, Any], Told]:
    from glem.core.compiling.columns import column_of_one
    from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
    from glem.core.game.drawing import draw_position
    from glem.functions import position_of

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
    return data, told
