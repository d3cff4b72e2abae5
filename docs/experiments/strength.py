"""Grades of evaluations beside their playing strength (Ban 2012, section 4.3 and figure 2).

Evaluations are graded on the same positions. Their ratings are those of `glem match --json` for players of the same
names (name=...).
"""

import argparse
import json
from pathlib import Path

from matplotlib.figure import Figure
from scipy.stats import linregress, pearsonr, spearmanr

import glem
from glem.core.tasks.counts import interval_text
from glem.core.tasks.tables import Table


def correlation(what, x, y):
    """Say in a sentence how closely two figures go together."""
    if len(x) < 3:
        raise SystemExit(f"{what}: a correlation needs at least three points, found {len(x)}")
    found = pearsonr(x, y)
    # Fisher's z, by which the interval is, needs four points.
    interval = interval_text(*found.confidence_interval(), 2) if len(x) > 3 else "no interval"
    ranks = spearmanr(x, y).statistic
    return f"{what}: r = {found.statistic:+.2f} ({interval}), p = {found.pvalue:.2g}, of the ranks {ranks:+.2f}"


def show(points, picture):
    """Print and draw points: name to rating and grade."""
    ratings, grades = zip(*points.values(), strict=True)
    heights = [grade.grade for grade in grades]
    print(correlation("grade and rating", ratings, heights))
    line = linregress(ratings, heights)
    print(
        f"straight line: {line.intercept:.3f} + rating / {1 / line.slope:,.0f}, R² = {line.rvalue**2:.2f} "
        "(Ban 2012, equation 16: rating / 6,000)"
    )
    axes = (figure := Figure(layout="constrained")).subplots()
    axes.errorbar(ratings, heights, [grade.error for grade in grades], linestyle="none", marker="o")
    ends = [min(ratings), max(ratings)]
    axes.plot(ends, [line.intercept + line.slope * end for end in ends])
    axes.set(xlabel="rating", ylabel="grade")
    figure.savefig(picture)


def main(arguments=None):
    """Print grades and ratings, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("files", nargs="+", help="game records, or positions with results")
    parser.add_argument("--evaluation", action="append", required=True, help="as for `glem grade`; three or more")
    parser.add_argument("--ratings", type=Path, required=True, help="what `glem match --json` printed")
    parser.add_argument("--skip-bad", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="strength.svg")
    given = parser.parse_args(arguments)
    ratings = {one["name"]: one["elo"] for one in json.loads(given.ratings.read_text())["ratings"]}
    graded = glem.grade(given.game, given.files, *given.evaluation, seed=given.seed, skip_bad=given.skip_bad)
    grades = {one.name: one.grade for one in graded.grading.evaluations}
    if missing := grades.keys() - ratings.keys():
        raise SystemExit(f"there is no rating of {', '.join(sorted(missing))}, but of {', '.join(ratings)}")
    points = {name: (ratings[name], grades[name]) for name in sorted(grades, key=lambda name: -ratings[name])}
    rows = [
        (name, f"{rating:+.0f}", f"{grade.games:,}", f"{grade.grade:.4f}", f"{grade.error:.4f}")
        for name, (rating, grade) in points.items()
    ]
    print(Table("Grades by rating", ("evaluation", "rating", "games", "grade", "error"), rows).text(), end="\n\n")
    show(points, given.picture)


if __name__ == "__main__":
    main()
