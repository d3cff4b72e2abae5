"""The conformance suite on fitters: the built-in ones pass, each defect is told."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.conformance import check_fitter
from glem.core.errors import BadInputError
from glem.core.fitting.least_squares import FitSettings
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.descent import GradientDescent
from glem.core.fitting.minimizing.minimizer import FitResult, Minimizer
from glem.core.fitting.packed.blocks import Packing
from glem.core.fitting.packed.design import Design
from glem.core.fitting.phases import fit_phases
from tests.core.conformance.test_conformance import failures
from tests.core.game.plain_game import COMPILED_LEARNING


@pytest.mark.parametrize(
    "fitter",
    [
        FitSettings.default().fitter,
        ConjugateGradient(),
        ConjugateGradient(iterations=25, refresh_every=3, tolerance=1e-5),
        GradientDescent(),
        GradientDescent(checkpoint_every=3),
        GradientDescent(momentum=0.0, iterations=400),
    ],
    ids=repr,
)
def test_the_built_in_fitters_pass(fitter: Minimizer):
    for seed in (0, 1):
        report = check_fitter(fitter, seed=seed)
        assert report.passed, str(report)
    assert not hasattr(fitter, "parameters_")


def test_a_fitter_on_positions_of_a_game():
    report = check_fitter(ConjugateGradient(), learning=COMPILED_LEARNING, games=3)
    assert report.passed, str(report)
    assert "game" in {result.name for result in report.results}


def test_a_fitter_that_is_cut_short_is_told_how_much_is_left():
    found = failures(check_fitter(GradientDescent(iterations=2)))
    assert re.search(r"% of the squared error are left after 2 iterations \(the limit on iter", found["known weights"])
    assert "convergence" not in found
    found = failures(check_fitter(ConjugateGradient(tolerance=0.5)))
    assert "as it is, the fit is called converged (the gradient vanishes) with" in found["convergence"]


class Wrapped(Minimizer):
    """Fits soundly; those below spoil one thing each."""

    def __init__(self, iterations: int = 100) -> None:
        self.iterations = iterations

    def fit(self, problem: LeastSquares, **options: Any) -> Any:
        one = ConjugateGradient(self.iterations).fit(problem, **options)
        self.parameters_, self.result_ = self.spoil(one.parameters_, problem), self.retell(one.result_)
        return self

    def spoil(self, parameters: Any, problem: LeastSquares) -> Any:
        return parameters

    def retell(self, result: FitResult) -> Any:
        return result


_random = np.random.default_rng(0)


def spoils(parameters: Callable[[Any], Any]) -> type[Wrapped]:
    """Minimizer whose weights go through a function."""
    return type("Spoils", (Wrapped,), {"spoil": lambda self, found, problem: parameters(found)})


def retells(result: Callable[[FitResult], Any]) -> type[Wrapped]:
    """Minimizer whose result goes through a function."""
    return type("Retells", (Wrapped,), {"retell": lambda self, found: result(found)})


class RoundsItsArgument(Wrapped):
    def __init__(self, iterations: int = 1000) -> None:
        super().__init__(min(iterations, 999))


class ReturnsNothing(Wrapped):
    def fit(self, problem: LeastSquares, **options: Any) -> Any:
        super().fit(problem, **options)


class LeavesThings(Wrapped):
    def fit(self, problem: LeastSquares, **options: Any) -> Any:
        self.cache = problem
        return super().fit(problem, **options)


class HasLooseArguments(Wrapped):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options


class Remembers(Wrapped):
    def spoil(self, parameters: Any, problem: LeastSquares) -> Any:
        before = getattr(self, "_before", 0.0)
        self._before = 0.001
        return parameters + before


class IgnoresSampleWeights(Wrapped):
    def fit(self, problem: LeastSquares, **options: Any) -> Any:
        problem._row_weights = (problem._row_weights > 0).astype(np.float32)
        return super().fit(problem, **options)


class IgnoresTheStart(Wrapped):
    def fit(self, problem: LeastSquares, *, start: Any = None, **options: Any) -> Any:
        return super().fit(problem, **options)


class ForgetsTheCheckpoint(Wrapped):
    def fit(self, problem: LeastSquares, *, checkpoint: Any = None, **options: Any) -> Any:
        if checkpoint is None:
            return super().fit(problem, **options)
        if checkpoint.load() is None:
            checkpoint.save({"half": np.zeros(1)})
            return super().fit(problem, **options)
        return ConjugateGradient(3).fit(problem, **options)


class ContinuesElsewhere(ForgetsTheCheckpoint):
    def fit(self, problem: LeastSquares, *, checkpoint: Any = None, **options: Any) -> Any:
        super().fit(problem, checkpoint=checkpoint, **options)
        if checkpoint is not None and checkpoint.load() is not None:
            super().fit(problem, **options)
            self.parameters_ = self.parameters_ + 0.1
        return self


class ClimbsFromTheSolution(Wrapped):
    def fit(self, problem: LeastSquares, *, start: Any = None, **options: Any) -> Any:
        super().fit(problem, start=start, **options)
        if start is not None and start.any():
            self.parameters_ = self.parameters_ + 0.3
        return self


@pytest.mark.parametrize(
    ("kind", "check", "text"),
    [
        (RoundsItsArgument, "manners", "iterations=1999 is stored as 999"),
        (ReturnsNothing, "manners", "fit returned a NoneType, expected the fitter itself"),
        (LeavesThings, "manners", r"fit leaves \['cache'\], expected names that end in an underscore"),
        (HasLooseArguments, "manners", r"the constructor takes \*args or \*\*kwargs"),
        (Remembers, "repeatable", "the same fitter again, after another fit gives weights that differ by up to 0.001"),
        (
            spoils(lambda found: found + 1e-6 * _random.standard_normal(len(found))),
            "repeatable",
            "a second fitter gives weights that differ",
        ),
        (spoils(lambda found: found * 0.7), "known weights", r"% of the squared error are left after \d+ iterations"),
        (
            spoils(lambda found: np.where(found == 0, 1e-9, found)),
            "absent items",
            "item 3 is never active and gets the weight 1e-09",
        ),
        (IgnoresSampleWeights, "sample weights", "a weight differs by .* from a fit of repeated positions"),
        (
            retells(lambda found: evolve(found, best_iteration=found.iterations)),
            "held-out positions",
            r"iteration \d+ is kept, \d+ did best on the held-out positions",
        ),
        (
            retells(lambda found: evolve(found, training_errors=0 * np.array(found.training_errors))),
            "result",
            "the error at the start is 0.0, found",
        ),
        (retells(lambda found: "well"), "result", "result_ is a str, expected a FitResult"),
        (IgnoresTheStart, "refusals", "a start of nan is accepted, expected BadInputError"),
        (ContinuesElsewhere, "checkpoint", "the continued fit gives weights that differ by up to"),
        (ClimbsFromTheSolution, "descent", "from the solution, with l2 = 0.0: the objective rises from"),
    ],
)
def test_broken_fitters_are_caught(kind: Any, check: str, text: str):
    found = failures(check_fitter(kind()))
    assert check in found, found
    assert re.search(text, found[check]), found[check]


def test_a_sound_fitter_of_a_stranger_passes():
    report = check_fitter(Wrapped())
    assert report.passed, str(report)


def test_labels_of_another_length_are_refused():
    design = Design.build([(np.zeros((3, 1), np.int16), np.zeros(3, np.int64))], Packing(1))
    with pytest.raises(BadInputError, match="the design has 3 rows"):
        fit_phases(design, np.zeros(2))
    with pytest.raises(BadInputError, match="the design has 3 rows"):
        fit_phases(design, np.zeros(3), weights=np.zeros(4))
