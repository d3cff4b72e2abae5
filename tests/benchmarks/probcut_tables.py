"""Print the tables of selective search in docs/explanation/search-evaluation.md.

    python -m tests.benchmarks.probcut_tables thresholds MODEL PROBCUT POSITIONS
    python -m tests.benchmarks.probcut_tables checks MODEL POSITIONS
    python -m tests.benchmarks.probcut_tables law MODEL POSITIONS
    python -m tests.benchmarks.probcut_tables depths MODEL PROBCUT POSITIONS

MODEL and PROBCUT are files of ``glem fit`` and ``glem search probcut``, POSITIONS is a Parquet file of ``glem
positions``; the positions are chosen at random. Times are processor times of one core.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import popcount
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.positions.files import stream_positions
from glem.core.positions.positions import Positions
from glem.core.search.probcut import ProbCut
from glem.core.search.probcut_fitting import (
    LEAST_SEARCHED,
    ProbCutSample,
    check_depths_of,
    choose_positions,
    regress_scores,
    sampled_scores,
)
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from tests.benchmarks.measuring import Searches, search_all, table_header, table_row

EMPTIES = range(30, 45)
SQUARES = 64


def search_each(evaluation: LinearEvaluation, probcut: ProbCut | None, positions: list[Any], depth: int) -> Searches:
    """Search positions one after the other, each with an empty table."""
    searcher = Searcher(evaluation.learning.game, evaluator_of(evaluation), SearchSettings(probcut=probcut))
    return search_all(searcher, positions, Limits(depth=depth))


def midgame_positions(evaluation: LinearEvaluation, file: str, count: int, seed: int) -> list[Any]:
    """Positions with 30 to 44 empty squares."""
    chosen = choose_positions(evaluation, stream_positions(file, game=evaluation.learning.game), count, seed)
    all_positions = [position_at(chosen, row) for row in range(len(chosen[0]))]
    midgame = [each for each in all_positions if SQUARES - popcount(each.own | each.opponent) in EMPTIES]
    order = np.random.default_rng(seed).permutation(len(midgame))[:count]
    return [midgame[place] for place in order]


def compare(name: str, run: Searches, full: Searches) -> None:
    """Print a row: a selective search beside the full one."""
    count = len(full.results)
    pairs = list(zip(run.results, full.results, strict=True))
    errors = np.array([one.value - other.value for one, other in pairs])
    same = np.mean([one.move == other.move for one, other in pairs])
    effort = f"{run.nodes / count:,.0f} | {full.nodes / run.nodes:.1f} | {count / run.seconds:,.1f}"
    table_row(name, effort, f"{np.sqrt((errors**2).mean()):.2f} | {errors.mean():+.2f} | {same:.0%}")


COMPARED = ("nodes a position", "times fewer", "positions/s", "error (discs)", "mean error", "same move")


def thresholds(arguments: argparse.Namespace) -> None:
    """Full-width search against selective search with several thresholds."""
    evaluation = LinearEvaluation.load(arguments.model)
    probcut = ProbCut.load(arguments.probcut)
    positions = midgame_positions(evaluation, arguments.positions, arguments.count, seed=1)
    full = search_each(evaluation, None, positions, arguments.depth)
    table_header("threshold", *COMPARED)
    compare("full width", full, full)
    for threshold in arguments.thresholds:
        run = search_each(evaluation, probcut.with_threshold(threshold), positions, arguments.depth)
        compare(f"{threshold:g}", run, full)


def _quarter_and_half(depth: int) -> tuple[int, ...]:
    return tuple(sorted({2 * (depth // share) + depth % 2 for share in (8, 4)})) if depth >= 2 else ()


def _half(depth: int) -> tuple[int, ...]:
    return (2 * (depth // 4) + depth % 2,) if depth >= 2 else ()


CHECKS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "a third": check_depths_of,
    "a half": _half,
    "a quarter, then a half": _quarter_and_half,
}


def checks(arguments: argparse.Namespace) -> None:
    """Selective searches with other check depths, fitted to the same scores."""
    evaluation = LinearEvaluation.load(arguments.model)
    learning = evaluation.learning
    sets = stream_positions(arguments.positions, game=learning.game)
    scores, phases = sampled_scores(evaluation, sets, ProbCutSample(per_phase=arguments.per_phase))
    positions = midgame_positions(evaluation, arguments.positions, arguments.count, seed=1)
    full = search_each(evaluation, None, positions, arguments.depth)
    table_header("check depth, threshold", *COMPARED)
    for name, rule in CHECKS.items():
        fitted = regress_scores(
            scores, phases, learning.phases.names, game=learning.game.name, unit=evaluation.unit, checks=rule
        )
        for threshold in arguments.thresholds:
            run = search_each(evaluation, fitted.with_threshold(threshold), positions, arguments.depth)
            compare(f"{name}, {threshold:g}", run, full)


def law(arguments: argparse.Namespace) -> None:
    """Deviations extrapolated from fewer searched depths, relative to the measured ones."""
    evaluation = LinearEvaluation.load(arguments.model)
    learning = evaluation.learning
    sample = ProbCutSample(depth=arguments.depth, per_phase=arguments.per_phase)
    scores, phases = sampled_scores(evaluation, stream_positions(arguments.positions, game=learning.game), sample)

    def fitted(searched: int) -> ProbCut:
        return regress_scores(
            scores[:, : searched + 1],
            phases,
            learning.phases.names,
            game=learning.game.name,
            unit=evaluation.unit,
            deepest=arguments.depth,
        )

    measured = fitted(arguments.depth)
    # Where few positions reach the depth, neighbouring phases share them.
    own = measured.counts[:, arguments.depth, 0] <= arguments.per_phase
    table_header("searched to", "depth", "extrapolated / measured, geometric mean over phases")
    for searched in range(LEAST_SEARCHED, arguments.depth):
        extrapolated = fitted(searched)
        for depth in range(searched + 1, arguments.depth + 1):
            ratios = extrapolated.deviations[own, depth, 0] / measured.deviations[own, depth, 0]
            table_row(searched, depth, f"{np.exp(np.log(ratios).mean()):.2f}")


def depths(arguments: argparse.Namespace) -> None:
    """Mean errors of selective searches of several depths, beside the exact labels of the positions."""
    evaluation, probcut = LinearEvaluation.load(arguments.model), ProbCut.load(arguments.probcut)
    exact = Positions.concatenate([*stream_positions(arguments.positions, game=evaluation.learning.game)])
    exact = exact.select(np.random.default_rng(1).permutation(len(exact))[: arguments.count])
    table_header("depth", "positions", "mean error", "mean absolute error")
    for depth in (1, 8, 9, 10, 11, 12):
        run = search_each(evaluation, probcut, [exact[row] for row in range(len(exact))], depth)
        errors = np.array([found.value for found in run.results]) - exact.label
        spread = 1.96 * errors.std() / np.sqrt(len(errors))
        table_row(depth, len(errors), f"{errors.mean():+.2f} ± {spread:.2f}", f"{np.abs(errors).mean():.2f}")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = parser.add_subparsers(required=True)
    for name, table, files in (
        ("thresholds", thresholds, ("model", "probcut", "positions")),
        ("checks", checks, ("model", "positions")),
        ("law", law, ("model", "positions")),
        ("depths", depths, ("model", "probcut", "positions")),
    ):
        command = tables.add_parser(name, help=table.__doc__)
        for file in files:
            command.add_argument(file, metavar=file.upper())
        command.add_argument("--depth", type=int, default=10)
        command.add_argument("--count", type=int, default=200, help="positions")
        command.add_argument("--per-phase", type=int, default=100, help="positions that parameters are fitted to")
        command.add_argument("--thresholds", type=float, nargs="+", default=[0.7, 1.0, 1.4, 2.0])
        command.set_defaults(table=table)
    arguments = parser.parse_args()
    arguments.table(arguments)


if __name__ == "__main__":
    main()
