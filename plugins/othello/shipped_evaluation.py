r"""The evaluations that come with Othello, and how their files are made.

``default`` is linear:

Ten rounds of labels, each by an evaluation fitted to the ones before; the first one was fitted to glem's own play
alone. The positions are those of WTHOR's games from 1977 to 2021 and of three collections of games that programs played
against themselves, without the positions that evaluations are compared by: 12.1 million different ones, of which each
round draws equally many of every number of empty squares. Made by::

    glem positions othello GAMES... --plies 2-58 --merge -o given.parquet
    glem label drawn-1.parquet --children 1 --sampled 1 --by FIRST,depth=6,solve=14 -o labels-1.parquet
    glem label drawn-2.parquet --children 1 --sampled 1 --by e1.npz,depth=6,solve=15 -o labels-2.parquet
    glem label drawn-3.parquet --children 1 --sampled 1 --by e2.npz,depth=6,solve=14,probcut=default -o labels-3.parquet
    glem label late-4.parquet --children 1 --sampled 1 --by e3.npz,depth=6,solve=18 -o labels-4.parquet
    glem label drawn-5.parquet --children 1 --sampled 1 --by e4.npz,depth=6,solve=14,probcut=e4-probcut.npz \
        -o labels-5.parquet
    glem fit labels-5.parquet labels-4.parquet labels-3.parquet --l2 10 -o e5.npz
    glem label drawn-6.parquet --children 1 --sampled 1 --by e5.npz,depth=10,solve=16,probcut=e5-probcut.npz --seed 61 \
        -o labels-6.parquet
    glem fit labels-6.parquet --prior e5.npz --l2 30 -o e6.npz
    glem label drawn-7.parquet --children 1 --sampled 1 --by e6.npz,depth=6,solve=14,probcut=e6-probcut.npz --seed 62 \
        -o labels-7.parquet
    glem fit labels-6.parquet labels-7.parquet --prior e6.npz --l2 30 --held-out 0 --iterations 100 -o e7.npz
    glem label drawn-8.parquet --children 1 --sampled 1 --by e7.npz,depth=8,solve=14,probcut=e7-probcut.npz --seed 81 \
        -o labels-8.parquet
    glem fit labels-8.parquet --prior e7.npz --l2 30 --held-out 0 --iterations 100 -o e8.npz
    glem label late-9.parquet --children 1 --sampled 1 --by e8.npz,depth=12,solve=15,probcut=e7-probcut.npz --seed 97 \
        -o late-labels-9.parquet
    glem label early-9.parquet --children 1 --sampled 1 --by e8.npz,depth=10,solve=14,probcut=e7-probcut.npz \
        --seed 297 -o early-labels-9.parquet
    glem fit labels-8.parquet late-labels-9.parquet early-labels-9.parquet --prior e8.npz --patterns more.txt \
        --l2 100 --held-out 0 --iterations 100 -o e9.npz
    glem label games-9.parquet --no-successors --by e9.npz,depth=16,solve=20,probcut=e9-probcut.npz -o even-9.parquet
    python -m glem.plugins.othello.shipped_evaluation e9.npz default-9.npz even-9.parquet
    glem positions othello WTH_201*.wtb WTH_202[01].wtb --plies 4-12 --per-game 1 --seed 10 -o first.parquet
    glem label first.parquet --by default-9.npz,probcut=default,depth=16,table=64 --no-successors -o even-first.parquet
    glem positions othello WTH_201*.wtb WTH_202[01].wtb --plies 13-35 --per-game 1 --seed 10 -o next.parquet
    glem label next.parquet --by default-9.npz,probcut=default,depth=14,table=64 --no-successors -o even-next.parquet
    glem positions othello WTH_201*.wtb WTH_202[01].wtb --plies 36-36 -o even-middle.parquet
    glem positions othello WTH_201*.wtb WTH_202[01].wtb --plies 39-59 --per-game 1 --seed 10 -o last.parquet
    glem label last.parquet --by default-9.npz,probcut=default,depth=14,solve=21,table=64 \
        --no-successors -o even-last.parquet
    python -m glem.plugins.othello.shipped_evaluation default-9.npz default-9b.npz even-first.parquet \
        even-next.parquet even-middle.parquet even-last.parquet
    glem label othello WTH_19*.wtb WTH_200*.wtb WTH_201*.wtb WTH_202[01].wtb --skip-bad --plies 4-48 --per-game 6 \
        --by default-9b.npz,probcut=probcut-9.npz,depth=8,solve=12,table=16 --no-given --sampled 2 --even 1 \
        --sample-by default-9b.npz,depth=4 --seed 3 -o labels-10.parquet
    glem fit labels-10.parquet labels-10b.parquet labels-10c.parquet labels-10d.parquet --prior default-9b.npz \
        --held-out 0.02 --seed 1 -o e10.npz
    python -m glem.plugins.othello.shipped_evaluation e10.npz default.npz even-first.parquet even-next.parquet \
        even-middle.parquet even-last.parquet

The positions of the last line are of games of 2017 to 2021, drawn and labelled anew like those above, by ``e10.npz``
with depth 14 and exactly from 21 moves before the end.

``more.txt`` has four of the patterns that ``glem discover patterns`` found, 16 instances beside Logistello's 46::

    triangle: a1 b1 c1 d1 a2 b2 c2 a3 b3 a4
    edge_and_row: b1 c1 d1 e1 f1 g1 c2 d2 e2 f2
    heart: c2 d2 b3 c3 d3 e3 b4 c4 d4 c5
    corners: a1 b1 h1 a2 b2 c3 d4 a8 h8

The rounds have 0.9, 1.8, 4.0, 0.7, 2.5, 2.5, 6.7, 8.3, 5.4 and 15.7 million labels; ``late-4`` has 12 to 17 empty
squares and exact labels, ``drawn-5`` 18 and more, ``drawn-8`` 14 and more, in five files that were labelled with
seeds 81 to 85, ``late-9`` 13 to 30 and ``early-9`` 31 and more, in four and two files with seeds 97 to 100 and 297
and 298. ``games-9`` has 1,000 to 5,500 positions of tournament games in every phase, 4,000 of them with the exact
scores that WTHOR gives 24 moves before the end: their mean error, -0.03 to -0.72 discs, is taken out. So few left
errors of -0.66 to +0.58 discs, which four times 22,850 positions take out. ``e1`` to ``e4`` were fitted in the same
way, ``e4`` to the rounds 2 to 4. Left out of ``e5`` are labels that did not help: those of round 2, and 2.5 million
more like those of round 5 (-15 +- 15 Elo in 1,600 games of depth 6). Round 6 with its own ``probcut.npz`` brought +33
+- 21 Elo in 800 games of 20,000 nodes a move, +14 +- 21 with that of the round before; round 7 with the same brought
+9 +- 22 in 800 and, as that told nothing, +25 +- 23 in 800 more; round 8 +7 +- 29 in 400 and, as that told nothing,
+9 +- 14 in 2,000; round 9 +48 +- 32 in 400 games of 0.5 s before its last million labels, and +23 +- 30 in 400 others
as it shipped. Round 10 labels positions that searches of depth 4 evaluate (two of each search, a near-even one), and
the successors: ``labels-10b`` and ``-10d`` are of the same games with plies 4-56, depth=10,solve=14 and seed 9, and
``--per-game 8``, depth=10,solve=16 and seed 12; ``labels-10c`` of the three collections of games between programs,
with ``--per-game 6``, depth=10,solve=16 and seed 11. With the ``probcut.npz`` of round 9 it brought +22 +- 21 Elo in
800 games of 0.02 s, with its own +30 +- 20 in 800 others and +23 +- 23 in 800 more.

The parameters of its selective search, ``probcut.npz``, were found for it by::

    glem positions othello WTH_201*.wtb WTH_202[01].wtb --plies 2-58 --per-game 1 --seed 12 -o drawn.parquet
    glem search probcut default.npz drawn.parquet --depth 11 --per-phase 80 --seed 1 -o probcut.npz

Those before, and ``e9-probcut.npz`` for ``e9.npz``, were found in the same way by positions of ``drawn-8``.

``network``, the strongest, is a hidden layer of 32 units over the same patterns and nothing else. Two sets of labels by
``default`` made a first one, which labelled a third set::

    glem label othello WTH_*.wtb --by default,depth=8,solve=14 --per-game 8 --children 1 --plies 6-55 --merge \
        -o a.parquet
    glem label othello WTH_*.wtb --by default,depth=8,solve=14 --per-game 16 --children 1 --plies 6-55 --merge \
        --seed 1 -o b.parquet
    glem fit network a.parquet b.parquet --patterns patterns.txt --passes 8 -o first.npz
    glem label othello WTH_19*.wtb WTH_200*.wtb WTH_201*.wtb WTH_202[01].wtb --skip-bad --plies 4-50 --per-game 8 \
        --by first.npz,probcut=default,depth=8,solve=14,table=16 --no-given --sampled 2 --even 1 \
        --sample-by first.npz,probcut=default,depth=4 --seed 11 -o c.parquet
    glem fit network a.parquet b.parquet c.parquet --patterns patterns.txt --passes 8 --held-out 0.02 -o n.npz
    python -m glem.plugins.othello.shipped_evaluation n.npz network.npz

``patterns.txt`` has the patterns of ``default``. The last fit takes 13.1 million positions of the three sets, each with
weight 1. It leaves out games of 2022 to 2025, and the positions and successors of the collections that evaluations are
compared by.
"""

