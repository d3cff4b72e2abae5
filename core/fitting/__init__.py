"""Fitters: from scored positions to weights."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, link_of, result_labels, scaled_sigmoid

if TYPE_CHECKING:
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.count_rules import CountRules, WeightPlan
    from glem.core.fitting.descent import GradientDescent
    from glem.core.fitting.design import Design, LinearTerms
    from glem.core.fitting.fitters import FitResult, Fitter
    from glem.core.fitting.phases import PhaseWeights, fit_phases
    from glem.core.fitting.problem import LeastSquares

__all__ = [
    "IDENTITY",
    "LOGISTIC",
    "ConjugateGradient",
    "CountRules",
    "Design",
    "FitResult",
    "Fitter",
    "GradientDescent",
    "LeastSquares",
    "LinearTerms",
    "Link",
    "PhaseWeights",
    "WeightPlan",
    "fit_phases",
    "link_of",
    "result_labels",
    "scaled_sigmoid",
]

# Every evaluation needs a link; fitters, and scipy's sparse matrices with them, are imported when they are asked for.
_MODULES = {
    "ConjugateGradient": "conjugate",
    "CountRules": "count_rules",
    "Design": "design",
    "FitResult": "fitters",
    "Fitter": "fitters",
    "GradientDescent": "descent",
    "LeastSquares": "problem",
    "LinearTerms": "design",
    "PhaseWeights": "phases",
    "WeightPlan": "count_rules",
    "fit_phases": "phases",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
