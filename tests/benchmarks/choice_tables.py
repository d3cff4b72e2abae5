"""Which measure of evaluations predicts matches: each evaluation plays a reference, and choice sets measure them all.

    python -m tests.benchmarks.choice_tables GAME REFERENCE MODEL... --choices SET... --openings FILE -o choices.svg

The evaluations are files of ``glem fit``, the sets those of ``glem label --choices``. Prints Elo and measures of each
evaluation and the correlations of Elo with every measure, and draws them.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import rankdata

from tests.benchmarks.measuring import command_line, glem

MEASURES = ("choice error", "share of best moves", "rank correlation", "mean absolute error")


def elo_of(game: str, model: str, reference: str, options: argparse.Namespace) -> tuple[float, float]:
    """Elo difference of a match and its error; of the reference itself 0."""
    if model == reference:
        return 0.0, 0.0
    players = (f"{model},name=it,{options.limit}", f"{reference},name=reference,{options.limit}")
    openings = ("--openings", options.openings, "--opening-count", str(options.count))
    found = glem("match", game, *players, *openings, "--seed", "9", "--workers", str(options.workers))
    pairing = found.get("pairings", [found])[0]
    return pairing["elo"]["elo"], pairing["elo"]["error"]


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """Make a parser of what the measures need."""
    parser = command_line(text, game=str, count=150, limit="depth=5,solve=10,probcut=off", workers=2)
    parser.add_argument("--choices", nargs="+", required=True)
    parser.add_argument("--openings", required=True)
    return parser


def measure(options: argparse.Namespace, picture: Path) -> None:
    """Print and draw Elo and measures of ``options.models``, the first of which is the reference."""
    reference = options.models[0]
    elo = np.array([elo_of(options.game, model, reference, options) for model in options.models])
    names = [Path(each).stem for each in options.choices]
    found = np.empty((len(names), len(MEASURES), len(options.models)))
    for of_set, path in zip(found, options.choices, strict=True):
        told = glem("evaluate", *options.models, path)
        for column, model in enumerate(options.models):
            chosen = told["choices"][model]
            measures = (chosen["error"], chosen["best"], chosen["rank_correlation"], told["mean_absolute"][model])
            of_set[:, column] = [each[-1] for each in measures]

    print("| evaluation | Elo |", *(f" {measure}, {name} |" for name in names for measure in MEASURES), sep="")
    print("|---|---|" + "---|" * found[:, :, 0].size)
    for place in np.argsort(-elo[:, 0]):
        figures = (f" {each:.3f} |" for each in found[:, :, place].ravel())
        print(f"| {Path(options.models[place]).stem} | {elo[place, 0]:+.0f} ± {elo[place, 1]:.0f} |", *figures, sep="")
    figure = Figure((3 * len(MEASURES), 3 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), len(MEASURES), squeeze=False, sharey=True)
    print("\n| set | measure | correlation with Elo | of ranks |\n|---|---|---|---|")
    for row, name in enumerate(names):
        for column, measure in enumerate(MEASURES):
            values, panel = found[row, column], panels[row][column]
            linear, ranks = (
                np.corrcoef(one, other)[0, 1]
                for one, other in ((values, elo[:, 0]), (rankdata(values), rankdata(elo[:, 0])))
            )
            print(f"| {name} | {measure} | {linear:+.2f} | {ranks:+.2f} |")
            panel.errorbar(values, elo[:, 0], elo[:, 1], fmt="o", markersize=3, linewidth=0.7)
            panel.set(xlabel=f"{measure}, {name}: r = {linear:+.2f}", ylabel="" if column else "Elo")
    figure.savefig(picture)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("models", nargs="+", help="the first one is the reference")
    parser.add_argument("-o", "--output", type=Path, default="choices.svg")
    options = parser.parse_args()
    measure(options, options.output)


if __name__ == "__main__":
    main()
