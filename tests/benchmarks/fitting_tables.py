"""Print the tables of docs/explanation/fitting.md: ``python -m tests.benchmarks.fitting_tables DATA [TABLE ...]``.

DATA is the folder that holds ``othello/wthor``. Times are CPU times unless they say otherwise.
"""

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import define, evolve
from numpy.typing import NDArray
from scipy import sparse

from glem.core.configurations.configurations import symmetry_classes
from glem.core.discovery.candidates import draw_sample, mine_sample, standardized
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.discovery.pursuit import choose_configurations
from glem.core.features.learning import Learning, load_learning
from glem.core.fitting.count_rules import LINEAR, MERGED, OWN, ZERO, CountRules
from glem.core.fitting.least_squares import FitSettings, Terms, train
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.descent import GradientDescent
from glem.core.fitting.normal_equations import NormalEquations
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.design import Design
from glem.core.fitting.packed.part_rows import Source
from glem.core.fitting.phases import PhaseWeights, neighbours
from glem.core.game.game import Game, load_game
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_patterns import table_of, valid_contents
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from tests.benchmarks.measuring import medians_in_turn, table_header, table_row, tournament_records
from tests.oracles.fitting import byte_count, fit_design, phases_of, predicted, problem_of, sums

GAME = "othello"
CHUNK = 1 << 17
PLIES = (20, 30, 40, 50)
SETTINGS_PLIES = (*PLIES, 58)
ERRORS = ("all", *(f"ply {ply}" for ply in PLIES))
TWO_ROWS = tuple(f"{column}{row}" for row in (1, 2) for column in "abcdefgh")
TRIANGLE = ("a1", "b1", "c1", "d1", "e1", "a2", "b2", "c2", "d2", "a3", "b3", "c3", "d3", "a4", "b4", "a5")


@define(frozen=True, eq=False)
class Bench:
    """What the tables work on."""

    game: Game
    learning: Learning
    folder: Path

    def positions(self, label: str, jobs: int, files: str = "*.wtb") -> Positions:
        """All positions of WTHOR, or of some of its files."""
        records = tournament_records(self.game, self.folder, files)
        return positions_of_records(self.game, records, label=label, jobs=jobs)

    def values(self, positions: Positions) -> Iterator[tuple[NDArray[np.int16], NDArray[np.uint8]]]:
        """Feature values and phases, chunk by chunk."""
        for start in range(0, len(positions), CHUNK):
            part = positions.select(slice(start, start + CHUNK)).positions
            yield self.learning.features.values(part), self.learning.phases.of(part)

    def design(self, positions: Positions, jobs: int = 1) -> Design:
        """Design of Logistello's patterns."""
        patterns = PatternSet.from_names(self.learning.features, self.learning.pattern_sets["logistello"])
        return Design.build(self.values(positions), Packing(len(self.learning.phases), patterns), jobs=jobs)

    def phase_5(self) -> tuple[Design, NDArray[np.float32], LeastSquares]:
        """Design and results of the positions of phase 5, and the fit of its weights."""
        positions = self.positions("result", jobs=2)
        played = self.discs_played(positions)
        kept = positions.select((played >= 29) & (played < 33))
        design = self.design(kept)
        problem = problem_of(design, kept.label, targets=[(Source(int(phases_of(design)[0]), 1.0),)])
        return design, kept.label, problem

    def held_out(self) -> tuple[Positions, NDArray[np.bool_], NDArray[np.int64], Design]:
        """All positions, those held out, the moves played before each, and the design."""
        positions = self.positions("result", jobs=2)
        return positions, positions.held_out_mask(0.1, seed=1), self.discs_played(positions), self.design(positions, 2)

    def discs_played(self, positions: Positions) -> NDArray[np.int64]:
        """Moves played so far, passes not counted."""
        own = self.learning.features.index("discs")
        counts = [values[:, own].astype(np.int64) + values[:, own + 1] for values, _ in self.values(positions)]
        return np.concatenate(counts) - 4


def root_mean(errors: NDArray[Any]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(errors, dtype=np.float64))))


def held_out_errors(errors: NDArray[Any], held: NDArray[np.bool_], played: NDArray[np.int64]) -> list[str]:
    """Cells of the columns :data:`ERRORS`."""
    chosen = [held, *(held & (played == ply) for ply in PLIES)]
    return [f"{root_mean(errors[rows]):.3f}" for rows in chosen]


