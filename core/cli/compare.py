"""``glem compare``."""

from __future__ import annotations

import click

from glem.core.cli import options
from glem.core.cli.display import print_json, print_table, prints_json

__all__ = ["command"]


@options.command("compare", "compare first.npz second.npz", "compare first.npz second.npz --json")
@click.argument("first", type=click.Path(dir_okay=False))
@click.argument("second", type=click.Path(dir_okay=False))
@options.as_json
def command(first: str, second: str) -> None:
    """Compare the weights of two evaluation files of one game."""
    from glem.core.evaluation.comparing import compare_evaluations
    from glem.core.evaluation.named import load_value

    comparison = compare_evaluations(load_value(first), load_value(second))
    if prints_json():
        print_json(
            {
                "equal": comparison.equal,
                "differences": comparison.differences,
                "weights": {
                    name: dict(zip(("rms_difference", "largest_difference", "correlation"), figures, strict=True))
                    for name, figures in comparison.weights.items()
                },
            }
        )
        return
    for name in comparison.differences:
        click.echo(f"not comparable: {name}")
    print_table(
        "the evaluations are equal" if comparison.equal else "Weights that belong to the same items",
        ("weights", "rms difference", "largest", "correlation"),
        [(name, *(f"{figure:.6g}" for figure in figures)) for name, figures in comparison.weights.items()],
    )
