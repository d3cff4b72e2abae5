"""Fits on workers of a scheduler, some of which are killed, against the same fits here."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import click
import numpy as np
import psutil
import pytest

from glem.core.cli.options import opened_workers
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.features.learning import with_phases
from glem.core.fitting.count_rules import CountRules
from glem.core.fitting.least_squares import FitSettings, Terms, Training, train
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.descent import GradientDescent
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.parts import PartsElsewhere
from glem.core.tasks.tasks import Member, Workers
from tests.othello import LEARNING, sample_of_games

FEW = with_phases(LEARNING, 3)
PATTERNS = PatternSet.from_names(LEARNING.features, {"edge": ("a1", "b1", "c1", "d1"), "pair": ("c3", "f6")})
SETTINGS = FitSettings(ConjugateGradient(iterations=12), smoothing=0.25)
ARRAYS = "bias", "patterns", "configurations", "linear", "match_counts"


@pytest.fixture(autouse=True)
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few thousand positions be many, in five parts."""
    monkeypatch.setattr("glem.core.fitting.packed.part._LEAST_PART", 700)
    monkeypatch.setattr("glem.core.fitting.least_squares._TRIED_POSITIONS", 2000)


@pytest.fixture(scope="module")
def some() -> Positions:
    positions = sample_of_games(120)
    return positions.select(np.arange(len(positions)) < 3300)


@pytest.fixture
def workers() -> Iterator[Workers]:
    """Two that are one process."""
    with ThreadPoolExecutor(2) as executor:
        yield Workers(executor=executor, members=lambda: {name: Member(executor, 1) for name in ("a", "b")})


def fitted(some: Positions, workers: Workers | None, terms: Terms | None = None, **how: Any) -> Training:
    chosen = Terms(patterns=PATTERNS, linear=FEW.linear) if terms is None else terms
    how = {"settings": SETTINGS, "held_out": some.held_out_mask(0.2, 0)} | how
    return train(some, FEW, chosen, workers=workers, **how)


def assert_equal(one: Training, other: Training) -> None:
    assert one.penalties == other.penalties
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one.weights, name), getattr(other.weights, name), err_msg=name)
    for mine, theirs in zip(one.results, other.results, strict=True):
        np.testing.assert_array_equal(mine.held_out_errors, theirs.held_out_errors)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"held_out": None, "settings": FitSettings(GradientDescent(iterations=9), l2=1.0)},
        {"settings": FitSettings(ConjugateGradient(iterations=5), count_rules=CountRules())},
    ],
    ids=["conjugate", "descent", "rules"],
)
def test_workers_change_nothing(some: Positions, workers: Workers, how: dict[str, Any]) -> None:
    assert_equal(fitted(some, workers, **how), fitted(some, None, jobs=2, **how))


def test_solved_equations_and_priors(some: Positions, workers: Workers) -> None:
    linear = Terms(linear=FEW.linear)
    here, there = (fitted(some, where, linear) for where in (None, workers))
    assert_equal(there, here)
    relations = RelationTable(np.array([0, 9, 18]), np.array([1, 1, 2]))
    configurations = ConfigurationSet.from_relations(relations, [(0,), (0, 1), (1, 2)])
    terms = Terms(configurations=configurations, linear=FEW.linear)
    prior = here.evaluation
    assert_equal(*(fitted(some, where, terms, prior=prior, held_out=None) for where in (None, workers)))


def test_items_in_files_of_the_worker_go_with_them(
    some: Positions, workers: Workers, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    here = fitted(some, None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("glem.core.machine.large_arrays._LARGEST_ITEMS", 0)
    seen: set[int] = set()
    move = LeastSquares.move

    def watched(self: LeastSquares, *arguments: Any) -> Any:
        seen.add(len(list(tmp_path.rglob("*.bin"))))
        return move(self, *arguments)

    monkeypatch.setattr(LeastSquares, "move", watched)
    assert_equal(fitted(some, workers), here)
    assert max(seen) >= 5
    assert not list(tmp_path.iterdir()), "nothing stays"


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_workers_that_are_killed_change_nothing(some: Positions, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    here = fitted(some, None)
    killed: list[int] = []
    passes = 0
    move = LeastSquares.move
    with click.Context(click.Command("fit")) as context, context.scope():
        workers = opened_workers(count, "local")
        assert workers.members is not None
        members = workers.members

        def moved(self: LeastSquares, *arguments: Any) -> Any:
            nonlocal passes
            passes += isinstance(self.rows, PartsElsewhere)
            if passes in {5, 15} and len(killed) < passes // 10 + 1:
                # The one that was killed before comes back under another name.
                while len(there := members()) < count:
                    time.sleep(0.1)
                process = there[min(there)].executor.submit(os.getpid).result()
                psutil.Process(process).kill()
                killed.append(process)
            return move(self, *arguments)

        monkeypatch.setattr(LeastSquares, "move", moved)
        there = fitted(some, workers)
    assert len(set(killed)) == 2
    assert_equal(there, here)