from collections.abc import Iterable

import click
import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.positions.files import read_positions
from glem.core.positions.positions import Positions

_STEPS_PER_DISC = 64
_LEAST_POSITIONS = 500
"""By weight: a phase of fewer is left as it is."""
_MADE = {
    "command": "fit",
    "positions": "of tournament and program games; see glem.plugins.othello.shipped_evaluation",
    "labels": "search",
    "labelled by": "the evaluations of the rounds before, depth=6 to 12, solve=14 to 18",
}
"""What the commands above say."""
_KEPT = ("fitter", "l2", "smoothing", "validation")


def rounded(evaluation: LinearEvaluation) -> LinearEvaluation:
    """Round the weights to 1/64 disc, which halves the file and moves a value by a few hundredths of a disc.

    Those of a hidden layer become what the search plays.
    """

    def to_steps(weights: NDArray[np.float32]) -> NDArray[np.float32]:
        return (np.rint(weights * _STEPS_PER_DISC) / _STEPS_PER_DISC).astype(np.float32)

    return evolve(
        evaluation,
        bias=to_steps(evaluation.bias),
        pattern_weights=to_steps(evaluation.pattern_weights),
        network=evaluation.as_played().network,
        provenance={name: evaluation.provenance[name] for name in _KEPT if name in evaluation.provenance} | _MADE,
    )


def unbiased(evaluation: LinearEvaluation, sets: Iterable[Positions]) -> LinearEvaluation:
    """Shift the values of each phase so that their mean error on positions is 0; few positions shift nothing.

    Few are those that passes bring to a phase of the plies before: they are not like its others.
    """
    left, count = np.zeros((2, len(evaluation.bias)))
    for positions in sets:
        phase = evaluation.learning.phases.of(positions.positions)
        errors = positions.label - evaluation.predict(positions.positions)
        left += np.bincount(phase, positions.weight * errors, len(left))
        count += np.bincount(phase, positions.weight, len(count))
    shift = np.where(count >= _LEAST_POSITIONS, left / np.maximum(count, 1), 0)
    return evolve(evaluation, bias=(evaluation.bias + shift).astype(np.float32))


@click.command("shipped_evaluation")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("path", type=click.Path(dir_okay=False))
@click.argument("positions", nargs=-1, type=click.Path(exists=True, dir_okay=False))
def _command(model: str, path: str, positions: tuple[str, ...]) -> None:
    """Write MODEL to PATH with rounded weights, without its mean errors on POSITIONS."""
    rounded(unbiased(LinearEvaluation.load(model), map(read_positions, positions))).save(path)


if __name__ == "__main__":
    _command()