def whole(bench: Bench) -> None:
    """Print the time and memory of reading, labelling, indexing and fitting all of WTHOR with two threads."""
    clock, cpu = time.perf_counter(), time.process_time()

    def lap(name: str) -> None:
        nonlocal clock, cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        wall, used = time.perf_counter() - clock, time.process_time() - cpu
        table_row(name, f"{wall:.1f} s", f"{used:.1f} s", f"{peak:.2f} GiB")
        clock, cpu = time.perf_counter(), time.process_time()

    table_header("step", "elapsed", "CPU", "peak memory so far")
    positions = bench.positions("auto", jobs=2)
    lap(f"read and label {len(positions):,} positions")
    design = bench.design(positions, jobs=2)
    lap(f"index ({byte_count(design) / 2**20:,.0f} MiB)")
    fit_design(design, positions.label, l2=25.0, smoothing=0.25, fitter=ConjugateGradient(iterations=30), jobs=2)
    lap("fit 13 phases, neighbours with factor 0.25, 30 iterations")


def passes(bench: Bench) -> None:
    """Print the speed and memory of a fitting pass beside two scipy CSR products, on phase 5, one thread."""
    design, labels, problem = bench.phase_5()
    weights = np.random.default_rng(0).normal(size=problem.parameter_count)
    offsets = design.columns.offsets[:, None].astype(np.int32)
    by_instance = [design.columns.split(block.rows.indices) + offsets for block in design.blocks]
    columns = np.concatenate([block.T for block in by_instance]).ravel()
    width = len(offsets)
    starts = np.arange(0, len(columns) + 1, width, dtype=np.int32)
    matrix = sparse.csr_array(
        (np.ones(len(columns), np.float32), columns, starts), shape=(len(design), design.layout.item_count)
    )
    dense = weights.astype(np.float32)

    def products() -> None:
        residuals = labels - matrix @ dense
        _ = matrix.T @ residuals

    own, theirs = medians_in_turn(lambda: problem.errors_and_gradient(weights), products, rounds=15)
    memory = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    table_header("one pass over", "positions/s", "memory")
    for name, seconds, size in (
        (f"design of {len(design):,} positions", own, byte_count(design)),
        ("scipy CSR, two products", theirs, memory),
    ):
        table_row(name, f"{len(design) / seconds / 1e6:.1f} M", f"{size / 2**20:.0f} MiB")
    table_row("share", f"{own / theirs:.2f} of the time", f"{byte_count(design) / memory:.2f} of the memory")
    fitter = ConjugateGradient(iterations=30, tolerance=0.0)
    start = time.thread_time()
    fitter.fit(problem)
    table_row("a whole conjugate gradient fit", f"{30 * len(design) / (time.thread_time() - start) / 1e6:.1f} M", "")


def split(bench: Bench) -> None:
    """Print the held-out error in discs after 10 to 100 iterations, and by phase beside baselines."""
    positions, held, played, design = bench.held_out()
    table_header("iterations", *ERRORS)
    weights: PhaseWeights | None = None
    for iterations in (10, 20, 30, 100):
        fitter = ConjugateGradient(iterations=iterations, tolerance=0.0)
        weights = fit_design(
            design, np.where(held, np.nan, positions.label), fitter=fitter, l2=25.0, smoothing=0.25, jobs=2
        )
        errors = predicted(design, weights, jobs=2) - positions.label
        table_row(iterations, *held_out_errors(errors, held, played))
    assert weights is not None
    errors = predicted(design, weights, jobs=2) - positions.label
    names = list(bench.learning.baselines)
    print()
    table_header("discs", "held-out positions", *names, "patterns")
    baselines = [baseline_errors(bench, positions, held, name) for name in names]
    for phase, discs in enumerate(bench.learning.phases.names):
        rows = held & (phases_of(design) == phase)
        cells = [root_mean(column[rows]) for column in [*baselines, errors]]
        table_row(discs, f"{rows.sum():,}", *(f"{cell:.2f}" for cell in cells))


