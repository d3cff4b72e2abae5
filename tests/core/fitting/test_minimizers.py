"""Minimizers: glem's own pass all checks, and the checks see what is wrong."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from glem.core.fitting.least_squares import FitSettings
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.descent import GradientDescent
from glem.core.fitting.minimizing.minimizer import Minimizer
from tests.core.conformance.test_conformance import failures
from tests.core.fitting.minimizer_checks import check_minimizer
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
def test_the_built_in_minimizers_pass(fitter: Minimizer):
    for seed in (0, 1):
        report = check_minimizer(fitter, seed=seed)
        assert report.passed, str(report)
    assert not hasattr(fitter, "parameters_")


def test_a_fitter_on_positions_of_a_game():
    report = check_minimizer(ConjugateGradient(), learning=COMPILED_LEARNING, games=3)
    assert report.passed, str(report)
    assert "game" in {result.name for result in report.results}


def test_a_fitter_that_is_cut_short_is_told_how_much_is_left():
    found = failures(check_minimizer(GradientDescent(iterations=2)))
    assert re.search(r"% of the squared error are left after 2 iterations \(the limit on iter", found["known weights"])
    assert "convergence" not in found
    found = failures(check_minimizer(ConjugateGradient(tolerance=0.5)))
    assert "as it is, the fit is called converged (the gradient vanishes) with" in found["convergence"]


class Wrapped(Minimizer):
    """Fits soundly; derived ones spoil the weights."""

    def __init__(self, iterations: int = 100) -> None:
        self.iterations = iterations

    def fit(self, problem: LeastSquares, **options: Any) -> Any:
        one = ConjugateGradient(self.iterations).fit(problem, **options)
        self.parameters_, self.result_ = self.spoil(one.parameters_), one.result_
        return self

    def spoil(self, parameters: Any) -> Any:
        return parameters


_SHIFTS = (1e-6 * number for number in itertools.count())


@pytest.mark.parametrize(
    ("spoil", "check", "text"),
    [
        (lambda found: found * 0.7, "known weights", r"% of the squared error are left after \d+ iterations"),
        (lambda found: np.where(found == 0, 1e-9, found), "absent items", "item 3 is never active and gets the weight"),
        (lambda found: found + next(_SHIFTS), "repeatable", "a second fitter gives weights that differ"),
    ],
)
def test_what_spoils_weights_is_seen(spoil: Any, check: str, text: str):
    kind = type("Spoils", (Wrapped,), {"spoil": lambda self, found: spoil(found)})
    found = failures(check_minimizer(kind()))
    assert check in found, found
    assert re.search(text, found[check]), found[check]


def test_a_sound_minimizer_passes():
    report = check_minimizer(Wrapped())
    assert report.passed, str(report)
