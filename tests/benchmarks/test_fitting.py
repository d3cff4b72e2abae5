"""Speed of building designs and of fitting passes, on one core, beside the two scipy CSR products on the same design.

Positions a second are the rows over the median; memory of the designs is in ``extra_info``.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import define
from scipy import sparse

from glem.core.features.learning import Learning
from glem.core.fitting.conjugate import ConjugateGradient
from glem.core.fitting.descent import GradientDescent
from glem.core.fitting.least_squares_problem import LeastSquares, Source
from glem.core.fitting.packed.blocks import Packing
from glem.core.fitting.packed.design import Design
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.labels import positions_of_records
from tests.benchmarks.measuring import tournament_records
from tests.oracles.fitting import byte_count

pytestmark = pytest.mark.shared

PLIES = (29, 32)
"""Plies of one phase."""


@define(frozen=True, eq=False)
class Case:
    """Some positions of one phase, their design and the same design as a scipy matrix."""

    values: Any
    phases: Any
    patterns: PatternSet
    design: Design
    labels: Any
    matrix: Any
    problem: LeastSquares


@pytest.fixture(scope="module")
def case(shared: Path, othello_learning: Learning) -> Case:
    game = othello_learning.game
    positions = positions_of_records(game, tournament_records(game, shared / "othello" / "wthor"))
    values = othello_learning.features.values(positions.positions)
    moves = (
        values[:, othello_learning.features.index("discs")]
        + values[:, othello_learning.features.index("opponent_discs")]
        - 4
    )
    rows = np.flatnonzero((moves >= PLIES[0]) & (moves <= PLIES[1]))
    values = np.asfortranarray(values[rows])
    phases = othello_learning.phases.of(positions.select(rows).positions)
    patterns = PatternSet.from_names(othello_learning.features, othello_learning.pattern_sets["logistello"])
    design = Design.build([(values, phases)], Packing(len(othello_learning.phases), patterns))
    labels = positions.label[rows]
    columns = (patterns.indices(values) + patterns.column_offsets[:, None].astype(np.int32)).T.ravel()
    starts = np.arange(0, len(columns) + 1, len(patterns.instances), dtype=np.int32)
    data = np.ones(len(columns), np.float32)
    matrix = sparse.csr_array((data, columns, starts), shape=(len(rows), patterns.weight_count))
    problem = LeastSquares(design, labels, targets=[(Source(int(phases[0]), 1.0),)])
    return Case(values, phases, patterns, design, labels, matrix, problem)


def measure(benchmark: Any, case: Case, work: Any, iterations: int = 1) -> None:
    """Time the work after a round that compiles and note how many position-iterations a second it does."""
    benchmark.pedantic(work, rounds=9, warmup_rounds=1)
    rate = iterations * len(case.design) / benchmark.stats.stats.median
    benchmark.extra_info["million position-iterations per second"] = round(rate / 1e6, 1)


@pytest.mark.benchmark(group="indices", timer=time.thread_time)
def test_pattern_indices(benchmark: Any, case: Case) -> None:
    measure(benchmark, case, lambda: case.patterns.indices(case.values))


@pytest.mark.benchmark(group="indices", timer=time.thread_time)
def test_build_design(benchmark: Any, case: Case) -> None:
    chunks = [(case.values, case.phases)]
    measure(benchmark, case, lambda: Design.build(chunks, case.design.packing))


@pytest.mark.benchmark(group="pass", timer=time.thread_time)
def test_pass(benchmark: Any, case: Case) -> None:
    weights = np.random.default_rng(0).normal(size=case.problem.parameter_count)
    measure(benchmark, case, lambda: case.problem.errors_and_gradient(weights))
    benchmark.extra_info["bytes"] = byte_count(case.design)


@pytest.mark.benchmark(group="pass", timer=time.thread_time)
def test_two_scipy_products(benchmark: Any, case: Case) -> None:
    weights = np.random.default_rng(0).normal(size=case.matrix.shape[1]).astype(np.float32)
    measure(benchmark, case, lambda: case.matrix.T @ (case.labels - case.matrix @ weights))
    benchmark.extra_info["bytes"] = case.matrix.data.nbytes + case.matrix.indices.nbytes + case.matrix.indptr.nbytes


@pytest.mark.benchmark(group="fit", timer=time.thread_time)
def test_conjugate_gradient(benchmark: Any, case: Case) -> None:
    measure(benchmark, case, lambda: ConjugateGradient(iterations=20, tolerance=0.0).fit(case.problem), 20)


@pytest.mark.benchmark(group="fit", timer=time.thread_time)
def test_gradient_descent(benchmark: Any, case: Case) -> None:
    measure(benchmark, case, lambda: GradientDescent(iterations=20).fit(case.problem), 20)