def baseline_errors(bench: Bench, positions: Positions, held: NDArray[np.bool_], name: str) -> NDArray[np.float64]:
    """Errors of a linear regression on a few features, phase by phase."""
    linear = LinearTerms.from_names(bench.learning.features, bench.learning.baselines[name])
    design = Design.build(bench.values(positions), Packing(len(bench.learning.phases), linear=linear))
    weights = fit_design(design, np.where(held, np.nan, positions.label), jobs=2)
    return predicted(design, weights, jobs=2) - positions.label


def settings(bench: Bench) -> None:
    """Print the held-out error of some plies over the L2 penalty and the neighbours' factor."""
    positions, held, played, design = bench.held_out()
    by_ply = [int(phases_of(design)[np.flatnonzero(played == ply)[0]]) for ply in SETTINGS_PLIES]
    table_header("factor", "l2", *(f"ply {ply}" for ply in SETTINGS_PLIES))
    for factor in (0.0, 0.25, 0.5):
        targets = neighbours(len(bench.learning.phases), factor)
        for l2 in (0.0, 5.0, 25.0, 100.0):
            cells = []
            for ply, phase in zip(SETTINGS_PLIES, by_ply, strict=True):
                labels = np.where(held, np.float32(np.nan), positions.label)
                problem = problem_of(design, labels, l2=l2, targets=[targets[phase]], jobs=2)
                fitter = ConjugateGradient(iterations=30, tolerance=0.0).fit(problem)
                chosen = np.zeros((len(bench.learning.phases), design.layout.item_count))
                chosen[phase] = problem.weights_of(fitter.parameters_)[0]
                rows = held & (played == ply)
                cells.append(root_mean(sums(design, chosen, jobs=2)[rows] - positions.label[rows]))
            table_row(factor, f"{l2:.0f}", *(f"{cell:.3f}" for cell in cells))


def descent(bench: Bench) -> None:
    """Print when conjugate gradient reaches the training error of 250 descent iterations, on phase 5, one thread."""
    _, _, problem = bench.phase_5()
    problem.diagonal  # noqa: B018 - counted once, for both fitters
    start = time.thread_time()
    conjugate = ConjugateGradient(iterations=150, tolerance=0.0).fit(problem)
    per_iteration = (time.thread_time() - start) / conjugate.result_.iterations
    table_header("momentum", "descent, 250 iterations", "its time", "conjugate gradient", "its time", "share")
    for momentum in (0.0, 0.5, 0.9, 0.95, 0.98):
        start = time.thread_time()
        descended = GradientDescent(momentum=momentum).fit(problem)
        taken = time.thread_time() - start
        error = descended.result_.training_errors[-1]
        reached = np.flatnonzero(conjugate.result_.training_errors <= error)
        count = int(reached[0]) if len(reached) else -1
        other = count * per_iteration
        own = f"{error**0.5:.4f} | {taken:.2f} s"
        table_row(momentum, own, f"iteration {count} | {other:.2f} s", f"{other / taken:.3f}")


def rules(bench: Bench) -> None:
    """Print the held-out error with and without the count rules of GLEM section 5.2."""
    positions, held, played, design = bench.held_out()
    table_header("rules", "l2", "weights own / merged / linear / zero", *ERRORS)
    choices = {
        "none": None,
        "20 and 4": CountRules(),
        "20 and 4, no lines": CountRules(linear=None),
        "zero below 20": CountRules(own=20, few=19.5, linear=None),
    }
    for l2 in (0.0, 25.0):
        for name, chosen in choices.items():
            fitter = ConjugateGradient(iterations=60, tolerance=0.0)
            labels = np.where(held, np.float32(np.nan), positions.label)
            weights = fit_design(design, labels, fitter=fitter, l2=l2, count_rules=chosen, jobs=2)
            errors = predicted(design, weights, jobs=2) - positions.label
            kinds = ""
            if weights.plan is not None:
                counts = np.bincount(weights.plan.kinds.ravel(), minlength=4)
                kinds = " / ".join(f"{counts[kind]:,}" for kind in (OWN, MERGED, LINEAR, ZERO))
            table_row(name, f"{l2:.0f}", kinds, *held_out_errors(errors, held, played))


