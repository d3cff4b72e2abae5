r"""The evaluation that comes with Othello, and how its file is made.

It learned from glem's own play alone, in two generations after the embedded sample. Made by::

    python -c "from glem.plugins.othello.sample import sample_positions; sample_positions().write('sample.parquet')"
    glem fit sample.parquet --no-linear -o first.npz
    glem generate othello --positions 1000000 --player first.npz,depth=5,solve=14 --openings random:4-14 \
        --explore 0.03 --seed 7 -o games
    glem label games/*.games --by first.npz,depth=6,solve=14 -o positions.parquet
    glem improve first.npz positions.parquet --by depth=6,solve=14,table=4 --positions-per-phase 40000 -o second.npz
    glem improve second.npz positions.parquet --by depth=6,solve=14,table=4 --positions-per-phase 100000 -o third.npz
    python -m glem.plugins.othello.shipped_evaluation third.npz default.npz

When it was made, ``glem improve`` still kept the first generation's provenance. Its header was corrected by the last
command, given ``default.npz`` itself: rounded weights stay as they are, and so does their checksum.

The parameters of its selective search, ``probcut.npz``, are those that ``glem probcut`` finds for it on positions of
the WTHOR games.
"""

import click
import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.cli.outputs import check_outputs
from glem.core.evaluation.linear import LinearEvaluation

_STEPS_PER_DISC = 64
_MADE = {
    "command": "improve",
    "positions": "glem's own games, labelled by search and solver; see glem.plugins.othello.shipped_evaluation",
    "labels": "search",
    "labelled by": "the newest generation, depth=6, solve=14",
    "generation before": "second.npz of glem.plugins.othello.shipped_evaluation",
}
"""What the commands above say."""
_KEPT = ("fitter", "l2", "smoothing", "validation", "phases kept")
"""Equal for fit and improve, or written by improve alone."""


def rounded(evaluation: LinearEvaluation) -> LinearEvaluation:
    """Round the weights to 1/64 disc, which halves the file and moves a value by a few hundredths of a disc."""

    def to_steps(weights: NDArray[np.float32]) -> NDArray[np.float32]:
        return (np.rint(weights * _STEPS_PER_DISC) / _STEPS_PER_DISC).astype(np.float32)

    return evolve(
        evaluation,
        bias=to_steps(evaluation.bias),
        pattern_weights=to_steps(evaluation.pattern_weights),
        provenance={name: evaluation.provenance[name] for name in _KEPT if name in evaluation.provenance} | _MADE,
    )


@click.command("shipped_evaluation")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("path", type=click.Path(dir_okay=False))
def _command(model: str, path: str) -> None:
    """Write MODEL to PATH with rounded weights."""
    check_outputs(path)
    rounded(LinearEvaluation.load(model)).save(path)


if __name__ == "__main__":
    _command()
