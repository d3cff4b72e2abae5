"""``glem compare``."""

import click

from glem.core.cli import options
from glem.core.cli.display import print_result
from glem.core.tasks.tables import Table


@options.command("compare", "compare first.npz second.npz", "compare first.npz second.npz --json")
@click.argument("first", type=click.Path(dir_okay=False))
@click.argument("second", type=click.Path(dir_okay=False))
@options.own_features
@options.as_json
def command(first: str, second: str) -> None:
    """Compare the weights of two evaluation files of one game."""
    from glem.core.evaluation.comparing import compare_evaluations
    from glem.core.evaluation.named import load_value

    comparison = compare_evaluations(load_value(first), load_value(second))
    names = ("rms_difference", "largest_difference", "correlation")
    weights = {name: dict(zip(names, figures, strict=True)) for name, figures in comparison.weights.items()}
    table = Table(
        "the evaluations are equal" if comparison.equal else "Weights that belong to the same items",
        ("weights", "rms difference", "largest", "correlation"),
        [(name, *(f"{figure:.6g}" for figure in figures)) for name, figures in comparison.weights.items()],
    )
    print_result(
        {"equal": comparison.equal, "differences": comparison.differences, "weights": weights},
        (*(f"not comparable: {name}" for name in comparison.differences), table),
    )