def penalties(bench: Bench) -> None:
    """Print errors on the games of 2013, fitted with one penalty for all phases and with chosen ones."""
    new, learning = bench.positions("auto", 2, "WTH_2013.wtb"), bench.learning
    one, three = bench.positions("auto", 2, "WTH_2010.wtb"), bench.positions("auto", 2, "WTH_201[0-2].wtb")
    games = np.random.default_rng(1).permutation(np.unique(one.game_key))
    few = {f"{count:,} of 2010": one.select(np.isin(one.game_key, games[:count])) for count in (30, 100, 400)}
    terms = Terms(PatternSet.named(learning, "logistello"), linear=learning.linear)
    table_header("games", "5", "25", "100", "400", "chosen", "first", "middle", "last")
    for name, positions in {**few, "2010": one, "2010 to 2012": three}.items():
        cells = []
        for l2 in (5.0, 25.0, 100.0, 400.0, None):
            found = train(positions, learning, terms, evolve(FitSettings.default(), l2=l2), jobs=2)
            cells.append(f"{root_mean(found.evaluation.predict(new.positions, jobs=2) - new.label):.3f}")
        table_row(name, *cells, *(f"{found.penalties[phase]:.0f}" for phase in (0, 6, 12)))


def exact(bench: Bench) -> None:
    """Print normal equations beside 60 iterations of conjugate gradient, 600 classes of configurations, two threads."""
    learning = bench.learning
    positions = bench.positions("auto", 2, "WTH_201[0-2].wtb")
    new = bench.positions("auto", 2, "WTH_2013.wtb")
    sample = draw_sample(positions, 200_000, 0)
    left = standardized(sample.label.astype(np.float64), learning.phases.of(sample.positions))
    mined = mine_sample(sample, learning, DiscoveryPlan(), jobs=2)
    chosen = choose_configurations(mined, sample, learning, left, 600, jobs=2)
    assert chosen is not None
    classes = symmetry_classes(chosen, learning.features.symmetries)
    terms = Terms(configurations=chosen, classes=classes, most_specific=False, linear=learning.linear)
    table_header("fit", "seconds", "rmse on 2013")
    for name in ("normal equations", "conjugate gradient"):
        with pytest.MonkeyPatch.context() as patch:
            if name == "conjugate gradient":
                patch.setattr(NormalEquations, "fits", staticmethod(lambda _: False))
            found, seconds = None, []
            for _ in range(3):
                start = time.perf_counter()
                found = train(positions, learning, terms, FitSettings.default(), jobs=2)
                seconds.append(time.perf_counter() - start)
        assert found is not None
        error = root_mean(found.evaluation.predict(new.positions, jobs=2) - new.label)
        table_row(name, f"{np.median(seconds):.1f}", f"{error:.3f}")


def sparse_tables(bench: Bench) -> None:
    """Print the size of the sparse tables of 16-square patterns at n = 75, and the time to build them."""
    positions = bench.positions("result", jobs=2)
    table_header("pattern", "valid configurations", "table entries", "memory", "time to build")
    for name, squares in {"two edge rows": TWO_ROWS, "corner": TRIANGLE}.items():
        chunks = lambda: (values for values, _ in bench.values(positions))  # noqa: E731 - read once per pattern
        features = bench.learning.features
        pattern = Pattern(name, tuple(map(features.index, squares)))
        pattern = evolve(pattern, contents=valid_contents(features, pattern, chunks(), 75))
        start = time.thread_time()
        table = table_of(features, pattern)
        taken = time.thread_time() - start
        counts = f"{len(pattern.contents or ()):,} weights, {len(table):,} tuples"
        memory = sum(array.nbytes for array in (table.offsets, table.locks, table.slots))
        table_row(name, counts, f"{table.size:,}", f"{memory / 2**20:.1f} MiB", f"{taken:.2f} s")


TABLES: dict[str, Callable[[Bench], None]] = {
    "whole": whole,
    "passes": passes,
    "split": split,
    "settings": settings,
    "descent": descent,
    "rules": rules,
    "penalties": penalties,
    "exact": exact,
    "sparse": sparse_tables,
}


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder that holds othello/wthor")
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="default: all")
    arguments = parser.parse_args()
    bench = Bench(load_game(GAME), load_learning(GAME), arguments.data / GAME / "wthor")
    for name in arguments.tables or TABLES:
        print(f"\n{TABLES[name].__doc__}\n")
        TABLES[name](bench)


if __name__ == "__main__":
    main()
