"""Grades after searches of growing size (Ban 2012, section 4.3 and figure 1).

All evaluations judge the same positions, one of each game. A straight line goes through the grades over the logarithm
of the limit and of the time; each step to the next greater limit is tested on the same positions.
"""

import argparse
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import linregress

import glem
from glem.core.grading.collection import CollectedPositions
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.grading import grade_predictions
from glem.core.grading.scorers.scorers import scorer_of
from glem.core.positions.selection.selection import SelectionRule
from glem.core.tasks.tables import Table
from glem.core.tasks.tasks import Workers

STATIC = "static"


def sample(game, files, most, seed, skip_bad):
    """Select one position of each game, and of these as many as asked for."""
    read = CollectedPositions(game, keeps_positions=True)
    read.read(files, SelectionRule(seed=seed), skip_bad=skip_bad)
    found = read.selected
    print(f"{min(most, len(found)):,} of {len(found):,} positions, one of each of {read.counts.games:,} games")
    return found.select(np.sort(np.random.default_rng(seed).permutation(len(found))[:most]))


def judge(game, name, limits, sampled, **how):
    """Ask an evaluation, as it is and after searches: the text of a limit to values, and seconds of a position."""
    found = {}
    for limit in (STATIC, *limits):
        try:
            scorer = scorer_of(game, name if limit == STATIC else f"{name},{limit}", **how)
        except glem.GlemError:
            if limit == STATIC:
                continue  # engines give no value without a search
            raise
        begin = time.perf_counter()
        said = scorer.predict(sampled)
        own = (time.perf_counter() - begin) / len(sampled)
        found[limit] = said, own if np.isnan(said.seconds) else said.seconds
    return found


def main(arguments=None):
    """Print the grades and the lines, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("files", nargs="+", type=Path, help="game records, or positions with results")
    parser.add_argument("--evaluation", action="append", required=True, help="as for `glem grade`, without a limit")
    parser.add_argument("--limits", default="nodes=64,256,1024,4096,16384", help="nodes=, depth= or seconds=A,B,...")
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--skip-bad", action="store_true")
    parser.add_argument("--scores", type=Path, help="folder in which scores of engines are kept for the next run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--picture", default="power.svg")
    given = parser.parse_args(arguments)
    kind, _, numbers = given.limits.partition("=")
    sizes = {f"{kind}={size}": float(size) for size in numbers.split(",")}
    game = glem.load_game(given.game)
    sampled = sample(game, given.files, given.positions, given.seed, given.skip_bad)
    how = {"workers": Workers(given.workers), "kept": given.scores}
    said = {name: judge(game, name, sizes, sampled, **how) for name in given.evaluation}
    common = np.all([found.is_known for own in said.values() for found, _ in own.values()], axis=0)
    settings, rows, lines = GradingSettings(seed=given.seed, recalibrate=False), [], []
    axes = (figure := Figure(layout="constrained")).subplots()
    for name, own in said.items():
        graded = grade_predictions(
            sampled.result[common],
            {limit: found.select(common) for limit, (found, _) in own.items()},
            game=sampled.record[common],
            settings=settings,
        )
        steps = {(one.first, one.second): one for one in graded.comparisons}
        grades = {one.name: one.grade for one in graded.evaluations}
        for before, (limit, grade) in zip([None, *grades], grades.items(), strict=False):
            step = steps.get((before, limit))
            rise = ("", "") if step is None else (f"{-step.difference:+.4f}", f"{step.p_value:.2g}")
            rows.append((name, limit, f"{own[limit][1]:.2g}", f"{grade.grade:.4f}", f"{grade.error:.4f}", *rise))
        searched = [limit for limit in sizes if limit in grades]
        heights = [grades[limit].grade for limit in searched]
        axes.errorbar(
            [sizes[limit] for limit in searched], heights, [grades[limit].error for limit in searched], label=name
        )
        if len(searched) > 1:
            by_limit = linregress(np.log2([sizes[limit] for limit in searched]), heights)
            by_time = linregress(np.log2([own[limit][1] for limit in searched]), heights)
            rising = [one.grade < other.grade for one, other in pairwise(grades.values())]
            cells = [f"{found:+.4f}" for line in (by_limit, by_time) for found in (line.slope, line.rvalue**2)]
            lines.append((name, *cells, f"{sum(rising)} of {len(rising)}"))
    print(f"{int(common.sum()):,} have a value from all evaluations at all limits\n")
    header = ("evaluation", "limit", "seconds", "grade", "error", "rise", "p")
    print(Table("Grades", header, rows).text(), end="\n\n")
    header = ("evaluation", f"per doubling of {kind}", "R²", "per doubling of time", "R²", "rising steps")
    print(Table("Straight lines: gain in grade of a doubling", header, lines).text())
    axes.set(xscale="log", xlabel=f"{kind} a position", ylabel="grade")
    axes.legend()
    figure.savefig(given.picture)


if __name__ == "__main__":
    main()
